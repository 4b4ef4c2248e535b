"""Texts, lists of words, and pairs of either, as callers give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill.hf.arguments import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeGuard

__all__ = ["PAIR", "inputs_of", "words_of"]

# The number of texts in a pair.
PAIR = 2


def words_of(given: object, in_words: bool) -> Sequence[str]:
    """Returns the parts of a text that are encoded by themselves.

    Raises:
        TypeError: It is not a string, or not a list of strings if it is to be one of words; or no Unicode.
    """
    if in_words:
        if not is_words(given):
            raise TypeError(f"expected a list of words as strings, got {given!r:.60}")
        return [text("each word", word) for word in given]
    return (text("each text", given),)


def inputs_of(item: object, in_words: bool) -> list[Sequence[str]]:
    """Returns the one text or the two of an element of a batch, each as by `words_of`; errors likewise."""
    if not isinstance(item, (tuple, list)) or len(item) != PAIR or (in_words and is_words(item)):
        return [words_of(item, in_words)]
    return [words_of(each, in_words) for each in item]


def is_words(value: object) -> TypeGuard[Iterable[str]]:
    """Returns whether this is a list of strings."""
    # Arrays of numpy are taken as well.
    if not isinstance(value, (list, tuple)) and type(value).__name__ != "ndarray":
        return False
    return all(isinstance(word, str) for word in value)  # type: ignore[attr-defined]
