"""`decode_with_offsets`: for each token the character that it starts in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

import bytemill
from offline_tiktoken import NAMES
from strategies import any_text
from texts import ADVERSARIAL, multilingual

Encodings = Mapping[str, tiktoken.Encoding]

every_encoding = pytest.mark.parametrize("name", NAMES)


def slow_offsets(encoding: bytemill.Encoding, ids: Sequence[int]) -> list[int]:
    """The definition: the index of the character that holds a token's first byte."""
    parts = encoding.decode_tokens_bytes(ids)
    text = encoding.decode_bytes(ids).decode()
    ends = list(accumulate(len(character.encode()) for character in text))
    starts = accumulate((len(part) for part in parts[:-1]), initial=0)
    return [next(index for index, end in enumerate(ends) if start < end) for start in starts] if parts else []


@pytest.mark.parametrize(
    ("name", "text", "offsets"),
    [
        ("cl100k_base", "hello world", [0, 5]),
        ("cl100k_base", "hello world<|endoftext|> green cow", [0, 5, 11, 24, 30]),
        # Characters that no token begins inside, and characters of several tokens.
        (
            "cl100k_base",
            "\u6211\u975e\u5e38\u6e34\u671b\u4e0e\u4eba\u5de5\u667a\u80fd\u4e00\u8d77\u5de5\u4f5c",
            None,
        ),
        ("cl100k_base", "\u0b85\u0bb4\u0b95\u0bbe\u0ba9 \u0b89\u0bb0\u0bc8", None),
        ("cl100k_base", " \u0120\u9664", [0, 1]),
        ("gpt2", "\U0001f600\U0001f600", None),
    ],
)
def test_known_texts(name: str, text: str, offsets: list[int] | None, tiktoken_encodings: Encodings) -> None:
    encoding = bytemill.get_encoding(name)
    ids = encoding.encode(text, allowed_special="all")
    got, expected = encoding.decode_with_offsets(ids), tiktoken_encodings[name].decode_with_offsets(ids)
    assert got == expected
    assert got[0] == text
    assert got[1] == slow_offsets(encoding, ids)
    if offsets is not None:
        assert got[1] == offsets


def test_no_tokens() -> None:
    assert bytemill.get_encoding("cl100k_base").decode_with_offsets([]) == ("", [])


@every_encoding
def test_adversarial_texts(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    for text in (*ADVERSARIAL.values(), multilingual(9, 3_000)):
        ids = ours.encode_ordinary(text[:1_500])
        got = ours.decode_with_offsets(ids)
        assert got == theirs.decode_with_offsets(ids)
        assert got[0] == text[:1_500]


@every_encoding
@given(text=any_text)
@example(text="\U0001f600\u0301 \u4e2d")
def test_any_text(name: str, text: str) -> None:
    encoding = bytemill.get_encoding(name)
    ids = encoding.encode_ordinary(text)
    assert encoding.decode_with_offsets(ids) == (text, slow_offsets(encoding, ids))


@given(data=st.data())
def test_any_tokens_whose_bytes_are_text(data: st.DataObject, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding("o200k_base"), tiktoken_encodings["o200k_base"]
    tokens = st.integers(0, 199_000).filter(lambda token: is_utf8(ours.decode_single_token_bytes(token)))
    ids = data.draw(st.lists(tokens, max_size=10))
    assert ours.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)


def is_utf8(data: bytes) -> bool:
    return data.decode("utf-8", "ignore").encode() == data


@pytest.mark.parametrize("broken", [b"\xff", b"a\xe4\xb8", b"\x80"])
def test_bytes_that_are_not_text_are_an_error(broken: bytes, tiktoken_encodings: Encodings) -> None:
    for encoding in (bytemill.get_encoding("cl100k_base"), tiktoken_encodings["cl100k_base"]):
        ids = encoding._encode_bytes(broken)
        with pytest.raises(UnicodeDecodeError):
            encoding.decode_with_offsets(ids)


def test_special_tokens_have_offsets_too(byte_ranks: dict[bytes, int]) -> None:
    encoding = bytemill.Encoding(
        "custom", pat_str=".", mergeable_ranks=byte_ranks, special_tokens={"\u20ac\u20ac": 300}
    )
    assert encoding.decode_with_offsets([97, 300, 98]) == ("a\u20ac\u20acb", [0, 1, 3])
