r"""Words of messages: names with what cannot be seen escaped, names that are close, missing packages.

Views, headings and messages show names and texts that somebody else wrote. An invisible character there hides
text, turns its direction around or controls a terminal, so it is escaped as in Python: `\x1b`, `\u202e`.
"""

from __future__ import annotations

from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = [
    "alternatives",
    "closest",
    "escaped",
    "import_optional",
    "is_invisible",
    "named",
    "printable",
    "shortened",
]


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


# Suggestions for names that were not found.


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


# Packages that are installed only where they are needed.


def import_optional(module: str, what: str) -> Any:  # noqa: ANN401 - optional packages, not all with types
    """Imports a module of an optional package.

    Args:
        module: The name of the module.
        what: What needs it, in the plural: "Parquet files".

    Raises:
        ImportError: The package is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{what} need the package {package}: install it with `pip install {package}`"
        ) from error
