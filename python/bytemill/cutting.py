"""The part of an encoding that keeps texts within a number of tokens."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from operator import index
from typing import TYPE_CHECKING, Literal, NamedTuple, SupportsIndex

if TYPE_CHECKING:
    from bytemill._core import CoreBPE  # noqa: TID251 - its type only

__all__ = ["Cutter", "Truncated"]


class Truncated(NamedTuple):
    """What `Encoding.truncate` leaves of a text.

    Attributes:
        text: The text, or as much of it as fits.
        token_count: How many tokens that has.
        truncated: Whether anything was dropped.
    """

    text: str
    token_count: int
    truncated: bool


class Cutter:
    """What `Encoding` inherits. In these methods special tokens are ordinary text.

    Texts are cut between characters, that is code points: a character that takes several tokens stays whole,
    and so does a pair of surrogates. The ids of a part, encoded by itself, need not be some of the whole
    text's, for merges reach across the cut; so each part is encoded to count its tokens, and cut again if
    they are too many.
    """

    _core_bpe: CoreBPE

    def count_till_limit(self, text: str, limit: SupportsIndex) -> int | None:
        """Counts the tokens of a text, but stops as soon as there are more than a limit.

        Args:
            text: Any string.
            limit: The most tokens that are of interest.

        Returns:
            What `count` gives, or `None` if that is more than `limit`.

        Raises:
            ValueError: `limit` is negative.
            TypeError: `text` is not a string, or `limit` not an integer.
            PatternError: The engine of a custom pattern gives up on this text.

        Complexity:
            With a built-in pattern, that of `encode_ordinary` for as much text as has `limit` tokens, however
            long the text. A custom pattern has to find the pieces of that much text, and the `regex` package,
            where it stands in, those of all of the text.
        """
        return self._core_bpe.count_till_limit(text, number_of_tokens("limit", limit, 0))

    def truncate(
        self, text: str, max_tokens: SupportsIndex, *, side: Literal["right", "left"] = "right"
    ) -> Truncated:
        """Drops the end or the beginning of a text that has too many tokens.

        Args:
            text: Any string.
            max_tokens: How many tokens `encode_ordinary` may give for what is left. With 0, and where not
                even one character fits, nothing is left.
            side: What is dropped: "right" is the end, "left" the beginning.

        Returns:
            The text that is left, its tokens, and whether it is less than the whole. It is as long as
            possible where words or the like are short; in a long run that the pattern does not take apart, of
            blanks, say, or of letters, it may be some characters shorter.

        Raises:
            ValueError: `max_tokens` is negative, or `side` neither "right" nor "left".
            TypeError, PatternError: As `count_till_limit`.

        Complexity:
            As `count_till_limit`, some times over.
        """
        limit = number_of_tokens("max_tokens", max_tokens, 0)
        if side not in ("right", "left"):
            message = f"side must be 'right', which drops the end, or 'left', the beginning, not {side!r}"
            raise ValueError(message)
        characters, count = self._core_bpe.truncate(text, limit, side == "left")
        if characters is None:
            return Truncated(text, count, truncated=False)
        if side == "right":
            end = places_in(text[: 2 * characters], [characters])[0]
            return Truncated(text[:end], count, truncated=True)
        # Counted from the end. A pair is two places of the string, so no more than this is looked at.
        near = text[max(0, len(text) - 2 * characters) :]
        start = places_in(near, [len(PAIR.sub("_", near)) - characters])[0]
        return Truncated(near[start:], count, truncated=True)

    def split(self, text: str, max_tokens: SupportsIndex, *, overlap: SupportsIndex = 0) -> list[str]:
        """Cuts a text into parts that have at most so many tokens each.

        Args:
            text: Any string.
            max_tokens: How many tokens `encode_ordinary` may give for a part.
            overlap: Each part but the first begins with the end of the one before it: as much of that as has
                so many tokens by itself, or less if nothing else would fit into the part.

        Returns:
            The parts in order, none of them empty; each is as long as `truncate` would leave it. Without
            overlap they give the text when joined.

        Raises:
            ValueError: A character has more than `max_tokens` tokens, `max_tokens` is not positive, or
                `overlap` negative or not below `max_tokens`.
            TypeError, PatternError: As `count_till_limit`.

        Complexity:
            That of `encode_ordinary` for all parts, some times over.
        """
        limit = number_of_tokens("max_tokens", max_tokens, 1)
        repeated = number_of_tokens("overlap", overlap, 0)
        if repeated >= limit:
            message = f"overlap must be below max_tokens, which is {limit}, got {repeated}"
            raise ValueError(message)
        parts = self._core_bpe.parts(text, limit, repeated)
        if parts and parts[-1][1] != len(text):
            starts, ends = zip(*parts, strict=True)
            parts = list(zip(places_in(text, starts), places_in(text, ends), strict=True))
        return [text[start:end] for start, end in parts]


# Two surrogates that stand for one character.
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def places_in(text: str, characters: list[int] | tuple[int, ...]) -> list[int]:
    """Gives the place in a string before which there are so many characters, a pair of surrogates being one.

    Complexity:
        O(text), or O(1) for each place if the text is ASCII.
    """
    if text.isascii():
        return list(characters)
    pairs = [pair.start() - before for before, pair in enumerate(PAIR.finditer(text))]
    return [count + bisect_left(pairs, count) for count in characters]


def number_of_tokens(name: str, number: SupportsIndex, least: int) -> int:
    """Gives the argument called `name` as the core takes it; refuses one below `least`."""
    try:
        tokens = index(number)
    except TypeError:
        message = f"{name} must be a number of tokens as an integer, not {number!r}"
        raise TypeError(message) from None
    if tokens < least:
        message = f"{name} must be a number of tokens, {least} or more, got {tokens}"
        raise ValueError(message)
    return min(tokens, sys.maxsize)
