"""Chains of normalizers beside those of `tokenizers`: texts, and the characters that they stand for."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytemill._backend import NormalizerChain

tokenizers: Any = pytest.importorskip("tokenizers")
normalizers: Any = pytest.importorskip("tokenizers.normalizers")

Step = Any
FORMS = ["NFC", "NFD", "NFKC", "NFKD"]
ANY_CHARACTER = tokenizers.Regex(r"[\s\S]")

# The rest is not assigned, or for private use; the core's own tests have all of it.
SCALARS = [chr(code) for code in [*range(0x33480), *range(0xE0000, 0xE0200)] if not 0xD800 <= code < 0xE000]

# Marks of many classes, also beyond Unicode 9; what composes; jamo; what is long when decomposed; spaces.
ALPHABET = [
    *"aeoAEIi\u0130\u00c5\u212b\u1e9b\u03a3\u03c3\u00df\u1e9e\ufb03\ufdfa\u2126\u00e9\u1ed9\u1e69\u01d5\u1f82",
    *"\u0300\u0301\u0302\u0307\u0308\u0323\u0327\u0338\u0345\u031b\u0344\u0340\u0343\u0f71\u0f72\u0f73\u0f74",
    *"\u0f75\u0f80\u0f81\u05b0\u05bc\u0591\u064b\u0651\u0653\u0655\u3099\u309a\u302e\u302b\u20d0\u20d2\u1dce",
    *"\u0915\u093c\u0958\u0928\u0929\u09c7\u09be\u09d7\u09cb\u0bc6\u0bbe\u0d46\u0d3e\u0d57\u0dd9\u0dcf\u0dca",
    *"\u1025\u102e\u1b05\u1b35\u1100\u1112\u1161\u1175\u11a8\u11c2\u11a7\uac00\uac01\ud7a3\ud788\uffa1\uffc2",
    *"\u304b\u304c\u30cf\u30d0\uff76\uff9e\uff9f\u4e00\uf900\U0002f800\U0001d15e\U0001d165\U0001d16e\U0001d1bb",
    *"\U00011099\U000110ba\U00011131\U00011127\U00011935\U00011930\U0001e8d0\u1e94a\u0898\u08d3\u1ac1\u0e38",
    *" \t\n\u00a0\u1680\u2003\u2028\u3000\u200b\u2581\ufeff\x00\x85\u180e",
]


def theirs(step: Step) -> Any:
    """Returns the normalizer of `tokenizers` for a step."""
    name, *values = [step] if isinstance(step, str) else step
    if name == "Regex":
        return normalizers.Replace(tokenizers.Regex(values[0]), values[1])
    return getattr(normalizers, name)(*values)


def expected(normalizer: Any, text: str) -> tuple[str, list[tuple[int, int]]]:
    """Returns a text normalized by `tokenizers`, and the span of the text for each byte."""
    whole = tokenizers.PreTokenizedString(text)
    whole.normalize(normalizer.normalize)
    whole.split(lambda _, part: part.split(ANY_CHARACTER, "isolated"))
    splits = whole.get_splits("original", "byte")
    characters = [part for part, _, _ in splits]
    spans = [span for part, span, _ in splits for _ in part.encode()]
    return "".join(characters), spans


@lru_cache(maxsize=512)
def both(steps: tuple[Step, ...]) -> tuple[NormalizerChain, Any]:
    """Returns the chain of some steps, and the normalizer of `tokenizers`."""
    normalizer = normalizers.Sequence([theirs(step) for step in steps])
    return NormalizerChain(normalizer.__getstate__()), normalizer


def check(steps: list[Step], text: str) -> None:
    """Checks a chain on a text."""
    chain, normalizer = both(tuple(steps))
    result, spans = expected(normalizer, text)
    assert chain.normalize_with_spans(text) == (result, spans)
    assert chain.normalize(text) == result == normalizer.normalize_str(text)
    identity = [
        (at, at + len(character.encode()))
        for at, character in zip(starts_of(text), text, strict=True)
        for _ in character.encode()
    ]
    if chain.keeps(text):
        assert (result, spans) == (text, identity)


def starts_of(text: str) -> list[int]:
    """Returns where each character starts in UTF-8."""
    starts, at = [], 0
    for character in text:
        starts.append(at)
        at += len(character.encode())
    return starts


@pytest.mark.parametrize("step", [*FORMS, "Lowercase", "StripAccents", ("Strip", True, True)])
def test_every_character_in_contexts(step: Step) -> None:
    chain, normalizer = both((step,))
    # Letters that compose, marks that are reordered, jamo; apart by a character that nothing crosses.
    contexts = ["{}", "e\u0301{}", "{}\u0301", "\u1100{}\u11a8", "a\u0323{}\u0302"]
    for context in contexts:
        before, after = context.split("{}")
        separator = f"{after}~{before}"
        for start in range(0, len(SCALARS), 4096):
            text = f"{before}{separator.join(SCALARS[start : start + 4096])}{after}"
            assert chain.normalize(text) == normalizer.normalize_str(text), (context, hex(start))
    if step in FORMS:
        kept = {c for c in SCALARS if chain.keeps(c)}
        assert kept == {c for c in SCALARS if normalizer.normalize_str(c) == c}


@pytest.mark.parametrize("step", FORMS)
def test_random_sequences(step: Step) -> None:
    dice = random.Random(step)
    for _ in range(1000):
        check([step], "".join(dice.choices(ALPHABET, k=dice.randrange(12))))


def test_a_text_is_kept_exactly_if_it_is_normal() -> None:
    dice = random.Random(5)
    for form in FORMS:
        chain, normalizer = both((form,))
        for _ in range(2000):
            text = "".join(dice.choices(ALPHABET, k=dice.randrange(1, 5)))
            assert chain.keeps(text) == (normalizer.normalize_str(text) == text), text


def test_pairs_of_marks_of_all_classes() -> None:
    marks = [c for c in SCALARS if both(("StripAccents",))[0].normalize(c) == ""]
    for form in FORMS:
        chain, normalizer = both((form,))
        dice = random.Random(6)
        for _ in range(3):
            text = "".join(
                f"{dice.choice('aeiou')}{first}{dice.choice(marks)}{dice.choice(marks)}" for first in marks
            )
            assert chain.normalize(text) == normalizer.normalize_str(text)


STEPS: list[Step] = [
    *FORMS,
    "Lowercase",
    "StripAccents",
    ("Strip", True, True),
    ("Strip", True, False),
    ("Strip", False, True),
    ("Strip", False, False),
    ("Prepend", "\u2581"),
    ("Prepend", "xy\u0301"),
    ("Replace", " ", "\u2581"),
    ("Replace", "a", ""),
    ("Replace", "ea", "\u00e9\u0301x"),
    ("Replace", "aa", "a"),
    ("Replace", ".*", "!"),
    ("Regex", r"\s+", " "),
    ("Regex", r"[eo]\p{M}*", "E"),
    ("Regex", r"(?<=a).", ""),
]


@given(st.lists(st.sampled_from(STEPS), max_size=5), st.lists(st.sampled_from(ALPHABET), max_size=12))
def test_chains(steps: list[Step], characters: list[str]) -> None:
    check(steps, "".join(characters))


@given(st.sampled_from(STEPS), st.text(max_size=20))
def test_any_text(step: Step, text: str) -> None:
    check([step], text)


@pytest.mark.parametrize(
    "steps",
    [
        ["NFC"],
        ["NFKC", "Lowercase"],
        ["NFD", "Lowercase", "StripAccents"],
        [("Prepend", "\u2581"), ("Replace", " ", "\u2581")],
        [("Regex", r"\s+", " "), ("Strip", True, True), "Lowercase", "NFC"],
    ],
)
def test_long_texts(steps: list[Step]) -> None:
    dice = random.Random(7)
    plain = [*"abc déf Привет 世界 हिन्दी বাংলা தமிழ் 한국어 ไทย tiếng Việt "]
    for share in (0.0, 0.01, 0.3):
        text = "".join(dice.choice(ALPHABET if dice.random() < share else plain) for _ in range(600))
        check(steps, text)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (("Prepend", ""), "prepends the empty string"),
        (("Replace", "", "x"), "can match the empty string"),
        (("Regex", "a*", "x"), "can match the empty string"),
    ],
)
def test_refused_steps(step: Step, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NormalizerChain(theirs(step).__getstate__())


def test_unknown_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="NFX"):
        NormalizerChain(b'{"type": "NFX"}')


def test_an_empty_match_in_a_text_is_refused() -> None:
    chain, _ = both((("Regex", r"(?=b)", "x"),))
    assert chain.normalize("a") == "a"
    with pytest.raises(ValueError, match="matches the empty string here"):
        chain.normalize("ab")
