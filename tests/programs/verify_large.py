"""Compare all encodings with tiktoken on a gigabyte of text and record the result.

    PYTHONPATH=tests python -m programs.verify_large DIR [--megabytes N] [--output FILE]

Every file below DIR is read as UTF-8, with replacement characters for invalid bytes, in chunks of some
megabytes. Each chunk is encoded with every encoding by both libraries and decoded back. If there is less text
than requested, more is derived from it, as in `support.derived_text`; the record has the size of each kind. A
run that was interrupted is resumed. Needs no network: tiktoken reads our exports. Exits with 1 if there is
any difference.
"""

# ruff: noqa: T201 - a script: it prints

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken

import bytemill
from bytemill.io.atomic import write_atomically
from support.derived_text import Chunk, chunks_of, digest, text_of
from support.differences import first_difference
from support.offline_tiktoken import NAMES, offline_tiktoken
from support.revision import commit


def compare(chunk: Chunk, encodings: Mapping[str, tiktoken.Encoding]) -> dict[str, Any]:
    """Compares both libraries on a chunk with all encodings."""
    text = text_of(chunk)
    data = text.encode()
    tokens, differences = {}, []
    for name, theirs in encodings.items():
        ours = bytemill.get_encoding(name)
        ids: Any = theirs.encode_to_numpy(text, disallowed_special=())
        got = ours.encode_to_numpy(text, disallowed_special=())
        tokens[name] = len(ids)
        if not np.array_equal(got, ids):
            differences.append(f"{name}, {chunk}: {first_difference(theirs, got, ids)}")
        if ours.decode_bytes(ids) != data:
            differences.append(f"{name}, {chunk}: other bytes are decoded than were encoded")
    return {"bytes": len(data), "tokens": tokens, "differences": differences}


def resumed(log: Path, about: str) -> list[dict[str, Any]]:
    """Returns the results of the chunks of an earlier identical run, or starts a new log."""
    try:
        first, *lines = log.read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ValueError):
        first, lines = "", []
    if first == about:
        # The last line may be incomplete.
        return [json.loads(line) for line in lines if line.endswith("}")]
    log.write_text(about + "\n", encoding="utf-8")
    return []


def main() -> int:
    """Runs the comparison and returns the exit code."""
    parser = argparse.ArgumentParser(description="Compare this library with tiktoken on a gigabyte of text.")
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--megabytes", type=int, default=1000, metavar="N")
    parser.add_argument(
        "--output", type=Path, default=Path("benches/results/verify_large.json"), metavar="FILE"
    )
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.folder.rglob("*") if path.is_file() and path.stat().st_size)
    if not paths:
        parser.error(f"there is no text below {arguments.folder}")
    wanted = arguments.megabytes * 1_000_000
    chunks: list[Chunk] = []
    for chunk in chunks_of(paths):
        if sum(each.size for each in chunks) >= wanted:
            break
        chunks.append(chunk)
    about = json.dumps({**commit(), "corpus": digest(paths), "bytes": wanted})
    log = Path(f"{arguments.output}.log")
    results = resumed(log, about)
    start = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        offline_tiktoken(Path(folder)) as encodings,
        ThreadPoolExecutor(os.cpu_count()) as pool,
        log.open("a", encoding="utf-8") as file,
    ):
        work = partial(compare, encodings={name: encodings[name] for name in NAMES})
        if results:
            print(f"{len(results)} of {len(chunks)} chunks are done already")
        for result in pool.map(work, chunks[len(results) :]):
            results.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            done = sum(each["bytes"] for each in results)
            found = sum(len(each["differences"]) for each in results)
            print(f"{done / 1e6:10.1f} MB with {len(NAMES)} encodings, {found} differences", flush=True)
    differences = [difference for result in results for difference in result["differences"]]
    sizes = [result["bytes"] for result in results]
    original = sum(size for size, chunk in zip(sizes, chunks, strict=True) if chunk.turn == 0)
    record = {
        "date": datetime.now(timezone.utc).date().isoformat(),
        **commit(),
        "bytemill": bytemill.__version__,
        "tiktoken": tiktoken.__version__,
        "bytes": sum(sizes),
        "bytes_as_they_were": original,
        "bytes_made_of_them": sum(sizes) - original,
        "tokens": {name: sum(result["tokens"][name] for result in results) for name in NAMES},
        "differences": len(differences),
        "first_differences": differences[:10],
        "seconds": round(time.perf_counter() - start),
    }
    write_atomically(arguments.output, (json.dumps(record, indent=1) + "\n").encode())
    log.unlink()
    print(json.dumps(record, indent=1))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
