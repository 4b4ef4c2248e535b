"""How the pieces of a text merge: what is left of each after every merge."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytemill.arguments import check_type
from bytemill.core import Encoding
from bytemill.looking.palette import COLOURS
from bytemill.looking.terminal import Cell, has_colours
from bytemill.looking.visible import parts_of

if TYPE_CHECKING:
    from bytemill.vocabulary import PieceExplanation

__all__ = ["MergeView", "show_merges"]


@dataclass(frozen=True, repr=False)
class MergeView:
    """How the pieces of a text merge. Printed, it shows the parts of each piece after every merge.

    Attributes:
        encoding: The name of the encoding.
        pieces: The pieces, as `Encoding.explain` gives them.
    """

    encoding: str
    pieces: tuple[PieceExplanation, ...]

    def terminal(self, *, colour: bool) -> str:
        """Gives a block of lines for each piece: its bytes, what each merge leaves, the ids at the end.

        Args:
            colour: Whether parts are told apart by colours, rather than by separators.
        """
        return "\n\n".join(block(piece, colour=colour) for piece in self.pieces)

    def to_dict(self) -> dict[str, Any]:
        """Gives all of it as what JSON has; the bytes of parts as hexadecimal digits."""
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
        return self.terminal(colour=has_colours(sys.stdout))

    __repr__ = __str__


def show_merges(encoding: Encoding, text: str) -> MergeView:
    """Shows how the pieces of a text merge.

    Args:
        encoding: The encoding.
        text: Any string; special tokens are ordinary text. Meant for short ones.

    Raises:
        TypeError, PatternError: As `Encoding.encode_ordinary`.

    Complexity:
        Time and memory quadratic in the length of each piece.
    """
    check_type("encoding", encoding, Encoding)
    return MergeView(encoding.name, tuple(encoding.explain(text)))


def block(piece: PieceExplanation, *, colour: bool) -> str:
    """The lines of one piece."""
    lines = [line(parts, colour=colour) for parts in piece.steps]
    return "\n".join([*lines[:-1], f"{lines[-1]}  {' '.join(map(str, piece.ids))}"])


def line(parts: list[bytes], *, colour: bool) -> str:
    """The parts of a piece.

    The colour of a part follows from where it begins, so that it stays as others merge; unless the part
    before it has that colour already.
    """
    shapes = []
    start = 0
    previous = None
    for part in parts:
        number = COLOURS[start % len(COLOURS)].terminal
        if number == previous:
            number = COLOURS[(start + 1) % len(COLOURS)].terminal
        cell = Cell(parts_of(part), number)
        shapes.append(cell.coloured() if colour else cell.plain())
        start += len(part)
        previous = number
    return ("" if colour else "│").join(shapes)
