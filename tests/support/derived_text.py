"""Any amount of text, in chunks that are numbered: what is in files as it is, then what is derived from it.

A chunk is the same every time that the files are the same. It is derived from as much of the files in one of
the ways of `WAYS`, which the number of the chunk chooses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from support.texts import ADVERSARIAL, FRAGMENTS, SCRIPTS, SEPARATORS

__all__ = ["CHUNK_BYTES", "Chunk", "Part", "alternate_chunks", "chunks_of", "digest", "sliced", "text_of"]

CHUNK_BYTES = 4_000_000

# Code points of the planes with text, without surrogates.
CHARACTERS = np.array([*range(0xD800), *range(0xE000, 0x30000)], np.uint32)


class Part(NamedTuple):
    """A part of a file: the bytes from `start` on."""

    path: Path
    start: int
    size: int


class Chunk(NamedTuple):
    """A chunk of text.

    Attributes:
        number: Its number, from 0.
        turn: 0 for the files as they are, other numbers for text that is derived from them.
        parts: Parts of files that it has, or is derived from.
    """

    number: int
    turn: int
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Number of bytes of the parts."""
        return sum(part.size for part in self.parts)


def chunks_of(paths: Sequence[Path], size: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """Yields chunks of a size without end."""
    numbers = count()
    for turn in count():
        for parts in cut(paths, size):
            yield Chunk(next(numbers), turn, parts)


def alternate_chunks(paths: Sequence[Path], size: int, reader: int, readers: int) -> Iterator[Chunk]:
    """Yields chunks without end: one of the files as it is, then one that is derived from it, and so on.

    Args:
        paths: The files.
        size: Number of bytes of a chunk.
        reader: The number of a reader. Each begins at another place of the files, and derives other text.
        readers: How many readers there are.
    """
    parts = [*cut(paths, size)]
    start = reader * len(parts) // readers
    for number in count():
        place, is_derived = divmod(number, 2)
        # After all files were read once, everything is derived.
        turn = 2 * (place // len(parts)) + is_derived
        yield Chunk(number * readers + reader, turn, parts[(start + place) % len(parts)])


def cut(paths: Sequence[Path], chunk_size: int = CHUNK_BYTES) -> Iterator[tuple[Part, ...]]:
    """Yields the parts of each chunk of all files, one behind the other."""
    parts: list[Part] = []
    room = chunk_size
    for path in paths:
        start, size = 0, path.stat().st_size
        while start < size:
            parts.append(Part(path, start, min(room, size - start)))
            start += parts[-1].size
            room -= parts[-1].size
            if not room:
                yield tuple(parts)
                parts, room = [], chunk_size
    if parts:
        yield tuple(parts)


def text_of(chunk: Chunk) -> str:
    """Reads a chunk, or derives it; invalid bytes become replacement characters."""
    data = b"".join(map(read, chunk.parts))
    if chunk.turn == 0:
        return data.decode("utf-8", "replace")
    source = np.random.default_rng(chunk.number)
    return WAYS[source.integers(len(WAYS))](data, source)


def digest(paths: Sequence[Path]) -> str:
    """Returns a digest of the contents of files, which the numbers of chunks depend on."""
    hashed = hashlib.sha256()
    for parts in cut(paths):
        for part in parts:
            hashed.update(read(part))
    return hashed.hexdigest()


def read(part: Part) -> bytes:
    """Reads a part of a file."""
    with part.path.open("rb") as file:
        file.seek(part.start)
        return file.read(part.size)


# --- Ways to derive text ------------------------------------------------------------------------------------

Source = np.random.Generator


def rearranged(data: bytes, source: Source) -> str:
    """Returns parts of up to 2,000 characters in another order, and two characters of a hundred replaced: by
    others of the text, or by any.
    """
    text = data.decode("utf-8", "replace")
    pieces = list(sliced(text, source.integers(1, 2001, len(text) // 1000 + 1)))
    order = source.permutation(len(pieces))
    text = "".join(pieces[index] for index in order)
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32).copy()
    places = source.integers(0, len(points), len(points) // 50)
    near = source.random(len(places)) < 0.8
    points[places] = np.where(
        near, source.choice(points, len(places)), source.choice(CHARACTERS, len(places))
    )
    return points.tobytes().decode("utf-32-le")


def damaged(data: bytes, source: Source) -> str:
    """Returns a text with a bit flipped in two bytes of a thousand, in twenty, or in a hundred."""
    changed = np.frombuffer(data, np.uint8).copy()
    share = source.choice([0.002, 0.02, 0.1])
    places = source.integers(0, len(changed), int(len(changed) * share))
    changed[places] ^= (1 << source.integers(0, 8, len(places))).astype(np.uint8)
    return changed.tobytes().decode("utf-8", "replace")


def shuffled(data: bytes, source: Source) -> str:
    """Returns the words of a text in any order, between blanks, digits, marks and emoji of all kinds."""
    words = data.decode("utf-8", "replace").split() or [""]
    number = len(words)
    between = [" "] * len(FRAGMENTS) + FRAGMENTS + SEPARATORS
    return alternating(chosen(words, number, source), chosen(between, number, source))


def generated(data: bytes, source: Source) -> str:
    """Returns words of random letters of one script each, and among them what tokenizers stumble over: as
    much as there are bytes.
    """
    number = len(data) // 14 + 1
    lengths = source.integers(1, 10, number)
    first, last = np.array([*SCRIPTS.values()]).T
    script = source.integers(0, len(first), number).repeat(lengths)
    points = source.integers(first[script], last[script] + 1).astype(np.uint32)
    words = [*sliced(points.tobytes().decode("utf-32-le"), lengths)]
    between = chosen(SEPARATORS, number, source)
    # Much of one kind: for one word of two thousand.
    for index in source.integers(0, number, number // 2000 + 1):
        whole = MUCH[source.integers(len(MUCH))]
        start, size = source.integers(0, len(whole)), source.integers(1, 3000)
        between[index] = whole[start : start + size]
    for index in source.integers(0, number, number // 100 + 1):
        between[index] = "".join(chosen(FRAGMENTS, int(source.integers(1, 30)), source))
    return alternating(words, between)


WAYS: list[Callable[[bytes, Source], str]] = [rearranged, damaged, shuffled, generated]
MUCH = [*ADVERSARIAL.values()]


def sliced(text: str, lengths: Any) -> Iterator[str]:
    """Yields slices of a text, of given lengths, and what remains."""
    start = 0
    for end in lengths.cumsum().tolist():
        yield text[start:end]
        start = end
    yield text[start:]


def chosen(strings: Sequence[str], number: int, source: Source) -> list[str]:
    """Returns a number of strings, chosen at random."""
    return [strings[index] for index in source.integers(0, len(strings), number).tolist()]


def alternating(first: list[str], second: list[str]) -> str:
    """Joins strings of two lists in turn."""
    return "".join(word for pair in zip(first, second, strict=False) for word in pair)
