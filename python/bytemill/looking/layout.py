"""Tables and bars of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill.looking.visible import width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bar", "table"]

# From one eighth of a column to seven.
EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int) -> str:
    """Draws a bar of `share`, from 0 to 1, of `width` columns; what is more than 0 can be seen."""
    eighths = max(round(share * width * 8), 1 if share else 0)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def table(rows: Sequence[Sequence[str]], *, left: int = 1) -> list[str]:
    """Lines rows up: the first `left` columns to the left, the others to the right, two blanks between.

    Args:
        rows: Strings, as many in each row.
        left: How many columns hold text rather than figures.
    """
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(aligned(row, widths, left)).rstrip() for row in rows]


def aligned(row: Sequence[str], widths: Sequence[int], left: int) -> list[str]:
    """Pads the cells of a row."""
    padding = [" " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)]
    return [
        cell + blanks if column < left else blanks + cell
        for column, (cell, blanks) in enumerate(zip(row, padding, strict=True))
    ]
