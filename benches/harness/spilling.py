"""Trains with and without a limit of memory, on text with more distinct pieces than the limit allows.

    PYTHONPATH=tests:benches python -m harness.spilling --corpus DIR --output RESULT.json

The text is generated reproducibly: words of `english.txt`, every tenth replaced by random letters. Each run
is a fresh process. The exit code is 0 if both vocabularies are equal and the limited run takes at most twice
as long.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness import record
from harness.processes import run_worker

WORDS_AT_ONCE = 1_000_000
TARGET = 2.0


def write_text(words: Sequence[str], size: int, path: Path) -> None:
    """Writes about `size` bytes of words, every tenth of six to ten random letters, to `path`."""
    random = np.random.default_rng(5)
    known = np.array([word for word in words if word.isascii()], dtype=object)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)
    with path.open("w", encoding="utf-8") as file:
        written = 0
        while written < size:
            line = known[random.integers(0, len(known), WORDS_AT_ONCE)]
            made = letters[random.integers(0, len(letters), (WORDS_AT_ONCE // 10, 10))].tobytes().decode()
            line[::10] = [made[start : start + 6 + start // 10 % 5] for start in range(0, len(made), 10)]
            written += file.write(" ".join(line) + "\n")


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="where english.txt is")
    parser.add_argument("--megabytes", type=int, default=1000, help="of text (default: 1000)")
    parser.add_argument("--limit", type=int, default=256, help="of memory, in MiB (default: 256)")
    parser.add_argument("--vocab-size", type=int, default=100_000)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    return parser.parse_args()


def main() -> int:
    """Runs both and prints the results."""
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        words = (arguments.corpus / "english.txt").read_text(encoding="utf-8").split()
        write_text(words, arguments.megabytes * 1_000_000, text)
        runs = []
        task = {"task": "spilling", "text": str(text), "vocab_size": arguments.vocab_size}
        for limit in (None, arguments.limit << 20):
            runs.append(run_worker(task | {"memory_limit": limit}))
            print(runs[-1])
    free, limited = runs
    same = free["digest"] == limited["digest"]
    ratio = limited["seconds"] / free["seconds"]
    print(f"vocabularies {'equal' if same else 'NOT EQUAL'}; limited {ratio:.2f}x, at most {TARGET:g}x")
    if arguments.output is not None:
        given = {key: value for key, value in vars(arguments).items() if isinstance(value, int)}
        head = record.description() | {"arguments": given, "same_vocabulary": same, "ratio": round(ratio, 3)}
        record.write(arguments.output, head, runs=runs)
    return 0 if same and ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
