"""Bytes that need not be UTF-8 never crash `_encode_bytes`, and give tiktoken's ids."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import tiktoken
from hypothesis import example, given

import bytemill
from support.offline_tiktoken import NAMES
from support.strategies import any_bytes
from support.texts import broken_utf8

Encodings = Mapping[str, tiktoken.Encoding]

every_encoding = pytest.mark.parametrize("name", NAMES)

# Every length of character, cut at every byte.
SAMPLE = "a \xe9 \u20ac \U0001f600 \u4f60\u597d, \u0e31\n'\u017f 12"

ODDITIES: dict[str, bytes] = {
    "nothing": b"",
    "a byte that starts nothing": b"\xff",
    "continuation bytes only": b"\x80\xbf" * 40,
    "overlong": b"\xc0\xaf \xe0\x80\xaf",
    "a surrogate": b"x\xed\xa0\x80y",
    "a surrogate pair": b"\xed\xa0\xbd\xed\xb8\x80",
    "beyond the last code point": b"\xf4\x90\x80\x80",
    "first byte of four at the end": b"abc\xf0",
    "three bytes of four at the end": b"abc \xf0\x9f\x98",
    "two bytes of three at the end": b" \xec\x8b\xa4\xed",
    "blanks before what is cut": b"word   \n  \xe4\xb8",
    "blanks only before what is cut": b"     \xff",
    "line ends before what is cut": b"a\r\n\r\n\xff",
    "digits before what is cut": b"12345\xff",
    "a contraction before what is cut": b"it's\xff",
    "broken in the middle": "caf\xe9 ".encode()[:4] + b" au lait",
    "broken twice": b"a\xffb\xffc",
    "zeros": b"\x00" * 50 + b"\xff",
    "special token before": b"<|endoftext|>\xff",
    "valid": SAMPLE.encode(),
}


@every_encoding
@pytest.mark.parametrize("data", ODDITIES.values(), ids=ODDITIES)
def test_oddities(name: str, data: bytes, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    ids = ours._encode_bytes(data)
    assert ids == theirs._encode_bytes(data)
    assert ours.decode_bytes(ids) == data


def test_known_ids() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    assert encoding._encode_bytes(b" \xec\x8b\xa4\xed") == [62085]
    for length in range(10):
        data = b"\x80" * length
        assert encoding.decode_bytes(encoding._encode_bytes(data)) == data


@every_encoding
def test_characters_cut_at_every_byte(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    data = SAMPLE.encode()
    for start in range(len(data)):
        for end in range(start, len(data) + 1):
            assert ours._encode_bytes(data[start:end]) == theirs._encode_bytes(data[start:end]), data[
                start:end
            ]


@every_encoding
def test_flipped_bits(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    data = SAMPLE.encode()
    for position in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            assert ours._encode_bytes(bytes(flipped)) == theirs._encode_bytes(bytes(flipped)), flipped


@every_encoding
def test_almost_utf8(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    invalid = 0
    for data in broken_utf8(seed=1, count=5_000):
        ids = ours._encode_bytes(data)
        assert ids == theirs._encode_bytes(data), data
        assert ours.decode_bytes(ids) == data
        invalid += data.decode("utf-8", "ignore").encode() != data
    assert invalid > 2_000


@every_encoding
def test_pieces_of_any_bytes(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    for data in broken_utf8(seed=2, count=2_000):
        if data:
            assert ours._encode_single_piece(data) == theirs._encode_single_piece(data), data


@every_encoding
@given(data=any_bytes)
@example(data=b"\xff" * 200)
@example(data=bytes(range(256)))
def test_any_bytes(name: str, data: bytes, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    ids = ours._encode_bytes(data)
    assert ids == theirs._encode_bytes(data)
    assert ours.decode_bytes(ids) == data


@every_encoding
def test_a_megabyte_that_is_not_utf8(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    for data in (b"\xff" * 1_000_000, b"\x80abc \xe4\xb8" * 150_000, bytes(range(256)) * 4_000):
        assert encoding.decode_bytes(encoding._encode_bytes(data)) == data


def test_valid_utf8_gives_the_ids_of_the_text() -> None:
    for name in NAMES:
        encoding = bytemill.get_encoding(name)
        assert encoding._encode_bytes(SAMPLE.encode()) == encoding.encode_ordinary(SAMPLE)
