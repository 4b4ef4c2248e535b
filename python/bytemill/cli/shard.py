"""`bytemill shard`: files of documents to files of token ids."""

from __future__ import annotations

import shlex
import warnings
from typing import TYPE_CHECKING, Any

import click

from bytemill.cli.options import (
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.cli.reading import Reading
    from bytemill.core import Encoding


def tokens_of(_: click.Context, __: click.Parameter, values: Sequence[str]) -> list[int | str]:
    """Parses tokens: digits are an id, anything else is text."""
    return [int(value) if value.isdecimal() else value for value in values]


@click.command
@files_argument
@click.option("-o", "--output", "directory", required=True, metavar="DIR", help="A folder, new or empty.")
@encoding_option
@click.option(
    "--format",
    type=click.Choice(["bin", "npy", "megatron", "parquet"]),
    default="bin",
    show_default=True,
    help="bin: ids and nothing else, for nanoGPT. npy: arrays of NumPy. megatron: .bin and .idx for "
    "Megatron-LM. parquet: a column of lists.",
)
@click.option(
    "--shard-tokens",
    default="100M",
    show_default=True,
    callback=token_count(),
    metavar="N",
    help="How many tokens a shard holds, such as 100M; 0 for a single shard.",
)
@click.option(
    "--prepend",
    "--bos",
    multiple=True,
    callback=tokens_of,
    metavar="TOKEN",
    help="An id, or the text of a token, to put before each document; may be given several times.",
)
@click.option(
    "--append",
    "--eos",
    multiple=True,
    callback=tokens_of,
    metavar="TOKEN",
    help="The same, to put after each document.",
)
@click.option(
    "--dtype",
    type=click.Choice(["uint16", "uint32", "int32", "int64"]),
    help="The integer type of the ids; the smallest that holds the vocabulary if not given.",
)
@click.option("--name", default="shard", show_default=True, help="What the names of the shards begin with.")
@click.option("--resume", is_flag=True, help="Go on where a run ended that was the same but for its end.")
@source_options
@special_option
@threads_option
@json_option
def command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    directory: str,
    encoding: Encoding,
    shard_tokens: int,
    reading: Reading,
    special: str,
    threads: int | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those that `write_shards` knows by the same names
) -> None:
    """Encode documents into files of token ids, in shards.

    Files are text (one document, or with --lines many), JSON lines or Parquet, and each of them may be
    compressed as .gz or .zst. What was written from what is in DIR/provenance.json.
    """
    from bytemill.shards import Progress, write_shards
    from bytemill.shards.options import format_named

    if options["resume"] and STANDARD_INPUT in files:
        raise click.UsageError(
            "--resume needs files: what came from standard input is gone when a run goes on"
        )
    # Or there is nothing to warn of.
    warned = bool(options["prepend"] or options["append"]) or format_named(options["format"]).whole_documents
    with Meter(files) as meter, source_of(files) as source:

        def show(progress: Progress) -> None:
            nonlocal warned
            # Whether there are several is known here, long before the end.
            if progress.documents > 1 and not warned:
                warned = True
                warn_of_missing_marks(encoding, options["format"])
            meter.at(f"shard {progress.shards}, {progress.tokens / 1e6:,.0f} M tokens", progress.size)

        written = write_shards(
            source,
            directory,
            encoding,
            num_threads=threads,
            progress=show,
            shard_tokens=shard_tokens or None,
            **special_rule(special),
            **reading._asdict(),
            **options,
        )
    report = {
        "shards": len(written.shards),
        "documents": written.documents,
        "tokens": written.tokens,
        "dtype": written.options["dtype"],
        "directory": directory,
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
