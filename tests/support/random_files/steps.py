"""Random normalizers, pre-tokenizers and decoders: a step, or a sequence of some, which may have its own."""

from __future__ import annotations

import base64
import functools
import random
from collections.abc import Callable
from typing import Any

from bytemill._backend import charsmap_with_name, compile_charsmap
from support.random_files.alphabets import MARK, chance

__all__ = ["decoder", "normalizer", "pre_tokenizer"]

Step = dict[str, Any]
Draw = Callable[[random.Random], Step]

TEXTS = [" ", "a", "ab", "b", MARK, "-", "\n", "  ", ".", "中", "\u0301", "é", "<", "x", "1", "\u3000"]
CONTENTS = ["", MARK, " ", "xy", "中", "a", "é", "<", "ab ", "\u0301"]
PATTERNS = [
    *[r"\s+", r"[aeiou]", r"\w+|[^\w\s]+", r"\p{Han}", r"b+", r"\d", r"(?<=b)a", r"\s+$", r"^.", r"[^ ]+"],
    *[r"\p{P}", r"\R", r"x{2,3}", r"\ba", r".", r" {2,}", r"[^\p{L}]", r"(?i)AB", r"\p{M}", r"(?!\s)."],
    r"(?i:'s|'t)|\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
]  # fmt: skip
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
MAPS = ["nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]


def pattern(dice: random.Random) -> dict[str, str]:
    """Returns what a step looks for."""
    return {"String": dice.choice(TEXTS)} if chance(dice, 0.5) else {"Regex": dice.choice(PATTERNS)}


def flag(dice: random.Random) -> bool:
    """Returns true or false."""
    return chance(dice, 0.5)


def scheme(dice: random.Random) -> str:
    """Returns where a mark is put."""
    return dice.choice(["always", "first", "never"])


@functools.cache
def named_map(name: str) -> bytes:
    """Returns a map that SentencePiece has."""
    found = charsmap_with_name(name)
    assert found is not None
    return found


def character_map(dice: random.Random) -> bytes:
    """Returns a map of texts to texts."""
    if chance(dice, 0.2):
        return named_map(dice.choice(MAPS))
    sources = dice.sample([*TEXTS, "abc", "e\u0301", "A", "ﬁ", "\u200b"], dice.randint(1, 5))
    return compile_charsmap(
        [(source, dice.choice([each for each in CONTENTS if each != source])) for source in sources]
    )


def with_type(name: str, draw: Callable[[random.Random], Step]) -> Draw:
    """Returns what draws a step of a type."""
    return lambda dice: {"type": name} | draw(dice)


def bare(name: str) -> Draw:
    """Returns what makes a step without options."""
    return lambda _: {"type": name}


def chain(name: str, draws: list[Draw]) -> Draw:
    """Returns what draws one of some steps, or a sequence of them, which may have sequences."""

    def draw(dice: random.Random, depth: int = 0) -> Step:
        if chance(dice, 0.35 if depth == 0 else 0.1):
            return {
                "type": "Sequence",
                name: [draw(dice, depth + 1) for _ in range(dice.choice([0, 1, 2, 2, 3, 4]))],
            }
        return dice.choice(draws)(dice)

    return draw


def metaspace(dice: random.Random) -> Step:
    """Returns the options of `Metaspace`, whose marks are of a character."""
    replacement = dice.choice([*[MARK] * 8, "_", "x"])
    return {"replacement": replacement, "prepend_scheme": scheme(dice), "split": flag(dice)}


def byte_level(dice: random.Random) -> Step:
    """Returns the options of `ByteLevel`."""
    return {name: flag(dice) for name in ("add_prefix_space", "trim_offsets", "use_regex")}


NORMALIZERS: list[Draw] = [
    *map(bare, ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"]),
    with_type(
        "BertNormalizer",
        lambda dice: {
            "clean_text": flag(dice),
            "handle_chinese_chars": flag(dice),
            "strip_accents": dice.choice([None, True, False]),
            "lowercase": flag(dice),
        },
    ),
    with_type("Strip", lambda dice: {"strip_left": flag(dice), "strip_right": flag(dice)}),
    with_type("Prepend", lambda dice: {"prepend": dice.choice([MARK, "x", " ", "ab"])}),
    *[with_type("Replace", lambda dice: {"pattern": pattern(dice), "content": dice.choice(CONTENTS)})] * 3,
    with_type("Replace", lambda _: {"pattern": {"String": " "}, "content": MARK}),
    with_type(
        "Precompiled",
        lambda dice: {"precompiled_charsmap": base64.b64encode(character_map(dice)).decode()},
    ),
]

PRE_TOKENIZERS: list[Draw] = [
    *[with_type("ByteLevel", byte_level)] * 3,
    *[
        with_type(
            "Split",
            lambda dice: {
                "pattern": pattern(dice),
                "behavior": dice.choice(BEHAVIORS),
                "invert": chance(dice, 0.3),
            },
        )
    ]
    * 3,
    with_type("Digits", lambda dice: {"individual_digits": flag(dice)}),
    with_type("Punctuation", lambda dice: {"behavior": dice.choice(BEHAVIORS)}),
    *map(bare, ["Whitespace", "WhitespaceSplit", "WhitespaceSplit", "BertPreTokenizer"]),
    with_type("CharDelimiterSplit", lambda dice: {"delimiter": dice.choice([" ", "b", "-", "中"])}),
    *[with_type("Metaspace", metaspace)] * 2,
]

DECODERS: list[Draw] = [
    *map(bare, ["ByteFallback", "Fuse"]),
    with_type("ByteLevel", byte_level),
    with_type(
        "Replace", lambda dice: {"pattern": {"String": dice.choice(TEXTS)}, "content": dice.choice(CONTENTS)}
    ),
    with_type(
        "Strip",
        lambda dice: {
            "content": dice.choice([" ", MARK, "a"]),
            "start": dice.randint(0, 2),
            "stop": dice.randint(0, 2),
        },
    ),
    with_type("Metaspace", metaspace),
    with_type(
        "WordPiece", lambda dice: {"prefix": dice.choice(["##", "@@", "", "a"]), "cleanup": flag(dice)}
    ),
    with_type("BPEDecoder", lambda dice: {"suffix": dice.choice(["</w>", "##", "", "a"])}),
]

normalizer = chain("normalizers", NORMALIZERS)
any_pre_tokenizer = chain("pretokenizers", PRE_TOKENIZERS)
decoder = chain("decoders", DECODERS)


def pre_tokenizer(dice: random.Random) -> Step:
    """Returns a pre-tokenizer, of which most have marks at first, or bytes at last, as files of models do."""
    drawn = any_pre_tokenizer(dice)
    if drawn["type"] != "Sequence" or chance(dice, 0.2):
        return drawn
    steps = drawn["pretokenizers"]
    others = [step for step in steps if step["type"] not in {"ByteLevel", "Metaspace"}]
    ends = [step for step in steps if step not in others]
    if not ends:
        return drawn
    end = ends[0]
    if end["type"] == "ByteLevel":
        return {"type": "Sequence", "pretokenizers": [*others, end | {"add_prefix_space": not others}]}
    words = [step for step in others if step["type"] == "WhitespaceSplit"]
    digits = [step for step in others if step["type"] == "Digits"]
    return {"type": "Sequence", "pretokenizers": [*words[:1], end, *digits]}
