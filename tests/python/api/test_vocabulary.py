"""The tokens of an encoding: lengths, explanations, a digest; and adding special tokens."""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import bytemill
from support.offline_tiktoken import NAMES
from support.strategies import FEWER, surrogate_texts, vocabularies
from support.texts import ADVERSARIAL

every_encoding = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def custom(custom_parts: dict[str, Any]) -> bytemill.Encoding:
    return bytemill.Encoding(**custom_parts)


# --- Lengths ------------------------------------------------------------------------------------------------


@every_encoding
def test_lengths_of_tokens(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    lengths = encoding.token_lengths()
    assert lengths.dtype == np.int32
    assert lengths.shape == (encoding.n_vocab,)
    expected = dict.fromkeys(range(encoding.n_vocab), 0)
    expected |= {token_id: len(token) for token, token_id in encoding._mergeable_ranks.items()}
    assert lengths.tolist() == list(expected.values())
    ids = encoding.encode_to_numpy(ADVERSARIAL["camel case"])
    assert lengths[ids].sum() == len(ADVERSARIAL["camel case"])


def test_lengths_where_ids_have_holes(custom_parts: dict[str, Any]) -> None:
    custom_parts["mergeable_ranks"][b"abcd"] = 290
    lengths = bytemill.Encoding(**custom_parts).token_lengths()
    assert lengths.shape == (302,)
    assert lengths[[97, 256, 257, 258, 290, 300, 301]].tolist() == [1, 2, 3, 0, 4, 0, 0]
    # A fresh array each time.
    lengths[:] = 9
    assert bytemill.Encoding(**custom_parts).token_lengths()[0] == 1


# --- Explanations -------------------------------------------------------------------------------------------


def test_an_explanation(custom: bytemill.Encoding) -> None:
    first, second = custom.explain("xabc 1")[:2]
    assert isinstance(first, bytemill.PieceExplanation)
    assert first.piece == b"xabc"
    assert first.steps == [[b"x", b"a", b"b", b"c"], [b"x", b"ab", b"c"], [b"x", b"abc"]]
    assert first.ids == [120, 257]
    assert second == (b" ", [[b" "]], [32])
    assert custom.explain("") == []


def test_a_piece_that_its_merges_do_not_make(custom_parts: dict[str, Any]) -> None:
    custom_parts["mergeable_ranks"][b"xyz"] = 258
    encoding = bytemill.Encoding(**custom_parts)
    assert encoding.explain("xyz") == [(b"xyz", [[b"x", b"y", b"z"], [b"xyz"]], [258])]
    assert encoding.explain("xyzz")[0].ids == list(b"xyzz")


@FEWER
@given(text=surrogate_texts)
def test_explanations_of_any_text(text: str) -> None:
    for name in ("gpt2", "o200k_base"):
        encoding = bytemill.get_encoding(name)
        explanations = encoding.explain(text)
        assert [token for piece in explanations for token in piece.ids] == encoding.encode_ordinary(text)
        assert b"".join(piece.piece for piece in explanations) == encoding.decode_bytes(
            encoding.encode_ordinary(text)
        )
        for piece, steps, ids in explanations:
            assert all(b"".join(step) == piece for step in steps)
            assert steps[-1] == encoding.decode_tokens_bytes(ids)
            assert [len(step) for step in steps] == list(range(len(piece), len(ids) - 1, -1))


@FEWER
@given(ranks=vocabularies(b"ab"))
def test_explanations_with_vocabularies_that_surprise(ranks: dict[bytes, int]) -> None:
    encoding = bytemill.Encoding("toy", pat_str=r"(?s).+", mergeable_ranks=ranks, special_tokens={})
    for text in ("a", "ab", "abba", "aaaabbb", "abababab"):
        (explanation,) = encoding.explain(text)
        assert explanation.ids == encoding.encode(text)
        assert explanation.steps[-1] == encoding.decode_tokens_bytes(explanation.ids)


# --- The digest ---------------------------------------------------------------------------------------------


def digest(encoding: bytemill.Encoding) -> str:
    """The definition, byte by byte."""

    def number(value: int) -> bytes:
        return value.to_bytes(8, "little")

    def tokens(ids: dict[bytes, int]) -> bytes:
        rows = [
            number(token_id) + number(len(token)) + token
            for token, token_id in sorted(ids.items(), key=lambda item: item[1])
        ]
        return number(len(rows)) + b"".join(rows)

    pattern = encoding._pat_str.encode()
    special = {text.encode(): token_id for text, token_id in encoding._special_tokens.items()}
    header = b"bytemill vocabulary 1\n"
    data = header + number(len(pattern)) + pattern + tokens(encoding._mergeable_ranks) + tokens(special)
    return hashlib.sha256(data).hexdigest()


@every_encoding
def test_digests_of_the_builtin_encodings(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    assert encoding.sha256 == digest(encoding)


def test_digests_are_different() -> None:
    assert len({bytemill.get_encoding(name).sha256 for name in NAMES}) == len(NAMES) - 1
    # These two are one encoding under two names.
    assert bytemill.get_encoding("gpt2").sha256 == bytemill.get_encoding("r50k_base").sha256


def test_equal_encodings_have_equal_digests(custom_parts: dict[str, Any], custom: bytemill.Encoding) -> None:
    assert custom.sha256 == digest(custom)
    assert len(custom.sha256) == 64
    for part in ("mergeable_ranks", "special_tokens"):
        custom_parts[part] = dict(reversed(custom_parts[part].items()))
    assert bytemill.Encoding(**{**custom_parts, "name": "another"}).sha256 == custom.sha256
    assert pickle.loads(pickle.dumps(custom)).sha256 == custom.sha256  # noqa: S301 - our own


@pytest.mark.parametrize(
    "change",
    [
        {"pat_str": r"\p{L}+|\p{N}+|[^\p{N}\p{L}]+"},
        {"special_tokens": {"<|endoftext|>": 300}},
        {"special_tokens": {"<|endoftext|>": 300, "<|other|>": 302}},
        {"special_tokens": {"<|endoftext|>": 300, "<|othes|>": 301}},
    ],
)
def test_any_change_changes_the_digest(
    change: dict[str, Any], custom_parts: dict[str, Any], custom: bytemill.Encoding
) -> None:
    assert bytemill.Encoding(**custom_parts | change).sha256 != custom.sha256
    custom_parts["mergeable_ranks"][b"abd"] = custom_parts["mergeable_ranks"].pop(b"abc")
    assert bytemill.Encoding(**custom_parts).sha256 != custom.sha256


# --- More special tokens ------------------------------------------------------------------------------------


@every_encoding
def test_more_special_tokens(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    more = encoding.with_special_tokens({"<|mine|>": 300_000, "<|yours|>": 300_001})
    assert more.name == f"{name}_extended"
    assert more.n_vocab == 300_002
    assert more.special_tokens_set == encoding.special_tokens_set | {"<|mine|>", "<|yours|>"}
    text = "a<|mine|><|endoftext|> b<|yours|>"
    ids = more.encode(text, allowed_special="all")
    assert ids == [
        *encoding.encode("a"),
        300_000,
        encoding.eot_token,
        *encoding.encode(" b"),
        300_001,
    ]
    assert more.decode(ids) == text
    assert more.encode_single_token("<|mine|>") == 300_000
    assert more.is_special_token(300_001)
    with pytest.raises(bytemill.DisallowedSpecialTokenError):
        more.encode("<|mine|>")
    # The encoding that it was made of is as before.
    assert encoding.encode("<|mine|>") == more.encode_ordinary("<|mine|>")
    assert "<|mine|>" not in encoding.special_tokens_set


def test_the_same_as_built_from_parts(custom_parts: dict[str, Any], custom: bytemill.Encoding) -> None:
    more = custom.with_special_tokens({"<|x|>": 258}, name="mine")
    parts = {**custom_parts, "name": "mine"}
    parts["special_tokens"] = {**custom_parts["special_tokens"], "<|x|>": 258}
    whole = bytemill.Encoding(**parts)
    assert more.sha256 == whole.sha256
    assert more.__getstate__() == whole.__getstate__()
    assert more.vocab() == whole.vocab()
    assert more.max_token_value == whole.max_token_value == 301
    again = pickle.loads(pickle.dumps(more))  # noqa: S301 - our own
    assert again.encode("ab<|x|>", allowed_special="all") == [256, 258]


def test_patterns_of_all_kinds_stay(custom_parts: dict[str, Any]) -> None:
    for pattern in (r"\X", r"(?<!a)b|.", custom_parts["pat_str"]):
        encoding = bytemill.Encoding(**{**custom_parts, "pat_str": pattern})
        more = encoding.with_special_tokens({"<|x|>": 302})
        assert more.encode("e\u0301ab") == encoding.encode("e\u0301ab")
        assert more.encode("<|x|>", allowed_special="all") == [302]


def test_tokens_that_are_there_already(custom: bytemill.Encoding) -> None:
    same = custom.with_special_tokens({"<|other|>": 301}, name=custom.name)
    assert same.__getstate__() == custom.__getstate__()
    assert custom.with_special_tokens({}).sha256 == custom.sha256
    assert custom.with_special_tokens({"<|n|>": np.int64(400)}).n_vocab == 401  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("special_tokens", "message"),
    [
        ({"<|x|>": 256}, "that is the id of the token b'ab'; IDs from 302 on are free"),
        ({"<|x|>": 300}, "that is the id of '<|endoftext|>'; IDs from 302 on are free"),
        ({"<|x|>": 400, "<|y|>": 400}, "that is the id of '<|x|>'"),
        ({"<|other|>": 302}, "it has the id 301 already"),
        ({"": 302}, "expected at least one character"),
        ({"<|x|>": -1}, "expected an id from 0 to 4294967294"),
        ({"<|x|>": 2**32 - 1}, "expected an id from 0 to 4294967294"),
    ],
)
def test_clashes(special_tokens: dict[str, int], message: str, custom: bytemill.Encoding) -> None:
    with pytest.raises(ValueError, match="cannot add the special token") as caught:
        custom.with_special_tokens(special_tokens)
    assert message in str(caught.value)


@pytest.mark.parametrize("special_tokens", [{b"<|x|>": 302}, {"<|x|>": "302"}, {"<|x|>": None}])
def test_what_is_no_special_token(special_tokens: Any, custom: bytemill.Encoding) -> None:
    with pytest.raises(TypeError, match="expected special tokens as strings with integers as IDs"):
        custom.with_special_tokens(special_tokens)


def test_special_tokens_without_ids(custom: bytemill.Encoding) -> None:
    with pytest.raises(TypeError, match="a mapping of their texts to their IDs, got list"):
        custom.with_special_tokens(["<|x|>"])  # type: ignore[arg-type]


def test_a_beginning_of_another_is_warned_of(custom: bytemill.Encoding) -> None:
    with pytest.warns(UserWarning, match="is the beginning of"):
        custom.with_special_tokens({"<|other|>s": 302})
