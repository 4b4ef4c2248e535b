"""Measures how long an event loop stalls while a large text is encoded in a thread (`asyncio.to_thread`).

The loop ticks every 5 ms. The largest gap between two ticks, less those 5 ms, is the stall: the time for
which the thread held the GIL, or the system ran other processes. The row without work shows the latter.

    python -m benches event-loop
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep
from typing import TypedDict

import bytemill
from bytemill._core import BUILD_PROFILE
from harness import record
from harness.corpora import read_texts

TICK = 0.005
PARTS = 1_000


class Measured(TypedDict):
    """One kind of work.

    Attributes:
        work: Name.
        seconds: Duration in the thread.
        stall_ms: Largest stall meanwhile, the minimum of several turns.
    """

    work: str
    seconds: float
    stall_ms: float


async def stall(work: Callable[[], object]) -> tuple[float, float]:
    """Runs `work` in a thread and returns its duration and the largest stall, in seconds."""
    start = last = perf_counter()
    done = asyncio.create_task(asyncio.to_thread(work))
    largest = 0.0
    while not done.done():
        await asyncio.sleep(TICK)
        now = perf_counter()
        largest = max(largest, now - last - TICK)
        last = now
    took = last - start
    # Dropping the result takes time of the loop, too.
    await done
    del done
    return took, max(largest, perf_counter() - last)


def works(encoding: bytemill.Encoding, text: str) -> dict[str, Callable[[], object]]:
    """Returns the kinds of work by name."""
    length = -(-len(text) // PARTS)
    parts = [text[start : start + length] for start in range(0, len(text), length)]
    return {
        "nothing": lambda: sleep(0.5),
        "encode_to_numpy": lambda: encoding.encode_to_numpy(text),
        "encode, a list": lambda: encoding.encode(text),
        "encode_batch_to_numpy": lambda: encoding.encode_batch_to_numpy(parts, num_threads=1),
        "encode_batch, lists": lambda: encoding.encode_batch(parts, num_threads=1),
        "count": lambda: encoding.count(text),
    }


def measure(encoding: bytemill.Encoding, text: str, turns: int) -> list[Measured]:
    """Measures each kind of work in several turns."""
    # The first call caches the UTF-8 of the text, and its pieces.
    encoding.count(text)
    rows: list[Measured] = []
    for name, work in works(encoding, text).items():
        results = [asyncio.run(stall(work)) for _ in range(turns)]
        seconds, largest = (min(column) for column in zip(*results, strict=True))
        rows.append({"work": name, "seconds": round(seconds, 3), "stall_ms": round(1_000 * largest, 1)})
    return rows


def main() -> int:
    """Prints and records the stalls."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--corpus", type=Path, help="texts; what Python brings along if not given")
    parser.add_argument("--output", type=Path, help="a file of JSON for the result")
    arguments = parser.parse_args()
    if BUILD_PROFILE != "release":
        parser.error(f"expected a release build of bytemill, got {BUILD_PROFILE}: make build")
    read = "".join(read_texts(arguments.corpus, arguments.megabytes * 1_000_000).values())
    text = (read * (arguments.megabytes * 1_000_000 // len(read) + 1))[: arguments.megabytes * 1_000_000]
    rows = measure(bytemill.get_encoding("o200k_base"), text, arguments.turns)
    for row in rows:
        print(f"{row['work']:24} {row['seconds']:8.3f} s   largest stall {row['stall_ms']:7.1f} ms")
    if arguments.output:
        head = record.description() | {"megabytes": arguments.megabytes, "tick_ms": 1_000 * TICK}
        record.write(arguments.output, head, results=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
