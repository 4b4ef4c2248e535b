"""`bytemill train`: learn a vocabulary from files."""

from __future__ import annotations

import re
import warnings
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from bytemill.cli import encoding_of
from bytemill.cli.counting import CountFiles, count_files
from bytemill.cli.options import files_argument, json_option, print_record, source_options, threads_option
from bytemill.cli.reading import STANDARD_INPUT
from bytemill.cli.saving import FORMATS_HELP, target_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.core import Encoding

DEFAULT_PATTERN = "o200k"
NO_PATTERN = "none"
TIE_BREAKS = ("smallest_pair", "huggingface", "greatest_bytes", "first_seen")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size_of(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Reads a number of bytes such as 512M: K, M, G and T are powers of 1,024."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d+)\s*([KMGT]?)(?:i?B)?", value, re.IGNORECASE)
    if found is None:
        message = f"expected a number of bytes such as 512M or 2G, got {value!r}"
        raise click.BadParameter(message)
    return int(found[1]) * UNITS[found[2].upper()]


@click.command(epilog=FORMATS_HELP)
@files_argument
@click.option("--vocab-size", type=click.IntRange(min=1), required=True, metavar="N", help="How many tokens.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    required=True,
    metavar="FILE",
    help="Where to write, see below; may be given several times.",
)
@click.option(
    "--pattern",
    metavar="PATTERN",
    help="What cuts text into pieces: gpt2, cl100k, o200k, llama3, a regular expression, or none. "
    f"That of --initial if not given, else {DEFAULT_PATTERN}.",
)
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    metavar="TEXT",
    help="A special token; may be given several times. Their ids follow the others, in this order.",
)
@click.option("--min-frequency", type=int, default=0, metavar="N", help="End when no pair occurs so often.")
@click.option("--max-token-length", type=int, metavar="N", help="The most bytes of a token.")
@click.option(
    "--tie-break",
    type=click.Choice(TIE_BREAKS),
    default=TIE_BREAKS[0],
    show_default=True,
    help="Which of the most frequent pairs is merged.",
)
@click.option(
    "--pad-vocab-to", type=int, metavar="N", help="Fill up with reserved tokens to a multiple of this."
)
@click.option(
    "--initial",
    metavar="ENCODING",
    help="Go on from this encoding, a name or a file. Its special tokens are to be named again.",
)
@click.option("--name", help="What the encoding is called; as the first output if not given.")
@click.option(
    "--memory-limit",
    callback=size_of,
    metavar="SIZE",
    help="How much memory the counts may take, such as 2G; the rest goes to temporary files.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Keep the counts of finished files in OUTPUT.counts until training has ended, and begin with those "
    "that are there from a run that did not end.",
)
@source_options
@threads_option
@json_option
def command(  # noqa: PLR0913 - its options
    *,
    files: Sequence[str],
    vocab_size: int,
    outputs: Sequence[str],
    pattern: str | None,
    special_tokens: Sequence[str],
    initial: str | None,
    name: str | None,
    memory_limit: int | None,
    resume: bool,
    field: str | None,
    lines: bool,
    threads: int | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401 - those that `bytemill.train` knows by the same names
) -> None:
    """Learn a vocabulary from files or standard input.

    Files are text (one document, or with --lines many), JSON lines or Parquet, and each of them may be
    compressed as .gz or .zst.
    """
    from bytemill.decoding import thread_count
    from bytemill.piece_counts import PieceCounts
    from bytemill.training import train

    targets = [target_of(output) for output in outputs]
    if resume and STANDARD_INPUT in files:
        message = "--resume needs files: what came from standard input is gone when a run goes on"
        raise click.UsageError(message)
    start = None if initial is None else encoding_of(initial)
    options |= {"initial": start, "name": name or targets[0].path.stem, "num_threads": thread_count(threads)}
    counts = PieceCounts(
        pattern=chosen_pattern(pattern, start), special_tokens=special_tokens, memory_limit=memory_limit
    )
    with warnings.catch_warnings(record=True):
        # With no text, so that no mistake in the arguments shows only after hours of counting.
        train(counts, vocab_size, progress=False, **options)

    began = perf_counter()
    kept = CountFiles(targets[0].path, field=field, lines=lines) if resume else None
    if kept is None:
        count_files(counts, files, field=field, lines=lines, threads=thread_count(threads))
    else:
        kept.add(counts, files, threads=thread_count(threads), memory_limit=memory_limit)
    counted = perf_counter()
    encoding = train(counts, vocab_size, progress=True, **options)
    merged = perf_counter()
    for target in targets:
        target.save(encoding)
    if kept is not None:
        kept.remove()
    report = {
        "name": encoding.name,
        "vocab_size": encoding.n_vocab,
        "special_tokens": len(encoding.special_tokens_set),
        "pieces": counts.total(),
        "different_pieces": len(counts),
        "seconds_counting": round(counted - began, 3),
        "seconds_merging": round(merged - counted, 3),
        "sha256": encoding.sha256,
        "files": [str(target.path) for target in targets],
    }
    print_record(report, as_json=as_json)


def chosen_pattern(pattern: str | None, initial: Encoding | None) -> str | None:
    """What `PieceCounts` takes for the option."""
    if pattern is None:
        return DEFAULT_PATTERN if initial is None else initial._pat_str  # noqa: SLF001 - tiktoken's name
    return None if pattern == NO_PATTERN else pattern
