"""The executable definition of SentencePiece against the real package, which decides what is right."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import functools
import io
import os
import random
import re
import sys
from typing import Any

import pytest

from bytemill.reference_sentencepiece import (
    Charsmap,
    Kind,
    Normalization,
    ReferenceModel,
    TrainingOptions,
    normalize,
    train,
)
from support import sentencepiece as real

SEEDS = range(1_000 if os.environ.get("BYTEMILL_FULL") else 60)


def assert_encodes_alike(model: bytes, texts: int) -> None:
    parsed, theirs, ours = real.parse(model), real.processor(model), real.reference(model)
    some: list[str | bytes] = [*real.texts(1, texts, parsed), *real.random_bytes(2, texts // 2)]
    for text in some:
        spoken = theirs.encode(text, out_type="proto")
        parts = [(piece.id, piece.piece, piece.begin, piece.end) for piece in spoken.pieces]
        assert [tuple(part) for part in ours.encode_parts(text)] == parts, text
        assert ours.encode(text) == theirs.encode(text)


def assert_decodes_alike(model: bytes, lists: int) -> None:
    parsed, theirs, ours = real.parse(model), real.processor(model), real.reference(model)
    source = random.Random(3)
    special = [number for number, piece in enumerate(parsed.pieces) if piece.type != Kind.NORMAL]
    for _ in range(lists):
        length = source.randint(0, 8)
        ids = [
            source.choice([source.randrange(len(parsed.pieces)), source.choice(special)])
            for _ in range(length)
        ]
        assert ours.decode(ids) == theirs.decode(ids), ids
        strings = [source.choice(["x", "\u2581", "z\u2581z", parsed.pieces[token].piece]) for token in ids]
        assert ours.decode(strings) == theirs.decode(strings), strings


@pytest.mark.parametrize("name", real.PUBLISHED)
def test_published_models(name: str) -> None:
    model = real.published(name)
    assert_encodes_alike(model, 40)
    assert_decodes_alike(model, 100)


@pytest.mark.parametrize("rule", real.RULES)
def test_models_trained_with_each_normalization(rule: str) -> None:
    for fallback in (False, True):
        model = real.trained(rule, byte_fallback=fallback)
        assert_encodes_alike(model, 40)
        assert_decodes_alike(model, 40)


def test_synthetic_models() -> None:
    for seed in SEEDS:
        model = real.synthetic(seed)
        assert_encodes_alike(model, 30)
        assert_decodes_alike(model, 20)


@pytest.mark.parametrize("length", [2, 100, 101, 102, 103, 150])
@pytest.mark.parametrize("kind", [Kind.NORMAL, Kind.UNUSED])
def test_unused_pieces_in_unused_pieces(length: int, kind: Kind) -> None:
    parsed = real.parse()
    parsed.trainer_spec.model_type = parsed.trainer_spec.BPE
    parsed.normalizer_spec.add_dummy_prefix = False
    parsed.pieces.add(piece="<unk>", type=Kind.UNKNOWN)
    parsed.pieces.add(piece="a", type=kind, score=-1)
    for size in range(2, length + 1):
        parsed.pieces.add(piece="a" * size, type=Kind.UNUSED, score=size)
    model = parsed.SerializeToString()
    theirs, ours = real.processor(model), real.reference(model)
    for text in ("a" * length, "a" * (2 * length), "aba"):
        assert ours.encode(text) == theirs.encode(text)


@pytest.mark.parametrize("rule", real.RULES)
def test_normalization_of_characters(rule: str) -> None:
    model = real.trained(rule)
    theirs = real.processor(model)
    rules = real.reference(model).normalization
    source = random.Random(4)
    letters = [chr(point) for point in source.sample(range(0x30000), 4_000) if not 0xD800 <= point < 0xE000]
    letters += [chr(point) for point in range(0x500)] + [chr(point) for point in range(0x1E00, 0x2100)]
    for letter in letters:
        for text in (letter, f"a{letter}\u0301b"):
            assert normalize(text.encode(), rules)[0] == theirs.normalize(text), text


def test_text_after_ids_out_of_range() -> None:
    ours = ReferenceModel([])
    with pytest.raises(IndexError, match=r"id 1 is out of range: the model has 0 pieces"):
        ours.decode([1])
    with pytest.raises(IndexError, match="id -1 is out of range"):
        ours.decode([-1])


# --- Training -----------------------------------------------------------------------------------------------


def their_training(sentences: list[str], rule: str, options: dict[str, Any]) -> Any:
    """Returns the parsed model, or the text of the error."""
    written = io.BytesIO()
    try:
        real.library().SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=written,
            model_type="bpe",
            normalization_rule_name=rule,
            minloglevel=3,
            **options,
        )
    except RuntimeError as error:
        return str(error)
    return real.parse(written.getvalue())


@functools.cache
def charsmap(rule: str) -> Charsmap:
    return Charsmap(real.parse(real.trained(rule)).normalizer_spec.precompiled_charsmap)


def our_training(sentences: list[str], rule: str, options: dict[str, Any]) -> Any:
    flags = {
        name: options[name] for name in ("add_dummy_prefix", "remove_extra_whitespaces") if name in options
    }
    others = {name: value for name, value in options.items() if name not in flags}
    try:
        return train(
            sentences, TrainingOptions(**others), real.script, Normalization(charsmap(rule), **flags)
        )
    except ValueError as error:
        return str(error)


def assert_trains_alike(sentences: list[str], rule: str, options: dict[str, Any]) -> bool:
    """Compares pieces, or that there is an error and its numbers; returns whether there is a model."""
    theirs, ours = their_training(sentences, rule, options), our_training(sentences, rule, options)
    if isinstance(theirs, str):
        assert isinstance(ours, str), (theirs, options)
        if found := re.search(r"(Vocabulary size [\w ]*)\D+(\d+)\D+(\d+)", theirs):
            assert found.groups() == re.findall(r"(Vocabulary size [\w ]*)\D+(\d+)\D+(\d+)", ours)[0]
        return False
    assert not isinstance(ours, str), (ours, options)
    # Zeros are told apart by their signs.
    expected = [(piece.piece, str(piece.score), piece.type) for piece in theirs.pieces]
    assert [(piece.text, str(piece.score), piece.kind) for piece in ours] == expected, (options, rule)
    return True


def test_training_with_random_options() -> None:
    trained = [assert_trains_alike(*real.training_set(seed)) for seed in range(3 * len(SEEDS))]
    assert trained.count(True) > len(SEEDS) // 2
    assert trained.count(False) > len(SEEDS) // 2


def test_training_on_prose() -> None:
    sentences = [line for line in (sys.copyright + str(__doc__) + str(random.__doc__)).splitlines() if line]
    for options in ({}, {"split_by_whitespace": False, "byte_fallback": True}):
        assert assert_trains_alike(sentences, "nmt_nfkc", {"vocab_size": 420} | options)


def test_counts_of_sentences() -> None:
    sentences = ["ab ab ba", "cab", "ab ab ba"]
    options = TrainingOptions(vocab_size=10)
    assert train({"ab ab ba": 2, "cab": 1}, options, real.script) == train(sentences, options, real.script)
