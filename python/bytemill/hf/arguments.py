"""Checks of arguments, which raise what `tokenizers` raises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex

from bytemill._arguments import check_type, several

if TYPE_CHECKING:
    from bytemill.formats.json_file import Value

__all__ = ["IDS", "SIZES", "elements", "flag", "number", "one_of", "text", "token_ids", "unsigned"]

# The numbers that ids and sizes are below.
IDS = 1 << 32
SIZES = 1 << 64


def unsigned(name: str, value: SupportsIndex, limit: int = SIZES) -> int:
    """Returns the number in the argument called `name`, as an `int`.

    Raises:
        TypeError: It is not an integer.
        OverflowError: It is negative, or not below `limit`.
    """
    try:
        integer = int(index(value))
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r:.40}") from None
    if not 0 <= integer < limit:
        raise OverflowError(f"{name} must be from 0 to {limit - 1}, got {integer}")
    return integer


def token_ids(name: str, value: SupportsIndex | Iterable[SupportsIndex]) -> list[int]:
    """Returns the ID, or the IDs, in the argument called `name`; `TypeError` if these are none."""
    # An array without dimensions is an integer, and claims to be iterable.
    is_several = isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0
    given: Iterable[Any] = value if is_several else [value]  # type: ignore[assignment]
    try:
        return [unsigned(name, each, IDS) for each in given]
    except (TypeError, OverflowError) as error:
        raise TypeError(f"{name} must be a token id or several: {error}") from None


def flag(name: str, value: object) -> bool:
    """Returns the flag in the argument called `name`; `TypeError` if it is neither true nor false."""
    # NumPy's type has two names.
    if type(value).__name__ not in {"bool", "bool_"}:
        raise TypeError(f"{name} must be True or False, not {value!r:.40}")
    return bool(value)


def text(name: str, value: object) -> str:
    """Returns the text in the argument called `name`; `TypeError` if it is none, or not Unicode."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {value!r:.60}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise TypeError(f"{name} must be Unicode, got a lone surrogate in {value!r:.60}") from None
    return value


def elements(name: str, values: Iterable[Any]) -> Iterable[Any]:
    """Returns the elements in the argument called `name`; `TypeError` for a single text or a mapping."""
    if isinstance(values, Mapping):
        raise TypeError(f"{name} must be a list, not {type(values).__name__}, whose keys would be used")
    return several(name, values)


def one_of(name: str, value: str, known: Iterable[str]) -> str:
    """Returns the argument called `name`.

    Raises:
        TypeError: It is not a string.
        ValueError: It is none of those that are known.
    """
    check_type(name, value, str)
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value


def number(entry: Value, limit: int = SIZES) -> int:
    """Returns the number in an entry of a file; `VocabularyError` if it is none, or not below `limit`."""
    contents = entry.contents
    if type(contents) is not int or not 0 <= contents < limit:
        entry.refuse(f"expected an integer from 0 to {limit - 1}, got {contents!r:.40}")
    return contents
