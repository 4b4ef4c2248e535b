"""Profiles encoding with Linux's `perf`: the share of each stage.

    python -m benches stages --corpus DIR

A call is repeated for some seconds in a fresh process, which `perf` samples some thousand times a second.
The cache is cleared before each first pass.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import bytemill
from harness import record
from harness.corpora import DOCUMENT_BYTES, cut, read_texts

MOST_BYTES = 10_000_000
ENCODING = "o200k_base"

# Samples per second, and seconds.
FREQUENCY = 4000
SECONDS = 2.0

# The stage of a function is the first whose expression matches "object: function".
STAGES = {
    "Python": r"^(libpython|python)|python::(ids|encoding)",
    "UTF-8": r"python::strings|utf8",
    "merge": r"merge|vocabulary",
    "look up": r"cache(?!.*::hash_|::avx512)|encode::hot_loop::(?!compiled)|encode::pool",
    "split": r"split|cache::|encode::hot_loop|encode::Encoder",
    "memory": r"^\[|^libc|util::hash",
}

Result = dict[str, Any]


def long_text(encoding: bytemill.Encoding, text: str) -> Iterator[None]:
    """Encodes the text to an array repeatedly."""
    encoding.encode_to_numpy(text)
    while True:
        encoding.encode_to_numpy(text)
        yield


def long_text_first(encoding: bytemill.Encoding, text: str) -> Iterator[None]:
    """Encodes the text to an array repeatedly, clearing the cache before."""
    while True:
        encoding.clear_cache()
        encoding.encode_to_numpy(text)
        yield


def documents(size: int) -> Callable[[bytemill.Encoding, str], Iterator[None]]:
    """Returns work that encodes documents of a size to lists."""

    def work(encoding: bytemill.Encoding, text: str) -> Iterator[None]:
        texts = cut(text, size)
        while True:
            for document in texts:
                encoding.encode_ordinary(document)
            yield

    return work


WORK = {
    "one long text to an array, first pass": long_text_first,
    "one long text to an array, replay": long_text,
    "4 KB documents to lists, replay": documents(DOCUMENT_BYTES),
    "100-byte strings to lists, replay": documents(100),
}


def serve(row: str, path: Path) -> None:
    """Prints "ready", waits for a line, works for some seconds and prints the speed."""
    text = path.read_bytes().decode()
    encoding = bytemill.get_encoding(ENCODING)
    steps = WORK[row](encoding, text)
    next(steps)
    print("ready", flush=True)
    sys.stdin.readline()
    start, rounds = perf_counter(), 0
    while perf_counter() - start < SECONDS:
        next(steps)
        rounds += 1
    print(rounds * path.stat().st_size / (perf_counter() - start) / 1e6, flush=True)
    # Skip the exit of Python, which is not to be sampled.
    os._exit(0)


def measure(row: str, path: Path, folder: Path) -> tuple[float, Counter[str]]:
    """Returns the speed in MB/s, and the number of samples of each "object: function"."""
    samples = folder / "perf.data"
    worker = [sys.executable, "-m", "harness.stages", "--serve", row, str(path)]
    with subprocess.Popen(worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None or process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{row}: the measured process has not started")
        perf = ["perf", "record", "--quiet", "-F", str(FREQUENCY), "-o", str(samples), "-p", str(process.pid)]
        with subprocess.Popen(perf) as recorder:
            process.stdin.write("go\n")
            process.stdin.flush()
            speed = float(process.stdout.readline())
            process.wait()
            recorder.wait()
    report = ["perf", "report", "--stdio", "--quiet", "-g", "none", "-i", str(samples)]
    report += ["--sort", "dso,symbol", "--fields", "sample,dso,symbol", "--field-separator", "|"]
    lines = subprocess.run(report, check=True, capture_output=True, text=True).stdout
    functions: Counter[str] = Counter()
    for line in lines.splitlines():
        count, _, function = line.strip().partition("|")
        if function:
            binary, _, name = function.partition("|")
            functions[f"{binary.strip()}: {name.strip()}"] += int(count)
    return speed, functions


def stage(function: str) -> str:
    """Returns the stage of a function."""
    return next((name for name, found in STAGES.items() if re.search(found, function)), "other")


def shares(functions: Mapping[str, int]) -> dict[str, float]:
    """Returns the share of each stage in all samples."""
    stages: Counter[str] = Counter()
    for function, count in functions.items():
        stages[stage(function)] += count
    return {name: round(stages[name] / sum(stages.values()), 3) for name in [*STAGES, "other"]}


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="its .txt files, not Python's source")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> int:
    """Measures everything and prints the table."""
    arguments = parse_arguments()
    if arguments.serve is not None:
        serve(arguments.serve[0], Path(arguments.serve[1]))
        return 0
    if shutil.which("perf") is None:
        print("perf is not installed: it comes with linux-perf or linux-tools", file=sys.stderr)
        return 1
    cells: list[Result] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for corpus, text in read_texts(arguments.corpus, MOST_BYTES).items():
            path = folder / f"{corpus}.txt"
            path.write_bytes(text.encode())
            for row in WORK:
                speed, functions = measure(row, path, folder)
                cells.append(
                    {"row": row, "corpus": corpus, "speed": round(speed, 1), "stages": shares(functions)}
                )
                print(cells[-1], flush=True)
    cells.sort(key=lambda cell: list(WORK).index(cell["row"]))
    if arguments.output is not None:
        head = record.description() | {"encoding": ENCODING}
        record.write(arguments.output, head, cells=cells)
    return 0


if __name__ == "__main__":
    sys.exit(main())
