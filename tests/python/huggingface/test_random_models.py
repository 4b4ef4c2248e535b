"""Random models of pairs that merge, by all their options, compared with `tokenizers` and their definition.

BYTEMILL_FULL=1 tries more.
"""

# ruff: noqa: S311 - randomness that can be repeated

from __future__ import annotations

import itertools
import json
import os
import random
from typing import Any

import pytest
from tokenizers import Tokenizer

import bytemill
from bytemill import VocabularyError
from support.random_files.alphabets import random_alphabet
from support.random_files.models import bpe

pytestmark = pytest.mark.filterwarnings("ignore")

MODELS = 10_000 if os.environ.get("BYTEMILL_FULL") == "1" else 600
GROUPS = 4
TEXTS = 12

Model = dict[str, Any]


def symbols_of(model: Model, piece: str) -> list[str]:
    """Returns the symbols that the characters of a piece become.

    An unknown token waits for the next character that is a symbol, or unknown too: bytes come before it.
    """
    found: list[str] = []
    waiting: list[str] = []
    prefix, suffix = model["continuing_subword_prefix"] or "", model["end_of_word_suffix"] or ""
    for place, character in enumerate(piece):
        symbol = (prefix if place else "") + character + (suffix if place == len(piece) - 1 else "")
        in_bytes = [f"<0x{byte:02X}>" for byte in symbol.encode()]
        if symbol in model["vocab"]:
            found += [*waiting, symbol]
            waiting = []
        elif model["byte_fallback"] and all(token in model["vocab"] for token in in_bytes):
            found += in_bytes
        elif model["unk_token"] is not None:
            found += [] if model["fuse_unk"] else waiting
            waiting = [model["unk_token"]]
    return found + waiting


def definition(model: Model, piece: str) -> list[int]:
    """Returns the ids of a piece: the pair of lowest rank first, leftmost first, until no pair merges."""
    if model["ignore_merges"] and piece in model["vocab"]:
        return [model["vocab"][piece]]
    ranks = {pair: rank for rank, pair in enumerate(model["merges"])}
    none = len(model["merges"])
    prefix = len(model["continuing_subword_prefix"] or "")
    symbols = symbols_of(model, piece)
    while len(symbols) > 1:
        pairs = enumerate(itertools.pairwise(symbols))
        rank, place = min((ranks.get(pair, none), place) for place, pair in pairs)
        if rank == none:
            break
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1][prefix:]]
    return [model["vocab"][symbol] for symbol in symbols]


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_models(group: int) -> None:
    compared = 0
    for seed in range(group, MODELS, GROUPS):
        dice = random.Random(seed)
        alphabet = random_alphabet(dice, is_of_bytes=False, has_marks=dice.random() < 0.5)
        model = bpe(dice, alphabet)
        splits = {"type": "WhitespaceSplit"}
        theirs = Tokenizer.from_str(
            json.dumps({"version": "1.0", "added_tokens": [], "pre_tokenizer": splits, "model": model})
        )
        try:
            ours = bytemill.Encoding.from_huggingface(theirs)
        except VocabularyError:
            continue
        for _ in range(TEXTS):
            text = "".join(dice.choices([*alphabet.letters, *"a x"], k=dice.randint(0, 14)))
            expected: Any = theirs.encode(text).ids
            told = (seed, model, text)
            assert ours.encode_ordinary(text) == expected, told
            assert [token for piece in text.split() for token in definition(model, piece)] == expected, told
            compared += 1
    assert compared > MODELS // GROUPS * TEXTS * 0.7
