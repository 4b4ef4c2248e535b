"""Training and merges step by step, against the definition and the encoder."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytemill
from bytemill import reference
from bytemill.inspection.traces import merge_trace, training_trace
from bytemill.patterns import PATTERNS

SENTENCE = "the lowest of the low, slower and slowest; " * 100
GPT2 = bytemill.get_encoding("gpt2")


def tokens_of(trace: dict[str, list[dict[str, tuple[int, int]]]]) -> list[bytes]:
    tokens = [bytes([byte]) for byte in range(256)]
    for merge in trace["merges"]:
        left, right = merge["pair"]
        tokens.append(tokens[left] + tokens[right])
    return tokens


@pytest.mark.parametrize(("rule", "lowest"), [("smallest_pair", 8), ("first_seen", 7)])
def test_the_sentence_of_the_readme(rule: reference.TieBreak, lowest: int) -> None:
    trace = training_trace(SENTENCE, 10, "cl100k", rule)
    tokens = tokens_of(trace)
    assert tokens[256] == b"lo"
    assert tokens[257] == b"low"
    assert tokens.index(b"lowest") == 255 + lowest
    first = trace["merges"][0]
    assert (first["count"], first["ties"]) == (400, 2)
    assert first["others"][0] == [ord("o"), ord("w"), 400]
    assert trace["bytes"] == len(SENTENCE)
    assert sum(len(bytes.fromhex(piece)) * count for piece, count in trace["pieces"]) == len(SENTENCE)


@pytest.mark.parametrize("rule", ["smallest_pair", "first_seen"])
@given(text=st.text(st.sampled_from("ab c"), max_size=60))
@settings(max_examples=40, deadline=None)
def test_merges_are_those_of_the_definition(rule: reference.TieBreak, text: str) -> None:
    trace = training_trace(text, 6, "gpt2", rule)
    expected = reference.train(text, 262, pattern=PATTERNS["gpt2"], tie_break=rule)
    assert [merge["pair"] for merge in trace["merges"]] == expected
    for merge in trace["merges"]:
        assert all(count <= merge["count"] for _, _, count in merge["others"])
        tied = sum(count == merge["count"] for _, _, count in merge["others"])
        assert tied == min(merge["ties"] - 1, len(merge["others"]))


@given(st.text(st.sampled_from("helo wörds你"), max_size=12))
@settings(max_examples=60, deadline=None)
def test_traces_of_pieces_end_with_their_ids(text: str) -> None:
    ranks = GPT2._mergeable_ranks
    found: list[int] = []
    for explained in GPT2.explain(text):
        trace = merge_trace(explained.piece, ranks)
        parts = [explained.piece[i : i + 1] for i in range(len(explained.piece))]
        for step in trace["steps"]:
            at = step["index"]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            assert ranks[parts[at]] == step["rank"]
            assert all(step["rank"] <= rank for _, rank in step["others"])
        if not trace["whole"]:
            assert [ranks[part] for part in parts] == trace["ids"]
        found += trace["ids"]
    assert found == GPT2.encode(text)


def test_a_piece_that_merges_would_not_make() -> None:
    ranks = {**{bytes([byte]): byte for byte in range(256)}, b"abc": 256}
    assert merge_trace(b"abc", ranks) == {"bytes": "616263", "steps": [], "whole": True, "ids": [256]}
    assert merge_trace(b"a", ranks) == {"bytes": "61", "steps": [], "whole": False, "ids": [97]}
    assert merge_trace(b"ab", ranks)["ids"] == [97, 98]
