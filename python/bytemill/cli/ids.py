"""Token ids as text: decimal digits of ASCII, in options, arguments and files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SEPARATORS", "TokenId", "TokenIds", "id_arguments", "is_id", "parse_ids"]

# Separators of decimal numbers, those that Python prints for a list included.
SEPARATORS = bytes.maketrans(b",[]\t\r", b"     ")


def parse_ids(words: Sequence[bytes]) -> list[int]:
    """Parses ids.

    Raises:
        ValueError: A word is none. Python's `int` would also take signs, underscores and other digits.
    """
    wrong = next((word for word in words if not word.isdigit()), None)
    if wrong is None:
        try:
            return list(map(int, words))
        except ValueError:
            # Of more digits than `int` takes.
            wrong = max(words, key=len)
    shown = wrong.decode(errors="backslashreplace")
    raise ValueError(f"expected token ids as decimal numbers, got {shown!r:.60}")


def id_arguments(arguments: Sequence[str]) -> list[int] | None:
    """Returns the ids in arguments such as `24912 2375` or `"[24912, 2375]"`; `None` if they are not ids.

    The name of a file that exists is not an id.
    """
    if any(map(os.path.exists, arguments)):
        return None
    try:
        return parse_ids(os.fsencode(" ".join(arguments)).translate(SEPARATORS).split()) or None
    except ValueError:
        return None


def is_id(text: str) -> bool:
    """Returns whether a text is an id, not that there is such a token."""
    return os.fsencode(text).isdigit()


class TokenId(click.ParamType):  # type: ignore[type-arg]
    """The type of an option that is an id."""

    name = "id"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the id; fails if it is none."""
        try:
            return value if isinstance(value, int) else parse_ids([os.fsencode(str(value))])[0]
        except ValueError as error:
            self.fail(str(error), param, ctx)


class TokenIds(click.ParamType):  # type: ignore[type-arg]
    """The type of an option that is a range of ids, such as 256-300; its value is the first and the last."""

    name = "ids"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Returns the first and the last id; fails if it is not a range."""
        first, dash, last = str(value).partition("-")
        try:
            found = parse_ids([os.fsencode(first), os.fsencode(last if dash else first)])
        except ValueError as error:
            self.fail(f"{error}; a range is written 256-300", param, ctx)
        if found[0] > found[1]:
            self.fail(f"expected the lower id first, got {value}", param, ctx)
        return found[0], found[1]
