"""Where tokens are in a text: the characters that they start and end in, from ids and while encoding."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

import bytemill
from bytemill.splitting import repair_surrogates
from support.offline_tiktoken import NAMES
from support.strategies import any_text, surrogate_texts, texts, texts_with_special_tokens
from support.texts import ADVERSARIAL, multilingual

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


# --- While encoding -----------------------------------------------------------------------------------------


def assert_places(encoding: bytemill.Encoding, text: str, **special: Any) -> None:
    """Asserts what holds wherever all of a text is encoded, in both units."""
    repaired = repair_surrogates(text)
    ids = encoding.encode(text, **special)
    encoded = encoding.encode_with_offsets(text, **special)
    assert encoded.ids.tolist() == ids
    assert (repaired, encoded.starts.tolist()) == encoding.decode_with_offsets(ids)
    parts = encoding.decode_tokens_bytes(ids)
    in_bytes = encoding.encode_with_offsets(text, unit="byte", **special)
    data = repaired.encode()
    assert [data[start:end] for start, end in zip(in_bytes.starts, in_bytes.ends, strict=True)] == parts
    # The definition: the characters that hold the token's first and last byte.
    of_byte = [index for index, character in enumerate(repaired) for _ in character.encode()]
    assert encoded.starts.tolist() == [of_byte[start] for start in in_bytes.starts]
    assert encoded.ends.tolist() == [of_byte[end - 1] + 1 for end in in_bytes.ends]


def test_places_of_known_tokens() -> None:
    encoding = bytemill.get_encoding("gpt2")
    text = "hi \U0001f9ff!"
    encoded = encoding.encode_with_offsets(text)
    assert isinstance(encoded, bytemill.EncodedWithOffsets)
    ids, starts, ends = encoded
    assert ids.tolist() == encoding.encode(text)
    assert encoding.decode_tokens_bytes(ids.tolist()) == [b"hi", b" \xf0\x9f", b"\xa7", b"\xbf", b"!"]
    assert starts.tolist() == [0, 2, 3, 3, 4]
    assert ends.tolist() == [2, 4, 4, 4, 5]
    in_bytes = encoding.encode_with_offsets(text, unit="byte")
    assert in_bytes.starts.tolist() == [0, 2, 5, 6, 7]
    assert in_bytes.ends.tolist() == [2, 5, 6, 7, 8]


def test_arrays_of_places() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    for text in ("", "hello world"):
        encoded = encoding.encode_with_offsets(text)
        assert [array.dtype for array in encoded] == [np.uint32, np.int64, np.int64]
        assert all(array.flags.writeable and array.ndim == 1 for array in encoded)
        assert len({array.shape for array in encoded}) == 1


@every_encoding
@given(text=st.one_of(texts, surrogate_texts))
@example(text="\U0001f600\u0301 \u4e2d\ud83d\ude00 \ud83d")
def test_places_in_any_text(name: str, text: str) -> None:
    assert_places(bytemill.get_encoding(name), text)


@every_encoding
def test_places_in_adversarial_texts(name: str) -> None:
    for text in (*ADVERSARIAL.values(), multilingual(9, 3_000)):
        assert_places(bytemill.get_encoding(name), text[:1_500])


@given(text=texts_with_special_tokens)
def test_places_of_special_tokens(text: str) -> None:
    encoding = bytemill.get_encoding("o200k_base")
    assert_places(encoding, text, allowed_special="all")
    assert_places(encoding, text, disallowed_special=())
    with contextlib.suppress(bytemill.DisallowedSpecialTokenError):
        assert_places(encoding, text)


def test_disallowed_special_tokens_are_an_error_as_in_encode() -> None:
    encoding = bytemill.get_encoding("gpt2")
    with pytest.raises(bytemill.DisallowedSpecialTokenError):
        encoding.encode_with_offsets("a<|endoftext|>")
    with pytest.raises(bytemill.DisallowedSpecialTokenError):
        encoding.encode_with_offsets("ab", disallowed_special={"b"})


def test_text_that_a_pattern_drops_has_no_token(byte_ranks: dict[bytes, int]) -> None:
    encoding = bytemill.Encoding(
        "custom",
        pat_str=r"\w+",
        mergeable_ranks={**byte_ranks, b"ab": 256, "\xe9".encode(): 257},
        special_tokens={"<>": 300},
    )
    encoded = encoding.encode_with_offsets("  \xe9  ab- <> \u20ac abb", allowed_special="all")
    assert encoded.ids.tolist() == [257, 256, 300, 256, 98]
    assert encoded.starts.tolist() == [2, 5, 9, 14, 16]
    assert encoded.ends.tolist() == [3, 7, 11, 16, 17]


def test_a_special_token_with_the_id_of_another_token(byte_ranks: dict[bytes, int]) -> None:
    with pytest.warns(UserWarning, match="share the IDs"):
        encoding = bytemill.Encoding(
            "custom", pat_str=".", mergeable_ranks=byte_ranks, special_tokens={"<\u20ac>": 97}
        )
    encoded = encoding.encode_with_offsets("b<\u20ac>b", allowed_special="all")
    assert encoded.ids.tolist() == [98, 97, 98]
    assert encoded.starts.tolist() == [0, 1, 4]
    assert encoded.ends.tolist() == [1, 4, 5]
    assert encoding.encode_with_offsets("b<\u20ac>b", unit="byte", allowed_special="all").ends.tolist() == [
        1,
        6,
        7,
    ]


def test_special_tokens_that_share_an_id() -> None:
    encoding = bytemill.get_encoding("o200k_harmony")
    text = "<|reserved_200018|><|endofprompt|>"
    assert encoding.encode_with_offsets(text, allowed_special="all").ids.tolist() == [200_018, 200_018]
    assert encoding.encode_with_offsets(text, allowed_special="all").ends.tolist() == [19, len(text)]


def test_an_unknown_unit() -> None:
    with pytest.raises(ValueError, match="unit must be 'char' or 'byte', not 'token'"):
        bytemill.get_encoding("gpt2").encode_with_offsets("a", unit="token")  # type: ignore[arg-type]
