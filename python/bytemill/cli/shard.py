"""`bytemill shard`: files of documents to files of token ids."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bytemill.cli import complain
from bytemill.cli.ids import is_id
from bytemill.cli.options import (
    FileName,
    encoding_option,
    files_argument,
    json_option,
    print_record,
    source_options,
    special_option,
    special_rule,
    threads_option,
)
from bytemill.cli.reading import STANDARD_INPUT, Meter, source_of
from bytemill.cli.sizes import token_count
from bytemill.cli.units import showing, units_options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bytemill.cli.reading import Reading
    from bytemill.cli.units import Units
    from bytemill.core import Encoding


def tokens_of(_: click.Context, __: click.Parameter, values: Sequence[str]) -> list[int | str]:
    """Parses tokens: decimal digits are an id, anything else is text."""
    return [int(value) if is_id(value) else value for value in values]


# The argument `shard_tokens`, 0 for a single shard.
shard_tokens_option = click.option(
    "--shard-tokens",
    default="100M",
    show_default=True,
    callback=token_count(),
    metavar="N",
    help="How many tokens a shard holds, such as 100M; 0 for a single shard.",
)

DEFAULT_NAME = "shard"

SHARD_OPTIONS = (
    click.option(
        "--format",
        type=click.Choice(["bin", "npy", "megatron", "parquet"]),
        default="bin",
        show_default=True,
        help="bin: ids and nothing else, for nanoGPT. npy: arrays of NumPy. megatron: .bin and .idx for "
        "Megatron-LM. parquet: a column of lists.",
    ),
    shard_tokens_option,
    click.option(
        "--prepend",
        "--bos",
        multiple=True,
        callback=tokens_of,
        metavar="TOKEN",
        help="An id, or the text of a token, to put before each document; may be given several times.",
    ),
    click.option(
        "--append",
        "--eos",
        multiple=True,
        callback=tokens_of,
        metavar="TOKEN",
        help="The same, to put after each document.",
    ),
    click.option(
        "--dtype",
        type=click.Choice(["uint16", "uint32", "int32", "int64"]),
        help="The integer type of the ids; the smallest that holds the vocabulary if not given.",
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
    help="A folder, new, empty, or with shards of another --name. Left out with --work.",
)
@encoding_option
@shard_options
@click.option(
    "--name", default=DEFAULT_NAME, show_default=True, help="What the names of the shards begin with."
)
@click.option("--resume", is_flag=True, help="Go on where a run ended that was the same but for its end.")
@click.option(
    "--trust-sources",
    is_flag=True,
    help="With --resume, take files of the same names and sizes for unchanged, though they were copied or "
    "touched.",
)
@units_options
@source_options
@special_option
@threads_option
@json_option
def command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    directory: str | None,
    encoding: Encoding,
    shard_tokens: int,
    units: Units | None,
    reading: Reading,
    special: str,
    threads: int | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those that `write_shards` knows by the same names
) -> None:
    """Encode documents into files of token ids, in shards.

    Files are text (one document, or with --lines many), JSON lines or Parquet, and each of them may be
    compressed as .gz or .zst. What was written from what is in DIR/provenance.json, for a
    second --name there in DIR/NAME.provenance.json.
    """
    from bytemill.shards import Progress, write_shards
    from bytemill.shards.options import format_named

    options |= {"shard_tokens": shard_tokens or None, **special_rule(special)}
    if units is not None:
        if directory is not None:
            raise click.UsageError("with --work the shards are written there: leave out -o")
        write_units(units, files, encoding, options, reading=reading, threads=threads, as_json=as_json)
        return
    if directory is None:
        raise click.UsageError("expected -o DIR, or --work FOLDER for shards of units")
    if options["resume"] and STANDARD_INPUT in files:
        raise click.UsageError(
            "--resume needs files: what came from standard input is gone when a run goes on"
        )
    # Or there is nothing to warn of.
    warned = bool(options["prepend"] or options["append"]) or format_named(options["format"]).whole_documents
    has_begun = False
    with Meter(files) as meter, source_of(files) as source:

        def show(progress: Progress) -> None:
            nonlocal warned, has_begun
            has_begun = True
            # Whether there are several is known here, long before the end.
            if progress.documents > 1 and not warned:
                warned = True
                warn_of_missing_marks(encoding, options["format"])
            meter.at(f"shard {progress.shards}, {progress.tokens / 1e6:,.0f} M tokens", progress.size)

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
            if has_begun:
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
        raise click.UsageError("--name, --resume and --trust-sources are for -o: --work goes on by itself")
    check_options(encoding, **reading._asdict(), **options)
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
    from bytemill.shards.options import mark_of

    mark = mark_of(encoding)
    warnings.warn(
        f"documents run together in the format {form}, which marks no ends: --eos TOKEN puts a token after "
        f"each{'' if mark is None else f', such as --eos {shlex.quote(mark)}'}",
        UserWarning,
        stacklevel=1,
    )


def how_to_go_on(directory: str, name: str, files: Sequence[str]) -> str:
    """Returns how far writing came that did not end, and what to do now."""
    from bytemill.shards.manifest import load, manifest_path

    found = load(manifest_path(Path(directory), name))
    if found is None or not found.shards:
        return "no shard is complete, the same command begins again"
    shards = "1 shard is" if len(found.shards) == 1 else f"{len(found.shards):,} shards are"
    so_far = f"{shards} complete in {directory} ({found.tokens:,} tokens of {found.documents:,} documents)"
    if STANDARD_INPUT in files:
        return f"{so_far}; standard input is gone: begin again in another folder"
    return f"{so_far}; the same command with --resume goes on"
