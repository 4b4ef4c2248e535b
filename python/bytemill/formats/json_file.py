"""Strict JSON: an unexpected value raises an error with the file, the path of the value, and the reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from bytemill.definition import ID_LIMIT
from bytemill.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOST_PATTERN_BYTES", "Value", "brief", "json_bytes", "parse_json", "shown"]

# Bytes of a split pattern in a file: compiling it takes a thousand times the memory. Models have a thousand.
MOST_PATTERN_BYTES = 1 << 15

KINDS = {dict: "an object", list: "a list", str: "a string", int: "an integer", bool: "true or false"}


def parse_json(contents: bytes, source: str) -> Value:
    """Parses JSON.

    Raises:
        VocabularyError: It is not JSON in UTF-8, an object has a key twice, or it is nested too deep.
    """
    try:
        return Value(json.loads(contents.decode(), object_pairs_hook=distinct), source)
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"Error parsing {source}: expected JSON: {brief(str(error))}") from error


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Builds a dictionary; `ValueError` if a key occurs twice, of which `json` would take the last."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} occurs twice in an object")
    return entries


class Value:
    """A value in a JSON file, with its path for messages.

    Every method raises `VocabularyError` if the value is not of the type that the method returns.

    Attributes:
        contents: The value as `json` returns it.
        source: The name of the file.
        path: The keys and indices that lead to the value, such as `model.vocab`; empty for the whole file.
    """

    def __init__(self, contents: Any, source: str, path: str = "") -> None:  # noqa: ANN401 - any JSON
        """Initialises the attributes."""
        self.contents = contents
        self.source = source
        self.path = path

    def refuse(self, reason: str) -> NoReturn:
        """Raises `VocabularyError` with file, path and reason."""
        path = brief(self.path or "the whole file")
        raise VocabularyError(f"Error parsing {self.source}: {path}: {brief(reason)}")

    def _expect(self, kind: type) -> Any:  # noqa: ANN401 - of that kind
        # `bool` is a subclass of `int`.
        if type(self.contents) is not kind:
            self.refuse(f"expected {KINDS[kind]}, got {shown(self.contents)}")
        return self.contents

    @property
    def is_null(self) -> bool:
        """Returns whether the value is null or missing."""
        return self.contents is None

    def object(self) -> dict[str, Any]:
        """The entries of an object."""
        entries: dict[str, Any] = self._expect(dict)
        return entries

    def list(self) -> list[Any]:
        """The contents of a list."""
        elements: list[Any] = self._expect(list)
        return elements

    def text(self) -> str:
        """A string, without lone surrogates."""
        text: str = self._expect(str)
        self._check_text(text)
        return text

    def _check_text(self, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            self.refuse(f"expected text, got {text!r}: {error.reason}")

    def pattern(self) -> str:
        """A split pattern."""
        pattern = self.text()
        if len(pattern.encode()) > MOST_PATTERN_BYTES:
            self.refuse(f"expected a pattern of at most {MOST_PATTERN_BYTES} bytes")
        return pattern

    def integer(self) -> int:
        """An integer from 0 to the highest ID."""
        number: int = self._expect(int)
        if not 0 <= number < ID_LIMIT:
            self.refuse(f"expected an integer from 0 to {ID_LIMIT - 1}, got {number}")
        return number

    def flag(self) -> bool:
        """True or false; false if null or missing."""
        return not self.is_null and bool(self._expect(bool))

    def __getitem__(self, key: str) -> Value:
        """The entry of an object; null if it is missing."""
        return Value(self.object().get(key), self.source, f"{self.path}.{key}" if self.path else key)

    def __iter__(self) -> Iterator[Value]:
        """The elements of a list."""
        for i, element in enumerate(self.list()):
            yield Value(element, self.source, f"{self.path}[{i}]")

    def ids(self) -> dict[str, int]:
        """Returns the texts of an object and their IDs, of which several may be the same."""
        entries = self.object()
        for key, token_id in entries.items():
            self._check_text(key)
            if type(token_id) is not int or not 0 <= token_id < ID_LIMIT:
                Value(token_id, self.source, f"{self.path}[{key!r}]".lstrip(".")).integer()
        return entries


def brief(text: str) -> str:
    """Shortens text for a message: a key in a file may have any length."""
    return text if len(text) <= 500 else f"{text[:400]}...{text[-80:]}"  # noqa: PLR2004


def shown(contents: object) -> str:
    """Describes a value for a message: its kind, and the value itself if it is short."""
    kind = KINDS.get(type(contents), "")
    text = repr(contents)
    return (kind or type(contents).__name__) if len(text) > 40 else f"{kind} {text}".strip()  # noqa: PLR2004


# JSON of any strings: names of files need not be UTF-8, and Python has other bytes in them as surrogates.


def json_bytes(value: object, *, indent: int | None = None) -> bytes:
    r"""Returns a value as JSON in UTF-8, which `json.loads` reads back as it was.

    Args:
        value: A value for `json.dumps`.
        indent: Same as for `json.dumps`.

    Raises:
        TypeError, ValueError: JSON cannot represent the value, such as NaN.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    # In place of a lone surrogate that writes its escape in JSON, such as `\udce9`.
    return text.encode(errors="backslashreplace")
