"""Indices into strings in which a pair of surrogates counts as one character, as the core counts."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["first_characters", "last_characters", "string_indices"]

# Two surrogates that stand for one character.
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def string_indices(text: str, characters: Sequence[int]) -> list[int]:
    """Returns the index in a string that is preceded by each number of characters.

    Complexity:
        O(text), or O(1) for each index if the text is ASCII.
    """
    if text.isascii():
        return list(characters)
    pairs = [pair.start() - before for before, pair in enumerate(PAIR.finditer(text))]
    return [count + bisect_left(pairs, count) for count in characters]


def first_characters(text: str, count: int) -> str:
    """Returns the first `count` characters of a text, which has at least `count`."""
    return text[: string_indices(text[: 2 * count], [count])[0]]


def last_characters(text: str, count: int) -> str:
    """Returns the last `count` characters of a text, which has at least `count`."""
    # A pair takes two indices of the string, so the characters are in this part of it.
    end = text[max(0, len(text) - 2 * count) :]
    return end[string_indices(end, [len(PAIR.sub("_", end)) - count])[0] :]
