"""Splitting with the `regex` package, against tiktoken's Rust engine."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytemill.errors import PatternError
from bytemill.patterns import PATTERNS
from bytemill.splitting import Splitter
from support.toys import BYTE_RANKS, TEXTS, named, tiktoken_encoding, tiktoken_split


@named("splitting")
def test_splitting_case(case: dict[str, Any]) -> None:
    pattern, text = PATTERNS[case["pattern"]], case["text"]
    splitter = Splitter(pattern)
    assert splitter.split(text) == case["pieces"]
    assert tiktoken_split(pattern, [text]) == [case["pieces"]]
    offsets, data = splitter(text), text.encode()
    slices = [data[start:end].decode() for start, end in zip(offsets[::2], offsets[1::2], strict=True)]
    assert slices == case["pieces"]


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=20))
def test_splits_as_tiktoken(name: str, texts: list[str]) -> None:
    splitter = Splitter(PATTERNS[name])
    assert [splitter.split(text) for text in texts] == tiktoken_split(PATTERNS[name], texts)


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=30)
@given(text=st.text())
def test_pieces_add_up_to_the_text(name: str, text: str) -> None:
    splitter = Splitter(PATTERNS[name])
    assert "".join(splitter.split(text)) == text
    ends = list(itertools.accumulate(len(piece.encode()) for piece in splitter.split(text)))
    starts = [0, *ends[:-1]] if ends else []
    assert splitter(text) == [offset for span in zip(starts, ends, strict=True) for offset in span]


@pytest.mark.parametrize(
    "pattern",
    [
        r"ab$|.",  # not before a final line break
        r"ab\z|.",
        r"ab\Z|(?s:.)",  # before any number of final line breaks
        r"(?m)ab$|(?s:.)",
        r"(?m:^a)|.",
        r"[$a]+|.",
        r"\$|a+",
        r"[]$a]+|.",
        r"[^]$a]+|.",
        r"]$|a$|.",
        r"][$a]+|.",
        r"[a-z&&[^b]]+",
        r"[\p{L}--\p{Han}]+",
        r"[a[bc]$]+",
        r"\x{61}+|\u{4f60}|[\x{20}\x{24}]",
        r"(?i)ß|k|.",
        r"a(?i)b|.",
        r"(a)|(b)",
        r"\p{L}+",
        r"\w+|\W+",
        r"\d+|\s+",
    ],
)
def test_custom_pattern_means_what_it_means_to_tiktoken(pattern: str) -> None:
    alphabet = ["a", "b", "B", "]", "$", "\n", "你", "ß", "s", "\u212a", " ", "1"]
    strings = [
        "".join(chosen) for length in range(4) for chosen in itertools.product(alphabet, repeat=length)
    ]
    strings.append("ab\n\n")
    splitter = Splitter(pattern)
    assert [splitter.split(text) for text in strings] == tiktoken_split(pattern, strings)


def test_text_between_matches_is_dropped() -> None:
    splitter = Splitter(r"\p{L}+")
    assert splitter.split("é, 12 b") == ["é", "b"]
    assert splitter("é, 12 b") == [0, 2, 7, 8]


@pytest.mark.parametrize("pattern", ["(", "[", r"\p{Nothing}", r"\x{110000}", r"\x{123456789ABC}", "a**"])
def test_pattern_that_does_not_compile(pattern: str) -> None:
    with pytest.raises(PatternError, match="does not compile"):
        Splitter(pattern)


@pytest.mark.parametrize("pattern", ["", "a*", "a|", "$", "^", r"\b", r"(?=a)|b"])
def test_pattern_that_matches_the_empty_string(pattern: str) -> None:
    with pytest.raises(PatternError, match="empty string"):
        Splitter(pattern)


def test_empty_match_in_use() -> None:
    splitter = Splitter("q|(?=x)")
    assert splitter.split("qa") == ["q"]
    with pytest.raises(PatternError, match="empty string"):
        splitter.split("qx")
    with pytest.raises(PatternError, match="empty string"):
        splitter("qx")


def test_classes_differ_from_rust_by_unicode_version_only() -> None:
    every = "".join(map(chr, itertools.chain(range(0xD800), range(0xE000, 0x110000))))

    def members(pattern: str) -> tuple[set[str], set[str]]:
        encoding = tiktoken_encoding(BYTE_RANKS, pattern)  # It drops what does not match.
        return set(Splitter(pattern).split(every)), set(encoding.decode(encoding.encode_ordinary(every)))

    for pattern in (r"\s", r"(?i:[sdmt])", r"(?i:[lver])", r"[\r\n]"):
        ours, theirs = members(pattern)
        assert ours == theirs
    unassigned = set.union(*members(r"\p{Cn}"))  # in either version
    recategorised = {"\u0295"}  # from lower-case to other letter
    for name in ("L", "N", "M", "Lu", "Ll", "Lt", "Lm", "Lo"):
        ours, theirs = members(rf"\p{{{name}}}")
        assert len(ours & theirs) >= 31  # as many as there are in the smallest, Lt
        assert ours ^ theirs <= unassigned | recategorised
