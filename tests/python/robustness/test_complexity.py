"""Time is O(n log n) for any text, including a megabyte that is one piece or nearly one."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import pytest
import tiktoken

import bytemill
from support.differences import assert_same_ids
from support.timing import assert_in_proportion, assert_takes_less, seconds

Encodings = Mapping[str, tiktoken.Encoding]

FULL = os.environ.get("BYTEMILL_FULL") == "1"
MEGABYTES = 64 if FULL else 1

# One encoding of each family of patterns.
FAMILIES = ["r50k_base", "cl100k_base", "o200k_base"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def drawn(alphabet: str) -> Callable[[int], str]:
    return lambda size: "".join(random.Random(7).choices(alphabet, k=size))  # noqa: S311 - the same every time


def repeated(part: str) -> Callable[[int], str]:
    return lambda size: part * (size // len(part))


IDEOGRAPHS = "".join(map(chr, range(0x4E00, 0x5E00)))

# The adversarial families: texts of a number of characters.
TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": repeated("a"),
    "one capital letter": repeated("A"),
    "two letters": repeated("ab"),
    "random letters": drawn(LETTERS),
    "random letters of both cases": drawn(LETTERS + LETTERS.upper()),
    "capitals, then small letters": lambda size: "A" * (size // 2) + "a" * (size // 2),
    "ideographs, then capitals": lambda size: "\u4e2d" * (size // 2) + "A" * (size // 2),
    "one ideograph": repeated("\u4e2d"),
    "random ideographs": drawn(IDEOGRAPHS),
    "digits": repeated("7"),
    "random digits": drawn("0123456789"),
    "punctuation": repeated("!"),
    "apostrophes": repeated("'"),
    "contractions": repeated("'s"),
    "contractions cut short": repeated("'l"),
    "spaces": repeated(" "),
    "spaces before a letter": lambda size: " " * size + "a",
    "spaces before a line end": lambda size: " " * size + "\n",
    "spaces and line ends": repeated(" \n"),
    "long lines of spaces": repeated(" " * 1_000 + "\n"),
    "line ends": repeated("\n"),
    "line ends before spaces": lambda size: "\n" * (size // 2) + " " * (size // 2) + "a",
    "no-break spaces": repeated("\xa0"),
    "marks": repeated("\u0301"),
    "base64": drawn(LETTERS + LETTERS.upper() + "0123456789+/"),
    "zeros": repeated("\x00"),
    "slashes": repeated("/"),
    "angle brackets": repeated("<|"),
    "special tokens": repeated("<|endoftext|>"),
    "special tokens cut short": repeated("<|endoftext|"),
    "joined emoji": repeated("\U0001f469\u200d"),
    "flags": repeated("\U0001f1e6"),
    "cases in turn": repeated("aA"),
    "letters with marks": repeated("e\u0301"),
    "line ends of two characters": repeated("\r\n"),
    "any characters": lambda size: "".join(
        map(chr, random.Random(7).choices([*range(0xD800), *range(0xE000, 0x110000)], k=size))  # noqa: S311
    ),
    "a sequence of De Bruijn": lambda size: "".join(
        first + second for first in IDEOGRAPHS[:1000] for second in IDEOGRAPHS[:1000]
    )[:size],
}


every_kind = pytest.mark.parametrize("kind", TEXTS)


@lru_cache(maxsize=2)
def text_of(kind: str, size: int) -> str:
    """Returns a text of one of the families; cached, as generating it takes longer than encoding it."""
    return TEXTS[kind](size)


@pytest.mark.parametrize("name", FAMILIES)
@every_kind
@pytest.mark.timeout(1800 if FULL else 120)
def test_a_megabyte(kind: str, name: str) -> None:
    encoding = bytemill.get_encoding(name)
    text = text_of(kind, MEGABYTES * 1_000_000)
    results: list[Any] = []
    took = seconds(lambda: results.append(encoding.encode_to_numpy(text, disallowed_special=())))
    assert encoding.decode_bytes(results[0]) == text.encode()
    # A generous bound: it takes less than a twentieth of that.
    assert took < 3 * MEGABYTES * (1 if text.isascii() else 3)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("method", ["encode_ordinary", "_encode_single_piece"])
@every_kind
def test_four_times_the_text_takes_about_four_times_as_long(kind: str, method: str, name: str) -> None:
    encode = getattr(bytemill.get_encoding(name), method)
    assert_in_proportion(encode, text_of(kind, 40_000), text_of(kind, 160_000))


@pytest.mark.parametrize("pattern", ["cl100k", None])
@every_kind
def test_training(kind: str, pattern: str | None) -> None:
    # Without a pattern the text is one piece.
    def train(text: str) -> object:
        return bytemill.train([text.encode()], 300, pattern=pattern, num_threads=1, progress=False)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # until no pair is left
        assert_in_proportion(train, text_of(kind, 5_000), text_of(kind, 20_000))


BEGINNINGS = {text[:length] for text in (make(2000) for make in TEXTS.values()) for length in range(2, 20)}


@pytest.mark.filterwarnings("ignore:the special token")
@every_kind
def test_special_tokens(kind: str, byte_ranks: dict[bytes, int]) -> None:
    # Prefixes of all the texts, and a token that equals this text but for its end.
    late = {text_of(kind, 500) + "!"}
    special = {token: 1000 + i for i, token in enumerate(sorted(BEGINNINGS | late))}
    encoding = bytemill.Encoding(
        "special", pat_str=r"(?s).", mergeable_ranks=byte_ranks, special_tokens=special
    )
    small, large = text_of(kind, 10_000), text_of(kind, 40_000)
    assert_in_proportion(lambda text: encoding.encode_to_numpy(text, allowed_special="all"), small, large)
    assert_in_proportion(
        lambda text: encoding.encode_to_numpy(text, allowed_special=late, disallowed_special=()), small, large
    )


def with_special_token(token: str, byte_ranks: dict[bytes, int]) -> bytemill.Encoding:
    special = {token: 300, "<|a|>": 301}
    return bytemill.Encoding("long", pat_str="a", mergeable_ranks=byte_ranks, special_tokens=special)


@pytest.mark.parametrize("kind", ["two letters", "one letter", "random letters", "random ideographs"])
def test_a_long_special_token(kind: str, byte_ranks: dict[bytes, int]) -> None:
    small, large = text_of(kind, 25_000), text_of(kind, 100_000)
    assert_in_proportion(lambda token: with_special_token(token, byte_ranks), small, large)

    def count(token: str) -> object:
        return bytemill.count_pieces(["x" * 100, token], "gpt2", special_tokens=[token], progress=False)

    assert_in_proportion(count, small, large)


@pytest.mark.filterwarnings("ignore:the special token")
@pytest.mark.parametrize("allowed", [{"<|a|>"}, set()])
def test_a_long_special_token_that_is_not_allowed(allowed: set[str], byte_ranks: dict[bytes, int]) -> None:
    encoding = with_special_token("ab" * 5_000, byte_ranks)
    assert_in_proportion(
        lambda text: encoding.encode_to_numpy(text, allowed_special=allowed, disallowed_special=()),
        text_of("two letters", 40_000),
        text_of("two letters", 160_000),
    )


@every_kind
def test_decoding_back(kind: str) -> None:
    encoding = bytemill.get_encoding("o200k_base")
    small, large = (encoding.encode(text_of(kind, size), disallowed_special=()) for size in (40_000, 160_000))
    assert_in_proportion(encoding.decode, small, large)


def test_the_square_of_something_is_noticed() -> None:
    def square(number: int) -> int:
        return sum(sum(range(number)) for _ in range(number))

    assert_in_proportion(lambda number: sum(range(number * 1000)), 500, 2_000)
    with pytest.raises(AssertionError, match="where less than"):
        assert_in_proportion(square, 500, 2_000)


def test_there_are_thirty_families() -> None:
    assert len({make(1000) for make in TEXTS.values()}) == len(TEXTS) >= 30


@every_kind
def test_pieces_of_a_hundred_kilobytes_have_the_ids_of_tiktoken(
    kind: str, tiktoken_encodings: Encodings
) -> None:
    text = text_of(kind, 100_000)
    for name in FAMILIES:
        ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
        assert_same_ids(theirs, ours._encode_single_piece(text), theirs._encode_single_piece(text), text[:50])


@pytest.mark.parametrize("name", FAMILIES)
def test_bytes_that_are_not_utf8(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    for part in (b"\xff", b"\x80", b"\xe4\xb8", b"a\xff", b"\xf0\x9f\x98 "):
        small, large = part * 20_000, part * 80_000
        assert encoding.decode_bytes(encoding._encode_bytes(large)) == large
        assert_in_proportion(encoding._encode_bytes, small, large, what=part)


@pytest.mark.parametrize("name", FAMILIES)
def test_decoding(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    ids = encoding.encode(drawn(LETTERS + " \n")(400_000))
    small, large = ids[: len(ids) // 4], ids
    for method in ("decode", "decode_bytes", "decode_with_offsets", "decode_tokens_bytes"):
        assert_in_proportion(getattr(encoding, method), small, large, what=method)


def test_many_short_texts_cost_no_more_than_one_long_one() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    texts = ["a few words"] * 20_000
    whole = "a few words" * 20_000
    # A call may cost some microseconds.
    assert_takes_less(
        lambda: [encoding.encode(text) for text in texts], 10, lambda: encoding.encode(whole), noise=0.1
    )


# The multipliers of a former hash; now each process draws its own.
MIXED_IN = (0x9E3779B97F4A7C15).to_bytes(8, "little")
BESIDE = (0x13198A2E03707344).to_bytes(8, "little")
MULTIPLIER = 0x9E3779B97F4A7C15


def colliding(part: bytes, before: int, after: int) -> Callable[[int], dict[bytes, int]]:
    """Returns pieces whose differences cancel in the multiplication: all have the same hash."""

    def make(number: int) -> dict[bytes, int]:
        drawn = random.Random(number)  # noqa: S311 - the same every time
        return {drawn.randbytes(before) + part + drawn.randbytes(after): 1 for _ in range(number)}

    return make


COLLIDING = {"short": colliding(MIXED_IN, 0, 8), "long": colliding(BESIDE, 8, 8)}


@pytest.mark.parametrize("make", COLLIDING.values(), ids=COLLIDING)
def test_counting_pieces_that_collide(make: Callable[[int], dict[bytes, int]]) -> None:
    small, large = make(5_000), make(20_000)
    assert len(bytemill.PieceCounts(large)) == len(large)
    assert_takes_less(lambda: bytemill.PieceCounts(large), 9, lambda: bytemill.PieceCounts(small), noise=0.02)


def test_merging_counts() -> None:
    """Into an empty table, and into a table that must grow: pieces arrive in the order of their buckets."""

    def make(number: int) -> bytemill.PieceCounts:
        return bytemill.PieceCounts({index.to_bytes(8, "little"): 1 for index in range(1, number)})

    small, large = make(10_000), make(40_000)
    other = bytemill.PieceCounts({index.to_bytes(9, "big"): 1 for index in range(1, 40_000)})
    assert len(large + other) == len(large) + len(other)
    assert dict((large + large).most_common(3)) == dict.fromkeys(
        (b"\1" + bytes(7), b"\2" + bytes(7), b"\3" + bytes(7)), 2
    )
    assert_takes_less(lambda: large + other, 9, lambda: small + other, noise=0.02)
    assert_takes_less(lambda: large + large, 9, lambda: small + small, noise=0.02)


def test_tokens_that_collide(byte_ranks: dict[bytes, int]) -> None:
    def make(number: int) -> Callable[[], bytemill.Encoding]:
        tokens = sorted(COLLIDING["long"](number))
        ranks = byte_ranks | {token: 256 + index for index, token in enumerate(tokens)}
        return lambda: bytemill.Encoding(
            "collide", pat_str=r"(?s).+", mergeable_ranks=ranks, special_tokens={}
        )

    small, large = make(4_000), make(16_000)
    encoding = large()
    assert encoding.n_vocab == 256 + 16_000
    assert encoding.encode_single_token(encoding.decode_single_token_bytes(300)) == 300
    assert_takes_less(large, 9, small, noise=0.02)


def test_pairs_that_collide() -> None:
    """Ids for which all merges would collide in a run, so that each look-up would walk over the others."""
    lefts, rights = (
        [number for number in range(1 << 20) if ((number << shift) * MULTIPLIER & (1 << 64) - 1) >> 54 == 0]
        for shift in (44, 24)
    )
    # Bytes of the parts, of four kinds, so that parts join in one way only.
    kinds = [range(first, first + 24) for first in (0, 24, 48, 72)]

    def make(number: int) -> Callable[[], object]:
        left = [bytes([a, b]) for a in kinds[0] for b in kinds[1]][:number]
        right = [bytes([a, b]) for a in kinds[2] for b in kinds[3]][:number]
        ids = [number for number in lefts if number not in set(rights)][:number]
        ranks = dict(zip(left, ids, strict=True)) | dict(zip(right, rights[:number], strict=True))
        free = (number for number in range(1, 1 << 20) if number not in {*lefts, *rights})
        ranks |= {bytes([byte]): next(free) for byte in range(256)}
        whole = (first + second for first in left for second in right)
        ranks |= {token: (1 << 20) + index for index, token in enumerate(whole)}

        def build() -> bytemill.Encoding:
            return bytemill.Encoding("pairs", pat_str=r"(?s).+", mergeable_ranks=ranks, special_tokens={})

        encoding = build()
        text = b"".join((left[index % number] + right[index * 7 % number]) * 3 for index in range(2_000))
        ids = encoding._encode_bytes(text)
        assert ids == [ranks[text[at : at + 4]] for at in range(0, len(text), 4)]
        return lambda: (build(), encoding._encode_bytes(text))

    assert_takes_less(make(200), 9, make(100), noise=0.02)
