"""Training with and without a limit of memory, on text that has more different pieces than fit.

    python benches/python/spill_training.py --corpus DIR --output RESULT.json

The text is made: words of `english.txt`, every tenth one of random letters instead, always the same. Each
run is a process of its own. The exit code tells whether both vocabularies are the same and the limited run is
at most twice as slow.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import bytemill
from bytemill.formats.atomic import write_atomically
from compare import machine
from support.revision import commit
from training_worker import peak_megabytes

WORDS_AT_ONCE = 1_000_000
TARGET = 2.0


def write_text(words: Sequence[str], size: int, path: Path) -> None:
    """Writes about `size` bytes of words, every tenth of them of six to ten random letters, to `path`."""
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


def train(path: Path, vocab_size: int, limit: int | None) -> dict[str, Any]:
    """Trains in this process, and answers what it took."""
    start = perf_counter()
    counts = bytemill.count_pieces(path, "cl100k", memory_limit=limit, progress=False)
    counted = perf_counter() - start
    encoding = bytemill.train(counts, vocab_size, progress=False)
    return {
        "memory_limit": limit,
        "seconds": round(perf_counter() - start, 2),
        "counting_seconds": round(counted, 2),
        "peak_megabytes": round(peak_megabytes()),
        "unique": len(counts),
        "digest": hashlib.sha256(repr(encoding.merges()).encode()).hexdigest()[:16],
    }


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="where english.txt is")
    parser.add_argument("--megabytes", type=int, default=1000, help="of text (default: 1000)")
    parser.add_argument("--limit", type=int, default=256, help="of memory, in MiB (default: 256)")
    parser.add_argument("--vocab-size", type=int, default=100_000)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the result as JSON")
    parser.add_argument("--text", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Runs both and prints what they took."""
    arguments = parse_arguments()
    if arguments.text is not None:
        limit = arguments.limit << 20 if arguments.limit else None
        print(json.dumps(train(arguments.text, arguments.vocab_size, limit)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        words = (arguments.corpus / "english.txt").read_text(encoding="utf-8").split()
        write_text(words, arguments.megabytes * 1_000_000, text)
        runs = []
        for limit in (0, arguments.limit):
            command = [sys.executable, __file__, "--text", str(text), "--limit", str(limit)]
            command += ["--vocab-size", str(arguments.vocab_size)]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            runs.append(json.loads(run.stdout))
            print(runs[-1])
    free, limited = runs
    same = free["digest"] == limited["digest"]
    ratio = limited["seconds"] / free["seconds"]
    print(f"vocabularies {'equal' if same else 'NOT EQUAL'}; limited {ratio:.2f}x, at most {TARGET:g}x")
    result = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "arguments": {key: value for key, value in vars(arguments).items() if isinstance(value, int)},
        "runs": runs,
        "same_vocabulary": same,
        "ratio": round(ratio, 3),
    }
    if arguments.output is not None:
        write_atomically(arguments.output, json.dumps(result, indent=1).encode() + b"\n")
    return 0 if same and ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
