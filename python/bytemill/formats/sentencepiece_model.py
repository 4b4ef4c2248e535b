"""SentencePiece's `.model`: pieces with scores, and the normalization of texts.

The executable definition of models is imported where it is used: that takes 20 ms, and loading does without.

`bytemill._core.SentencePieceModel` reads the file. A definition holds all of it; the control pieces, which no
text becomes by itself, are its special tokens.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from bytemill._backend import CoreBPE, SentencePieceModel
from bytemill.definition import Definition, Loaded
from bytemill.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytemill.reference_sentencepiece import Piece, ReferenceModel

__all__ = [
    "BPE",
    "DEFAULT_RULES",
    "MODEL_TYPES",
    "UNIGRAM",
    "definition_of",
    "first_merges",
    "format_pieces",
    "format_vocab",
    "load",
    "looks_like_model",
    "merging_model",
    "reference_of",
]

# The types of models that score segmentations and that merge pairs, as numbers in model files; the names of
# all types, from 1 on; and the default rules of normalization.
UNIGRAM, BPE = 1, 2
MODEL_TYPES = ("unigram", "bpe", "word", "char")
DEFAULT_RULES = "nmt_nfkc"


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
        VocabularyError: It is damaged; the message has file and reason.
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


# The pieces of a SentencePiece model in Python: its executable definition, and its first merges.


def merging_model(contents: bytes, purpose: str) -> SentencePieceModel:
    """Returns a model that merges pairs.

    Args:
        contents: The bytes of a model.
        purpose: What needs that, for messages.

    Raises:
        VocabularyError: The model is of another type.
    """
    model = SentencePieceModel(contents)
    kind = model.trainer_spec["model_type"]
    if kind != BPE:
        raise VocabularyError(
            f"{purpose} need a SentencePiece model of type BPE, "
            f"and this one is of type {MODEL_TYPES[kind - 1].upper()}"
        )
    return model


@lru_cache(maxsize=1)
def reference_of(contents: bytes) -> ReferenceModel:
    """Returns the executable definition of a model.

    Args:
        contents: The bytes of a model that can be used.

    Raises:
        VocabularyError: It is not of type BPE.
    """
    from bytemill.reference_sentencepiece import Charsmap, Normalization, ReferenceModel

    model = merging_model(contents, "explanations, reports and texts that may be continued")
    rules, trainer = model.normalizer_spec, model.trainer_spec
    return ReferenceModel(
        pieces_of(model),
        Normalization(
            Charsmap(rules["precompiled_charsmap"]),
            add_dummy_prefix=rules["add_dummy_prefix"],
            remove_extra_whitespaces=rules["remove_extra_whitespaces"],
            escape_whitespaces=rules["escape_whitespaces"],
            treat_whitespace_as_suffix=trainer["treat_whitespace_as_suffix"],
        ),
        byte_fallback=trainer["byte_fallback"],
        unknown_surface=trainer["unk_surface"],
    )


def pieces_of(model: SentencePieceModel) -> list[Piece]:
    """Returns the pieces of a model."""
    from bytemill.reference_sentencepiece import Kind, Piece

    columns = zip(model.pieces, model.scores.tolist(), model.types.tolist(), strict=True)
    return [Piece(text, score, Kind(kind)) for text, score, kind in columns]


def first_merges(definition: Definition, vocab_size: int, name: str) -> Definition:
    """Returns the definition of a model with the first merges only: the result of training to that size.

    Of the learned pieces the first of several characters are kept, and all of one. Pieces that are not
    learned keep their IDs, and the others close up. Special tokens that are not pieces follow.

    Args:
        definition: The definition of a model.
        vocab_size: The number of IDs.
        name: The name of the new definition.

    Raises:
        VocabularyError: The model is not of type BPE.
        ValueError: There are fewer IDs, or so few do not hold the pieces that no merge makes.
    """
    from bytemill.reference_sentencepiece import Kind

    model = merging_model(definition.model or b"", "smaller vocabularies")
    pieces = pieces_of(model)
    # What training learns; only editing makes one unused.
    kinds = (Kind.NORMAL, Kind.UNUSED)
    learned = [token_id for token_id, piece in enumerate(pieces) if piece.kind in kinds]
    merged = [token_id for token_id in learned if len(pieces[token_id].text) > 1]
    fixed = set(range(len(pieces))) - set(learned)
    added = sorted({token_id for token_id in definition.special_tokens.values() if token_id >= len(pieces)})
    # A piece that is not learned has its id only if there are as many before it.
    least = max(len(pieces) - len(merged), max(fixed, default=-1) + 1) + len(added)
    most = len(pieces) + len(added)
    if not least <= vocab_size <= most:
        raise ValueError(f"expected a vocab_size from {least} to {most}, got {vocab_size}")
    dropped = set(merged[len(merged) - (most - vocab_size) :])
    kept = [token_id for token_id in learned if token_id not in dropped]
    following = iter(kept)
    old_ids = [new if new in fixed else next(following) for new in range(vocab_size - len(added))]
    scores = dict(zip(kept, renumbered(pieces, learned, kept), strict=True))
    cut = model.replace(
        pieces=[
            (pieces[old].text, scores.get(old, pieces[old].score), int(pieces[old].kind)) for old in old_ids
        ],
        trainer_spec={"vocab_size": len(old_ids)} if "vocab_size" in model.present("trainer_spec") else {},
    )
    new_ids = {old: new for new, old in enumerate([*old_ids, *added])}
    special_tokens = definition.special_tokens
    if lost := [text for text, token_id in special_tokens.items() if token_id not in new_ids]:
        raise ValueError(f"expected a vocab_size that keeps the special token {lost[0]!r}, got {vocab_size}")
    special_tokens = {text: new_ids[token_id] for text, token_id in special_tokens.items()}
    return definition._replace(name=name, special_tokens=special_tokens, model=cut.serialize())


def renumbered(pieces: list[Piece], learned: list[int], kept: list[int]) -> list[float]:
    """Returns the scores of the pieces that are kept.

    Training numbers the learned pieces downwards: a score that is such a number becomes the new one. So
    merges keep theirs, and only those of single characters change, which decide nothing.
    """
    places = {token_id: place for place, token_id in enumerate(learned)}
    scores = [(token_id, pieces[token_id].score) for token_id in kept]
    return [
        -float(place) if score == -places[token_id] else score
        for place, (token_id, score) in enumerate(scores)
    ]


# SentencePiece's `.vocab`: the pieces of a model as text, a line for each, for people to read.


def format_pieces(pieces: Iterable[tuple[str, float]], *, has_scores: bool) -> bytes:
    """Returns the contents of the file.

    Args:
        pieces: The pieces in the order of their IDs, each with its score.
        has_scores: Whether the lines say the scores.
    """
    if not has_scores:
        return "".join([f"{piece}\n" for piece, _ in pieces]).encode()
    return "".join([f"{piece}\t{score:.6g}\n" for piece, score in pieces]).encode()
