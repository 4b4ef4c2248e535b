"""The tuples that methods of `Encoding` return."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = [
    "ArrowArray",
    "ArrowStream",
    "EncodedWithOffsets",
    "PieceExplanation",
    "Ragged",
    "Truncated",
    "rows_of",
]


class Ragged(NamedTuple):
    """The token IDs of many texts, in one array.

    Attributes:
        ids: All IDs, of shape (tokens,).
        offsets: The offset at which each text starts, of shape (texts + 1,) and dtype int64: the IDs of text
            i are `ids[offsets[i] : offsets[i + 1]]`. The first is 0, the last is the number of IDs.
    """

    ids: npt.NDArray[np.integer[Any]]
    offsets: npt.NDArray[np.int64]

    def rows(self) -> list[npt.NDArray[np.integer[Any]]]:
        """Returns the IDs of each text, in arrays that share the memory of `ids`.

        Complexity:
            Linear in the number of texts.
        """
        return [self.ids[start:end] for start, end in pairwise(self.offsets.tolist())]


def rows_of(batch: Iterable[Sequence[int]] | Ragged) -> list[Any]:
    """Returns sequences of token IDs as a list; of a `Ragged`, whose items are two arrays, its rows."""
    return batch.rows() if isinstance(batch, Ragged) else list(batch)


class EncodedWithOffsets(NamedTuple):
    """Token IDs and their spans in the text: token i is `text[starts[i] : ends[i]]`.

    Attributes:
        ids: The IDs, of shape (tokens,) and dtype uint32.
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


class Candidate(NamedTuple):
    """A token of a Unigram model that a piece contains, from `Encoding.candidates`.

    Attributes:
        start: The offset where it starts in the piece, in bytes.
        token: Its bytes in the piece.
        id: Its ID; `None` for a character that is no token.
        score: Its score: the piece becomes the tokens with the highest sum.
    """

    start: int
    token: bytes
    id: int | None
    score: float


class PieceExplanation(NamedTuple):
    """How one piece of a text becomes token IDs.

    Attributes:
        piece: The bytes of the piece; for a SentencePiece model, of normalized text with spaces for marks.
        steps: The symbols of the piece: first its single bytes, then the result of each merge. A piece that
            is a token always becomes that token; if its merges give another result, there are only two steps,
            the bytes and the piece. For a SentencePiece model, the first step is the single characters and
            user-defined symbols. A last step is added if unused pieces are replaced by their parts, or
            characters without a token by their bytes or by one unknown token. With WordPiece, each step takes
            the longest token that the rest of the word begins with. With Unigram, there are two steps, the
            single characters and the tokens.
        ids: The IDs of the symbols of the last step.
    """

    piece: bytes
    steps: list[list[bytes]]
    ids: list[int]


# The types of columns that `Encoding.encode_arrow` takes.


class ArrowArray(Protocol):
    """An array of Arrow: a PyArrow array, for example."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Several arrays of Arrow: a chunked array of PyArrow, or a series of Polars or pandas, for example."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
