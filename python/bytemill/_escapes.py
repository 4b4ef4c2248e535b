r"""Escape what cannot be seen in text that comes from data.

Views, headings and messages show names and texts that somebody else wrote. An invisible character there hides
text, turns its direction around or controls a terminal, so it is escaped as in Python: `\x1b`, `\u202e`.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["escaped", "is_invisible", "named", "printable", "shortened"]

# Letters, marks and symbols that have no glyph all the same: those with Unicode's property
# Default_Ignorable_Code_Point (fillers, variation selectors and the like), an empty pattern of Braille, and a
# musical note without a head. `static/bytes.js` of the playground has the same.
BLANK = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159"
    + "".join(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
)

# Messages name so many fields or columns, and show so many characters of a name.
MOST_NAMES = 10
MOST_CHARACTERS = 80


def is_invisible(character: str) -> bool:
    """Returns whether a code point has no glyph; a space, too, has none.

    Controls, format characters (which include writing directions and joiners), surrogates, private use,
    unassigned code points, separators and `BLANK`.
    """
    # All but the last are what `isprintable` goes by, with an exception for the space.
    return not character.isprintable() or character == " " or character in BLANK


def escaped(character: str) -> str:
    r"""Escapes a character as in a Python string literal: U+000D as `\r`, U+200B as `\u200b`."""
    return ascii(character)[1:-1]


def printable(text: str) -> str:
    """Escapes the invisible characters of a text other than spaces."""
    return "".join(escaped(c) if c != " " and is_invisible(c) else c for c in text)


def shortened(name: str) -> str:
    """Returns a name from data for a message: on one line, visible, and cut if it is long."""
    start = printable(name[: MOST_CHARACTERS + 1])
    return start if len(start) <= MOST_CHARACTERS else f"{start[:MOST_CHARACTERS]}…"


def named(names: Collection[str]) -> str:
    """Returns names from data for a message: "a, b, c and 19,990 more"."""
    first = ", ".join(map(shortened, islice(names, MOST_NAMES)))
    more = len(names) - MOST_NAMES
    return f"{first} and {more:,} more" if more > 0 else first
