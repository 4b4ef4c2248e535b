"""SentencePiece models with fewer merges: what training to a smaller size gives."""

from __future__ import annotations

from typing import Any

import pytest

from bytemill import Encoding
from bytemill.formats.sentencepiece_model import definition_of
from support import sentencepiece as real


def encoding_of(model: bytes) -> Encoding:
    return Encoding.from_definition(definition_of(model, "model", "a test"))


OPTIONS: list[dict[str, Any]] = [
    {},
    {"rule": "nmt_nfkc", "character_coverage": 0.99},
    {"byte_fallback": True, "split_digits": True, "user_defined_symbols": "<a>,the"},
    {"pad_id": 3, "unk_id": 9, "control_symbols": "<c>", "treat_whitespace_as_suffix": True},
    {"hard_vocab_limit": False, "bos_id": -1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_cut_model_is_the_model_trained_to_that_size(options: dict[str, Any]) -> None:
    encoding = encoding_of(real.trained(size=900, **options))
    for size in (900, 899, 820):
        cut = encoding.with_vocab_size(size)
        assert cut.definition.model == real.trained(size=size, **options)
        assert (cut.n_vocab, cut.name) == (size, f"model_{size}")
        assert cut.definition == definition_of(real.trained(size=size, **options), f"model_{size}", "a test")


@pytest.mark.parametrize("name", ["mistral-v1", "mistral-v3"])
def test_published_models_can_be_cut(name: str) -> None:
    encoding = encoding_of(real.published(name))
    parsed = real.parse(real.published(name))
    cut = encoding.with_vocab_size(20_000)
    model = cut.definition.model
    assert model is not None
    theirs = real.processor(model)
    assert len(theirs) == 20_000
    for text in real.texts(5, 30, parsed):
        assert cut.encode_ordinary(text) == theirs.encode(text)
    found = real.parse(model)
    kept = [(piece.piece, piece.type) for piece in parsed.pieces if len(piece.piece) == 1 or piece.type != 1]
    assert set(kept) <= {(piece.piece, piece.type) for piece in found.pieces}
    assert found.trainer_spec.vocab_size == 20_000
    assert cut.special_tokens_set == encoding.special_tokens_set


def test_tokens_that_are_no_pieces_follow() -> None:
    encoding = encoding_of(real.trained(size=900)).with_special_tokens({"<x>": 1000, "<y>": 950, "<s>": 1})
    cut = encoding.with_vocab_size(800)
    assert cut.encode("<y><x><s>", allowed_special="all") == [798, 799, 1]
    assert cut.definition.model == real.trained(size=798)


def test_edited_scores_and_unused_pieces_stay() -> None:
    parsed = real.parse(real.trained(size=900))
    parsed.pieces[5].score = -1e9
    parsed.pieces[7].type = 5
    found = encoding_of(parsed.SerializeToString()).with_vocab_size(850).definition.model
    assert found is not None
    for token_id in (5, 7):
        assert real.parse(found).pieces[token_id] == parsed.pieces[token_id]


def test_sizes_that_hold_too_little_or_more_than_there_is_are_refused() -> None:
    encoding = encoding_of(real.trained(size=900))
    singles = sum(len(piece.piece) == 1 for piece in real.parse(real.trained(size=900)).pieces)
    with pytest.raises(ValueError, match=f"expected a vocab_size from {singles + 3} to 900, got 901"):
        encoding.with_vocab_size(901)
    with pytest.raises(ValueError, match=f"got {singles + 2}"):
        encoding.with_vocab_size(singles + 2)
    assert len(encoding.with_vocab_size(singles + 3).vocab()) == singles + 3
    # A control piece far behind keeps its id.
    with pytest.raises(ValueError, match="expected a vocab_size from 801 to 900, got 800"):
        encoding_of(real.trained(size=900, pad_id=800)).with_vocab_size(800)
    last = max(i for i, piece in enumerate(encoding.vocab().values()) if len(piece.decode()) > 1)
    definition = encoding.definition._replace(special_tokens={"<x>": last})
    with pytest.raises(ValueError, match="keeps the special token '<x>', got 899"):
        Encoding.from_definition(definition).with_vocab_size(899)
