"""`bytemill shard`: files of documents to files of token IDs."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytemill.cli import complain
from bytemill.cli.id_files import is_id
from bytemill.cli.options import (
    FOLDERS,
    FileName,
    encoding_option,
    files_argument,
    json_option,
    print_record,
    source_options,
    special_option,
    special_rule,
    threads_option,
    token_limit,
)
from bytemill.cli.reading import STANDARD_INPUT, Meter, source_of
from bytemill.cli.units import showing, units_options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytemill.cli.units import Units
    from bytemill.core import Encoding
    from bytemill.documents.sources import Reading


def tokens_of(_: click.Context, __: click.Parameter, values: Sequence[str]) -> list[int | str]:
    """Parses tokens: decimal digits are an id, anything else is text."""
    return [int(value) if is_id(value) else value for value in values]


# The argument `shard_tokens`, `None` for a single shard.
shard_tokens_option = click.option(
    "--shard-tokens",
    default="100M",
    show_default=True,
    callback=token_limit(),
    metavar="N",
    help="Tokens per shard, such as 100M; none for a single file.",
)

DEFAULT_NAME = "shard"

SHARD_OPTIONS = (
    click.option(
        "--format",
        type=click.Choice(["bin", "npy", "megatron", "parquet"]),
        default="bin",
        show_default=True,
        help="bin: raw IDs, for nanoGPT. npy: NumPy arrays. megatron: .bin and .idx for Megatron-LM. "
        "parquet: a column of lists.",
    ),
    shard_tokens_option,
    click.option(
        "--prepend",
        "--bos",
        multiple=True,
        callback=tokens_of,
        metavar="TOKEN",
        help="A token to insert before each document: an ID or its text. Repeatable.",
    ),
    click.option(
        "--append",
        "--eos",
        multiple=True,
        callback=tokens_of,
        metavar="TOKEN",
        help="A token to insert after each document. Repeatable.",
    ),
    click.option(
        "--dtype",
        type=click.Choice(["uint16", "uint32", "int32", "int64"]),
        help="The integer type of the IDs [default: the smallest that holds the vocabulary].",
    ),
)


def shard_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the arguments `format`, `shard_tokens`, `prepend`, `append` and `dtype`."""
    for option in reversed(SHARD_OPTIONS):
        function = option(function)
    return function


@click.command
@files_argument
@click.option(
    "-o",
    "--output",
    "directory",
    type=FileName(),
    metavar="DIR",
    help="The output folder: new, empty, or with shards of another --name. Omit with --work.",
)
@encoding_option
@shard_options
@click.option("--name", default=DEFAULT_NAME, show_default=True, help="Prefix of the file names.")
@click.option("--resume", is_flag=True, help="Resume an interrupted run with the same options.")
@click.option(
    "--trust-sources",
    is_flag=True,
    help="With --resume, compare sources by name and size only; ignore modification times.",
)
@units_options
@source_options
@special_option
@threads_option
@json_option
def shard_command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    directory: str | None,
    encoding: Encoding,
    shard_tokens: int | None,
    units: Units | None,
    reading: Reading,
    special: str,
    threads: int | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those that `write_shards` knows by the same names
) -> None:
    """Encode documents into token files for training.

    Reads text (one document per file, or per line with --lines), JSON Lines and Parquet, also compressed as
    .gz or .zst. DIR/provenance.json records the inputs and outputs; for a second --name in DIR it is
    DIR/NAME.provenance.json.
    """
    from bytemill.documents.sources import check_apart
    from bytemill.shards import Progress, write_shards
    from bytemill.shards.options import format_named

    options |= {"shard_tokens": shard_tokens, **special_rule(special)}
    if units is not None:
        if directory is not None:
            raise click.UsageError("with --work the shards are written there: omit -o")
        write_units(units, files, encoding, options, reading=reading, threads=threads, as_json=as_json)
        return
    if directory is None:
        raise click.UsageError("expected -o DIR, or --work FOLDER for shards of units")
    if options["resume"] and STANDARD_INPUT in files:
        raise click.UsageError("--resume needs files: standard input cannot be read again")
    check_apart(map(Path, click.get_current_context().meta.get(FOLDERS, ())), directory)
    # Or there is nothing to warn of.
    warned = bool(options["prepend"] or options["append"]) or format_named(options["format"]).whole_documents
    first: Progress | None = None
    with Meter(files) as meter, source_of(files) as source:

        def show(progress: Progress) -> None:
            nonlocal warned, first
            first = first or progress
            # Whether there are several is known here, long before the end.
            if progress.documents > 1 and not warned:
                warned = True
                warn_of_missing_marks(encoding, options["format"])
            label = f"shard {progress.shards}, {progress.tokens / 1e6:,.0f} M tokens"
            # Those of earlier runs were not encoded since this one began.
            tokens = progress.tokens - first.tokens
            meter.at(label, progress.source_bytes, text=progress.text_bytes, tokens=tokens)

        try:
            written = write_shards(
                source,
                directory,
                encoding,
                num_threads=threads,
                progress=show,
                **reading._asdict(),
                **options,
            )
        except (KeyboardInterrupt, OSError, MemoryError):
            if first is not None:
                complain(how_to_go_on(directory, options["name"], files), "interrupted")
            raise
    report = {
        "shards": len(written.shards),
        "documents": written.documents,
        "tokens": written.tokens,
        "dtype": written.options["dtype"],
        "directory": directory,
    }
    print_record(report, as_json=as_json)


def write_units(  # noqa: PLR0913 - what the command was given
    units: Units,
    files: Sequence[str],
    encoding: Encoding,
    options: dict[str, Any],
    *,
    reading: Reading,
    threads: int | None,
    as_json: bool,
) -> None:
    """Writes shards of units, and prints what was written."""
    from bytemill import jobs
    from bytemill.jobs.tokenizing import check_options

    if options.pop("name") != DEFAULT_NAME or options.pop("resume") or options.pop("trust_sources"):
        raise click.UsageError("--name, --resume and --trust-sources are for -o: --work resumes by itself")
    check_options(encoding, reading, **options)
    executor = units.executor(threads)
    plan = units.plan(files, reading)
    with showing(plan) as show:
        written = jobs.write_shards(plan, encoding, executor=executor, progress=show, **options)
    report = {
        "units": len(written.units),
        "documents": written.documents,
        "tokens": written.tokens,
        "dtype": written.options["dtype"],
        "directory": plan.work,
    }
    print_record(report, as_json=as_json)


def warn_of_missing_marks(encoding: Encoding, form: str) -> None:
    """Warns of several documents in files of ids without a mark between them."""
    from bytemill._calls import mark_of

    mark = mark_of(encoding)
    warnings.warn(
        f"the format {form} does not mark the ends of documents: --eos TOKEN inserts a token after "
        f"each{'' if mark is None else f', such as --eos {shlex.quote(mark)}'}",
        UserWarning,
        stacklevel=1,
    )


def how_to_go_on(directory: str, name: str, files: Sequence[str]) -> str:
    """Returns how far writing came that did not end, and what to do now."""
    from bytemill.shards.manifest import load, manifest_path

    found = load(manifest_path(Path(directory), name))
    if found is None or not found.shards:
        return "no shard is complete: run the same command again"
    shards = "1 shard is" if len(found.shards) == 1 else f"{len(found.shards):,} shards are"
    so_far = f"{shards} complete in {directory} ({found.tokens:,} tokens of {found.documents:,} documents)"
    if STANDARD_INPUT in files:
        return f"{so_far}; standard input cannot be read again: start over in another folder"
    return f"{so_far}; run the same command with --resume to continue"
