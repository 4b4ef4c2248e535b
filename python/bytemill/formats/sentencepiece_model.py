"""SentencePiece's `.model`: pieces with scores, and what is done to texts before they are looked for.

`bytemill._core.SentencePieceModel` reads the file. A definition holds all of it; the control pieces, which no
text becomes by itself, are its special tokens.
"""

from __future__ import annotations

from bytemill._backend import SentencePieceModel
from bytemill.definition import Definition
from bytemill.errors import VocabularyError

__all__ = ["definition_of", "looks_like_model"]

CONTROL = 3


def looks_like_model(start: bytes) -> bool:
    """Returns whether a file that begins with these bytes is a model: it begins with a piece."""
    return SentencePieceModel.is_likely(start)


def definition_of(contents: bytes, name: str, source: str) -> Definition:
    """Returns the definition of a model.

    Args:
        contents: The bytes of the file.
        name: The name of the definition.
        source: Where it comes from, for messages.

    Raises:
        VocabularyError: It is no BPE model, or damaged; the message has file and reason.
    """
    try:
        model = SentencePieceModel(contents)
    except ValueError as error:
        raise VocabularyError(f"{source}: {error}") from None
    kinds = enumerate(model.types.tolist())
    controls = [token_id for token_id, kind in kinds if kind == CONTROL]
    pieces = model.pieces
    return Definition(name, "", {}, {pieces[token_id]: token_id for token_id in controls}, model=contents)
