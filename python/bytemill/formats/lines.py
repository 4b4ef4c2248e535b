"""Lines of a file, of which not all are in memory at once.

A list of short lines takes up to 40 times the memory of the file, and a malformed file is refused at the
first wrong line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, AnyStr

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["blocks_of", "byte_lines", "number_of", "text_lines", "two_fields"]

# Bytes or characters of a block: some thousand lines.
BLOCK = 1 << 17


def blocks_of(contents: AnyStr, end: AnyStr) -> Iterator[AnyStr]:
    """Yields parts of a file, each with its whole lines up to a line break `end`."""
    start = 0
    while start < len(contents):
        found = contents.find(end, start + BLOCK)
        stop = len(contents) if found < 0 else found + 1
        yield contents[start:stop]
        start = stop


def byte_lines(contents: bytes) -> Iterator[bytes]:
    """Yields the lines of `contents.splitlines()`."""
    for block in blocks_of(contents, b"\n"):
        yield from block.splitlines()


def text_lines(text: str) -> Iterator[str]:
    r"""Yields the lines of a text that end with `\n`, which they are without; the last need not."""
    for block in blocks_of(text, "\n"):
        yield from block.removesuffix("\n").split("\n")


def two_fields(line: AnyStr) -> list[AnyStr]:
    """Returns the fields of a line that should have two: with a third, the rest of the line is that."""
    return line.split(None, 2)


def number_of(fields: list[AnyStr]) -> str:
    """Returns how many fields a line has, for a message."""
    return str(len(fields)) if len(fields) <= 2 else "more than 2"  # noqa: PLR2004 - see `two_fields`
