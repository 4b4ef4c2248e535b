"""The forms in which notebooks and other hosts show a view or a report; plain-text tables."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from bytemill.inspection.token import width_of

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

__all__ = ["Displayed", "align_columns", "bar"]


def preformatted(text: str) -> str:
    """Returns a plain text for a notebook."""
    return f'<pre style="font-family:monospace;line-height:1.4">{escape(text)}</pre>'


# The forms in which notebooks and other hosts show a view or a report.


class Displayed:
    """Base of views and reports: hosts of HTML show one form, hosts of plain text the `str`."""

    def _repr_html_(self) -> str:
        """Renders it for a notebook; if a subclass has no other form, its `str` as it is."""
        return preformatted(str(self))

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        """Returns both forms for IPython, of which a notebook keeps both; arguments as IPython describes."""
        forms = {"text/plain": self._plain, "text/html": self._repr_html_}
        return {
            name: form()
            for name, form in forms.items()
            if (not include or name in include) and (not exclude or name not in exclude)
        }

    def _plain(self) -> str:
        """Returns the form for hosts of plain text."""
        return str(self)


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
