"""A random file, whole: any model with any other components, or with few of them."""

# ruff: noqa: RUF001 - letters that look like others

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from support.random_files.alphabets import Alphabet, chance, random_alphabet
from support.random_files.models import MODELS, SPECIAL
from support.random_files.processors import processor
from support.random_files.steps import decoder, normalizer, pre_tokenizer

__all__ = ["File", "components", "pieces", "random_file", "types"]

# The contents of a `tokenizer.json`.
File = dict[str, Any]

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
ADDED = [
    *["<m>", "<M>", "<m", "m>", "<|end|>", "<|end|>x", "ab", "AB", "a", " a", "a b", "  ", "\n", " "],
    *["é", "É", "e\u0301", "ﬁ", "§", "«s»", "đe", "中é", "▁a", "##a", "</w>", "İ", "ſ", "İx", "-", "_"],
    *["écé", "é ", "aé", "가", "Å", "が", "n\u0303", "ﬁé"],
    *["x\u00a0", "\u3000", "\u0301", "<0x41>", "Ġ", "[MASK]", "'s", "1", "don't"],
]  # fmt: skip


def pieces(file: File) -> list[str]:
    """Returns the tokens of the model of a file, in the order of the file."""
    vocab = file["model"]["vocab"]
    return list(vocab) if isinstance(vocab, dict) else [piece for piece, _ in vocab]


def components(value: Any) -> Iterator[dict[str, Any]]:
    """Yields the objects with a type in a file, and those inside of them."""
    if isinstance(value, dict):
        if isinstance(value.get("type"), str):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from components(each)


def types(component: Any) -> set[str]:
    """Returns the types of all that a component has."""
    return {each["type"] for each in components(component)}


def added_token(dice: random.Random, alphabet: Alphabet, model_tokens: list[str]) -> dict[str, Any]:
    """Returns an added token, whose id is set afterwards."""
    content = dice.choice(
        [
            dice.choice(ADDED),
            dice.choice(ADDED),
            dice.choice(model_tokens),
            "".join(dice.choices(alphabet.letters, k=dice.randint(1, 3))),
            dice.choice(SPECIAL),
        ]
    )
    shares = (0.2, 0.25, 0.25, 0.4, 0.5)
    flags = {name: chance(dice, share) for name, share in zip(FLAGS, shares, strict=True)}
    return {"id": 0, "content": content, **flags}


def added_tokens(dice: random.Random, alphabet: Alphabet, file: File) -> list[dict[str, Any]]:
    """Returns some added tokens, with the ids that a reader gives them."""
    tokens = pieces(file)
    found = [added_token(dice, alphabet, tokens) for _ in range(dice.choice([1, 1, 2, 3, 5]))]
    numbers = ids_of(file)
    for entry in found:
        entry["id"] = numbers.setdefault(entry["content"], len(tokens) + len(numbers.keys() - set(tokens)))
    return found


def ids_of(file: File) -> dict[str, int]:
    """Returns the ids of the tokens of the model; of a piece that is there twice, the last."""
    vocab = file["model"]["vocab"]
    return dict(vocab) if isinstance(vocab, dict) else {piece: at for at, (piece, _) in enumerate(vocab)}


def truncation(dice: random.Random) -> dict[str, Any]:
    """Returns how long texts may be."""
    return {
        "direction": dice.choice(["Left", "Right"]),
        "max_length": dice.choice([3, 5, 8, 20]),
        "strategy": dice.choice(["LongestFirst", "OnlyFirst", "OnlySecond"]),
        "stride": dice.choice([0, 0, 1, 2]),
    }


def padding(dice: random.Random) -> dict[str, Any]:
    """Returns what short texts are filled with."""
    return {
        "strategy": dice.choice(["BatchLongest", {"Fixed": dice.choice([4, 12])}]),
        "direction": dice.choice(["Left", "Right"]),
        "pad_to_multiple_of": dice.choice([None, None, 8, 3]),
        "pad_id": dice.choice([0, 3]),
        "pad_type_id": dice.choice([0, 2]),
        "pad_token": "<pad>",
    }


# Decoders that belong to a model. The last is that of BPE with marks.
OF_BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
OF_PIECES = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}


def fitting_decoder(dice: random.Random, file: File) -> dict[str, Any]:
    """Returns a decoder that undoes what the other components do."""
    model = file["model"]
    steps = types(file["pre_tokenizer"])
    if "ByteLevel" in steps:
        return OF_BYTES
    if "Metaspace" in steps:
        return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    if model["type"] == "WordPiece":
        prefix = model["continuing_subword_prefix"]
        return {"type": "WordPiece", "prefix": prefix, "cleanup": chance(dice, 0.5)}
    if model.get("end_of_word_suffix"):
        return {"type": "BPEDecoder", "suffix": model["end_of_word_suffix"]}
    return OF_PIECES


def random_file(dice: random.Random) -> File:
    """Returns a file that `tokenizers` reads."""
    # Few components, or many.
    share = dice.choice([0.15, 0.5, 0.9])
    file: File = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": []}
    file["normalizer"] = normalizer(dice) if chance(dice, share) else None
    file["pre_tokenizer"] = pre_tokenizer(dice) if chance(dice, max(share, 0.4)) else None
    steps = types(file["pre_tokenizer"])
    alphabet = random_alphabet(
        dice,
        is_of_bytes="ByteLevel" in steps and chance(dice, 0.95),
        has_marks="Metaspace" in steps or chance(dice, 0.1),
    )
    # Merges have most of the options, and nearly all bytes.
    draws = MODELS[:1] if "ByteLevel" in steps and chance(dice, 0.9) else [*MODELS[:1] * 2, *MODELS]
    file["model"] = dice.choice(draws)(dice, alphabet)
    if chance(dice, share):
        file["added_tokens"] = added_tokens(dice, alphabet, file)
    known = ids_of(file) | {entry["content"]: entry["id"] for entry in file["added_tokens"]}
    ids = {name: known.get(name, place) for place, name in enumerate(SPECIAL)}
    file["post_processor"] = processor(dice, ids) if chance(dice, share) else None
    file["decoder"] = None
    if chance(dice, max(share, 0.5)):
        file["decoder"] = fitting_decoder(dice, file) if chance(dice, 0.5) else decoder(dice)
    if chance(dice, share / 3):
        file["truncation"] = truncation(dice)
    if chance(dice, share / 3):
        file["padding"] = padding(dice)
    return file
