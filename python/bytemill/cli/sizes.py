"""Numbers with units in options.

K, M, G and T are powers of 1,000 for numbers of tokens, as in "100M tokens", and powers of 1,024 for bytes of
memory, as in "2G of memory"; the help of an option says which it takes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BYTE_UNITS", "TOKEN_UNITS", "byte_size", "token_count"]

TOKEN_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
BYTE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def token_count(_: click.Context, __: click.Parameter, value: str) -> int | None:
    """Parses a number of tokens such as 100M; `None` for 0."""
    return parsed(value, TOKEN_UNITS, "a number of tokens such as 1000000 or 100M") or None


def byte_size(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Parses a number of bytes such as 512M or 2GiB; `None` if the option is not given."""
    if value is None:
        return None
    number = re.sub(r"(?<=[\dKMGT])\s*i?B$", "", value, flags=re.IGNORECASE)
    return parsed(number, BYTE_UNITS, "a number of bytes such as 512M or 2G", given=value)


def parsed(value: str, units: Mapping[str, int], expected: str, given: str | None = None) -> int:
    """Parses a number with one of some units.

    Raises:
        BadParameter: It is no such number.
    """
    found = re.fullmatch(rf"(\d[\d_]*)\s*([{''.join(units)}]?)", value, re.IGNORECASE)
    if found is None:
        raise click.BadParameter(f"expected {expected}, got {given or value!r}")
    return int(found[1].replace("_", "")) * units[found[2].upper()]
