"""How SentencePiece changes a text before merging, by the definition."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MARK = "\N{LOWER ONE EIGHTH BLOCK}"
# Of words that begin with each other, how many the original looks at.
MOST_NESTED = 64
REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()


class Charsmap:
    """The replacements of a `precompiled_charsmap`: a double-array trie of keys, and the values it refers to.

    The trie is an array of 32-bit units. A node has a base; its child by a byte is the unit at base ^ byte,
    if that is labelled with the byte. If a key ends at the child, the unit at the child's own base is its
    value: where in the block of values the replacement starts, which a NUL ends.
    """

    def __init__(self, blob: bytes) -> None:
        """Reads a charsmap; an empty one replaces nothing."""
        size = int.from_bytes(blob[:4], "little")
        self._units = struct.unpack_from(f"<{size // 4}I", blob, 4) if blob else ()
        self._values = blob[4 + size :]

    def longest(self, text: bytes, start: int) -> tuple[bytes, int] | None:
        """Returns the replacement of the longest key at an offset, and the key's length, if there is one."""
        found = None
        if not self._units:
            return None
        base = self._base(self._units[0])
        for length, byte in enumerate(text[start:], 1):
            node = base ^ byte
            if node >= len(self._units) or self._units[node] & 0x800000FF != byte:
                break
            base = node ^ self._base(self._units[node])
            if self._units[node] & 0x100:
                value = self._units[base] & 0x7FFFFFFF
                found = self._values[value : self._values.index(0, value)], length
        return found

    def goes_on(self, text: bytes, start: int) -> bool:
        """Returns whether what a text has from an offset on is the beginning of a longer key."""
        if not self._units:
            return False
        base = self._base(self._units[0])
        for byte in text[start:]:
            node = base ^ byte
            if node >= len(self._units) or self._units[node] & 0x800000FF != byte:
                return False
            base = node ^ self._base(self._units[node])
        units = self._units
        return any(
            base ^ byte < len(units) and units[base ^ byte] & 0x800000FF == byte for byte in range(1, 256)
        )

    @staticmethod
    def _base(unit: int) -> int:
        return (unit >> 10) << ((unit & 0x200) >> 6)


@dataclass(frozen=True)
class Normalization:
    """The changes of a text before merging; the fields are those of the model file's `NormalizerSpec`."""

    charsmap: Charsmap = field(default_factory=lambda: Charsmap(b""))
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False


def character(text: bytes, start: int) -> bytes | None:
    """Returns the well-formed UTF-8 character that starts at an offset, if one does."""
    for length in (1, 2, 3, 4):
        try:
            text[start : start + length].decode()
        except UnicodeDecodeError:
            continue
        return text[start : start + length]
    return None


def longest_prefix(text: bytes, start: int, words: Iterable[bytes]) -> bytes:
    """Returns the longest of the 64 shortest words that a text has at an offset; b"" without one."""
    found = sorted((word for word in words if text.startswith(word, start)), key=len)
    return found[:MOST_NESTED][-1] if found else b""


def replacements(
    text: bytes, charsmap: Charsmap, user_defined: Iterable[bytes]
) -> Iterator[tuple[bytes, int]]:
    """Replaces a text step by step, yielding what each step makes, and where in the text the step starts.

    A step takes the first of these that there is: the longest user-defined symbol, which stays as it is; the
    longest key of the charsmap; a character; a byte that starts no character.
    """
    start = 0
    while start < len(text):
        if made := longest_prefix(text, start, user_defined):
            length = len(made)
        elif (found := charsmap.longest(text, start)) is not None:
            made, length = found
        elif (found_character := character(text, start)) is not None:
            made, length = found_character, len(found_character)
        else:
            made, length = REPLACEMENT, 1
        yield made, start
        start += length


def normalize(text: bytes, rules: Normalization, user_defined: Iterable[bytes] = ()) -> tuple[str, list[int]]:
    """Normalizes a text.

    Returns:
        The normalized text, and for each byte of it the offset in `text` of what it was made from, with
        one more entry for its end.
    """
    space = MARK.encode() if rules.escape_whitespaces else b" "
    trimming = rules.remove_extra_whitespaces
    out = bytearray()
    origins: list[int] = []

    def append(made: bytes, origin: int) -> None:
        out.extend(made)
        origins.extend([origin] * len(made))

    steps = list(replacements(text, rules.charsmap, list(user_defined)))
    while trimming and steps and steps[0][0] == b" ":
        del steps[0]
    if not steps:
        return "", [len(text)]
    if rules.add_dummy_prefix and not rules.treat_whitespace_as_suffix:
        append(space, steps[0][1])
    after_space = trimming
    for made, origin in steps:
        kept = made.lstrip(b" ") if after_space else made
        append(kept.replace(b" ", space), origin)
        if kept:
            after_space = trimming and kept.endswith(b" ")
    end = len(text)
    while trimming and out.endswith(space):
        end = origins[len(out) - len(space)]
        del out[-len(space) :], origins[-len(space) :]
    if rules.add_dummy_prefix and rules.treat_whitespace_as_suffix:
        append(space, end)
    return out.decode(), [*origins, end]
