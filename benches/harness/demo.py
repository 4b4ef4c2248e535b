"""Encodes some megabytes of real text to o200k_base ids beside tiktoken, comparing the ids."""

from __future__ import annotations

import platform
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import tiktoken

import bytemill
from harness.corpora import installed_files, read_text
from harness.measure import seconds
from support.offline_tiktoken import offline_tiktoken

ENCODING = "o200k_base"
MOST_BYTES = 8_000_000
ROUNDS = 3


def main() -> int:
    """Prints the comparison; the exit code is 1 if any id differs."""
    texts: list[str] = []
    size = 0
    for path in installed_files():
        texts.append(read_text(path))
        size += len(texts[-1].encode())
        if size >= MOST_BYTES:
            break

    start = perf_counter()
    ours = bytemill.get_encoding(ENCODING)
    loading = perf_counter() - start
    with tempfile.TemporaryDirectory() as folder, offline_tiktoken(Path(folder)) as encodings:
        theirs = encodings[ENCODING]

        tokens = 0
        for text in texts:
            ids = ours.encode_ordinary(text)
            if ids != theirs.encode_ordinary(text) or ours.decode(ids) != text:
                print("ids differ, or do not decode to the text")
                return 1
            tokens += len(ids)

        def run(encode: Callable[[str], object]) -> float:
            return seconds(lambda: [encode(text) for text in texts])

        # In turns, so that a busy machine affects both alike.
        times = [(run(ours.encode_ordinary), run(theirs.encode_ordinary)) for _ in range(ROUNDS)]

    our_time, their_time = (statistics.median(column) for column in zip(*times, strict=True))
    versions = f"bytemill {bytemill.__version__}, tiktoken {tiktoken.__version__}"
    print(f"{versions}, Python {platform.python_version()}, {platform.machine()}")
    print(f"{len(texts)} files of the Python installation, {size / 1e6:.1f} MB, {ENCODING}")
    print(
        f"{tokens} tokens, {size / tokens:.2f} bytes per token; all ids equal, all texts decode to themselves"
    )
    print(f"loading the vocabulary {loading * 1e3:.0f} ms")
    print(f"encode_ordinary to lists, one thread, median of {ROUNDS} replays:")
    print(f"  bytemill {size / our_time / 1e6:7.1f} MB/s")
    print(f"  tiktoken {size / their_time / 1e6:7.1f} MB/s")
    print(f"  ratio    {their_time / our_time:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
