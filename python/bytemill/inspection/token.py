r"""Tokens as people see them: their characters, visible signs for bytes, widths, colours.

Which tokens share a character, and how wide is one? It may have several code points, each of several bytes: a
letter with a mark, a flag, a family. Unicode calls it a grapheme cluster; the `regex` package finds them.

Tokens contain whitespace, controls and incomplete characters. A space becomes `·`, a line break `⏎`, a tab
`→`; other invisible characters are escaped as in Python: `\x00`, `\u200b`. Bytes that are not a whole
character are shown in hexadecimal between angle quotes, and a combining mark without a base character is
drawn on `◌`. Emoji that joiners make one glyph stay that glyph.

The result is not meant to be parsed: a text may contain these signs itself. The views draw substitutes in
another shade, and their JSON has the bytes.

There are six light backgrounds for dark text, and the same hues as dark backgrounds for light text.
Neighbours differ in hue and in lightness, and so do the last and the first, since the list is used
cyclically: people who see no red or no green tell them apart as well.
"""

from __future__ import annotations

import unicodedata
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple, Protocol

import regex  # type: ignore[import-untyped]  # the package ships no types

from bytemill._messages import escaped, is_invisible, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "COLOURS",
    "JOINED_EMOJI",
    "Colour",
    "Segment",
    "Token",
    "View",
    "is_right_to_left",
    "lines_as_written",
    "segments_of",
    "sharing_characters",
    "text_of",
    "visible",
    "width_of",
]


class Token(NamedTuple):
    """One token of a text.

    Attributes:
        id: Token id.
        value: Token bytes; of a special token, its text as UTF-8.
        special: Whether it is a special token.
    """

    id: int
    value: bytes
    special: bool


class View(Protocol):
    """The tokens of a text with what stands above them: what pages and notebooks render."""

    @property
    def encoding(self) -> str:
        """Name of the encoding."""

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens in order."""

    @property
    def notebook_limit(self) -> int:
        """The most tokens that a notebook shows."""

    def counts(self) -> list[tuple[str, str]]:
        """Returns the heading as (name, figure) pairs."""

    def heading(self) -> str:
        """Returns the line above the tokens."""


def text_of(value: bytes) -> str | None:
    """Returns the text of a token, or `None` if its bytes are not whole characters."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


# Characters as people see them: which tokens share one, and how wide one is.
#
# Such a character may have several code points, each of several bytes: a letter with a mark, a flag, a
# family. Unicode calls it a grapheme cluster; the `regex` package finds them.

CLUSTER = regex.compile(r"\X")

# Emoji with joiners between them, each with its skin colour or presentation: one glyph.
JOINED_EMOJI = regex.compile(
    r"\p{Extended_Pictographic}[\ufe0f\U0001f3fb-\U0001f3ff]*"
    r"(?:\u200d\p{Extended_Pictographic}[\ufe0f\U0001f3fb-\U0001f3ff]*)+"
)

# Joiners decide about the forms of letters; other characters without a glyph are escaped.
JOINERS = regex.compile("([\u200c\u200d])")

# More tokens that share a character are shown one by one: the character is a letter with a heap of marks.
MOST_SHARING = 32


def sharing_characters(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Groups tokens such that no character is divided between groups.

    A special token is a group of its own. A group has the fewest tokens possible.

    Complexity:
        Linear in the text.
    """
    text = b"".join(token.value for token in tokens).decode("utf-8", "surrogateescape")
    sizes = (len(found.group().encode("utf-8", "surrogateescape")) for found in CLUSTER.finditer(text))
    # Tokens of no bytes stand before the first character too, or alone.
    ends = set(accumulate(sizes, initial=0))
    first = offset = 0
    for index, token in enumerate(tokens, start=1):
        offset += len(token.value)
        beside_special = token.special or (index < len(tokens) and tokens[index].special)
        if offset in ends or beside_special:
            group = tokens[first:index]
            yield from [group] if len(group) <= MOST_SHARING else ([each] for each in group)
            first = index


def is_right_to_left(text: str) -> bool:
    """Returns whether a text has letters that are written from right to left."""
    return any(unicodedata.bidirectional(character) in {"R", "AL"} for character in text)


def lines_as_written(tokens: Sequence[Token]) -> list[list[tuple[str, bool]]]:
    """Returns the lines of a text with letters from right to left whole, of other texts none.

    Apart, such letters have other forms, and tokens stand in the order of their ids; together the letters
    join, and lines run as their texts do.

    Returns:
        Of each line the parts, one for the tokens that share characters, and whether a part is to be
        underlined: every other one is, so that the cuts are seen. Invisible characters are escaped.
    """
    if not any(is_right_to_left(token.value.decode(errors="replace")) for token in tokens):
        return []
    lines: list[list[tuple[str, bool]]] = [[]]
    for index, group in enumerate(sharing_characters(tokens)):
        text = b"".join(token.value for token in group).decode(errors="replace")
        first, *others = map(with_joiners, text.split("\n"))
        lines[-1].append((first, index % 2 == 1))
        lines += [[(part, index % 2 == 1)] for part in others]
    return lines


def with_joiners(text: str) -> str:
    """Escapes the invisible characters of a text other than spaces and joiners."""
    return "".join(part if JOINERS.match(part) else printable(part) for part in JOINERS.split(text))


# Render the bytes of a token with visible characters only.
#
# Tokens contain whitespace, controls and incomplete characters. A space becomes `·`, a line break `⏎`, a tab
# `→`; other invisible characters are escaped as in Python: `\x00`, `\u200b`. Bytes that are not a whole
# character are shown in hexadecimal between angle quotes, and a combining mark without a base character is
# drawn on `◌`. Emoji that joiners make one glyph stay that glyph.
#
# The result is not meant to be parsed: a text may contain these symbols itself. The views draw substitutes
# in another shade, and their JSON has the bytes.

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


# Background colours of tokens in the terminal and on HTML pages.
#
# Six light backgrounds for dark text, and the same hues as dark backgrounds for light text. Neighbours
# differ in hue and in lightness, and so do the last and the first, since the list is used cyclically: people
# who see no red or no green tell them apart as well.


class Colour(NamedTuple):
    """One background colour.

    Attributes:
        terminal: Index in the 256-colour palette of terminals; text on it is black (16).
        light: "#rrggbb" for dark text.
        dark: The same hue for light text.
    """

    terminal: int
    light: str
    dark: str


COLOURS = (
    Colour(117, "#dbecfd", "#002f56"),  # blue
    Colour(187, "#e3c994", "#5c4300"),  # yellow
    Colour(218, "#fee1e8", "#4e172c"),  # pink
    Colour(183, "#d3c2f7", "#4f3c6e"),  # violet
    Colour(123, "#adf9fd", "#003538"),  # cyan
    Colour(151, "#aadbb3", "#1f542e"),  # green
)
