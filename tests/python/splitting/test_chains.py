"""Chains of pre-tokenizer steps, against `tokenizers`.

BYTEMILL_FULL=1 tries longer strings, every character, and more random texts.
"""

from __future__ import annotations

import itertools
import os
import random
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest

from bytemill._backend import CoreSplitter as Splitter
from bytemill._backend import from_oniguruma
from bytemill.errors import PatternError
from support.catalogue import (
    PRE_TOKENIZERS,
    digits,
    pre_tokenizer,
    punctuation,
    split,
    steps,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL = os.environ.get("BYTEMILL_FULL") == "1"

# One character for each class and role in the patterns of the catalogue, and some at the borders of classes.
REPRESENTATIVES = (
    "aZst'  1\r\n\t!/.<,_\u00e9\u0130\u017f\u01c5\u0301\u0660\u00b2\u2163\u4e2d\u3007\u3042\u30a2\uac00\u3131"
    "\u0e01\u00ab\u00b5\u0964\u200d\u00a0\u3000\u0085\u2028\u0000\ue000\U0001f600\U0001d7ce\uff01\u3105\u20ac"
)
UNITS = [
    *REPRESENTATIVES,
    *(
        "it's",
        "'LL",
        "'re",
        "hello",
        "HTTPServer",
        "12",
        "1234567",
        "  ",
        "   ",
        "\r\n",
        "\n\n",
        "!!",
        "...",
        " \n ",
    ),
    *(
        "\u4e2d\u6587",
        "\u3042\u3044",
        "\ud55c\uad6d",
        "e\u0301",
        "<sentinel:12>",
        "IMGIMGABZ",
        "<|endoftext|>",
        " a",
    ),
]


# Of the others, steps see bytes as characters, or match nothing.
CHAINS = [name for name in PRE_TOKENIZERS if name not in {"FALCON", "SUPERBPE"}]
BEHAVIORS = ["Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"]


# The character that stands for each byte where a chain replaces them.
VISIBLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
OTHERS = [byte for byte in range(0x100) if byte not in VISIBLE]
BYTES = {chr(byte): byte for byte in VISIBLE} | {chr(0x100 + i): byte for i, byte in enumerate(OTHERS)}


def pieces(splitter: Splitter, text: str) -> list[bytes]:
    offsets, data = splitter.offsets(text), text.encode()
    return [data[start:end] for start, end in zip(offsets[::2], offsets[1::2], strict=True)]


def their_pieces(value: Any, texts: list[str]) -> list[list[bytes]]:
    """Returns the bytes of the pieces of `tokenizers`."""
    theirs = pre_tokenizer(value)
    found = [[piece for piece, _ in theirs.pre_tokenize_str(text)] for text in texts]
    if "ByteLevel" in {kind for kind, *_ in steps(value)}:
        return [[bytes(BYTES[character] for character in piece) for piece in text] for text in found]
    return [[piece.encode() for piece in text] for text in found]


def our_pieces(value: Any, texts: list[str]) -> list[list[bytes]]:
    splitter = Splitter.of_steps(steps(value))
    return [pieces(splitter, text) for text in texts]


def assert_same(value: Any, texts: list[str]) -> None:
    assert texts
    for text, ours, theirs in zip(texts, our_pieces(value, texts), their_pieces(value, texts), strict=True):
        # Not one assertion about all: reports of what differs in long lists take minutes.
        for our, their in itertools.zip_longest(ours, theirs):
            assert our == their, f"in {text[:80]!r}"


def random_texts(seed: int, count: int, most: int) -> list[str]:
    source = random.Random(seed)  # noqa: S311
    return ["".join(source.choices(UNITS, k=source.randint(1, most))) for _ in range(count)]


def scalar_values() -> Iterator[str]:
    return (chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)


EVERY = "".join(scalar_values())
# Of ideographs and syllables, and of what is beyond the planes of scripts, only where categories change.
LARGE_BLOCKS = [range(0x3400, 0xA000), range(0xAC00, 0xF900), range(0x20000, 0x110000)]
VARIED = "".join(
    character
    for before, character, after in zip(f"\0{EVERY}", EVERY, f"{EVERY[1:]}\0", strict=False)
    if FULL
    or len({unicodedata.category(beside) for beside in (before, character, after)}) > 1
    or ord(character) % 128 == 0
    or not any(ord(character) in block for block in LARGE_BLOCKS)
)


@pytest.mark.parametrize("name", CHAINS)
def test_splits_short_strings_as_tokenizers(name: str) -> None:
    texts = [
        "".join(characters)
        for length in range(1, 5 if FULL else 3)
        for characters in itertools.product(REPRESENTATIVES, repeat=length)
    ]
    source = random.Random(name)  # noqa: S311
    texts += ["".join(source.choices(REPRESENTATIVES, k=source.randint(3, 6))) for _ in range(300)]
    assert_same(PRE_TOKENIZERS[name], texts)


@pytest.mark.parametrize("name", CHAINS)
def test_splits_mixtures_as_tokenizers(name: str) -> None:
    assert_same(PRE_TOKENIZERS[name], random_texts(1, 20_000 if FULL else 150, 12))
    assert_same(PRE_TOKENIZERS[name], random_texts(2, 200 if FULL else 2, 400))


@pytest.mark.parametrize("name", CHAINS)
def test_splits_every_character_as_tokenizers(name: str) -> None:
    contexts = ["{}", "a{}", "{}a", " {}", "1{}2"] if FULL else ["{} a"]
    source = random.Random(name)  # noqa: S311
    characters = EVERY if FULL else source.sample(EVERY, 2_000)
    for context in contexts:
        parts = [context.format(character) for character in characters]
        texts = ["\n".join(parts[start : start + 997]) for start in range(0, len(parts), 997)]
        assert_same(PRE_TOKENIZERS[name], texts)


def assert_same_characters(step: Any) -> None:
    """Asserts that a step finds the same in a text of all characters, and of each between two others."""
    assert_same(
        step, [VARIED, "".join(f"a{character}!" for character in VARIED[: 0x3000 if not FULL else None])]
    )


@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_punctuation_is_that_of_tokenizers(behavior: str) -> None:
    assert_same_characters(punctuation(behavior))


@pytest.mark.parametrize("individual", [True, False])
def test_digits_are_those_of_tokenizers(*, individual: bool) -> None:
    assert_same_characters(digits(individual=individual))


@pytest.mark.parametrize("kind", ["Whitespace", "WhitespaceSplit"])
def test_whitespace_is_that_of_tokenizers(kind: str) -> None:
    assert_same_characters({"type": kind})


CATEGORIES = "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp"
SCRIPTS = (
    "Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han "
    "Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Sinhala Tamil "
    "Telugu Thai Tibetan"
)
NAMED = "alpha upper lower digit alnum punct space blank cntrl xdigit word"


@pytest.mark.parametrize(
    "pattern",
    [
        *(rf"\p{{{name}}}" for name in f"{CATEGORIES} {SCRIPTS}".split()),
        *(f"[[:{name}:]]" for name in NAMED.split()),
        *(rf"\{name}" for name in "sSdDwWhH"),
        *(rf"[\{name}]" for name in "sSdDwWhH"),
        r"[^\w]",
        r"\p{^L}",
        r"\P{^L}",
        ".",
        "(?m:.)",
        r"(?i:[sdmtk])",
        r"(?i:[^sk])",
        r"[a-z[0-9]&&[^c5]]",
        r"[^a-z&&[^c]]",
        r"(?m:.)\b(?=!)",
        r"(?<=a)\b(?m:.)",
        r"(?m:.)\B",
    ],
)
def test_sets_of_characters_are_those_of_tokenizers(pattern: str) -> None:
    assert_same_characters(split(pattern, "Contiguous"))


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("literal", [False, True])
def test_behaviors_are_those_of_tokenizers(behavior: str, *, invert: bool, literal: bool) -> None:
    texts = [
        "".join(letters) for length in range(1, 8) for letters in itertools.product("ab.", repeat=length)
    ]
    for pattern in ["b", "a.", "."]:
        assert_same(split(pattern, behavior, invert=invert, literal=literal), texts)


@pytest.mark.parametrize(
    "pattern",
    [
        r"a{1,3}+b",
        r"a++b|a",
        r"a?+a",
        r"(?>a{1,2})a|b",
        r"a{1,2}?b?",
        r"^a|b$",
        r"^.|\n$|b",
        r"\Aa|b\z",
        r"a$",
        r"\s+$",
        r"(?i:s)a|(?i:'[st]|ll|k)",
        r"(?i)'s|k+",
        r"(?i)[^[a]k]+",
        r"(?<=a)b|(?<!b)\n",
        r"(a|b)(?=\n|$)",
        r"\bab?\b",
        r"\Bb\B",
        r"a(?!\r?\n)",
        r"\x61+|\u0062",
        r"[\x{61}-b]+",
        r"[ab&&[^b]]+",
        r"[^[a]\n]",
    ],
)
def test_syntax_means_the_same(pattern: str) -> None:
    texts = [
        "".join(letters)
        for length in range(1, 7 if FULL else 5)
        for letters in itertools.product("ab\n s", repeat=length)
    ]
    assert_same(split(pattern), texts)
    assert_same(split(pattern), random_texts(3, 300, 20))


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?i:stra\u00dfe)",
        r"(?i:ss)",
        r"(?i:fi)",
        r"(?i:s{2})",
        r"(?x: a)",
        r"a(?i)b",
        r"(?<name>a)\k<name>",
        r"(a)\1",
        r"\X",
        r"\R",
        r"\G",
        r"\K",
        r"\Z",
        r"\p{Emoji}",
        r"\p{Script=Han}",
        r"\pL",
        r"a{,3}",
        r"a{2}?",
        r"a**",
        r"a+*",
        r"+a",
        r"[]a]",
        r"[a-\d]",
        r"[b-a]",
        r"(?i)[[^a]k]",
        r"(?i:[^-[^a]])",
        r"[a--b]",
        r"[a",
        r"(a",
        r"a)",
        r"\xff",
        "\\",
        r"(?#comment)a",
        r"(?~a)",
    ],
)
def test_refuses_what_may_mean_something_else(pattern: str) -> None:
    with pytest.raises(PatternError, match="translated"):
        from_oniguruma(pattern)
