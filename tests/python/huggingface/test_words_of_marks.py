"""Metaspace that cuts before each mark: the ids, words and offsets of tokenizers, whatever tokens join."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from tokenizers import Tokenizer

from bytemill import hf

MARK = "\u2581"
LETTERS = ["a", "b", "é", "中", "国", "\N{GRINNING FACE}"]
NEW = "<x>"


def drawn(source: random.Random) -> dict[str, Any]:
    """Returns a file whose tokens have marks anywhere, with tokens of bytes or without."""
    known = source.sample(LETTERS, source.randrange(2, len(LETTERS) + 1))
    known += [MARK] * (source.random() < 0.8)
    tokens = ["<unk>", *known]
    merges: list[list[str]] = []
    for _ in range(source.randrange(2, 20)):
        left, right = source.choice(tokens[1:]), source.choice(tokens[1:])
        if [left, right] not in merges and len(left + right) < 8:
            merges.append([left, right])
            tokens += [left + right] * (left + right not in tokens)
    falls_back = source.random() < 0.5
    names = [f"<0x{byte:02X}>" for byte in range(256)] if falls_back else []
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": source.random() < 0.5,
        "byte_fallback": falls_back,
        "ignore_merges": source.random() < 0.1,
        "vocab": {token: number for number, token in enumerate([*tokens, *names])},
        "merges": merges,
    }
    scheme = source.choice(["first", "always", "never"])
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": len(tokens + names), "content": NEW} | flags],
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": True},
        "post_processor": None,
        "decoder": {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": True},
        "model": model,
    }


def text_of(source: random.Random) -> str:
    length = source.choice([3, 10, 70, 300])
    return "".join(source.choices([*LETTERS, " ", "  ", MARK, NEW], [4] * 6 + [6, 2, 1, 1], k=length))


@pytest.mark.parametrize("seed", range(60))
def test_the_same_as_tokenizers(seed: int) -> None:
    source = random.Random(seed)
    file = json.dumps(drawn(source))
    ours, theirs = hf.Tokenizer.from_str(file), Tokenizer.from_str(file)
    for _ in range(25):
        text = text_of(source)
        mine, expected = ours.encode(text), theirs.encode(text)
        assert mine.ids == expected.ids, text
        assert mine.word_ids == expected.word_ids, text
        assert mine.offsets == expected.offsets, text
