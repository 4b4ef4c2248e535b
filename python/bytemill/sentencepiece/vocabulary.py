"""The vocabulary of a model, and its normalizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from bytemill.sentencepiece.arguments import checked_ids, checked_text
from bytemill.sentencepiece.decoding import in_range
from bytemill.sentencepiece.engine import BYTE, CONTROL, UNKNOWN, UNUSED
from bytemill.sentencepiece.loading import WithModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytemill._backend import Normalizer
    from bytemill.sentencepiece.engine import Engine

__all__ = ["VocabularyMethods", "normalized"]

T = TypeVar("T")


class VocabularyMethods(WithModel):
    """The methods for the vocabulary and the normalizer of a model."""

    def get_piece_size(self) -> int:
        """Returns the number of pieces."""
        return self._engine.size if self._engine else 0

    def __len__(self) -> int:
        """Returns the number of pieces."""
        return self.get_piece_size()

    def piece_to_id(self, piece: Any) -> Any:
        """Returns the ID of a piece, or of each of several; the ID of the unknown piece if there is none."""
        if isinstance(piece, (str, bytes)):
            return self._find(piece)
        if type(piece) is list and self._engine and (known := self._engine.known_ids(piece)) is not None:
            return known
        try:
            pieces = [piece[index] for index in range(len(piece))]
        except (TypeError, KeyError):
            raise TypeError(f"expected a piece or a sequence of pieces, not {piece!r:.40}") from None
        if not all(isinstance(each, (str, bytes)) for each in pieces):
            raise TypeError("Sequence elements must be str or bytes")
        return [self._find(each) for each in pieces]

    def _find(self, piece: str | bytes) -> int:
        if self._engine is None:
            return 0
        return self._engine.find(piece if isinstance(piece, str) else piece.decode(errors="replace"))

    def __getitem__(self, piece: Any) -> Any:
        """Returns the ID of a piece; see `piece_to_id`."""
        return self.piece_to_id(piece)

    def id_to_piece(self, id: Any) -> Any:
        """Returns the piece of an ID, or of each of several.

        Raises:
            IndexError: An ID is out of range, here and below.
        """
        return self._of_ids(id, lambda engine: engine.pieces)

    def get_score(self, id: Any) -> Any:
        """Returns the score of an ID, or of each of several."""
        return self._of_ids(id, lambda engine: engine.scores)

    def is_unknown(self, id: Any) -> Any:
        """Returns whether an ID, or each of several, is that of the unknown piece."""
        return self._are_of_type(id, UNKNOWN)

    def is_control(self, id: Any) -> Any:
        """Returns whether an ID, or each of several, is that of a control piece."""
        return self._are_of_type(id, CONTROL)

    def is_unused(self, id: Any) -> Any:
        """Returns whether an ID, or each of several, is not used."""
        return self._are_of_type(id, UNUSED)

    def is_byte(self, id: Any) -> Any:
        """Returns whether an ID, or each of several, stands for a byte."""
        return self._are_of_type(id, BYTE)

    def _are_of_type(self, ids: Any, kind: int) -> bool | list[bool]:
        found = self._of_ids(ids, lambda engine: engine.types)
        return [each == kind for each in found] if isinstance(found, list) else found == kind

    def _of_ids(self, ids: Any, column: Callable[[Engine], list[T]]) -> T | list[T]:
        """Returns the entry of a column for an ID, or for each of several."""
        engine = self._engine
        values = [] if engine is None else column(engine)
        if type(ids) is int and 0 <= ids < len(values):
            return values[ids]
        is_one = isinstance(ids, int) or (hasattr(ids, "__index__") and not hasattr(ids, "__len__"))
        found = in_range(checked_ids([ids] if is_one else ids), engine)
        return values[found[0]] if is_one else [values[token] for token in found]

    def unk_id(self) -> int:
        """Returns the ID of the unknown piece, -1 if there is none."""
        return self._engine.unk_id if self._engine else -1

    def bos_id(self) -> int:
        """Returns the ID of the start of a text, -1 if there is none."""
        return self._engine.bos_id if self._engine else -1

    def eos_id(self) -> int:
        """Returns the ID of the end of a text, -1 if there is none."""
        return self._engine.eos_id if self._engine else -1

    def pad_id(self) -> int:
        """Returns the ID for padding, -1 if there is none."""
        return self._engine.pad_id if self._engine else -1

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Normalizes a text, or each of a list of texts.

        Args:
            input: A text as `str` or `bytes`, or a list of texts.
            with_offsets: Whether to return the offset in the text of each character, or byte, as well.
        """
        if self._engine is None and not with_offsets and not isinstance(input, list):
            text = checked_text(input)
            return "" if isinstance(text, str) else b""
        return normalized(self._loaded().normalizer, input, with_offsets=bool(with_offsets))

    piece_size = get_piece_size
    vocab_size = get_piece_size

    GetPieceSize = get_piece_size
    PieceToId = piece_to_id
    IdToPiece = id_to_piece
    GetScore = get_score
    IsUnknown = is_unknown
    IsControl = is_control
    IsUnused = is_unused
    IsByte = is_byte
    Normalize = normalize


def normalized(normalizer: Normalizer, input: Any, *, with_offsets: bool) -> Any:
    """Normalizes a text, or each of a list of texts."""
    if isinstance(input, list):
        return [normalized(normalizer, checked_text(text), with_offsets=with_offsets) for text in input]
    text = checked_text(input)
    return normalizer.normalize_with_offsets(text) if with_offsets else normalizer.normalize(text)
