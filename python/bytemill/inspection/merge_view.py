"""The merge steps of a text: the parts of each piece after every merge."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytemill._named import encoding_of
from bytemill.inspection.displayed import Displayed
from bytemill.inspection.escapes import segments_of
from bytemill.inspection.palette import COLOURS
from bytemill.inspection.terminal import Cell, supports_colour

if TYPE_CHECKING:
    from bytemill.core import Encoding
    from bytemill.results import PieceExplanation

__all__ = ["MergeView", "show_merges"]


@dataclass(frozen=True, repr=False)
class MergeView(Displayed):
    """The merge steps of a text. Its `str` lists the parts of each piece after every merge.

    Attributes:
        encoding: Name of the encoding.
        pieces: The pieces, as returned by `Encoding.explain`.
    """

    encoding: str
    pieces: tuple[PieceExplanation, ...]

    def terminal(self, *, colour: bool) -> str:
        """Returns a block of lines for each piece: its bytes, the parts after each merge, the ids at the end.

        Args:
            colour: Whether to mark parts by colours rather than separators.
        """
        return "\n\n".join(format_piece(piece, colour=colour) for piece in self.pieces)

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as JSON-compatible values; bytes as hexadecimal digits."""
        return {
            "encoding": self.encoding,
            "pieces": [
                {
                    "bytes": piece.piece.hex(),
                    "steps": [[part.hex() for part in parts] for parts in piece.steps],
                    "ids": piece.ids,
                }
                for piece in self.pieces
            ],
        }

    def __str__(self) -> str:
        return self.terminal(colour=supports_colour(sys.stdout))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Renders the view for a notebook: a row for each step."""
        from bytemill.inspection.notebook import fragment, rows_of_parts

        return fragment("<hr>".join(rows_of_parts(piece.steps) for piece in self.pieces))


def show_merges(encoding: Encoding | str, text: str) -> MergeView:
    """Returns a view of the merge steps of a text.

    Args:
        encoding: The encoding, or its name as in `show`.
        text: Any string, usually a short one; special tokens are ordinary text.

    Raises:
        TypeError, PatternError: As `Encoding.encode_ordinary`.

    Complexity:
        Time and memory quadratic in the length of each piece.
    """
    encoding = encoding_of(encoding)
    return MergeView(encoding.name, tuple(encoding.explain(text)))


def format_piece(piece: PieceExplanation, *, colour: bool) -> str:
    """Returns the lines of one piece."""
    lines = [format_step(parts, colour=colour) for parts in piece.steps]
    return "\n".join([*lines[:-1], f"{lines[-1]}  {' '.join(map(str, piece.ids))}"])


def format_step(parts: list[bytes], *, colour: bool) -> str:
    """Returns one line with the parts of a piece.

    The colour of a part depends on its start offset, so that it stays the same while others merge; unless the
    part before it already has that colour.
    """
    cells = []
    start = 0
    previous = None
    for part in parts:
        colour_index = COLOURS[start % len(COLOURS)].terminal
        if colour_index == previous:
            colour_index = COLOURS[(start + 1) % len(COLOURS)].terminal
        cell = Cell(segments_of(part), colour_index)
        cells.append(cell.coloured() if colour else cell.plain())
        start += len(part)
        previous = colour_index
    return ("" if colour else "│").join(cells)
