"""Compares tiers of this machine: the ids first, then the time, in fresh processes that alternate.

    python -m benches tiers --corpus DIR [--rounds N] [--output FILE]

A figure is the least processor time of all repetitions and rounds. The exit code is 1 if a tier gives other
ids.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import bytemill
from bytemill._core import BUILD_PROFILE, TIER
from harness import record
from harness.measure import digest

ENCODINGS = ("cl100k_base", "o200k_base")
# The last one only where the machine has it.
TIERS = ("scalar", "simd128", "avx2", *({"avx512"} & {TIER}))


def least(repetitions: int, work: Callable[[], object]) -> float:
    """Returns the least processor time that a call took, in seconds."""
    seconds = []
    for _ in range(repetitions):
        start = process_time()
        work()
        seconds.append(process_time() - start)
    return min(seconds)


def serve(path: Path) -> None:
    """Encodes a text by the tier of this process, and prints the times and a digest of the ids."""
    text = path.read_text(encoding="utf-8")
    cells: dict[str, Any] = {}
    for name in ENCODINGS:
        encoding = bytemill.get_encoding(name)

        def first(encoding: bytemill.Encoding = encoding) -> None:
            encoding.clear_cache()
            encoding.encode_to_numpy(text)

        def replay(encoding: bytemill.Encoding = encoding) -> None:
            encoding.encode_to_numpy(text)

        cells[name] = {
            "first": least(2, first),
            "replay": least(4, replay),
            "digest": digest(encoding.encode_to_numpy(text)),
        }
    print(json.dumps(cells))


def run(tier: str, path: Path) -> dict[str, Any]:
    """Returns what a process of a tier measures."""
    command = [sys.executable, "-m", "harness.tiers", "--serve", str(path)]
    environment = os.environ | {"BYTEMILL_TIER": tier, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> int:
    """Measures all tiers in turns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="a folder of .txt files")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return 0
    if options.corpus is None or BUILD_PROFILE != "release":
        parser.error("expected --corpus, and a release build of bytemill")
    load = round(os.getloadavg()[0], 1)
    cells: dict[tuple[str, str, str], dict[str, Any]] = {}
    digests: dict[tuple[str, str], set[str]] = {}
    for number in range(options.rounds):
        for path in sorted(options.corpus.glob("*.txt")):
            for tier in TIERS if number % 2 == 0 else reversed(TIERS):
                for encoding, figures in run(tier, path).items():
                    digests.setdefault((path.stem, encoding), set()).add(figures.pop("digest"))
                    cell = cells.setdefault((path.stem, encoding, tier), figures)
                    cell |= {state: min(cell[state], figures[state]) for state in figures}
    rows = [
        {"corpus": corpus, "encoding": encoding, "tier": tier, **figures}
        for (corpus, encoding, tier), figures in sorted(cells.items())
    ]
    for row in rows:
        print(row)
    if options.output is not None:
        given = record.given(options, "corpus", "rounds")
        head = record.description() | {"arguments": given, "load": load}
        record.write(options.output, head, cells=rows)
    return int(any(len(found) != 1 for found in digests.values()))


if __name__ == "__main__":
    sys.exit(main())
