"""Patterns of one's own: what Rust's engine takes means what it means to tiktoken, `regex` has the rest."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import regex  # type: ignore[import-untyped]  # noqa: TID251 - the engine that a pattern may fall back on
import tiktoken

import bytemill
from bytemill import PatternError
from bytemill.patterns import O200K_PATTERN, PATTERNS
from support.custom_patterns import PATTERNS_OF_RUST, encoding_with, parts
from support.texts import patchwork
from support.toys import tiktoken_split

LETTERS = ["a", "b", "B", "1", " ", "\n", "'", "s", "\u4f60", "\u0301"]
TEXTS = [
    *("".join(chosen) for length in range(4) for chosen in itertools.product(LETTERS, repeat=length)),
    "abc abc  aab\r\n12 345",
    "'s It'LL \u017f K \u212a \u03a9 \u03c3\u03c2",
    "(a(b)c) ((x",
    "\u4e2d\u4e2d\u6587 \xdf SS \u0130 \u0131",
    "the THE the\n\n",
    "\x1c\x85\xa0 \u2028a\x0b\x07\x1b",
    "aaaa1bbb  \t\n\xc0\xe9\u0301x",
    "a.b ab aB $a] [b",
]


@pytest.mark.parametrize("pattern", PATTERNS_OF_RUST.values(), ids=PATTERNS_OF_RUST)
def test_patterns_mean_what_they_mean_to_tiktoken(pattern: str) -> None:
    ours, theirs = encoding_with(pattern), tiktoken.Encoding(**parts(pattern))
    assert [ours._core_bpe.split(text) for text in TEXTS] == tiktoken_split(pattern, TEXTS)
    for seed in range(20):
        text = patchwork(seed, 100)
        ids = theirs.encode_ordinary(text)
        assert ours.encode_ordinary(text) == ours.encode(text) == ids
        assert ours.encode_to_numpy(text).tolist() == ids
        assert ours.encode_batch([text]) == [ids]
        assert ours._encode_bytes(text.encode() + b"\xe4\xb8") == theirs._encode_bytes(
            text.encode() + b"\xe4\xb8"
        )


# As published with open models; the native splitter knows the text of some and none of the others.
HAN = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]"
PUBLISHED = PATTERNS | {
    "letters of one kind without ideographs": (
        r"[\p{Han}]+"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{HAN[0]}*{HAN[1]}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{HAN[0]}+{HAN[1]}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "single numbers, no contractions": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "o200k, one thing changed": O200K_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}{2,3}"),
    "ideographs and kana apart": r"\p{N}{1,3}|[\u4e00-\u9fa5\u3040-\u30ff]+|[^\u4e00-\u9fa5\u3040-\u30ff]",
}


@pytest.mark.parametrize("pattern", PUBLISHED.values(), ids=PUBLISHED)
def test_published_patterns(pattern: str) -> None:
    ours, theirs = encoding_with(pattern), tiktoken.Encoding(**parts(pattern))
    assert [ours._core_bpe.split(text) for text in TEXTS] == tiktoken_split(pattern, TEXTS)
    for seed in range(100):
        text = patchwork(seed, 200)
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)


def test_text_that_does_not_match_is_dropped() -> None:
    for library in (bytemill, tiktoken):
        encoding = library.Encoding(**parts(r"\p{L}+"))
        assert encoding.decode(encoding.encode("ab 12 cd!")) == "abcd"
        assert encoding.encode(" 12 ") == []
        assert encoding.decode(encoding.encode_ordinary("ab 12 cd!")) == "abcd"
        assert [encoding.decode(ids) for ids in encoding.encode_batch(["a 1", "", " b"])] == ["a", "", "b"]


def test_special_tokens_part_the_text_before_the_pattern_sees_it() -> None:
    pattern = r"^\w+|\w+$|\s+|."
    for text in ("a<|x|>b", "ab<|x|>", "<|x|>ab ", " ab<|x|> ab<|x|>ab"):
        ids = [
            library.Encoding(**parts(pattern, special_tokens={"<|x|>": 900})).encode(
                text, allowed_special="all"
            )
            for library in (bytemill, tiktoken)
        ]
        assert ids[0] == ids[1]


# --- Patterns for the `regex` package -----------------------------------------------------------------------

PATTERNS_OF_REGEX = {
    "start and end of a word": r"\m\w+\M|.",
    "grapheme cluster": r"\X",
    "branch reset": r"(?|(a)|(b))\1|.",
    "conditional on what is ahead": r"(?(?=a)ab|.)",
    "named subroutine": r"(?<x>a)b(?&x)|.",
    "cased letters": r"\p{L&}+|.",
    "octal escape": r"\07|.",
    "range with a class": r"[a-\d]+|.",
    "best match": r"(?b)(?:a)+|.",
    "words by default boundaries": r"(?w)\b\w+\b|\X",
    "version 1 sets": r"(?V1)[[a-z]--[b]]+|.",
    "fuzzy": r"(?e)(?:ab){e<=1:[a-z]}\m|.",
}


@pytest.mark.parametrize("pattern", PATTERNS_OF_REGEX.values(), ids=PATTERNS_OF_REGEX)
def test_other_patterns_are_split_by_the_regex_package(pattern: str) -> None:
    with pytest.raises(ValueError, match="rror"):
        tiktoken.Encoding(**parts(pattern))
    encoding, engine = encoding_with(pattern), regex.compile(pattern, regex.VERSION1)
    for text in (*TEXTS, *(patchwork(seed, 50) for seed in range(20))):
        pieces = [match.group() for match in engine.finditer(text)]
        expected = [token for piece in pieces for token in encoding._encode_single_piece(piece)]
        assert encoding.encode(text) == encoding.encode_ordinary(text) == expected, ascii(text)
        assert encoding._core_bpe.split(text) == pieces
    texts = [patchwork(seed, 50) for seed in range(20)]
    assert encoding.encode_batch(texts, num_threads=2) == [encoding.encode(text) for text in texts]
    assert encoding.decode_bytes(encoding._encode_bytes(b"ab\xe4\xb8")) == b"ab\xe4\xb8"
    assert encoding.encode_with_unstable("ab")[0] is not None


def test_surrogates_reach_no_pattern() -> None:
    for pattern in (r"\X", r"(?s).", r"(\w)\1*|\W"):
        encoding = encoding_with(pattern)
        assert encoding.encode("a\ud83d\ude00b\ud83d") == encoding.encode("a\U0001f600b\ufffd")


# --- Patterns that are refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "[",
        "a)",
        "*",
        "a**",
        r"\p{Nothing}",
        r"(a)\2",
        r"\k<none>",
        "(?<n",
        r"\x{110000}",
        "[b-a]",
        "(?z)",
    ],
)
def test_invalid_patterns(pattern: str) -> None:
    with pytest.raises(PatternError, match="does not compile") as caught:
        encoding_with(pattern)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match="rror"):
        tiktoken.Encoding(**parts(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        *["", "a*", "a?", "a|", "|a", "(?:)", "a{0}", "a{0,3}", r"\s*", "x*|y", r"(?:a|b)*?", r"(?s:.)*"],
        *[
            "^",
            "$",
            r"\b",
            r"\A",
            r"\z",
            r"\w+|$",
            r"(?m)^.*$|\n",
            "(?=a)",
            "(?!a)",
            "(?<=a)|b",
            r"\K|.",
            r"a\K",
            "(?R)|.",
        ],
        *[r"\X*", r"\m", r"\w+|\M", r"(?|a|)", r"(?V1)[a--b]*"],
    ],
)
def test_patterns_that_match_the_empty_string(pattern: str) -> None:
    # tiktoken takes them, and panics when it meets an empty match.
    with pytest.raises(PatternError, match="empty"):
        encoding_with(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?=\w)\w*|\W",
        r"\w*(?<=\w)|\W",
        r"(?=(a+))\1|[^a]",
        r"(?!$)\s*$|.|\n",
        r"(?s)(?=.).{0,4}",
        r"(?:a|(*FAIL))|.",
    ],
)
def test_patterns_that_only_look_as_if_they_matched_the_empty_string_are_refused(pattern: str) -> None:
    # tiktoken takes them. They cannot be told from those that do without trying every text.
    with pytest.raises(PatternError, match="empty"):
        encoding_with(pattern)
    theirs = tiktoken.Encoding(**parts(pattern))
    assert theirs.decode(theirs.encode_ordinary("ab")) == "ab"


@pytest.mark.parametrize("pattern", [r"(?<=zq )\m|.", r"(?|(?<=zq )|x)|."])
def test_empty_matches_that_nobody_foresaw_are_an_error_in_use(pattern: str) -> None:
    encoding = encoding_with(pattern)
    assert encoding.decode(encoding.encode("bxyz")) == "bxyz"
    for encode in (encoding.encode, encoding.encode_ordinary, encoding.encode_to_numpy):
        with pytest.raises(PatternError, match="empty"):
            encode("zq ab")
    with pytest.raises(PatternError, match="empty"):
        encoding.encode_batch(["a", "zq ab"])
    with pytest.raises(PatternError, match="empty"):
        encoding._encode_bytes(b"zq ab\xff")


@pytest.mark.parametrize("pattern", [r"(?:(a|aa)+)\1b|x", r"(c?)(?:a+)+\1(?!c)b|x", r"(c?)(a+)+\1(?=b)b|x"])
def test_catastrophic_patterns_are_an_error_and_no_panic(pattern: str) -> None:
    ours, theirs = encoding_with(pattern), tiktoken.Encoding(**parts(pattern))
    text = "a" * 100_000 + "c"
    with pytest.raises(ValueError, match="limit"):
        theirs.encode(text)
    calls: list[Callable[[], object]] = [
        lambda: ours.encode(text),
        lambda: ours.encode_ordinary(text),
        lambda: ours.encode_to_numpy(text),
        lambda: ours.encode_batch(["a", text]),
        lambda: ours.encode_ordinary_batch(["a", text]),
        lambda: ours.encode_with_unstable(text),
        lambda: ours._encode_bytes(text.encode() + b"\xff"),
    ]
    for call in calls:
        with pytest.raises(PatternError, match="limit"):
            call()
    # It is not the worse for it.
    assert ours.encode("xx") == theirs.encode("xx") == [120, 120]


@pytest.mark.parametrize("pattern", [r"(?:a+)+(?!c)b|x", r"(a+)+(?=b)b|x", r"(?:a|aa)+(?!c)b|x"])
def test_patterns_with_an_automaton_are_not_catastrophic(pattern: str) -> None:
    ours, theirs = encoding_with(pattern), tiktoken.Encoding(**parts(pattern))
    hopeless = "a" * 100_000 + "c"
    with pytest.raises(ValueError, match="limit"):
        theirs.encode(hopeless)
    assert ours.encode(f"x{hopeless}x") == [120, 120]
    assert ours.encode_batch([hopeless, "x"]) == [[], [120]]
    assert ours.encode_to_numpy(f"{hopeless}aab").tolist() == [97, 256]
    for text in ("x", "aab", "aabc", "caab", "aacxab", "abab", "aacaab"):
        assert ours.encode(text) == theirs.encode(text)


def test_a_reversed_pattern_is_an_error() -> None:
    # Its matches come from the end of the text: they are no pieces in order.
    with pytest.raises(PatternError):
        encoding_with(r"(?r)\X").encode("abc")


def test_the_message_shows_the_pattern() -> None:
    with pytest.raises(PatternError, match=r"\(unclosed"):
        encoding_with("(unclosed")
    with pytest.raises(PatternError, match="b"):
        encoding_with("b*")


@pytest.mark.parametrize("bracket", ["(", "["])
def test_a_pattern_nested_too_deeply(bracket: str, byte_ranks: dict[bytes, int]) -> None:
    """The package `regex` ends at Python's limit of calls."""
    with pytest.raises(bytemill.PatternError, match="does not compile"):
        bytemill.Encoding("deep", pat_str=bracket * 3_000, mergeable_ranks=byte_ranks, special_tokens={})
