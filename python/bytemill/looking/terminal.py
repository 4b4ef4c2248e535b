"""Tokens in a terminal: coloured, their ids below them; or plain, with separators."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple, TextIO

from bytemill.looking.palette import COLOURS
from bytemill.looking.visible import Part, parts_of, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bytemill.looking.view import Token

__all__ = ["columns", "has_colours", "rows"]

RESET = "\x1b[0m"
DIM = "\x1b[2m"

# Numbers of the palette of 256 colours: letters, and signs for what cannot be seen.
LETTERS = 16
SIGNS = 239


class Cell(NamedTuple):
    """A token, or a part of a piece, as it is shown.

    Attributes:
        parts: What it looks like.
        colour: The number of its background.
        special: Whether it is a special token.
        padding: The blanks that make it as wide as the id below it.
    """

    parts: list[Part]
    colour: int
    special: bool = False
    padding: int = 0

    @property
    def width(self) -> int:
        """The columns it takes."""
        return width_of(self.plain())

    def plain(self) -> str:
        """What it looks like, without colours."""
        return "".join(part.text for part in self.parts) + " " * self.padding

    def coloured(self) -> str:
        """What it looks like on its background; special tokens are bold and underlined."""
        style = f"1;4;48;5;{self.colour}" if self.special else f"48;5;{self.colour}"
        drawn = (
            f"\x1b[{style};38;5;{SIGNS if part.stands_for else LETTERS}m{part.text}" for part in self.parts
        )
        return "".join(drawn) + RESET + " " * self.padding


def has_colours(stream: TextIO) -> bool:
    """Tells whether to write colours: to a terminal, unless `NO_COLOR` is set or it has none."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def columns(stream: TextIO) -> int | None:
    """Gives how wide a terminal is; `None` for what is none."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def rows(tokens: Iterable[Token], *, colour: bool, ids: bool, width: int | None) -> Iterator[str]:
    """Gives the lines of a view; arguments as `TokenView.terminal`."""
    gap = (" " if ids else "") if colour else (" │ " if ids else "│")
    for row in filled(cells(tokens, ids=ids), len(gap), width):
        yield gap.join(cell.coloured() if colour else cell.plain() for _, cell in row).rstrip()
        if ids:
            line = gap.join(str(token.id).ljust(cell.width) for token, cell in row).rstrip()
            yield f"{DIM}{line}{RESET}" if colour else line


def cells(tokens: Iterable[Token], *, ids: bool) -> Iterator[tuple[Token, Cell]]:
    """Gives each token with its cell; the colours are taken by turns."""
    for place, token in enumerate(tokens):
        parts = parts_of(token.value)
        missing = len(str(token.id)) - sum(width_of(part.text) for part in parts) if ids else 0
        yield token, Cell(parts, COLOURS[place % len(COLOURS)].terminal, token.special, max(missing, 0))


def filled(
    tokens: Iterable[tuple[Token, Cell]], gap: int, width: int | None
) -> Iterator[list[tuple[Token, Cell]]]:
    """Fills rows: a row ends where the text breaks, and before what would make it wider than the terminal."""
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
