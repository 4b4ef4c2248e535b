"""Compare all encodings with tiktoken on a gigabyte of text and record the result.

    PYTHONPATH=tests python -m programs.verify_large DIR [--megabytes N] [--output FILE]

Every file below DIR is read as UTF-8, with replacement characters for invalid bytes, in chunks of some
megabytes. Each chunk is encoded with every encoding by both libraries and decoded back. If there is less text
than requested, more is derived from it: the same chunks with their parts in another order and some characters
replaced, differently each time but reproducibly; the record has the size of each kind. A run that was
interrupted is resumed. Needs no network: tiktoken reads our exports. Exits with 1 if there is any
difference.
"""

# ruff: noqa: T201 - a script: it prints

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tiktoken

import bytemill
from bytemill.io.atomic import write_atomically
from support.differences import first_difference
from support.offline_tiktoken import NAMES, offline_tiktoken
from support.revision import commit

CHUNK_BYTES = 4_000_000

# Length of the parts of a derived text in characters, and the share of replaced characters as its inverse.
PART = (1, 2000)
REPLACED = 50
# Code points of the planes with text, without surrogates.
CHARACTERS = [*range(0xD800), *range(0xE000, 0x30000)]


class Chunk(NamedTuple):
    """A chunk of the text to compare.

    Attributes:
        path: The file.
        start: Start offset in bytes.
        size: Number of bytes.
        turn: 0 for the original text, other numbers for texts derived from it.
    """

    path: Path
    start: int
    size: int
    turn: int


def chunks_of(paths: list[Path], wanted: int) -> Iterator[Chunk]:
    """Yields chunks until they have the requested size."""
    for turn in count():
        for path in paths:
            size = path.stat().st_size
            for start in range(0, size, CHUNK_BYTES):
                if wanted <= 0:
                    return
                yield Chunk(path, start, min(CHUNK_BYTES, size - start), turn)
                wanted -= min(CHUNK_BYTES, size - start)


def text_of(chunk: Chunk) -> str:
    """Reads a chunk, or derives another text from it."""
    with chunk.path.open("rb") as file:
        file.seek(chunk.start)
        text = file.read(chunk.size).decode("utf-8", "replace")
    if chunk.turn == 0:
        return text
    chance = random.Random(f"{chunk.start} {chunk.size} {chunk.turn}")  # noqa: S311 - the same every time
    parts = []
    start = 0
    while start < len(text):
        length = chance.randint(*PART)
        parts.append(text[start : start + length])
        start += length
    chance.shuffle(parts)
    characters = list("".join(parts))
    for index in chance.sample(range(len(characters)), len(characters) // REPLACED):
        near = chance.random() < 0.8
        characters[index] = chance.choice(text) if near else chr(chance.choice(CHARACTERS))
    return "".join(characters)


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
    chunks = list(chunks_of(paths, wanted))
    corpus = hashlib.sha256(
        repr([(str(path), path.stat().st_mtime_ns) for path in paths]).encode()
    ).hexdigest()
    about = json.dumps({**commit(), "corpus": corpus, "bytes": wanted})
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
