"""Plain-text tables and bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill.inspection.escapes import width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["align_columns", "bar"]

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
