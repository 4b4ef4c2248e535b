"""Random models of every type."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from bytemill.formats.data_gym import CHARACTER_OF_BYTE
from support.random_files.alphabets import BYTE_NAMES, Alphabet, chance

__all__ = ["MODELS", "SPECIAL", "bpe"]

UNKNOWN = ["<unk>", "[UNK]"]
SPECIAL = ["[CLS]", "[SEP]", "<s>", "</s>", "<pad>"]
AFFIXES = ["##", "</w>", "@", "\u00e9"]


def numbered(dice: random.Random, tokens: list[str]) -> dict[str, int]:
    """Returns tokens with their ids, in any order, sometimes with holes between them."""
    tokens = dice.sample(tokens, len(tokens))
    size = len(tokens) + (dice.randint(1, 9) if chance(dice, 0.2) else 0)
    return dict(zip(tokens, sorted(dice.sample(range(size), len(tokens))), strict=True))


def some_bytes(dice: random.Random, names: list[str]) -> list[str]:
    """Returns the names of all bytes, or of nearly all."""
    return names if chance(dice, 0.6) else dice.sample(names, dice.randint(200, 255))


def unknown_of(dice: random.Random, tokens: list[str]) -> str | None:
    """Returns an unknown token, which may be like any other one, or none."""
    return dice.choice([None, None, *UNKNOWN, *UNKNOWN, *UNKNOWN, dice.choice(tokens)])


def merged(tokens: list[str], symbols: list[str], prefix: str, dice: random.Random) -> list[tuple[str, str]]:
    """Draws merges, and appends what they make to the tokens."""
    merges = []
    for _ in range(dice.randint(0, 14)):
        first = dice.choice(symbols)
        second = dice.choice([symbol for symbol in symbols if symbol.startswith(prefix)] or [prefix])
        made = first + second[len(prefix) :]
        if second not in tokens or not made:
            continue
        merges.append((first, second))
        if made not in tokens:
            tokens.append(made)
            symbols.append(made)
    # A pair that is listed twice has the later rank.
    merges += dice.sample(merges, min(len(merges), dice.choice([0, 0, 0, 1, 2])))
    if chance(dice, 0.5):
        dice.shuffle(merges)
    return merges


def bpe(dice: random.Random, alphabet: Alphabet) -> dict[str, Any]:
    """Returns a model that merges pairs, in an order of its own."""
    symbols = alphabet.symbols()
    if chance(dice, 0.2):
        symbols = dice.sample(symbols, dice.randint(1, len(symbols)))
    falls_back = chance(dice, 0.3)
    prefix, suffix = "", ""
    if chance(dice, 0.2):
        prefix = dice.choice(AFFIXES)
    if chance(dice, 0.2):
        suffix = dice.choice(AFFIXES)
    forms = [
        *symbols,
        *(prefix + symbol for symbol in symbols if prefix),
        *(symbol + suffix for symbol in symbols if suffix),
        *(prefix + symbol + suffix for symbol in symbols if prefix and suffix),
    ]
    tokens = list(dict.fromkeys(forms))
    merges = merged(tokens, tokens[:], prefix, dice)
    if alphabet.is_of_bytes and chance(dice, 0.8):
        tokens += some_bytes(dice, list(CHARACTER_OF_BYTE.values()))
    if falls_back or chance(dice, 0.05):
        tokens += some_bytes(dice, BYTE_NAMES)
    ignores_merges = chance(dice, 0.1 if prefix or suffix else 0.3)
    if ignores_merges or chance(dice, 0.1):
        # Whole words that no merge makes.
        tokens += [alphabet.word(dice, 4) for _ in range(3)]
    unknown = unknown_of(dice, tokens)
    tokens += [unknown] if unknown is not None and chance(dice, 0.95) else []
    tokens += dice.sample(SPECIAL, dice.choice([0, 0, 2, 5]))
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unknown,
        "continuing_subword_prefix": prefix or None,
        "end_of_word_suffix": suffix or None,
        "fuse_unk": chance(dice, 0.4),
        "byte_fallback": falls_back,
        "ignore_merges": ignores_merges,
        "vocab": numbered(dice, list(dict.fromkeys(tokens))),
        "merges": merges,
    }


def word_piece(dice: random.Random, alphabet: Alphabet) -> dict[str, Any]:
    """Returns a model that takes the longest beginning of what is left of a word."""
    prefix = dice.choice(["##", "##", "##", "", "@@", "\u00e9"])
    words = [alphabet.word(dice, 3) for _ in range(dice.randint(2, 20))]
    symbols = [symbol for symbol in alphabet.symbols() if chance(dice, 0.9)]
    tokens = [*symbols, *words, *(prefix + each for each in [*symbols, *words] if chance(dice, 0.7))]
    unknown = dice.choice(UNKNOWN)
    tokens += [unknown] * chance(dice, 0.9) + dice.sample(SPECIAL, dice.choice([0, 2, 5]))
    return {
        "type": "WordPiece",
        "unk_token": unknown,
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": dice.choice([100, 100, 100, 4, 1, 0]),
        "vocab": numbered(dice, list(dict.fromkeys(tokens))),
    }


def word_level(dice: random.Random, alphabet: Alphabet) -> dict[str, Any]:
    """Returns a model that has whole words."""
    tokens = [alphabet.word(dice, 3) for _ in range(dice.randint(2, 30))] + alphabet.symbols()
    unknown = dice.choice([*UNKNOWN, tokens[0]])
    tokens += [unknown] * chance(dice, 0.9) + dice.sample(SPECIAL, dice.choice([0, 2, 5]))
    return {
        "type": "WordLevel",
        "unk_token": unknown,
        "vocab": numbered(dice, list(dict.fromkeys(tokens))),
    }


def unigram(dice: random.Random, alphabet: Alphabet) -> dict[str, Any]:
    """Returns a model of pieces with scores, of which several may be alike."""
    symbols = [symbol for symbol in alphabet.symbols() if chance(dice, 0.9)]
    pieces = symbols + [alphabet.word(dice, 4) for _ in range(dice.randint(1, 20))]
    falls_back = chance(dice, 0.3)
    if falls_back or chance(dice, 0.05):
        pieces += some_bytes(dice, BYTE_NAMES)
    pieces += [dice.choice(UNKNOWN), *dice.sample(SPECIAL, dice.choice([0, 2, 5]))]
    pieces = list(dict.fromkeys(pieces))
    if chance(dice, 0.15):
        pieces += dice.sample(pieces, dice.choice([1, 2]))
    dice.shuffle(pieces)
    unknown = next(place for place, piece in enumerate(pieces) if piece in UNKNOWN)
    if chance(dice, 0.1):
        unknown = dice.randrange(len(pieces))
    # Round ones make ties, others sums that differ in the last bit.
    scores = [-1.0, -1.5, -2.0, -2.0, -3.25, -10.0, 0.0, 0.5]
    is_round = chance(dice, 0.5)
    return {
        "type": "Unigram",
        "unk_id": None if chance(dice, 0.05) else unknown,
        "byte_fallback": falls_back,
        "vocab": [[piece, dice.choice(scores) if is_round else -dice.random() * 14] for piece in pieces],
    }


MODELS: list[Callable[[random.Random, Alphabet], dict[str, Any]]] = [bpe, word_piece, word_level, unigram]
