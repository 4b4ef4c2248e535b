"""`bytemill bench`: encoding speed on this machine, after comparing ids."""

from __future__ import annotations

import json
import os
import platform
import sysconfig
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import click

from bytemill.cli import NO, complain
from bytemill.cli.engines import Engine, engine
from bytemill.cli.options import encoding_option, expanded, json_option, source_options
from bytemill.cli.reading import documents
from bytemill.cli.streams import prints_result
from bytemill.core import Encoding, __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bytemill.cli.reading import Reading

# Size of the sample.
SAMPLE_BYTES = 8_000_000


class Timing(NamedTuple):
    """Times of one way of encoding all texts.

    Attributes:
        label: The library and its kind of result.
        threads: Maximum number of threads.
        seconds: Time of each round.
    """

    label: str
    threads: int
    seconds: list[float]


@click.command(short_help="Measure how fast files are encoded.")
@click.argument("files", nargs=-1, metavar="[FILES]...", callback=expanded)
@encoding_option
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of measurements of each.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="The most threads, of 1, 2, 4 and so on; all processors if not given.",
)
@click.option(
    "--alone", is_flag=True, help="Do not compare with tiktoken: ids only have to give the texts back."
)
@source_options
@json_option
@click.pass_context
@prints_result
def command(  # noqa: PLR0913 - its options
    context: click.Context,
    *,
    files: Sequence[str],
    encoding: Encoding,
    rounds: int,
    threads: int | None,
    alone: bool,
    reading: Reading,
    as_json: bool,
) -> None:
    """Measure how fast files are encoded; without files, sources of the Python installation.

    First the ids are compared with those of tiktoken around the same vocabulary, and the exit code is 1 if
    they differ. Then both encode all documents, taking turns: what is measured is text seen before.
    """
    texts = list(documents(files, reading)) if files else list(sample_texts())
    if not texts:
        raise click.UsageError("there is no text in these files")
    try:
        other = None if alone else engine("tiktoken", encoding, "")
    except ImportError as error:
        raise ImportError(f"{error}, or measure without it by --alone") from error
    wrong = first_wrong(encoding, other, texts)
    if wrong is not None:
        complain(
            f"document {wrong + 1}: the ids are not those of tiktoken, or do not give it back: see verify"
        )
        context.exit(NO)
    timings = measure(encoding, other, texts, rounds, thread_counts(threads or os.cpu_count() or 1))
    report = {
        "machine": machine(),
        "versions": versions(other),
        "encoding": encoding.name,
        "documents": len(texts),
        "bytes": sum(len(text.encode(errors="replace")) for text in texts),
        "tokens": sum(map(encoding.count, texts)),
        "ids": "give the texts back" if other is None else f"equal those of {other.name}",
        "vocabulary_memory_bytes": encoding.memory_usage(),
        "timings": [
            {
                "what": timing.label,
                "threads": timing.threads,
                "min_seconds": min(timing.seconds),
                "median_seconds": median(timing.seconds),
            }
            for timing in timings
        ],
    }
    click.echo(json.dumps(report) if as_json else format_report(report, timings))


def sample_texts() -> Iterator[str]:
    """Yields source files of the Python installation, some megabytes in total."""
    size = 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield text
        size += len(text)
        if size > SAMPLE_BYTES:
            return


def first_wrong(encoding: Encoding, other: Engine | None, texts: Sequence[str]) -> int | None:
    """Returns the index of the first text with wrong ids, or `None`."""
    for number, text in enumerate(texts):
        ids = encoding.encode(text, allowed_special="all")
        right = encoding.decode(ids) == text if other is None else ids == list(other.encode(text))
        if not right:
            return number
    return None


def thread_counts(maximum: int) -> list[int]:
    """Returns 1, 2, 4 and so on, and the maximum."""
    return [*(1 << i for i in range(maximum.bit_length()) if 1 << i < maximum), maximum]


def measure(
    encoding: Encoding, other: Engine | None, texts: list[str], rounds: int, threads: Sequence[int]
) -> list[Timing]:
    """Measures the libraries in alternating rounds, so that a busy machine affects both alike."""
    timings: list[Timing] = []
    for count in threads:
        work: dict[str, Callable[[], object]] = {
            "bytemill, array": partial(encoding.encode_batch_to_numpy, texts, num_threads=count),
            "bytemill, lists": partial(encoding.encode_ordinary_batch, texts, num_threads=count),
        }
        if other is not None and other.encode_ordinary_batch is not None:
            work[f"{other.name.partition(' ')[0]}, lists"] = partial(
                other.encode_ordinary_batch, texts, count
            )
        found = [Timing(label, count, []) for label in work]
        for encode in work.values():
            encode()
        for _ in range(rounds):
            for timing in found:
                start = perf_counter()
                work[timing.label]()
                timing.seconds.append(perf_counter() - start)
        timings += found
    return timings


def machine() -> str:
    """Returns processor model, number of processors, and system."""
    name = platform.processor() or platform.machine()
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            name = next(
                (line.partition(":")[2].strip() for line in file if line.startswith("model name")), name
            )
    except OSError:
        # Not on Linux.
        pass
    return f"{name}, {os.cpu_count()} processors, {platform.system()} {platform.machine()}"


def versions(other: Engine | None) -> str:
    """Returns the versions of the libraries and the interpreter."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return ", ".join([f"bytemill {__version__}", *([] if other is None else [other.name]), python])


def format_report(report: dict[str, object], timings: Sequence[Timing]) -> str:
    """Returns the report as text."""
    size, tokens = report["bytes"], report["tokens"]
    assert isinstance(size, int)
    assert isinstance(tokens, int)
    encoded = (
        f"{report['encoding']}: {report['documents']:,} documents, {size / 1e6:,.1f} MB, {tokens:,} tokens"
    )
    lines = [
        f"{report['versions']}",
        f"{report['machine']}",
        f"{encoded}; the ids {report['ids']}",
        "",
        f"{'':<16}  threads   min ms  median ms     MB/s  million tokens/s",
    ]
    for label, threads, seconds in timings:
        typical = median(seconds)
        lines.append(
            f"{label:<16}  {threads:>7}  {min(seconds) * 1e3:>7.1f}  {typical * 1e3:>9.1f}  "
            f"{size / typical / 1e6:>7.1f}  {tokens / typical / 1e6:>16.2f}"
        )
    return "\n".join(lines)
