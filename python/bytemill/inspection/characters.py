"""Characters as people see them: which tokens share one, and how wide one is.

Such a character may have several code points, each of several bytes: a letter with a mark, a flag, a family.
Unicode calls it a grapheme cluster; the `regex` package finds them.
"""

from __future__ import annotations

import unicodedata
from itertools import accumulate
from typing import TYPE_CHECKING

import regex  # type: ignore[import-untyped]  # the package ships no types

from bytemill._escapes import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bytemill.inspection.token_view import Token

__all__ = ["JOINED_EMOJI", "is_right_to_left", "lines_as_written", "sharing_characters"]

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
    ends = set(accumulate(sizes))
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
