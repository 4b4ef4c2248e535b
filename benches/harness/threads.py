"""Measures encoding and training from one thread to all processors: results first, then time and memory.

    python -m benches threads --corpus DIR [--threads 1,2,4] [--output FILE]

Each measurement is a fresh process, so that its peak memory is its own. A number of threads whose ids or
vocabulary differ from those of one thread ends the program with exit code 1. Reading texts and starting the
process are not measured.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import bytemill
from bytemill._core import BUILD_PROFILE
from harness import record
from harness.corpora import DOCUMENT_BYTES, cut, read_texts
from harness.measure import digest
from harness.memory import peak_megabytes
from harness.processes import run_worker

ENCODING = "o200k_base"
BATCH = 2_000
BAR = 40
ISSUES = "https://github.com/bytemill/bytemill/issues"

STREAM = "stream: batches of 2,000 documents, never seen"
REPLAY = "batch: all documents, again"
LONG = "one long text, again"
TRAINING = "training"
WORKS = (STREAM, REPLAY, LONG, TRAINING)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One kind of work with one number of threads.

    Attributes:
        work: One of `WORKS`.
        threads: Number of threads.
        bytes: Size of the text.
        seconds: Least wall time of the rounds.
        cpu_seconds: Time of all processors in that round.
        megabytes: Peak memory of the process.
        caches: Bytes that the vocabulary and the caches of all threads take at the end.
        equal: Whether the result is that of one thread.
    """

    work: str
    threads: int
    bytes: int
    seconds: float
    cpu_seconds: float
    megabytes: float
    caches: int
    equal: bool


# --- In the measured process ---


def calls_of(
    work: str, encoding: bytemill.Encoding, text: str, threads: int, vocab_size: int
) -> tuple[Callable[[], Any], Callable[[Any], str]]:
    """Returns what is measured, and what makes a digest of its result."""
    if work == LONG:
        return (
            lambda: encoding.encode_ordinary_to_numpy(text, num_threads=threads),
            digest,
        )
    documents = cut(text, DOCUMENT_BYTES)
    if work == TRAINING:
        return (
            lambda: bytemill.train(documents, vocab_size, num_threads=threads, progress=False),
            lambda trained: str(trained.sha256),
        )
    size = BATCH if work == STREAM else len(documents)
    batches = [documents[start : start + size] for start in range(0, len(documents), size)]
    return (
        lambda: [encoding.encode_batch_to_numpy(batch, num_threads=threads) for batch in batches],
        lambda results: " ".join(digest((each.ids, each.offsets)) for each in results),
    )


def scaling(task: dict[str, Any]) -> dict[str, Any]:
    """Does one kind of work some times and returns the least seconds, memory, and a digest of the result."""
    most_bytes = task["megabytes"] * 1_000_000
    folder = None if task["corpus"] is None else Path(task["corpus"])
    text = "".join(read_texts(folder, most_bytes).values())
    encoding = bytemill.get_encoding(ENCODING)
    call, digest_of = calls_of(task["work"], encoding, text, task["threads"], task["vocab_size"])
    # The first result is compared, and teaches the caches that replays find filled.
    first = digest_of(call())
    times = []
    for _ in range(task["rounds"]):
        if task["work"] == STREAM:
            encoding.clear_cache()
        start, cpu = perf_counter(), process_time()
        call()
        times.append((perf_counter() - start, process_time() - cpu))
    seconds, cpu_seconds = min(times)
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "bytes": len(text.encode()),
        "megabytes": peak_megabytes(),
        "caches": encoding.memory_usage(),
        "digest": first,
    }


# --- In the process that compares ---


def counts_up_to(processors: int) -> list[int]:
    """Returns the powers of two up to a number of processors, and that number."""
    powers = [1 << power for power in range(processors.bit_length())]
    return sorted({*powers, processors})


def measure(work: str, threads: Sequence[int], task: dict[str, Any]) -> list[Point]:
    """Measures one kind of work with each number of threads, one thread first."""
    points: list[Point] = []
    expected = None
    for count in sorted({1, *threads}):
        done = run_worker({"task": "scaling", "work": work, "threads": count, **task})
        found = done.pop("digest")
        expected = expected or found
        points.append(Point(work=work, threads=count, equal=found == expected, **done))
    return points


def chart(points: Sequence[Point]) -> list[str]:
    """Returns a line for each point: its speed as a bar, beside that of one thread, and its memory."""
    lines = []
    for alone in (point for point in points if point.threads == 1):
        ours = [point for point in points if point.work == alone.work]
        most = max(alone.seconds / point.seconds for point in ours)
        lines.append(alone.work)
        for point in ours:
            times = alone.seconds / point.seconds
            bar = "█" * max(1, round(BAR * times / most))
            extra = (point.megabytes - alone.megabytes) / max(point.threads - 1, 1)
            memory = "" if point.threads == 1 else f", {extra:.1f} MB for each more"
            lines.append(
                f"{point.threads:4} {bar:{BAR}} {times:5.2f}x {point.bytes / point.seconds / 1e6:7.0f} MB/s "
                f"{point.megabytes:7.0f} MB{memory}{'' if point.equal else '  OTHER RESULT'}"
            )
    return lines


def table(head: dict[str, Any], points: Sequence[Point]) -> list[str]:
    """Returns commit, machine and a Markdown table to send, with a row for each number of threads."""
    machine = head["machine"]
    measured = (
        f"bytemill {bytemill.__version__}, commit {head['source']['commit']}, {head['encoding']}, on "
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gigabytes']} GB, {machine['system']}, "
        f"{machine['python']}; load before the first run: {head['load']}"
    )
    lines = [
        measured,
        "",
        f"| threads | {' | '.join(work.partition(':')[0] for work in WORKS)} |",
        f"|---|{'---|' * len(WORKS)}",
    ]
    found = {(point.threads, point.work): point for point in points}
    for threads in sorted({point.threads for point in points}):
        cells = []
        for work in WORKS:
            alone, point = found[1, work], found[threads, work]
            speed = f"{point.bytes / point.seconds / 1e6:.0f} MB/s, {alone.seconds / point.seconds:.2f}x"
            cells.append(f"{speed}, {point.megabytes:.0f} MB" if point.equal else "**another result**")
        lines.append(f"| {threads} | {' | '.join(cells)} |")
    return lines


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="a folder of .txt files (default: Python's own source)"
    )
    parser.add_argument("--megabytes", type=int, default=50, help="of each text (default: 50)")
    parser.add_argument(
        "--threads", metavar="N,N", help="numbers of threads (default: powers of two up to all processors)"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--vocab-size", type=int, default=20_000, help="of training (default: 20,000)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    return parser.parse_args()


def main() -> int:
    """Measures all kinds of work, prints a chart and records the result."""
    options = parse_arguments()
    if BUILD_PROFILE != "release":
        sys.exit(f"expected a release build of bytemill, got {BUILD_PROFILE}: make build")
    if options.threads is None:
        threads = counts_up_to(os.cpu_count() or 1)
    else:
        threads = [int(count) for count in options.threads.split(",")]
    task = {
        "corpus": None if options.corpus is None else str(options.corpus.resolve()),
        **{name: getattr(options, name) for name in ("megabytes", "rounds", "vocab_size")},
    }
    load = round(os.getloadavg()[0], 1)
    points = []
    for work in WORKS:
        measured = measure(work, threads, task)
        print("\n".join(chart(measured)), flush=True)
        points += measured
    given = record.given(options, "corpus", "megabytes", "rounds", "vocab_size")
    head = record.description() | {"arguments": given, "encoding": ENCODING, "load": load}
    print("\n".join(["", f"To send the result, open an issue at {ISSUES} with this table:", ""]))
    print("\n".join(table(head, points)))
    if options.output is not None:
        record.write(options.output, head, points=points)
    return 0 if all(point.equal for point in points) else 1


if __name__ == "__main__":
    sys.exit(main())
