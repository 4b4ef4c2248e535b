r"""What a token looks like: its bytes as signs that can all be seen.

Tokens hold blanks, line breaks, controls and parts of characters. Here each becomes something to look at: a
space is `·`, a line break `⏎`, a tab `→`, what else cannot be seen is escaped as in Python: `\x00`, `\u200b`.
Bytes that are no whole character stand in angle quotes, and a mark without a letter before it sits on `◌`.

This is for eyes, not for reading back: a text may hold these signs itself. Where that matters the views draw
them in another shade, and the bytes of a token say what it is.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby
from typing import NamedTuple

__all__ = ["Part", "parts_of", "plain", "printable", "width_of"]

SIGNS = {" ": "·", "\n": "⏎", "\t": "→"}

# Categories without a shape of their own: controls, formats (writing directions and joiners among them, which
# would change what is around them), surrogates, private use, unassigned, separators.
SHAPELESS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})

DOTTED_CIRCLE = "◌"
OPEN_QUOTE, CLOSE_QUOTE = "\u2039\u203a"

# What `surrogateescape` makes of the bytes 0x80 to 0xff where they are not UTF-8.
FIRST_ESCAPED, LAST_ESCAPED = "\udc80", "\udcff"


class Part(NamedTuple):
    """A stretch of what a token looks like.

    Attributes:
        text: What to show; it has no blanks, controls or line breaks.
        stands_for: Whether it stands for something that cannot be seen, rather than being the text itself.
    """

    text: str
    stands_for: bool


def parts_of(token: bytes) -> list[Part]:
    """Gives what a token looks like, as stretches that are text by turns and stand for something.

    Args:
        token: Any bytes.

    Complexity:
        Linear in the bytes.
    """
    parts = []
    for stands_for, characters in groupby(token.decode("utf-8", "surrogateescape"), is_invisible):
        stretch = "".join(characters)
        if stands_for:
            parts.append(Part(signs_of(stretch), stands_for=True))
            continue
        if not parts and unicodedata.category(stretch[0]).startswith("M"):
            stretch = DOTTED_CIRCLE + stretch
        parts.append(Part(stretch, stands_for=False))
    return parts


def plain(token: bytes) -> str:
    """Gives what a token looks like, as one string."""
    return "".join(part.text for part in parts_of(token))


def is_invisible(character: str) -> bool:
    """Tells whether a character cannot be seen, or is a byte that is no character."""
    return unicodedata.category(character) in SHAPELESS or is_variation_selector(character)


def is_variation_selector(character: str) -> bool:
    """Tells whether a character does nothing but choose the shape of the one before it."""
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def signs_of(stretch: str) -> str:
    """Gives the signs for characters that cannot be seen; bytes that are no character come together."""
    signs = []
    for is_byte, characters in groupby(stretch, lambda c: FIRST_ESCAPED <= c <= LAST_ESCAPED):
        if is_byte:
            values = " ".join(f"{ord(c) - 0xDC00:02x}" for c in characters)
            signs.append(f"{OPEN_QUOTE}{values}{CLOSE_QUOTE}")
        else:
            signs += [SIGNS.get(c) or escaped(c) for c in characters]
    return "".join(signs)


def printable(text: str) -> str:
    """Escapes the characters of a text that cannot be printed; spaces stay."""
    return "".join(c if c == " " or not is_invisible(c) else escaped(c) for c in text)


def escaped(character: str) -> str:
    r"""Writes a character as Python would in a string: U+000D as `\r`, U+200B as `\u200b`."""
    return ascii(character)[1:-1]


def width_of(text: str) -> int:
    """Counts the columns that text takes in a terminal: two for wide characters, none for most marks."""
    return sum(
        0 if unicodedata.category(c) in {"Mn", "Me"} else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
