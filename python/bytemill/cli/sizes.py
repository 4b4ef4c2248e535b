"""Numbers with units in options, as their callbacks.

K, M, G and T are powers of 1,000 for numbers of tokens, as in "100M tokens", and powers of 1,024 for bytes of
memory, as in "2G of memory"; the help of an option says which it takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import click

from bytemill._arguments import parse_bytes, parse_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    Callback: TypeAlias = Callable[[click.Context, click.Parameter, str | None], int | None]

__all__ = ["byte_size", "token_count", "token_limit"]

NO_LIMIT = "none"


def size_of(parse: Callable[[str], int], least: int = 0, *, may_be_none: bool = False) -> Callback:
    """Returns the callback of an option that is a number with an optional unit, `None` if not given.

    Args:
        parse: Parses the text; raises `ValueError` if it is not such a number.
        least: The least number.
        may_be_none: Whether it may be "none" for no limit, which is `None`.
    """

    def callback(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
        if value is None or (may_be_none and value == NO_LIMIT):
            return None
        try:
            number = parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
        if number < least:
            raise click.BadParameter(
                f"expected {least} or more{', or none' if may_be_none else ''}, got {value}"
            )
        return number

    return callback


def token_count(least: int = 0) -> Callback:
    """Returns the callback of an option that is a number of tokens such as 32k."""
    return size_of(parse_tokens, least)


def token_limit() -> Callback:
    """Returns the callback of an option that is a number of tokens, or "none" for no limit."""
    return size_of(parse_tokens, least=1, may_be_none=True)


def byte_size() -> Callback:
    """Returns the callback of an option that is a number of bytes such as 2G."""
    return size_of(parse_bytes)
