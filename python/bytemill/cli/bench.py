"""`bytemill bench`: encoding speed on this machine, compared with the library that the file belongs to."""

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
from bytemill.cli.engines import ENGINES, Engine, engine, own_library
from bytemill.cli.options import chosen_encoding, encoding_specs, expanded, json_option, source_options
from bytemill.cli.output import prints_result
from bytemill.cli.reading import Meter, documents
from bytemill.core import Encoding, __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bytemill.documents.sources import Reading

# Size of the sample.
SAMPLE_BYTES = 8_000_000

# Longer documents are cut into parts of so many characters: no call takes minutes, and all threads have work.
PART = 1 << 16

# Seconds for which ids are compared; what another library encodes in them is what it is measured on.
COMPARING = 2.5
# Seconds of the rounds of one way of encoding, after the first round.
MEASURING = 10.0


class Timing(NamedTuple):
    """Times of one way of encoding texts.

    Attributes:
        label: The library and its kind of result.
        threads: Maximum number of threads.
        encode: Encodes the texts.
        size: Bytes of the texts.
        tokens: Their tokens.
        seconds: Time of each round.
    """

    label: str
    threads: int
    encode: Callable[[], object]
    size: int
    tokens: int
    seconds: list[float]

    @property
    def rate(self) -> float:
        """Bytes in a second, by the median round."""
        return self.size / median(self.seconds)

    def record(self) -> dict[str, object]:
        """Returns the fields of the JSON output."""
        return {
            "what": self.label,
            "threads": self.threads,
            "bytes": self.size,
            "tokens": self.tokens,
            "rounds": len(self.seconds),
            "min_seconds": min(self.seconds),
            "median_seconds": median(self.seconds),
        }


class Texts(NamedTuple):
    """Texts and their sizes.

    Attributes:
        texts: The texts.
        size: Their bytes.
        tokens: Their tokens.
    """

    texts: list[str]
    size: int
    tokens: int

    @classmethod
    def of(cls, texts: list[str], encoding: Encoding) -> Texts:
        """Measures texts."""
        size = sum(len(text.encode(errors="replace")) for text in texts)
        return cls(texts, size, int(encoding.count_batch(texts).sum()))


@click.command(short_help="Measure encoding speed on your files.")
@click.argument("files", nargs=-1, metavar="[FILES]...", callback=expanded)
@encoding_specs
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="Maximum number of rounds for each library; slow ones get fewer.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Measure with 1, 2, 4, ... up to N threads [default: all processors].",
)
@click.option(
    "--against",
    type=click.Choice(list(ENGINES)),
    help="The library to compare with [default: the one that the file belongs to].",
)
@click.option("--alone", is_flag=True, help="Compare with no other library; only checks the round trip.")
@source_options
@json_option
@click.pass_context
@prints_result
def bench_command(  # noqa: PLR0913 - its options
    context: click.Context,
    *,
    files: Sequence[str],
    encoding_spec: str | None,
    model: str | None,
    rounds: int,
    threads: int | None,
    against: str | None,
    alone: bool,
    reading: Reading,
    as_json: bool,
) -> None:
    """Measure encoding speed on your files; without files, on the sources of Python.

    Compares with tokenizers for a tokenizer.json, with sentencepiece for its models, and with tiktoken for
    other encodings. If token IDs differ, the exit code is 1. All take turns on text that they have seen
    before, documents of more than 64 KB in parts; a slow library encodes only the beginning of the files, and
    the output says how much.
    """
    if alone and against is not None:
        raise click.UsageError("--alone and --against exclude each other")
    encoding = chosen_encoding(encoding_spec, model)
    key = against or own_library(encoding, encoding_spec or "")
    # Before the files are read: its package may be missing.
    other = None if alone else other_library(key, encoding, encoding_spec or "")
    found = list(documents(files, reading)) if files else list(sample_texts())
    if not found:
        raise click.UsageError("there is no text in these files")
    parts = [(number, part) for number, text in enumerate(found, start=1) for part in parts_of(text)]
    with Meter(()) as meter:
        compared, wrong = compare(encoding, other, parts, meter)
        if wrong is not None:
            complain(
                f"document {wrong}: the token IDs do not give the text back"
                if other is None
                else f"document {wrong}: the token IDs differ from those of {other.name}: "
                f"bytemill verify --against {key} shows where"
            )
            context.exit(NO)
        meter.begin("counting tokens")
        texts = Texts.of([part for _, part in parts], encoding)
        sample = texts if compared == len(parts) else Texts.of(texts.texts[:compared], encoding)
        counts = thread_counts(threads or os.cpu_count() or 1)
        timings = measure(encoding, other, texts, sample, rounds, counts, meter)
    report = {
        "machine": machine(),
        "versions": versions(other),
        "encoding": encoding.name,
        "documents": len(found),
        "bytes": texts.size,
        "tokens": texts.tokens,
        "ids": outcome(encoding, other, texts, sample),
        "vocabulary_memory_bytes": encoding.memory_usage(),
        "timings": [timing.record() for timing in timings],
    }
    click.echo(json.dumps(report) if as_json else format_report(report, timings))


def other_library(key: str, encoding: Encoding, spec: str) -> Engine:
    """Returns the library to compare with; errors as `engine`, which say that it may be left out."""
    try:
        return engine(key, encoding, spec)
    except ImportError as error:
        raise ImportError(f"{error}, or measure without it by --alone") from error
    except ValueError as error:
        raise ValueError(f"{error}; measure without it by --alone") from error


def sample_texts() -> Iterator[str]:
    """Yields source files of the Python installation, some megabytes in total."""
    size = 0
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield text
        size += len(text)
        if size > SAMPLE_BYTES:
            return


def parts_of(text: str) -> Iterator[str]:
    """Yields a text in parts of at most `PART` characters, which end after a line break if possible."""
    start = 0
    while len(text) - start > PART:
        end = text.rfind("\n", start, start + PART) + 1 or start + PART
        yield text[start:end]
        start = end
    yield text[start:]


def compare(
    encoding: Encoding, other: Engine | None, parts: Sequence[tuple[int, str]], meter: Meter
) -> tuple[int, int | None]:
    """Compares ids until `COMPARING` seconds are over.

    Returns:
        How many parts were compared, and the number of the document with other ids, if there is one.
    """
    start = perf_counter()
    for done, (number, text) in enumerate(parts):
        if done and other is not None and perf_counter() - start > COMPARING:
            return done, None
        meter.say(f"comparing token IDs, part {done + 1:,} of {len(parts):,}")
        if other is not None:
            ours, theirs = other.both(encoding, text)
            is_right = ours == theirs
        else:
            # Others than byte-level encodings may normalize text.
            is_right = not encoding._has_ranks or encoding.decode(encoding.encode_ordinary(text)) == text  # noqa: SLF001 - of this library
        if not is_right:
            return done, number
    return len(parts), None


def thread_counts(maximum: int) -> list[int]:
    """Returns 1, 2, 4 and so on, and the maximum."""
    return [*(1 << i for i in range(maximum.bit_length()) if 1 << i < maximum), maximum]


def measure(  # noqa: PLR0913, PLR0917 - of the command
    encoding: Encoding,
    other: Engine | None,
    texts: Texts,
    sample: Texts,
    rounds: int,
    threads: Sequence[int],
    meter: Meter,
) -> list[Timing]:
    """Measures the libraries in alternating rounds, so that a busy machine affects both alike.

    Args:
        encoding: The encoding.
        other: The other library.
        texts: What the encoding encodes.
        sample: What the other library encodes.
        rounds: Maximum number of rounds.
        threads: Numbers of threads.
        meter: Shows progress.
    """
    timings: list[Timing] = []
    for count in threads:
        work: list[tuple[str, Texts, Callable[[], object]]] = [
            (
                "bytemill, array",
                texts,
                partial(encoding.encode_batch_to_numpy, texts.texts, num_threads=count),
            ),
            (
                "bytemill, lists",
                texts,
                partial(encoding.encode_ordinary_batch, texts.texts, num_threads=count),
            ),
        ]
        if (
            other is not None
            and other.encode_batch is not None
            and (count in other.threads or not other.threads)
        ):
            label = f"{other.name.partition(' ')[0]}, lists"
            work.append((label, sample, partial(other.encode_batch, sample.texts, count)))
        found = [Timing(label, count, encode, part.size, part.tokens, []) for label, part, encode in work]
        # What the caches learn from.
        first = [timed(timing, "first round", meter) for timing in found]
        for number in range(rounds):
            for timing, seconds in zip(found, first, strict=True):
                if number == 0 or number * seconds < MEASURING:
                    timing.seconds.append(timed(timing, f"round {number + 1}", meter))
        timings += found
    return timings


def timed(timing: Timing, what: str, meter: Meter) -> float:
    """Returns the seconds of one round."""
    threads = f"{timing.threads} thread{'s' if timing.threads > 1 else ''}"
    meter.begin(f"measuring {timing.label}, {threads}, {what}")
    start = perf_counter()
    timing.encode()
    return perf_counter() - start


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


def outcome(encoding: Encoding, other: Engine | None, texts: Texts, sample: Texts) -> str:
    """Returns what is known about the ids."""
    if other is None:
        return "give the texts back" if encoding._has_ranks else "are not compared"  # noqa: SLF001 - of this library
    part = "" if sample is texts else f"of the first {sample.size / 1e6:,.1f} MB "
    return f"{part}equal those of {other.name}"


def format_report(report: dict[str, object], timings: Sequence[Timing]) -> str:
    """Returns the report as text."""
    size, tokens = report["bytes"], report["tokens"]
    assert isinstance(size, int)
    documents = f"{report['documents']:,} document{'' if report['documents'] == 1 else 's'}"
    encoded = f"{report['encoding']}: {documents}, {size / 1e6:,.1f} MB, {tokens:,} tokens"
    lines = [
        f"{report['versions']}",
        f"{report['machine']}",
        f"{encoded}; token IDs {report['ids']}",
        "",
        f"{'':<20}  threads     MB  rounds   min ms  median ms     MB/s  million tokens/s",
    ]
    for timing in timings:
        typical = median(timing.seconds)
        lines.append(
            f"{timing.label:<20}  {timing.threads:>7}  {timing.size / 1e6:>5.1f}  {len(timing.seconds):>6}  "
            f"{min(timing.seconds) * 1e3:>7.1f}  {typical * 1e3:>9.1f}  {timing.rate / 1e6:>7.1f}  "
            f"{timing.tokens / typical / 1e6:>16.2f}"
        )
    lists = {timing.threads: timing for timing in timings if timing.label == "bytemill, lists"}
    for timing in timings:
        if not timing.label.startswith("bytemill"):
            ours = lists[timing.threads]
            lines += [] if lines[-1].startswith("to lists") else [""]
            lines.append(
                f"to lists, {timing.threads} thread{'s' if timing.threads > 1 else ''}: "
                f"{ours.rate / timing.rate:.1f} times the speed of {timing.label.partition(',')[0]}"
            )
    return "\n".join(lines)
