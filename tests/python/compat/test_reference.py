"""The reference against the golden cases, against tiktoken and against still simpler definitions."""

from __future__ import annotations

import functools
import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bytemill
from bytemill import reference
from bytemill.errors import PatternError, UnknownTokenError, VocabularyError
from bytemill.patterns import CL100K_PATTERN, PATTERNS
from bytemill.reference import ReferenceEncoding
from support.toys import BYTE_RANKS, CASES, TEXTS, named, tiktoken_encoding

PIECES = st.text(st.sampled_from("ab"), max_size=12).map(str.encode)


@pytest.fixture(scope="module")
def toy_ranks() -> dict[bytes, int]:
    """A vocabulary trained on this file."""
    text = Path(__file__).read_text(encoding="utf-8")
    return reference.ranks_of_merges(reference.train(text, 400, pattern=CL100K_PATTERN))


# --- Golden cases ---


def ranks_of(case: dict[str, Any]) -> dict[bytes, int]:
    return BYTE_RANKS | {bytes.fromhex(token): rank for token, rank in case["ranks"]}


def test_cases_have_unique_names_and_reasons() -> None:
    cases = [case for kind in ("merging", "splitting", "encoding", "training") for case in CASES[kind]]
    assert len(cases) > 200
    assert [name for name, count in Counter(case["name"] for case in cases).items() if count > 1] == []
    assert [case["name"] for case in cases if not case["why"]] == []


@named("merging")
def test_merging_case(case: dict[str, Any]) -> None:
    ranks, piece = ranks_of(case), bytes.fromhex(case["input"])
    assert ReferenceEncoding(ranks).encode_piece(piece) == case["ids"]
    if piece:  # tiktoken panics on the empty piece.
        assert tiktoken_encoding(ranks)._encode_single_piece(piece) == case["ids"]


@named("merging")
def test_merging_case_is_canonical_or_not(case: dict[str, Any]) -> None:
    tokens = {token: rank for token, rank in ranks_of(case).items() if rank > 255}
    part_counts = []
    for token, rank in tokens.items():
        lower = {other: other_rank for other, other_rank in tokens.items() if other_rank < rank}
        *_, parts = reference.merge_steps(token, lower)
        part_counts.append(len(parts))
    assert case["canonical"] == all(count == 2 for count in part_counts)


@named("encoding")
def test_encoding_case(case: dict[str, Any]) -> None:
    encoding = published(case["encoding"])
    assert encoding.encode_ordinary(case["text"]) == case["ids"]
    assert encoding.decode(case["ids"]) == case["text"]


@functools.cache
def published(name: str) -> ReferenceEncoding:
    encoding = bytemill.get_encoding(name)
    return ReferenceEncoding(encoding._mergeable_ranks, encoding._special_tokens, encoding._pat_str)


@named("training")
def test_training_case(case: dict[str, Any]) -> None:
    data: Any = case.get("text")
    pattern = None
    if data is None:
        data = {bytes.fromhex(piece): count for piece, count in case["pieces"]}
    elif case["pattern"] is not None:
        pattern = PATTERNS[case["pattern"]]
    merges = reference.train(data, case["vocab_size"], pattern=pattern, tie_break=case["tie_break"])
    assert [list(pair) for pair in merges] == case["merges"]


# --- Encoding ---


@settings(max_examples=150, deadline=None)
@given(
    st.lists(PIECES.filter(lambda token: len(token) > 1), unique=True, max_size=8),
    st.lists(PIECES, max_size=8),
)
@example([b"aba", b"ab"], [b"abab"])
@example([b"aa"], [b"a" * 201])
def test_any_vocabulary_merges_as_in_tiktoken(tokens: list[bytes], pieces: list[bytes]) -> None:
    ranks = BYTE_RANKS | {token: 256 + rank for rank, token in enumerate(tokens)}
    ours, theirs = ReferenceEncoding(ranks), tiktoken_encoding(ranks)
    for piece in [*pieces, b"".join(pieces) * 5]:
        if piece:
            assert ours.encode_piece(piece) == theirs._encode_single_piece(piece)


def test_long_pieces_merge_as_in_tiktoken(toy_ranks: dict[bytes, int]) -> None:
    ours, theirs = ReferenceEncoding(toy_ranks), tiktoken_encoding(toy_ranks)
    for piece in (b"e" * 999, b"testest" * 99, Path(__file__).read_bytes()[:700]):
        assert ours.encode_piece(piece) == theirs._encode_single_piece(piece)


@pytest.mark.parametrize("name", ["gpt2", "r50k", "cl100k", "o200k"])
def test_encodes_as_tiktoken(name: str, toy_ranks: dict[bytes, int]) -> None:
    ours = ReferenceEncoding(toy_ranks, {"<|end|>": 1000}, PATTERNS[name])
    theirs = tiktoken_encoding(toy_ranks, PATTERNS[name], {"<|end|>": 1000})
    words = st.sampled_from(
        ["the", " piece", "    ", "\n\n", "def ", "'ll", "12345", " \u0085", "<|end|>", "\ud83d"]
    )

    @settings(max_examples=150, deadline=None)
    @given(st.lists(words | TEXTS, max_size=8).map("".join))
    @example("\ud83d\ude00 \ude00")
    def check(text: str) -> None:
        ids = ours.encode_ordinary(text)
        assert ids == theirs.encode_ordinary(text) == ours.encode(text, disallowed_special=())
        assert ours.decode_bytes(ids) == theirs.decode_bytes(ids)
        allowed = ours.encode(text, allowed_special="all")
        assert allowed == theirs.encode(text, allowed_special="all")
        assert ours.decode(allowed) == theirs.decode(allowed)

    check()


def test_decode_replaces_what_is_not_utf8() -> None:
    encoding = ReferenceEncoding(BYTE_RANKS)
    assert encoding.decode([0xE4, 0xBD]) == "\ufffd"
    with pytest.raises(UnicodeDecodeError):
        encoding.decode([0xE4, 0xBD], errors="strict")


def test_decode_prefers_the_vocabulary_then_the_first_special_token() -> None:
    special_tokens = {"<a>": 97, "<b>": 300, "<c>": 300}
    encoding = ReferenceEncoding(BYTE_RANKS, special_tokens)
    assert encoding.encode("a<a><b><c>", allowed_special="all") == [97, 97, 300, 300]
    assert encoding.decode([97, 300]) == "a<b>"
    assert tiktoken_encoding(BYTE_RANKS, special_tokens={"<a>": 97}).decode([97]) == "a"


def test_decode_unknown_token() -> None:
    with pytest.raises(UnknownTokenError, match="Invalid token for decoding: 256"):
        ReferenceEncoding(BYTE_RANKS).decode([97, 256])


@pytest.mark.parametrize(
    ("ranks", "special_tokens", "message"),
    [
        ({b"a": 0}, {}, "no token for the byte"),
        (BYTE_RANKS | {b"ab": 97}, {}, "same rank"),
        (BYTE_RANKS | {b"": 256}, {}, "empty"),
        (BYTE_RANKS, {"": 256}, "empty"),
    ],
)
def test_broken_vocabulary(ranks: dict[bytes, int], special_tokens: dict[str, int], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        ReferenceEncoding(ranks, special_tokens)


def test_the_reference_never_imports_the_compiled_module() -> None:
    package = Path(reference.__file__).parent
    program = f"""
import sys, types
package = types.ModuleType("bytemill")
package.__path__ = [{str(package)!r}]
sys.modules["bytemill"] = package
from bytemill import _educational, reference
print(*sorted(name for name in sys.modules if name.startswith("bytemill.")))
"""
    output = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert "bytemill.reference" in output.split()
    assert set(output.split()).isdisjoint({"bytemill._core", "bytemill.core", "bytemill.registry"})


# --- Training ---


def replay(piece: bytes, merges: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Applies merges to a piece in order, each at every place from left to right."""
    parts = [bytes([value]) for value in piece]
    for left, right in merges:
        merged: list[bytes] = []
        joined = False  # whether the last part was just made, and so is not there to be merged again
        for part in parts:
            if merged and not joined and (merged[-1], part) == (left, right):
                merged[-1] += part
                joined = True
            else:
                merged.append(part)
                joined = False
        parts = merged
    return parts


def train_by_brute_force(pieces: list[bytes], vocab_size: int, tie_break: str) -> list[tuple[bytes, bytes]]:
    """Trains on bytes instead of ids, on every piece as often as it occurs, from scratch for each merge."""
    merges: list[tuple[bytes, bytes]] = []
    while len(merges) < vocab_size - 256:
        pairs = [pair for piece in pieces for pair in itertools.pairwise(replay(piece, merges))]
        if not pairs:
            break
        tokens = [*BYTE_RANKS, *(left + right for left, right in merges)]
        counts = Counter(pairs)
        best = [pair for pair in pairs if counts[pair] == max(counts.values())]
        if tie_break == "smallest_pair":
            best.sort(key=lambda pair: [tokens.index(token) for token in pair])
        merges.append(best[0])
    return merges


corpora = st.lists(st.text(st.sampled_from("abc"), max_size=8).map(str.encode), max_size=8)


@pytest.mark.parametrize("tie_break", ["first_seen", "smallest_pair"])
@settings(max_examples=80, deadline=None)
@given(corpora, st.integers(256, 266))
@example([b"aaaaa", b"aaa", b"aa"], 260)
def test_trains_as_by_brute_force(tie_break: Any, pieces: list[bytes], vocab_size: int) -> None:
    merges = reference.train(pieces, vocab_size, tie_break=tie_break)
    tokens = list(reference.ranks_of_merges(merges))
    as_bytes = [(tokens[left], tokens[right]) for left, right in merges]
    assert as_bytes == train_by_brute_force(pieces, vocab_size, tie_break)
    assert len(tokens) == 256 + len(merges)  # No two merges make the same bytes.


@pytest.mark.parametrize("tie_break", ["first_seen", "smallest_pair"])
@settings(max_examples=100, deadline=None)
@given(corpora)
def test_encoding_replays_training(tie_break: Any, pieces: list[bytes]) -> None:
    merges = reference.train(pieces, 266, tie_break=tie_break)
    ranks = reference.ranks_of_merges(merges)
    tokens = list(ranks)
    by_bytes = [(tokens[left], tokens[right]) for left, right in merges]
    for piece in pieces:
        assert ReferenceEncoding(ranks).encode_piece(piece) == [
            ranks[part] for part in replay(piece, by_bytes)
        ]


@given(corpora, st.randoms(use_true_random=False))
def test_smallest_pair_does_not_depend_on_the_order(pieces: list[bytes], random: Any) -> None:
    merges = reference.train(pieces, 266, tie_break="smallest_pair")
    random.shuffle(pieces)
    assert reference.train(pieces, 266, tie_break="smallest_pair") == merges
    assert reference.train(Counter(pieces), 266, tie_break="smallest_pair") == merges


def test_counts_and_merges_of_runs() -> None:
    assert reference.count_pairs([1, 2, 3, 1, 2]) == {(1, 2): 2, (2, 3): 1, (3, 1): 1}
    assert reference.count_pairs([1, 1, 1, 1], {(1, 1): 1, (2, 2): 5}, weight=2) == {(1, 1): 7, (2, 2): 5}
    assert reference.count_pairs([1]) == {}
    assert [reference.merge([1] * length, (1, 1), 9) for length in range(6)] == [
        [],
        [1],
        [9],
        [9, 1],
        [9, 9],
        [9, 9, 1],
    ]


def test_training_text_with_surrogates() -> None:
    assert reference.train("\ud83d\ude00", 257) == [(0xF0, 0x9F)]
    assert reference.train("\ud83d", 257) == [(0xEF, 0xBF)]


def test_training_arguments() -> None:
    with pytest.raises(ValueError, match="at least 256"):
        reference.train("abc", 255)
    with pytest.raises(ValueError, match="tie_break"):
        reference.train("abc", 300, tie_break="largest_pair")  # type: ignore[arg-type]
    with pytest.raises(PatternError):
        reference.train("abc", 300, pattern="(")
