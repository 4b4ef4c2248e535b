"""Random small models, by all their options, beside `tokenizers.models.BPE` and its definition.

BYTEMILL_FULL=1 tries more.
"""

# ruff: noqa: S311 - randomness that can be repeated

from __future__ import annotations

import itertools
import json
import os
import random
from typing import Any, NamedTuple

import pytest
from tokenizers import Tokenizer

import bytemill

pytestmark = pytest.mark.filterwarnings("ignore")

MODELS = 20_000 if os.environ.get("BYTEMILL_FULL") == "1" else 1_200
GROUPS = 8
TEXTS = 12

LETTERS = "abcdé中😀"


class Model(NamedTuple):
    """A model of the type BPE, as its file has it."""

    vocab: dict[str, int]
    merges: list[tuple[str, str]]
    unk_token: str | None
    fuse_unk: bool
    byte_fallback: bool
    ignore_merges: bool
    suffix: str

    def file(self) -> str:
        """Returns the text of a `tokenizer.json`."""
        model = {
            "type": "BPE",
            "dropout": None,
            "unk_token": self.unk_token,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": self.suffix or None,
            "fuse_unk": self.fuse_unk,
            "byte_fallback": self.byte_fallback,
            "ignore_merges": self.ignore_merges,
            "vocab": self.vocab,
            "merges": self.merges,
        }
        splits = {"type": "WhitespaceSplit"} if self.suffix else None
        return json.dumps({"version": "1.0", "added_tokens": [], "pre_tokenizer": splits, "model": model})


def random_model(dice: random.Random) -> Model:
    """Returns a model of some letters, whose merges are in an order of their own."""
    suffix = "</w>" if dice.random() < 0.25 else ""
    letters = dice.sample(LETTERS, dice.randint(2, 6))
    symbols = [*letters, *(letter + suffix for letter in letters if suffix)]
    merges: list[tuple[str, str]] = []
    tokens = list(dict.fromkeys(symbols))
    for _ in range(dice.randint(0, 12)):
        first, second = dice.choice(tokens), dice.choice(tokens)
        if suffix and first.endswith(suffix):
            continue
        merges.append((first, second))
        if first + second not in tokens:
            tokens.append(first + second)
    # A pair that is listed twice has the later rank.
    merges += dice.sample(merges, min(len(merges), dice.randint(0, 2)))
    if dice.random() < 0.7:
        dice.shuffle(merges)
    byte_fallback = dice.random() < 0.4
    if byte_fallback:
        tokens += [f"<0x{byte:02X}>" for byte in range(256) if dice.random() < 0.97 or byte >= 0x80]
    unk_token = "<unk>" if dice.random() < 0.6 else None
    tokens += [unk_token] if unk_token else []
    # Whole pieces that no merge reaches.
    # Not together with a suffix, which is refused.
    ignore_merges = not suffix and dice.random() < 0.4
    if ignore_merges:
        whole = ("".join(dice.choices(letters, k=dice.randint(2, 4))) + suffix for _ in range(3))
        tokens += [token for token in dict.fromkeys(whole) if token not in tokens]
    dice.shuffle(tokens)
    vocab = {token: number for number, token in enumerate(tokens)}
    return Model(vocab, merges, unk_token, dice.random() < 0.5, byte_fallback, ignore_merges, suffix)


def symbols_of(model: Model, piece: str) -> list[str]:
    """Returns the symbols that the characters of a piece become.

    An unknown token waits for the next character that is a symbol, or unknown too: bytes come before it.
    """
    found: list[str] = []
    waiting: list[str] = []
    for place, character in enumerate(piece):
        symbol = character + (model.suffix if place == len(piece) - 1 else "")
        in_bytes = [f"<0x{byte:02X}>" for byte in symbol.encode()]
        if symbol in model.vocab:
            found += [*waiting, symbol]
            waiting = []
        elif model.byte_fallback and all(token in model.vocab for token in in_bytes):
            found += in_bytes
        elif model.unk_token is not None:
            found += [] if model.fuse_unk else waiting
            waiting = [model.unk_token]
    return found + waiting


def definition(model: Model, piece: str) -> list[int]:
    """Returns the ids of a piece: the pair of lowest rank first, leftmost first, until no pair merges."""
    if model.ignore_merges and piece in model.vocab:
        return [model.vocab[piece]]
    ranks = {pair: rank for rank, pair in enumerate(model.merges)}
    none = len(model.merges)
    symbols = symbols_of(model, piece)
    while len(symbols) > 1:
        pairs = enumerate(itertools.pairwise(symbols))
        rank, place = min((ranks.get(pair, none), place) for place, pair in pairs)
        if rank == none:
            break
        symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
    return [model.vocab[symbol] for symbol in symbols]


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_models(group: int) -> None:
    compared = 0
    for seed in range(group, MODELS, GROUPS):
        dice = random.Random(seed)
        model = random_model(dice)
        theirs = Tokenizer.from_str(model.file())
        ours = bytemill.Encoding.from_huggingface(theirs)
        for _ in range(TEXTS):
            text = "".join(dice.choices(f"{LETTERS} x", k=dice.randint(0, 14)))
            expected: Any = theirs.encode(text).ids
            pieces = text.split() if model.suffix else [text]
            told = (seed, model, text)
            assert ours.encode_ordinary(text) == expected, told
            assert [token for piece in pieces for token in definition(model, piece)] == expected, told
            assert ours.decode(expected) == theirs.decode(expected, skip_special_tokens=False), told
            compared += 1
    assert compared == MODELS // GROUPS * TEXTS
