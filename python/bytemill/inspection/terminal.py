"""Render tokens for a terminal, coloured or with separators, with their ids below.

Tokens that share a character are one cell, which shows it, above all of their ids. A cell with text from
right to left is isolated from its neighbours by control characters, so that terminals which reorder such text
leave each cell above its ids.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple, TextIO

from bytemill.inspection.token import (
    COLOURS,
    Segment,
    is_right_to_left,
    lines_as_written,
    segments_of,
    sharing_characters,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from bytemill.inspection.token import Token

__all__ = [
    "AS_WRITTEN",
    "MARK",
    "Cell",
    "align_columns",
    "as_written",
    "bar",
    "rows",
    "supports_colour",
    "terminal_width",
]

# Stands before a token that another encoding cuts elsewhere.
MARK = "▾"

# Stands above what `as_written` returns.
AS_WRITTEN = "as written, every other token underlined"

RESET = "\x1b[0m"
UNDERLINE, NO_UNDERLINE = "\x1b[4m", "\x1b[24m"
DIM = "\x1b[2m"

# Indices in the 256-colour palette: text, and substitutes for invisible characters.
TEXT_COLOUR = 16
SUBSTITUTE_COLOUR = 239

# First strong isolate, pop directional isolate.
ISOLATE, END_ISOLATE = "\u2068", "\u2069"


class Cell(NamedTuple):
    """A rendered token, several that share a character, or part of a piece.

    Attributes:
        segments: The rendered bytes.
        colour: Palette index of the background.
        special: Whether it is a special token.
        padding: Number of spaces that make it as wide as the ids below it.
        ids: The ids below it.
    """

    segments: list[Segment]
    colour: int
    special: bool = False
    padding: int = 0
    ids: str = ""

    @property
    def text(self) -> str:
        """The rendered bytes without colours."""
        return "".join(segment.text for segment in self.segments)

    @property
    def width(self) -> int:
        """Width in columns."""
        return width_of(self.text) + self.padding

    def plain(self) -> str:
        """Returns it without colours."""
        return self.isolated(self.text) + " " * self.padding

    def isolated(self, rendered: str) -> str:
        """Returns its rendered form, isolated if any of its text is written from right to left."""
        if is_right_to_left(self.text):
            return ISOLATE + rendered + END_ISOLATE
        return rendered

    def coloured(self) -> str:
        """Returns it on its background; special tokens are bold and underlined."""
        style = f"1;4;48;5;{self.colour}" if self.special else f"48;5;{self.colour}"
        coloured = (
            f"\x1b[{style};38;5;{SUBSTITUTE_COLOUR if segment.substitute else TEXT_COLOUR}m{segment.text}"
            for segment in self.segments
        )
        return self.isolated("".join(coloured)) + RESET + " " * self.padding


def supports_colour(stream: TextIO) -> bool:
    """Returns whether to write colours: to a terminal that has them, unless `NO_COLOR` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_width(stream: TextIO) -> int | None:
    """Returns the columns of a terminal, or `None` if the stream is not one."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def rows(
    tokens: Sequence[Token],
    *,
    colour: bool,
    ids: bool,
    width: int | None,
    marked: Collection[int] = frozenset(),
) -> Iterator[str]:
    """Yields the lines of a view; arguments as `TokenView.terminal`, and the indices of marked tokens."""
    gap = ("  " if ids else "") if colour else (" │ " if ids else "│")
    for row in wrap(cells(tokens, ids=ids, width=width, marked=marked), len(gap), width):
        yield gap.join(cell.coloured() if colour else cell.plain() for _, cell in row).rstrip()
        if ids:
            line = gap.join(cell.ids.ljust(cell.width) for _, cell in row).rstrip()
            yield f"{DIM}{line}{RESET}" if colour else line


def as_written(tokens: Sequence[Token]) -> list[str]:
    """Returns what `lines_as_written` does, below a heading, for a terminal that underlines."""
    lines = lines_as_written(tokens)
    return [AS_WRITTEN, *("".join(map(underlined, line)) for line in lines)] if lines else []


def underlined(part: tuple[str, bool]) -> str:
    """Returns a part of a line, underlined if it shall be."""
    text, under = part
    return f"{UNDERLINE}{text}{NO_UNDERLINE}" if under and text else text


def cells(
    tokens: Sequence[Token], *, ids: bool, width: int | None, marked: Collection[int]
) -> Iterator[tuple[bytes, Cell]]:
    """Yields cells with their bytes, cycling through the colours.

    Tokens that share a character share a cell, unless it would be wider than the terminal.
    """
    groups: Iterable[Sequence[Token]] = sharing_characters(tokens)
    if width is not None:
        groups = (part for group in groups for part in fitting(group, ids=ids, width=width))
    first = 0
    for index, group in enumerate(groups):
        value = b"".join(token.value for token in group)
        segments = segments_of(value)
        if any(first + i in marked for i in range(len(group))):
            segments = [Segment(MARK, substitute=True), *segments]
        first += len(group)
        below = ids_of(group) if ids else ""
        missing = len(below) - sum(width_of(segment.text) for segment in segments)
        colour = COLOURS[index % len(COLOURS)].terminal
        yield value, Cell(segments, colour, group[0].special, max(missing, 0), below)


def ids_of(group: Sequence[Token]) -> str:
    """Returns the ids below a cell."""
    return " ".join(str(token.id) for token in group)


def fitting(group: Sequence[Token], *, ids: bool, width: int) -> list[Sequence[Token]]:
    """Returns the group, or its tokens one by one if it is wider than the terminal."""
    shown = width_of("".join(segment.text for token in group for segment in segments_of(token.value)))
    widest = max(shown, len(ids_of(group)) if ids else 0)
    return [group] if len(group) == 1 or widest <= width else [[token] for token in group]


def wrap(
    cells: Iterable[tuple[bytes, Cell]], gap: int, width: int | None
) -> Iterator[list[tuple[bytes, Cell]]]:
    """Groups cells into rows, which end after a line break and before exceeding `width`."""
    row: list[tuple[bytes, Cell]] = []
    used = 0
    for value, cell in cells:
        if row and width is not None and used + gap + cell.width > width:
            yield row
            row, used = [], 0
        used += cell.width + (gap if row else 0)
        row.append((value, cell))
        if b"\n" in value:
            yield row
            row, used = [], 0
    if row:
        yield row


# Plain-text tables and bars.


# Zero to seven eighths of a column.
EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int) -> str:
    """Returns a bar for `share`, from 0 to 1, of `width` columns; at least one eighth if `share` is not 0."""
    eighths = max(round(share * width * 8), 1 if share else 0)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def align_columns(rows: Sequence[Sequence[str]], *, left: int = 1) -> list[str]:
    """Aligns the first `left` columns to the left, the others to the right, two spaces apart.

    Args:
        rows: Cells, the same number in each row.
        left: Number of columns that hold text rather than figures.
    """
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(align_row(row, widths, left)).rstrip() for row in rows]


def align_row(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    """Pads the cells of a row to the widths of the columns."""
    padding = [" " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)]
    return [
        cell + spaces if column < left else spaces + cell
        for column, (cell, spaces) in enumerate(zip(row, padding, strict=True))
    ]
