"""SentencePiece's `.vocab`: the pieces of a model as text, a line for each, for people to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["format_pieces"]


def format_pieces(pieces: Iterable[tuple[str, float]], *, has_scores: bool) -> bytes:
    """Returns the contents of the file.

    Args:
        pieces: The pieces in the order of their IDs, each with its score.
        has_scores: Whether the lines say the scores.
    """
    if not has_scores:
        return "".join([f"{piece}\n" for piece, _ in pieces]).encode()
    return "".join([f"{piece}\t{score:.6g}\n" for piece, score in pieces]).encode()
