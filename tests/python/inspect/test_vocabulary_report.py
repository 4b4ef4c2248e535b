"""Reports on vocabularies and single tokens, and the reachability of tokens."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytemill
from bytemill import inspection
from bytemill._core import UNICODE_VERSION  # noqa: TID251 - what is tested
from bytemill.errors import UnknownTokenError
from bytemill.inspection.reachability import last_merge, may_occur, reachability_of
from bytemill.inspection.terminal import align_columns, bar
from bytemill.inspection.token_report import kinds_of
from bytemill.inspection.vocabulary_report import grouped, holes_between
from bytemill.patterns import GPT2_PATTERN, LLAMA3_PATTERN, PATTERNS
from bytemill.reference import split
from bytemill.splitting import Splitter
from support.toys import BYTE_RANKS, ONE_PIECE, TEXTS

# These bytes do not occur in UTF-8.
IMPOSSIBLE = [0xC0, 0xC1, *range(0xF5, 0x100)]


def encoding_of(*tokens: bytes, pattern: str = ONE_PIECE) -> bytemill.Encoding:
    ranks = BYTE_RANKS | {token: 256 + rank for rank, token in enumerate(tokens)}
    return bytemill.Encoding("toy", pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|end|>": 300})


# --- Reachability of tokens -------------------------------------------------------------------------------


def test_tokens_of_a_trained_vocabulary_are_reached() -> None:
    trained = bytemill.train(["the lowest of the low, slower and slowest; " * 9], 270, pattern="cl100k")
    found = reachability_of(trained)
    assert found.unreachable == IMPOSSIBLE
    assert (found.cut, found.whole_only) == ([], [])
    assert found.fragments == [byte for byte in range(0x80, 0x100) if byte not in IMPOSSIBLE]


def test_tokens_that_merges_do_not_make() -> None:
    # "ab" merges before "bc", so that "abc" is never merged; as a whole piece it is found.
    encoding = encoding_of(b"ab", b"bc", b"abcd", b" x")
    assert encoding.encode("abcd") == [258]
    assert reachability_of(encoding).whole_only == [258]
    # This pattern always cuts it.
    encoding = encoding_of(b"a b", b" b", b"a1b", pattern=GPT2_PATTERN)
    found = reachability_of(encoding)
    assert found.unreachable == [*IMPOSSIBLE, 258]
    assert found.cut == [256]


def test_cut_tokens_may_come_inside_larger_pieces() -> None:
    encoding = encoding_of(b"\n ", b" \n ", pattern=LLAMA3_PATTERN)
    assert reachability_of(encoding).cut == [256, 257]
    assert encoding.encode_ordinary(" \n ") == [32, 10, 32]
    assert encoding.encode_ordinary(" \n \n") == [257, 10]


def test_unreachable_fragments() -> None:
    # Of the bytes of the last, 0x80 and 0xe4 merge first, so that it is never merged.
    found = reachability_of(encoding_of(b"\x80\xe4", b"\xe4\xbd", b"\xe4\xbd\xa0", b"\x80\xe4\xbd\xa0"))
    assert found.unreachable == [*IMPOSSIBLE, 259]
    assert {256, 257} <= set(found.fragments)
    # No text contains these bytes.
    assert reachability_of(encoding_of(b"\xe0\x80")).unreachable == [*IMPOSSIBLE, 256]


@given(
    st.lists(st.binary(min_size=2, max_size=4), max_size=8), st.lists(st.text("ab \u00e4\u4f60", max_size=9))
)
def test_unreachable_tokens_are_never_met(tokens: list[bytes], texts: list[str]) -> None:
    encoding = encoding_of(*dict.fromkeys(tokens), pattern=GPT2_PATTERN)
    met = {token for ids in encoding.encode_ordinary_batch(texts) for token in ids}
    assert not met & set(reachability_of(encoding).unreachable)


@given(TEXTS)
def test_pieces_are_whole_when_alone(text: str) -> None:
    # The claim of `reachability` about the published patterns.
    for pattern in PATTERNS.values():
        splitter = Splitter(pattern)
        for piece in split(text, splitter):
            assert split(piece.decode(), splitter) == [piece]


def test_bytes_that_occur_in_text() -> None:
    some = [*range(0x20, 0x500, 7), *range(0x7F0, 0x900, 5), 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
    for character in map(chr, some):
        encoded = character.encode()
        for start in range(len(encoded)):
            for end in range(start + 1, len(encoded) + 1):
                assert may_occur(encoded[start:end])
                assert may_occur(encoded[start:] + encoded[:end])
    for impossible in (
        b"\xc0",
        b"\xe0\x80",
        b"\xed\xa0",
        b"\xf4\x90",
        b"\x80\x80\x80\x80",
        b"\xe4a",
        b"\xc3\xc3",
    ):
        assert not may_occur(impossible)


def test_parts_of_the_last_merge() -> None:
    ranks = BYTE_RANKS | {b"ab": 256, b"abc": 257, b"bcd": 258}
    assert last_merge(b"a", ranks) == ()
    assert last_merge(b"abc", ranks) == (b"ab", b"c")
    assert last_merge(b"bcd", ranks) is None


# --- Scripts of tokens -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (" the", "Latin"),
        ("na\u00efve", "Latin"),
        ("e\u0301", "Latin"),
        (" \u043c\u0438\u0440", "Cyrillic"),
        ("\u4f60\u597d", "Han"),
        ("\u4f60\u306e", "Han+Hiragana"),
        ("\u0928\u092e", "Devanagari"),
        ("\u10d0", "Georgian"),
        ("\U00013000", "Egyptian Hieroglyphs"),
        (" 12", "numbers"),
        ("1.", "numbers"),
        (" (", "signs"),
        ("\U0001f600", "signs"),
        (" \n\t", "blanks"),
        ("\x00", "other"),
        ("\u200b", "other"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert kinds_of([text.encode()]) == [kind]


def test_parts_of_characters_are_their_own_kind() -> None:
    assert kinds_of([b"\xe4\xbd", b"a\xff", b"a"]) == ["parts of characters", "parts of characters", "Latin"]


def test_letters_have_a_script() -> None:
    # The list of scripts is complete: a letter has one, unless its name says that it is common.
    common = re.compile(
        "MATHEMATICAL|DOUBLE-STRUCK|SCRIPT|BLACK-LETTER|PLANCK|MICRO|ANGSTROM|EULER|KELVIN|OHM|INFORMATION"
    )
    letters = [
        chr(code) for code in range(0x80, 0x20000) if unicodedata.category(chr(code)) in {"Lu", "Ll", "Lt"}
    ]
    kinds = kinds_of(letter.encode() for letter in letters)
    without = [
        unicodedata.name(letter) for letter, kind in zip(letters, kinds, strict=True) if kind == "other"
    ]
    assert len(letters) > 2000
    assert [name for name in without if not common.search(name)] == []


# --- The report ---------------------------------------------------------------------------------------------


def test_report_of_a_small_vocabulary() -> None:
    found = inspection.report(
        encoding_of(b"ab", b" ab", b"\xe4\xbd", "\u4f60".encode(), pattern=GPT2_PATTERN)
    )
    assert (found.encoding, found.n_vocab, found.mergeable_tokens) == ("toy", 301, 260)
    assert found.special_tokens == {"<|end|>": 300}
    assert found.holes == [(260, 299)]
    assert found.lengths == {1: 256, 2: 2, 3: 2}
    assert found.mean_length == (256 + 2 * 2 + 2 * 3) / 260
    assert found.longest == [257, 259, 256, 258, 0]
    assert found.kinds["Latin"] == 52 + 2
    assert found.kinds["Han"] == 1
    assert sum(found.kinds.values()) == 260
    assert (found.pattern, found.pattern_name) == (GPT2_PATTERN, "gpt2")
    assert found.to_dict()["unreachable"] == IMPOSSIBLE
    assert len(found.sha256) == 64


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_reports_of_published_encodings(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    found = inspection.report(encoding)
    missing = sum(last - first + 1 for first, last in found.holes)
    assert found.mergeable_tokens + len(found.special_tokens) + missing == encoding.n_vocab
    assert sum(found.lengths.values()) == sum(found.kinds.values()) == found.mergeable_tokens
    assert len(found.reachability.unreachable) == len(IMPOSSIBLE)
    assert found.reachability.whole_only == []
    assert len(found.reachability.cut) == (12 if name == "o200k_base" else 0)
    assert found.kinds["Latin"] > found.mergeable_tokens / 2
    assert found.unicode_version == ".".join(map(str, UNICODE_VERSION))
    printed = str(found)
    for fact in (found.sha256, f"{found.n_vocab:,}", "<|endoftext|>", "Latin", found.pattern_name or "?"):
        assert fact in printed
    assert all(line.isprintable() for line in printed.split("\n"))


def test_report_of_a_pattern_that_python_splits() -> None:
    # The compiled engine has no subroutine calls.
    found = inspection.report(encoding_of(pattern=r"[a-z]+(?&blank)?|(?<blank>[^a-z]+)"))
    assert found.unicode_version is None
    assert "regex package" in str(found)


def test_holes() -> None:
    assert holes_between({0, 1, 4, 6}, 7) == [(2, 3), (5, 5)]
    assert holes_between({2}, 3) == [(0, 1)]
    assert holes_between({0, 1}, 2) == []


def test_long_lengths_share_lines() -> None:
    assert grouped({1: 5, 12: 4, 13: 3, 24: 2, 25: 1, 48: 1, 49: 7}) == {
        "1": 5,
        "12": 4,
        "13 to 24": 5,
        "25 to 48": 2,
        "49 to 96": 7,
    }


def test_bars_and_tables() -> None:
    assert [bar(share, 2) for share in (0, 0.0001, 0.5, 0.5625, 1)] == ["", "▏", "█", "█▏", "██"]
    assert align_columns([("a", "1"), ("\u4f60b", "22")]) == ["a     1", "\u4f60b  22"]


# --- One token ----------------------------------------------------------------------------------------------


def test_token_reports_agree_with_the_vocabulary() -> None:
    encoding = encoding_of(b"a b", b" b", b"a1b", b"ab", b"bc", b"abcd", b"\xe4\xbd", pattern=GPT2_PATTERN)
    found = reachability_of(encoding)
    reach = {token_id: inspection.report_token(encoding, token_id).reach for token_id in range(263)}
    for name, ids in (
        ("unreachable", found.unreachable),
        ("cut", found.cut),
        ("whole_only", found.whole_only),
        ("fragment", found.fragments),
    ):
        assert [token_id for token_id in reach if reach[token_id] == name] == ids
    assert reach[259] == "whole"


def test_token_report() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    found = inspection.report_token(encoding, 2375)
    assert found.to_dict() == {
        "encoding": "o200k_base",
        "id": 2375,
        "bytes": b" world".hex(),
        "text": " world",
        "kind": "Latin",
        "reach": "whole",
        "parts": [286, 1733],
    }
    assert "·w (286) + orld (1733)" in str(found)
    special = inspection.report_token(encoding, 199999)
    assert (special.value, special.reach, special.parts) == (b"<|endoftext|>", "special", ())
    for unknown in (-1, 200_000, 1 << 40):
        with pytest.raises(UnknownTokenError, match="from 0 to 200018"):
            inspection.report_token(encoding, unknown)


def test_cut_tokens_of_o200k_are_met() -> None:
    # The example of the documentation.
    encoding = bytemill.get_encoding("o200k_base")
    assert encoding.encode("-\n//") == [12, 3914]
    assert 3914 not in encoding.encode("a\n//")


def test_tokens_by_id() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    listed = inspection.list_tokens(encoding, 199_990, 300_000)
    vocabulary = encoding.vocab()
    assert listed.tokens == {i: vocabulary[i] for i in sorted(vocabulary) if i >= 199_990}
    assert list(listed.tokens)[-2:] == [199_999, 200_018]
    assert [each["text"] for each in listed.to_dict()["tokens"]][-1] == "<|endofprompt|>"
    assert str(inspection.list_tokens(encoding, 196, 198)) == (
        " id  token  bytes\n196  \\x08   08\n197  →      09\n198  ⏎      0a"
    )


@pytest.mark.parametrize(("first", "last"), [(5, 4), (-3, -1), (50_257, 60_000)])
def test_no_token_by_id(first: int, last: int) -> None:
    with pytest.raises(
        UnknownTokenError, match=rf"no token of gpt2 has an id from {first} to {last}; IDs go"
    ):
        inspection.list_tokens(bytemill.get_encoding("gpt2"), first, last)
