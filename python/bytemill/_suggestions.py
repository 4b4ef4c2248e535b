"""Suggestions for names that were not found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["alternatives", "closest"]

# The similarity from which on `difflib` finds a name; below it "gpt4" would be like "gpt2".
SIMILAR = 0.76
MOST = 3
# Names that begin with fewer characters are too many.
LEAST_PREFIX = 3


def closest(name: str, known: Iterable[str]) -> list[str]:
    """Returns the known names that a name was probably meant for, best first.

    A name that differs in case and punctuation only is the sole answer; else those that begin with it, else
    those that are spelt like it.

    Complexity:
        Linear in the known names.
    """
    plain: dict[str, list[str]] = {}
    for each in known:
        plain.setdefault(letters(each), []).append(each)
    wanted = letters(name)
    if wanted in plain:
        return plain[wanted][:1]
    found = [each for each in plain if each.startswith(wanted)] if len(wanted) >= LEAST_PREFIX else []
    if not found:
        # Only here: names are rarely wrong.
        from difflib import get_close_matches

        found = get_close_matches(wanted, plain, MOST, SIMILAR)
    return [plain[each][0] for each in found[:MOST]]


def letters(name: str) -> str:
    """Returns the letters and digits of a name in lower case."""
    return "".join(filter(str.isalnum, name[:100])).lower()


def alternatives(names: Iterable[str]) -> str:
    """Joins names as in "a, b or c"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
