"""Large texts, made reproducibly from small ones: documents of mixed blocks of lines, with rare names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

# Lines that stay together.
LINES = 8
# Blocks of lines in a document, at most.
MOST_BLOCKS = 12
# Letters of a name that occurs nowhere else: one for each document, as texts of any size have new ones.
NAME = 9

FILE_BYTES = 128 << 20

# Blocks that are yielded together.
PART = 1000


class Mixer:
    """Writes documents of blocks of lines, drawn from texts; each file depends on the seed and its number."""

    def __init__(self, paths: Sequence[Path], seed: int) -> None:
        """Reads the texts."""
        self._sources = [blocks_of(path) for path in paths]
        self._seed = seed
        sizes = np.array([path.stat().st_size for path in paths], float)
        # Not by size alone: a small text would not be seen.
        self._shares = np.sqrt(sizes) / np.sqrt(sizes).sum()

    def write(self, folder: Path, size: int, number: int) -> int:
        """Writes a file of JSON lines of about `size` bytes and returns its bytes."""
        written = 0
        with (folder / f"{number:05}.jsonl").open("wb") as file:
            for document in self._documents(number):
                line = json.dumps({"text": document}, ensure_ascii=False).encode() + b"\n"
                written += file.write(line)
                if written >= size:
                    break
        return written

    def _documents(self, number: int) -> Iterator[str]:
        random = np.random.default_rng([self._seed, number])
        while True:
            of = random.choice(len(self._sources), 1024, p=self._shares)
            lengths = random.integers(1, MOST_BLOCKS, 1024, endpoint=True)
            names = random.integers(97, 123, (1024, NAME), dtype=np.uint8)
            for source, length, name in zip(of.tolist(), lengths.tolist(), names, strict=True):
                blocks = self._sources[source]
                chosen = random.integers(0, len(blocks), length).tolist()
                yield "".join([blocks[block] for block in chosen]) + name.tobytes().decode()


def blocks_of(path: Path) -> list[str]:
    """Returns a text in blocks of `LINES` lines."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    return ["".join(lines[start : start + LINES]) for start in range(0, len(lines), LINES)]


def write_texts(paths: Sequence[Path], folder: Path, size: int, seed: int = 0) -> list[int]:
    """Writes files of JSON lines, of `size` bytes together, and returns the bytes of each."""
    folder.mkdir(parents=True, exist_ok=True)
    mixer = Mixer(paths, seed)
    numbers = range(-(-size // FILE_BYTES))
    return list(map(partial(mixer.write, folder, size // len(numbers)), numbers))


def shuffled_blocks(paths: Sequence[Path], seed: int = 0) -> Iterator[list[str]]:
    """Yields all blocks of texts, each once and in mixed order, some thousand at a time."""
    blocks = [block for path in paths for block in blocks_of(path)]
    order = np.random.default_rng(seed).permutation(len(blocks))
    for start in range(0, len(order), PART):
        yield [blocks[number] for number in order[start : start + PART].tolist()]
