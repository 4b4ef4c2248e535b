"""Token ids as text: decimal digits of ASCII, in options and in files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TokenId", "is_id", "parse_ids"]


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
