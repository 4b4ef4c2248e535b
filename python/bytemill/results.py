"""The tuples that methods of `Encoding` return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["EncodedWithOffsets", "PieceExplanation", "Ragged", "Truncated"]


class Ragged(NamedTuple):
    """The ids of many texts, one after the other.

    Attributes:
        ids: All ids, of shape (tokens,).
        offsets: Where each text starts, of shape (texts + 1,) and dtype int64: the ids of text i are
            `ids[offsets[i] : offsets[i + 1]]`. The first is 0, the last the number of ids.
    """

    ids: npt.NDArray[np.integer[Any]]
    offsets: npt.NDArray[np.int64]


class EncodedWithOffsets(NamedTuple):
    """Ids and their spans in the text: token i is `text[starts[i] : ends[i]]`.

    Attributes:
        ids: The ids, of shape (tokens,) and dtype uint32.
        starts: The start of each token, of the same shape and dtype int64.
        ends: The end of each token, of the same shape and dtype int64.
    """

    ids: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


class Truncated(NamedTuple):
    """The part of a text that `Encoding.truncate` keeps.

    Attributes:
        text: The text, or as much of it as fits.
        token_count: The number of its tokens.
        truncated: Whether anything was dropped.
    """

    text: str
    token_count: int
    truncated: bool


class PieceExplanation(NamedTuple):
    """How one piece of a text becomes ids.

    Attributes:
        piece: The bytes of the piece; for a SentencePiece model, of normalized text with spaces for marks.
        steps: The symbols of the piece: first its single bytes, then those that each merge leaves. A piece
            that is a token becomes that token whatever its merges; where these would give something else,
            there are two steps only, the bytes and the piece. For a SentencePiece model, first the single
            characters and user-defined symbols; at the end a step more where unused pieces give way to their
            parts, characters without a token to their bytes, or several of them become one.
        ids: The ids of the symbols of the last step.
    """

    piece: bytes
    steps: list[list[bytes]]
    ids: list[int]
