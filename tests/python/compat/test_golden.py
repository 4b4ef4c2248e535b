"""The golden cases that all engines share, over the compiled module and over tiktoken itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import tiktoken

import bytemill
from bytemill.patterns import PATTERNS
from support.offline_tiktoken import NAMES
from support.toys import BYTE_RANKS, CASES, ONE_PIECE, named, tiktoken_encoding, tiktoken_split


def ranks_of(case: dict[str, Any]) -> dict[bytes, int]:
    return BYTE_RANKS | {bytes.fromhex(token): rank for token, rank in case["ranks"]}


def ours(ranks: dict[bytes, int], pattern: str = ONE_PIECE) -> bytemill.Encoding:
    return bytemill.Encoding("toy", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def test_there_are_cases_of_every_kind() -> None:
    assert {case["encoding"] for case in CASES["encoding"]} == set(NAMES)
    assert {case["pattern"] for case in CASES["splitting"]} == set(PATTERNS)
    assert {case["canonical"] for case in CASES["merging"]} == {True, False}


def test_every_case_has_a_name_of_its_own_and_a_reason() -> None:
    cases = [case for kind in ("merging", "splitting", "encoding", "training") for case in CASES[kind]]
    assert len({case["name"] for case in cases}) == len(cases) > 100
    assert all(case["why"] for case in cases)


@named("merging")
def test_merging(case: dict[str, Any]) -> None:
    piece, encoding = bytes.fromhex(case["input"]), ours(ranks_of(case))
    assert encoding._encode_single_piece(piece) == case["ids"]
    assert encoding.decode_bytes(case["ids"]) == piece
    if piece:  # tiktoken has no answer for an empty piece
        assert tiktoken_encoding(ranks_of(case))._encode_single_piece(piece) == case["ids"]


@named("merging")
def test_merging_by_way_of_the_other_methods(case: dict[str, Any]) -> None:
    text, encoding = bytes.fromhex(case["input"]).decode("utf-8", "replace"), ours(ranks_of(case))
    ids = encoding._encode_single_piece(text)
    assert (
        encoding.encode(text)
        == encoding.encode_ordinary(text)
        == encoding._encode_bytes(text.encode())
        == ids
    )
    assert encoding.encode_to_numpy(text).tolist() == ids
    assert encoding.encode_batch([text, text], num_threads=2) == [ids, ids]
    assert tiktoken_encoding(ranks_of(case)).encode(text) == ids


@named("merging")
def test_whether_every_token_comes_apart_in_two(case: dict[str, Any]) -> None:
    core = ours(ranks_of(case))._core_bpe
    if case["canonical"]:
        assert len(core.merges()) == len(case["ranks"])
    else:
        with pytest.raises(ValueError, match="two"):
            core.merges()


@named("splitting")
def test_splitting(case: dict[str, Any]) -> None:
    pattern = PATTERNS[case["pattern"]]
    encoding = ours(BYTE_RANKS, pattern)
    assert encoding._core_bpe.split(case["text"]) == case["pieces"]
    assert encoding.decode(encoding.encode(case["text"])) == case["text"] == "".join(case["pieces"])
    assert tiktoken_split(pattern, [case["text"]]) == [case["pieces"]]


@named("encoding")
def test_encoding(case: dict[str, Any], tiktoken_encodings: Mapping[str, tiktoken.Encoding]) -> None:
    encoding, text, ids = bytemill.get_encoding(case["encoding"]), case["text"], case["ids"]
    assert encoding.encode_ordinary(text) == encoding.encode(text, disallowed_special=()) == ids
    assert encoding.encode_to_numpy(text, disallowed_special=()).tolist() == ids
    assert encoding.encode_ordinary_batch([text]) == [ids]
    assert tiktoken_encodings[case["encoding"]].encode_ordinary(text) == ids
    repaired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert encoding.decode(ids) == repaired
