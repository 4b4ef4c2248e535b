"""Texts that are hard for one file: of its tokens, parts of them, and all that its components look for."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from typing import Any

from bytemill.formats.data_gym import BYTE_OF_CHARACTER
from support.random_files.alphabets import BYTE_NAMES, PECULIAR, PLAIN, chance
from support.random_files.files import File, pieces, types
from support.texts import MARKS

__all__ = ["parts_of", "random_text"]

BLANKS = [" ", " ", " ", "  ", "\n", "\t", "\u00a0", "\u3000", "\r\n"]
# What no component names.
NAMES = {"type", "behavior", "prepend_scheme", "precompiled_charsmap", "Regex", "special_tokens"}


def strings(value: Any) -> Iterator[str]:
    """Yields the texts that a component looks for, puts in or takes away."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in NAMES:
                yield from strings(each)


def unspelled(token: str, *, is_of_bytes: bool) -> str:
    """Returns the text of a token whose characters may stand for bytes."""
    if not is_of_bytes or any(character not in BYTE_OF_CHARACTER for character in token):
        return token
    return bytes(BYTE_OF_CHARACTER[character] for character in token).decode("utf-8", "replace")


def variants(text: str) -> list[str]:
    """Returns a text as it is before or after normalization, and parts of it."""
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    return [text, text.upper(), text.lower(), *forms, text[1:], text[:-1], f" {text}", f"{text} "]


def parts_of(file: File) -> list[str]:
    """Returns the texts that those for a file are made of; those that matter most several times."""
    is_of_bytes = "ByteLevel" in types(file["pre_tokenizer"])
    tokens = [unspelled(token, is_of_bytes=is_of_bytes) for token in pieces(file)]
    own = [token for token in tokens if token not in BYTE_NAMES and len(token.encode()) > 1]
    letters = [token for token in tokens if len(token) == 1]
    letters = letters if len(letters) < 40 else [*PLAIN, *PECULIAR]
    added = [entry["content"] for entry in file["added_tokens"]]
    named = [*strings([file[name] for name in ("normalizer", "pre_tokenizer", "decoder")])]
    affixes = [file["model"].get(name) for name in ("continuing_subword_prefix", "end_of_word_suffix")]
    named += [affix for affix in affixes if affix]
    groups = [
        own[:60],
        letters,
        letters,
        [form for text in added for form in [text, *variants(text)]],
        added,
        [form for text in named + own[:10] for form in variants(text)],
        BLANKS,
        [*PECULIAR, *PLAIN, *BYTE_NAMES[0x3F:0x43], "<0xE4>", "<0x4", "x" * 20],
    ]
    most = max(map(len, groups))
    return [part for group in groups if group for part in (group * (most // len(group)))]


def random_text(dice: random.Random, parts: list[str]) -> str:
    """Returns a text of some parts, with blanks between them or without."""
    size = dice.choice([0, 1, 1, 2, 3, 4, 6, 9, 14])
    if chance(dice, 0.08):
        return dice.choice(parts) * size + dice.choice(parts)
    chosen = dice.choices(parts, k=size)
    text = (dice.choice(BLANKS) if chance(dice, 0.3) else "").join(chosen)
    if chance(dice, 0.2):
        return unicodedata.normalize("NFD", text)
    if chance(dice, 0.1):
        return "".join(character + dice.choice(["", "", *MARKS]) for character in text)
    return text
