"""SentencePiece's `.model`: pieces with scores, and the normalization of texts.

`bytemill._core.SentencePieceModel` reads the file. A definition holds all of it; the control pieces, which no
text becomes by itself, are its special tokens.
"""

from __future__ import annotations

from bytemill._backend import CoreBPE, SentencePieceModel
from bytemill.definition import Definition, Loaded
from bytemill.errors import VocabularyError
from bytemill.formats.sentencepiece_vocab import format_pieces

__all__ = ["definition_of", "format_vocab", "load", "looks_like_model"]


def looks_like_model(start: bytes) -> bool:
    """Returns whether a file that begins with these bytes is a model: it begins with a piece."""
    return SentencePieceModel.is_likely(start)


def load(contents: bytes, name: str, source: str) -> Loaded:
    """Returns the definition of a model, with its core.

    Args:
        contents: The bytes of the file.
        name: The name of the definition.
        source: Where it comes from, for messages.

    Raises:
        VocabularyError: It is not a BPE model, or damaged; the message has file and reason.
    """
    try:
        model = SentencePieceModel(contents)
        special_tokens = model.control_pieces
        core = CoreBPE.sentencepiece(model, special_tokens)
    except ValueError as error:
        raise VocabularyError(f"{source}: {error}") from None
    return Loaded(Definition(name, "", {}, special_tokens, model=contents), core)


def definition_of(contents: bytes, name: str, source: str) -> Definition:
    """Returns the definition of a model; same arguments and errors as `load`."""
    try:
        special_tokens = SentencePieceModel(contents).control_pieces
    except ValueError as error:
        raise VocabularyError(f"{source}: {error}") from None
    return Definition(name, "", {}, special_tokens, model=contents)


def format_vocab(contents: bytes) -> bytes:
    """Returns the `.vocab` file of a model: a line for each piece, with its score if the model says so."""
    model = SentencePieceModel(contents)
    scored = zip(model.pieces, model.scores.tolist(), strict=True)
    return format_pieces(scored, has_scores=model.trainer_spec["vocabulary_output_piece_score"])
