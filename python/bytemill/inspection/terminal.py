"""Render tokens for a terminal, coloured or with separators, with their ids below."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple, TextIO

from bytemill.inspection.escapes import Segment, segments_of, width_of
from bytemill.inspection.palette import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bytemill.inspection.token_view import Token

__all__ = ["Cell", "rows", "supports_colour", "terminal_width"]

RESET = "\x1b[0m"
DIM = "\x1b[2m"

# Indices in the 256-colour palette: text, and substitutes for invisible characters.
TEXT_COLOUR = 16
SUBSTITUTE_COLOUR = 239


class Cell(NamedTuple):
    """A rendered token, or part of a piece.

    Attributes:
        segments: The rendered bytes.
        colour: Palette index of the background.
        special: Whether it is a special token.
        padding: Number of spaces that make it as wide as the id below it.
    """

    segments: list[Segment]
    colour: int
    special: bool = False
    padding: int = 0

    @property
    def width(self) -> int:
        """Width in columns."""
        return width_of(self.plain())

    def plain(self) -> str:
        """Returns it without colours."""
        return "".join(segment.text for segment in self.segments) + " " * self.padding

    def coloured(self) -> str:
        """Returns it on its background; special tokens are bold and underlined."""
        style = f"1;4;48;5;{self.colour}" if self.special else f"48;5;{self.colour}"
        coloured = (
            f"\x1b[{style};38;5;{SUBSTITUTE_COLOUR if segment.substitute else TEXT_COLOUR}m{segment.text}"
            for segment in self.segments
        )
        return "".join(coloured) + RESET + " " * self.padding


def supports_colour(stream: TextIO) -> bool:
    """Returns whether to write colours: to a terminal that has them, unless `NO_COLOR` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_width(stream: TextIO) -> int | None:
    """Returns the columns of a terminal, or `None` if the stream is not one."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def rows(tokens: Iterable[Token], *, colour: bool, ids: bool, width: int | None) -> Iterator[str]:
    """Yields the lines of a view; arguments as `TokenView.terminal`."""
    gap = (" " if ids else "") if colour else (" │ " if ids else "│")
    for row in wrap(cells(tokens, ids=ids), len(gap), width):
        yield gap.join(cell.coloured() if colour else cell.plain() for _, cell in row).rstrip()
        if ids:
            line = gap.join(str(token.id).ljust(cell.width) for token, cell in row).rstrip()
            yield f"{DIM}{line}{RESET}" if colour else line


def cells(tokens: Iterable[Token], *, ids: bool) -> Iterator[tuple[Token, Cell]]:
    """Yields each token with its cell, cycling through the colours."""
    for index, token in enumerate(tokens):
        segments = segments_of(token.value)
        missing = len(str(token.id)) - sum(width_of(segment.text) for segment in segments) if ids else 0
        yield token, Cell(segments, COLOURS[index % len(COLOURS)].terminal, token.special, max(missing, 0))


def wrap(
    tokens: Iterable[tuple[Token, Cell]], gap: int, width: int | None
) -> Iterator[list[tuple[Token, Cell]]]:
    """Groups cells into rows, which end after a line break and before exceeding `width`."""
    row: list[tuple[Token, Cell]] = []
    used = 0
    for token, cell in tokens:
        if row and width is not None and used + gap + cell.width > width:
            yield row
            row, used = [], 0
        used += cell.width + (gap if row else 0)
        row.append((token, cell))
        if b"\n" in token.value:
            yield row
            row, used = [], 0
    if row:
        yield row
