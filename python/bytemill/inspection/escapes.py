r"""Render the bytes of a token with visible characters only.

Tokens contain whitespace, controls and incomplete characters. A space becomes `·`, a line break `⏎`, a tab
`→`; other invisible characters are escaped as in Python: `\x00`, `\u200b`. Bytes that are not a whole
character are shown in hexadecimal between angle quotes, and a combining mark without a base character is
drawn on `◌`. Emoji that joiners make one glyph stay that glyph.

The result is not meant to be parsed: a text may contain these symbols itself. The views draw substitutes in
another shade, and their JSON has the bytes.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from bytemill._escapes import escaped, is_invisible
from bytemill.inspection.characters import JOINED_EMOJI

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Segment", "segments_of", "visible", "width_of"]

SYMBOLS = {" ": "·", "\n": "⏎", "\t": "→"}

DOTTED_CIRCLE = "◌"
OPEN_QUOTE, CLOSE_QUOTE = "\u2039\u203a"

# The bytes 0x80 to 0xff that are not UTF-8, as decoded by `surrogateescape`.
FIRST_ESCAPED, LAST_ESCAPED = "\udc80", "\udcff"


class Segment(NamedTuple):
    """A span of a rendered token.

    Attributes:
        text: Visible text without whitespace or controls.
        substitute: Whether it replaces something invisible, rather than being the text itself.
    """

    text: str
    substitute: bool


def segments_of(token: bytes) -> list[Segment]:
    """Renders a token as segments that alternate between text and substitutes.

    Args:
        token: Any bytes.

    Complexity:
        Linear in the bytes.
    """
    segments: list[Segment] = []
    for substitute, parts in groupby(glyphs(token.decode("utf-8", "surrogateescape")), is_substituted):
        text = "".join(parts)
        if substitute:
            text = substitutes_for(text)
        elif not segments and unicodedata.category(text[0]).startswith("M"):
            text = DOTTED_CIRCLE + text
        segments.append(Segment(text, substitute))
    return segments


def glyphs(text: str) -> Iterator[str]:
    """Yields joined emoji, and all other characters one by one."""
    offset = 0
    for found in JOINED_EMOJI.finditer(text):
        yield from text[offset : found.start()]
        yield found.group()
        offset = found.end()
    yield from text[offset:]


def visible(token: bytes) -> str:
    """Renders a token as one string."""
    return "".join(segment.text for segment in segments_of(token))


def is_substituted(glyph: str) -> bool:
    """Returns whether a glyph is an invisible character or an escaped byte; joined emoji are neither."""
    return len(glyph) == 1 and is_invisible(glyph)


def substitutes_for(text: str) -> str:
    """Returns the substitutes of invisible characters; adjacent escaped bytes share one pair of quotes."""
    substitutes = []
    for is_byte, characters in groupby(text, lambda c: FIRST_ESCAPED <= c <= LAST_ESCAPED):
        if is_byte:
            values = " ".join(f"{ord(c) - 0xDC00:02x}" for c in characters)
            substitutes.append(f"{OPEN_QUOTE}{values}{CLOSE_QUOTE}")
        else:
            substitutes += [SYMBOLS.get(c) or escaped(c) for c in characters]
    return "".join(substitutes)


def width_of(text: str) -> int:
    """Returns the columns of a text in a terminal: two per wide character, none per non-spacing mark.

    Joined emoji take two together.
    """
    if text.isascii():
        return len(text)
    text = JOINED_EMOJI.sub("\U0001f600", text)
    return sum(
        0 if unicodedata.category(c) in {"Mn", "Me"} else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
