"""How texts become the ids of SentencePiece models, shown step by step."""

from __future__ import annotations

import os
from itertools import pairwise

import pytest

import bytemill
from bytemill import Encoding, inspection
from bytemill.formats.sentencepiece_model import definition_of
from support import sentencepiece as real

SEEDS = range(1_000 if os.environ.get("BYTEMILL_FULL") else 40)


def encoding_of(model: bytes) -> Encoding:
    return Encoding.from_definition(definition_of(model, "model", "a test"))


def model_of(*pieces: tuple[str, float, int], **trainer: object) -> bytes:
    """Returns a model of some pieces after the unknown one, with identity for normalization."""
    parsed = real.parse()
    parsed.trainer_spec.model_type = parsed.trainer_spec.BPE
    for name, value in trainer.items():
        setattr(parsed.trainer_spec, name, value)
    parsed.normalizer_spec.name = "identity"
    for text, score, kind in (("<unk>", 0.0, 2), *pieces):
        parsed.pieces.add(piece=text, score=score, type=kind)
    serialized: bytes = parsed.SerializeToString()
    return serialized


def assert_explains(encoding: Encoding, expected: list[int], text: str) -> None:
    explained = encoding.explain(text)
    assert [token for piece in explained for token in piece.ids] == expected, text
    for piece, steps, ids in explained:
        assert len(ids) == len(steps[-1]), text
        for before, after in pairwise(steps[:-1]):
            # A merge joins two neighbours.
            place = next(i for i, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
            assert after == [*before[:place], before[place] + before[place + 1], *before[place + 2 :]]
        assert b"".join(steps[0]) == piece
        for token, part in zip(ids, steps[-1], strict=True):
            assert encoding.decode_single_token_bytes(token) == part or token == UNKNOWN


UNKNOWN = 0


@pytest.mark.parametrize("name", real.PUBLISHED)
def test_the_last_steps_are_the_ids_of_published_models(name: str) -> None:
    model = real.published(name)
    encoding, theirs = encoding_of(model), real.processor(model)
    for text in real.texts(11, 20, real.parse(model)):
        assert_explains(encoding, theirs.encode(text), text)


def test_the_last_steps_are_the_ids_of_any_model() -> None:
    for seed in SEEDS:
        model = real.synthetic(seed)
        encoding, theirs = encoding_of(model), real.processor(model)
        for text in real.texts(seed, 15, real.parse(model)):
            explained = encoding.explain(text)
            ids = [token for piece in explained for token in piece.ids]
            assert ids == theirs.encode(text), (seed, text)
            assert all(len(piece.ids) == len(piece.steps[-1]) for piece in explained)


def test_merges_are_shown_by_score_and_the_leftmost_first() -> None:
    model = model_of(("ab", -1, 1), ("aa", 0, 1), ("abab", -2, 1), ("a", -3, 1), ("b", -4, 1), ("▁", -5, 1))
    [space, piece] = encoding_of(model).explain("aaabab")
    assert (space.piece, space.steps) == (b" ", [[b" "]])
    assert piece.piece == b"aaabab"
    assert piece.steps == [
        [b"a", b"a", b"a", b"b", b"a", b"b"],
        [b"aa", b"a", b"b", b"a", b"b"],
        [b"aa", b"ab", b"a", b"b"],
        [b"aa", b"ab", b"ab"],
        [b"aa", b"abab"],
    ]
    assert piece.ids == [2, 3]


def test_unused_pieces_give_way_to_their_parts() -> None:
    model = model_of(("ab", -1, 1), ("abc", -2, 5), ("c", -3, 1), ("▁", -5, 1))
    [piece] = encoding_of(model).explain("abc")
    assert piece.steps[-2:] == [[b" ", b"abc"], [b" ", b"ab", b"c"]]
    assert piece.ids == [4, 1, 3]


def test_characters_without_a_token() -> None:
    # Neighbours without a token are one unknown piece, wherever no piece reaches.
    [space, piece] = encoding_of(model_of(("▁", -5, 1))).explain("äö")
    assert piece.steps == [["ä".encode(), "ö".encode()], ["äö".encode()]]
    assert (space.ids, piece.ids) == ([1], [0])
    bytes_of_model = [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    model = model_of(*bytes_of_model, ("▁", -5, 1), byte_fallback=True)
    [_, piece] = encoding_of(model).explain("ä")
    assert piece.steps == [["ä".encode()], [b"\xc3", b"\xa4"]]
    assert piece.ids == [0xC3 + 1, 0xA4 + 1]


def test_user_defined_symbols_do_not_merge() -> None:
    model = model_of(("ab", 0, 4), ("a", -1, 1), ("bb", -2, 1), ("b", -3, 1), ("▁", -5, 1))
    explained = encoding_of(model).explain("abbb")
    assert [piece.steps[-1] for piece in explained] == [[b" "], [b"ab"], [b"bb"]]
    assert encoding_of(model).explain("") == []


def test_merges_can_be_viewed() -> None:
    view = inspection.show_merges(encoding_of(model_of(("ab", 0, 1), ("▁ab", -1, 1))), "ab")
    assert view.terminal(colour=False) == "·│a│b\n·│ab\n·ab  2"
    assert view.to_dict()["pieces"][0]["ids"] == [2]


def test_texts_that_are_none_are_refused() -> None:
    with pytest.raises(TypeError):
        encoding_of(model_of(("▁", -5, 1))).explain(b"a")  # type: ignore[arg-type]
    assert bytemill.get_encoding("gpt2").explain("") == []
