"""The normalizer beside SentencePiece's own."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytemill._backend import (
    Normalizer,
    charsmap_rules,
    charsmap_with_name,
    compile_charsmap,
    compile_charsmap_tsv,
)

if TYPE_CHECKING:
    from pathlib import Path

spm: Any = pytest.importorskip("sentencepiece")

NAMES = ["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]
SYMBOLS = [
    "<s>",
    "ab",
    "abc",
    "a b",
    "\u2581x",
    "\u2581\u2581",
    "\u304c",
    "\u304b\u3099c",
    "e\u0301",
    " ",
    "\u3000",
]
# Spaces, marks, combining marks, kana with voicing, jamo, ligatures, what nmt removes, parts of symbols.
ALPHABET = [
    *" \u2581\u3000\u00a8\u00a0\t\n\u200b\u200d\ufeff\x01\x00\x7fabcx<s>A\u0301\u0338\u0300e\u00e9\u1e9e",
    *"\u304b\u3099\uff76\uff9e\u304c\u1100\u1161\u11a8\u3131\u314f\uffa1\uffc2\uac00\u11a7\ufb01\ufdfa\u2026",
    *"\uff5e\ufffd\uffff\U0001f600\U0001d400\u212a\u00df\u03c2\u03a9\u2126\u0345\u1fb3\u0130\u0f71\u0f72\u0f74",
]
FRAGMENTS = [*ALPHABET, *SYMBOLS]


def encoded(fields: list[tuple[int, bytes | int]]) -> bytes:
    """Returns a protocol buffer of fields that are bytes or numbers."""

    def varint(number: int) -> bytes:
        return bytes([number & 127 | 128]) + varint(number >> 7) if number > 127 else bytes([number])

    return b"".join(
        varint(key << 3 | 2) + varint(len(value)) + value
        if isinstance(value, bytes)
        else varint(key << 3) + varint(value)
        for key, value in fields
    )


def both(charsmap: bytes, flags: tuple[bool, bool, bool, bool], symbols: list[str]) -> tuple[Any, Normalizer]:
    """Returns SentencePiece's processor and the core's normalizer, for the same model."""
    prefix, removal, escape, suffix = flags
    pieces = [encoded([(1, b"<unk>"), (3, 2)])]
    pieces += [encoded([(1, symbol.encode()), (3, 4)]) for symbol in symbols]
    trainer = encoded([(3, 2), (24, suffix)])
    normalizer = encoded([(2, charsmap), (3, prefix), (4, removal), (5, escape)])
    model = encoded([*((1, piece) for piece in pieces), (2, trainer), (3, normalizer)])
    core = Normalizer(
        charsmap,
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=removal,
        escape_whitespaces=escape,
        treat_whitespace_as_suffix=suffix,
        user_defined_symbols=symbols,
    )
    return spm.SentencePieceProcessor(model_proto=model), core


def assert_same(theirs: Any, ours: Normalizer, text: str | bytes) -> None:
    expected, offsets = theirs.normalize(text, with_offsets=True)
    # Theirs has no end if nothing is left of bytes, and one of texts.
    assert ours.normalize_with_offsets(text) == (expected, list(offsets) or [0])
    assert ours.normalize(text) == expected


def named(name: str) -> bytes:
    charsmap = charsmap_with_name(name)
    assert charsmap is not None
    return charsmap


flags_of_models = st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans())
symbols_of_models = st.lists(st.sampled_from(SYMBOLS), unique=True)
fragments = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)


@given(st.sampled_from(NAMES), flags_of_models, symbols_of_models, st.lists(fragments, max_size=8))
def test_texts(name: str, flags: Any, symbols: list[str], texts: list[str]) -> None:
    theirs, ours = both(named(name), flags, symbols)
    for text in texts:
        assert_same(theirs, ours, text)
        assert_same(theirs, ours, text.encode())


@given(
    st.sampled_from(NAMES),
    flags_of_models,
    symbols_of_models,
    st.lists(st.sampled_from([*FRAGMENTS, *map(chr, range(0x80, 0x100))]), max_size=60),
    st.binary(max_size=40),
)
def test_bytes(name: str, flags: Any, symbols: list[str], parts: list[str], random_bytes: bytes) -> None:
    theirs, ours = both(named(name), flags, symbols)
    broken = b"".join(
        part.encode("latin-1" if max(part, default="") < "\u0100" else "utf-8") for part in parts
    )
    assert_same(theirs, ours, broken)
    assert_same(theirs, ours, random_bytes)
    assert_same(theirs, ours, broken[: len(broken) // 2] + random_bytes)


ASCII = st.text("ab \t", max_size=3)


@given(
    st.dictionaries(st.text("ab \u0301\u2581", min_size=1, max_size=3), ASCII, min_size=1, max_size=6),
    flags_of_models,
    st.lists(st.text("ab \u0301\u2581", max_size=40), max_size=10),
)
def test_own_rules(rules: dict[str, str], flags: Any, texts: list[str]) -> None:
    pairs = sorted((key, value) for key, value in rules.items() if key != value) or [("a", "")]
    charsmap = compile_charsmap(pairs)
    assert charsmap_rules(charsmap) == pairs
    normalizer = spm.SentencePieceNormalizer(norm_map=pairs)
    assert encoded([(2, charsmap)]) in normalizer.serialized_normalizer_spec()
    theirs, ours = both(charsmap, flags, [])
    for text in texts:
        assert_same(theirs, ours, text)


@pytest.mark.parametrize("name", NAMES[1:])
def test_rules_with_names(name: str) -> None:
    theirs = spm.SentencePieceNormalizer(rule_name=name)
    assert sorted(theirs.Decompile()) == sorted(charsmap_rules(named(name)))
    # Not in the `assert`, which would print both.
    is_same = encoded([(2, named(name))]) in theirs.serialized_normalizer_spec()
    assert is_same


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("removal", [False, True])
def test_every_character(*, name: str, removal: bool) -> None:
    theirs, ours = both(named(name), (True, removal, True, False), ["<s>", "\u304c"])
    alone = [chr(number) for number in range(0x110000) if not 0xD800 <= number < 0xE000]
    for start in range(0, len(alone), 4096):
        block = alone[start : start + 4096]
        # Between two letters, and by itself, which the ends of a text are not.
        texts = ["".join(f"a{character}b" for character in block), *block]
        ours_of_all = [ours.normalize(text) for text in texts]
        is_same = ours_of_all == theirs.normalize(texts)
        assert is_same, f"from U+{start:X}"
        assert_same(theirs, ours, texts[0])


def test_long_texts() -> None:
    rng = random.Random(7)
    for name in NAMES:
        for flags in [(True, True, True, False), (False, False, True, False), (True, True, False, True)]:
            theirs, ours = both(named(name), flags, SYMBOLS)
            words = ["word", " ", "  ", "\n", "long " * 9, "\u00e9t\u00e9", "\u4e2d\u6587", *FRAGMENTS]
            assert_same(theirs, ours, "".join(rng.choices(words, k=20_000)))
            for text in [" " * 100_000, "a" * 100_000, "\u2581" * 30_000, "\ufdfa" * 10_000]:
                assert_same(theirs, ours, text)


LINES = [
    *["41\t42\n", "U+41 U+0042\t43 44\n", "41\n", "41\t\n", "41\t42\tc\n", "0x41\t42\n", "41\t42\n41\t43\n"],
    *["41  42\t43", "+41\t42", "00000000041\t42", "41\tFFFF\n", "FFFD\t41\n", "41\r\t42", "\x0c41\t42"],
    *["zz\t42\n", "\n", "# c\n", "u+41\t42\n", "D800\t42\n", "41 \t 42 \r\n", "0\t42\n", "", "41\t41\n"],
    *[
        "-1\t42",
        "41g\t42",
        "41\t42\n\n43\t44\n",
        "41,42\t43",
        "41\tFFFFFFFFF\n",
        "41\tD800\n",
        "\t41\n",
        "U+\t42",
    ],
]


@pytest.mark.parametrize("lines", LINES)
def test_rules_in_lines(lines: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.tsv"
    path.write_bytes(lines.encode())
    try:
        expected = spm.SentencePieceNormalizer(rule_tsv=str(path)).Decompile()
    except (RuntimeError, ValueError):
        with pytest.raises(ValueError, match=r"rule \d+ of the normalization: expected"):
            compile_charsmap_tsv(lines)
    else:
        assert charsmap_rules(compile_charsmap_tsv(lines)) == expected


def test_damaged_charsmaps_are_refused_alike() -> None:
    rng = random.Random(11)
    whole = compile_charsmap([("a", "b"), ("ab", " "), ("\u00e9", "e"), ("\u00e9\u0301x", "")])
    accepted = 0
    for _ in range(300):
        damaged = bytearray(whole)
        place = rng.choice([rng.randrange(4), rng.randrange(4, len(whole)), len(whole) - 1])
        damaged[place] ^= 1 << rng.randrange(8)
        try:
            Normalizer(bytes(damaged))
        except ValueError as error:
            assert "precompiled_charsmap" in str(error)  # noqa: PT017 - some are accepted
            with pytest.raises((RuntimeError, ValueError)):
                both(bytes(damaged), (True, True, True, False), [])
            continue
        accepted += 1
        theirs, ours = both(bytes(damaged), (True, True, True, False), [])
        for text in [b"\0aab a", "\u00e9\u0301x \u00e9b\u0301".encode()]:
            assert_same(theirs, ours, text)
    assert 0 < accepted < 300


def test_wrong_types() -> None:
    with pytest.raises(TypeError, match="expected str or bytes, got int"):
        Normalizer(b"").normalize(5)  # type: ignore[call-overload]
    assert charsmap_with_name("nothing") is None
