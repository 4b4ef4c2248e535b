"""`encode_with_unstable` of SentencePiece models: what a text keeps whatever follows it."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from bytemill import DisallowedSpecialTokenError, Encoding
from bytemill.continuation import encode_with_unstable, settled_part
from bytemill.formats.sentencepiece_model import reference_of
from bytemill.reference_sentencepiece import normalize
from support import sentencepiece as real

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = range(400 if os.environ.get("BYTEMILL_FULL") else 30)


def load(model: bytes, folder: Path) -> Encoding:
    path = folder / "a.model"
    path.write_bytes(model)
    return Encoding.from_file(path)


def goes_on_unchanged(model: bytes, text: str, place: int) -> bool:
    """Returns whether the normalized text begins with what the text up to a place was normalized to."""
    reference = reference_of(model)
    normalized, _ = normalize(text.encode(), reference.normalization, reference.user_defined)
    return normalized.startswith("".join(settled_part(reference, text[:place].encode())))


@pytest.fixture(scope="module")
def encoding(tmp_path_factory: pytest.TempPathFactory) -> Encoding:
    """A model that learned the words of `TEXT`."""
    model = real.trained("nmt_nfkc", 1200, user_defined_symbols="<tag>", byte_fallback=True)
    return load(model, tmp_path_factory.mktemp("unstable"))


@pytest.mark.parametrize("seed", SEEDS)
def test_any_continuation_keeps_the_stable_ids_and_goes_on_with_a_completion(
    seed: int, tmp_path: Path
) -> None:
    model = real.synthetic(seed)
    parsed = real.parse(model)
    encoding = load(model, tmp_path)
    has_unused = any(piece.type == piece.UNUSED for piece in parsed.pieces)
    source = random.Random(seed)  # noqa: S311 - no secrets
    for text in real.texts(seed, 20, parsed, 20):
        place = source.randint(0, len(text))
        stable, completions = encode_with_unstable(model, text[:place])
        ids = encoding.encode_ordinary(text)
        assert ids[: len(stable)] == stable
        rest = ids[len(stable) :]
        # Without completions, all ids are stable. Pieces that give way to others do not keep the ids before
        # them, nor characters those that marks join.
        if completions and rest and not has_unused and goes_on_unchanged(model, text, place):
            assert any(rest[: len(completion)] == completion for completion in completions)


def test_each_completion_is_an_encoding_that_begins_with_the_text(encoding: Encoding) -> None:
    for text in ("the", "the ", "a the", "on the wor", "\u6f22", "x\U0001f600", "e"):
        stable, completions = encoding.encode_with_unstable(text)
        assert completions
        for completion in completions:
            decoded = encoding.decode(stable + completion)
            assert decoded.startswith(text) or decoded == text.rstrip()
    assert encoding.encode_with_unstable("") == ([], [])


def test_ids_before_the_last_word_are_stable(encoding: Encoding) -> None:
    stable, completions = encoding.encode_with_unstable("the one the")
    assert stable == encoding.encode_ordinary("the one")
    assert encoding.encode_ordinary("the") in completions
    assert encoding.encode_ordinary("the one the")[: len(stable)] == stable


def test_a_mark_may_join_the_letter_before_it(encoding: Encoding) -> None:
    stable, _ = encoding.encode_with_unstable("an e")
    assert encoding.encode_ordinary("an e\u0301")[: len(stable)] == stable


def test_special_tokens_end_what_may_change(encoding: Encoding) -> None:
    with pytest.raises(DisallowedSpecialTokenError):
        encoding.encode_with_unstable("the</s>one")
    stable, completions = encoding.encode_with_unstable("the</s>one", allowed_special="all")
    inner, expected = encoding.encode_with_unstable("one")
    assert stable == encoding.encode("the</s>", allowed_special="all") + inner
    assert sorted(completions) == sorted(expected)
    assert encoding.encode_with_unstable("the</s>", allowed_special="all")[1] == []


def test_symbols_may_be_completed_and_complete_ones_stay(encoding: Encoding) -> None:
    tag = encoding.encode_ordinary("<tag>")
    assert encoding.encode_with_unstable("<tag>")[0] == tag
    stable, completions = encoding.encode_with_unstable("<ta")
    assert tag[-1] not in stable
    assert any(completion[-1] == tag[-1] for completion in completions)


def test_surrogates_are_repaired(encoding: Encoding) -> None:
    stable, completions = encoding.encode_with_unstable("a\ud83d\ude00")
    expected = encoding.encode_with_unstable("a\U0001f600")
    assert (stable, sorted(completions)) == (expected[0], sorted(expected[1]))
