"""`encode_with_unstable`: tiktoken's stable ids, and its completions, whose order nobody promises."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest
import tiktoken

import bytemill
from support.texts import FRAGMENTS, patchwork

Encodings = Mapping[str, tiktoken.Encoding]

# Stable ids, how many completions there are, and which: their order is nobody's.
Unstable: TypeAlias = tuple[list[int], int, set[tuple[int, ...]]]

FULL = os.environ.get("BYTEMILL_FULL") == "1"

# One encoding of each vocabulary; there are thousands of completions for some texts.
every_vocabulary = pytest.mark.parametrize("name", ["r50k_base", "p50k_edit", "cl100k_base", "o200k_harmony"])

TEXTS = [
    "",
    "h",
    "hello",
    "hello fanta",
    "hello ",
    "hello  ",
    "hello\n",
    " \n\n",
    "   ",
    "it's",
    "it'",
    "12",
    "1234",
    "caf\xe9",
    "\u4f60\u597d",
    "\U0001f600",
    "def f(",
    "x = 1  # ",
    "zzzzzzzzzzzz",
    "\x00\x00",
    "!!!",
    "a\r",
    "<|endoftex",
    "HTTPServ",
]


def both(
    ours: bytemill.Encoding, theirs: tiktoken.Encoding, text: str, **special: Any
) -> tuple[Unstable, Unstable]:
    """Returns the results of both libraries."""
    stable, completions = ours.encode_with_unstable(text, **special)
    expected_stable, expected = theirs.encode_with_unstable(text, **special)
    return (
        (stable, len(completions), set(map(tuple, completions))),
        (expected_stable, len(expected), set(map(tuple, expected))),
    )


@every_vocabulary
@pytest.mark.parametrize("text", TEXTS)
def test_completions_are_those_of_tiktoken(name: str, text: str, tiktoken_encodings: Encodings) -> None:
    got, expected = both(bytemill.get_encoding(name), tiktoken_encodings[name], text)
    assert got == expected


@every_vocabulary
def test_many_beginnings_of_text(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    for seed in range(500 if FULL else 30):
        text = patchwork(seed, 1 + seed % 8)
        got, expected = both(ours, theirs, text, disallowed_special=())
        assert got == expected, ascii(text)


@every_vocabulary
def test_special_tokens_are_stable(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    eot = ours.eot_token
    for text in (
        "<|endoftext|>",
        "hi<|endoftext|>",
        "<|endoftext|>hi",
        "<|endoftext|><|endoftext|> ",
        "a <|endoftext|>b",
    ):
        got, expected = both(ours, theirs, text, allowed_special="all")
        assert got == expected
        assert eot in got[0]
        got, expected = both(ours, theirs, text, disallowed_special=())
        assert got == expected
        assert eot not in got[0]
    fragments = FRAGMENTS + ["<|endoftext|>"] * 20
    for seed in range(300 if FULL else 15):
        text = patchwork(seed, 1 + seed % 6, fragments)
        got, expected = both(ours, theirs, text, allowed_special={"<|endoftext|>"})
        assert got == expected, ascii(text)


@every_vocabulary
@pytest.mark.parametrize("text", TEXTS)
def test_what_the_result_promises(name: str, text: str) -> None:
    encoding = bytemill.get_encoding(name)
    stable, completions = encoding.encode_with_unstable(text)
    data = text.encode()
    assert data.startswith(encoding.decode_bytes(stable))
    assert len(set(map(tuple, completions))) == len(completions)
    assert all(completions)
    before = encoding.decode_bytes(stable)
    for completed in encoding.decode_bytes_batch(completions):
        assert (before + completed).startswith(data)
    # The ids of the text as it stands are one way in which it may turn out.
    assert not completions or encoding.encode(text) in [stable + completion for completion in completions]


def test_disallowed_text_is_refused() -> None:
    with pytest.raises(ValueError, match="disallowed special token"):
        bytemill.get_encoding("cl100k_base").encode_with_unstable("a<|endoftext|>")


def test_custom_vocabularies(byte_ranks: dict[bytes, int]) -> None:
    ranks = dict(byte_ranks)
    for token in (b"ab", b"abc", b" a", b" ab", b"bc", b"\xe4\xb8", b"\xe4\xb8\xad", b"  ", b"   ", b"\n "):
        ranks[token] = len(ranks)
    parts: dict[str, Any] = {
        "pat_str": r"\s+(?!\S)| ?\S+|\s+",
        "mergeable_ranks": ranks,
        "special_tokens": {"<|a|>": 1000},
    }
    ours, theirs = bytemill.Encoding("custom", **parts), tiktoken.Encoding("custom", **parts)
    for seed in range(2_000):
        text = patchwork(seed, 1 + seed % 9, ["a", "b", "c", " ", "\n", "\u4e2d", "<|a|>"])
        got, expected = both(ours, theirs, text, allowed_special="all")
        assert got == expected, ascii(text)
