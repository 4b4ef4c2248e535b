"""Reading JSON strictly: what is not as expected is refused with file, place and reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from bytemill.errors import VocabularyError
from bytemill.formats.parts import ID_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Value", "parse_json"]

KINDS = {dict: "an object", list: "a list", str: "a string", int: "an integer", bool: "true or false"}


def parse_json(contents: bytes, source: str) -> Value:
    """Reads a JSON text.

    Raises:
        VocabularyError: It is no JSON in UTF-8, an object has a key twice, or it is nested too deep.
    """
    try:
        return Value(json.loads(contents.decode(), object_pairs_hook=distinct), source)
    except (ValueError, RecursionError) as error:
        message = f"Error parsing {source}: expected JSON: {brief(str(error))}"
        raise VocabularyError(message) from error


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Makes a dictionary; `ValueError` if a key occurs twice, of which `json` would take the last."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        message = f"the key {twice!r} occurs twice in an object"
        raise ValueError(message)
    return entries


class Value:
    """A value in a JSON file that knows where it is.

    Every method raises `VocabularyError` if the value is not what it asks for.

    Attributes:
        contents: The value as `json` gives it.
    """

    def __init__(self, contents: Any, source: str, place: str = "") -> None:  # noqa: ANN401 - any JSON
        """Takes a value, the name of its file, and its place there."""
        self.contents = contents
        self.source = source
        self.place = place

    def refuse(self, reason: str) -> NoReturn:
        """Raises `VocabularyError` with file, place and reason."""
        place = brief(self.place or "the whole file")
        message = f"Error parsing {self.source}: {place}: {brief(reason)}"
        raise VocabularyError(message)

    def _expect(self, kind: type) -> Any:  # noqa: ANN401 - of that kind
        # `bool` is a subclass of `int`.
        if type(self.contents) is not kind:
            self.refuse(f"expected {KINDS[kind]}, got {shown(self.contents)}")
        return self.contents

    @property
    def is_null(self) -> bool:
        """Whether it is null or not there."""
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

    def integer(self) -> int:
        """An integer from 0 to the highest id."""
        number: int = self._expect(int)
        if not 0 <= number < ID_LIMIT:
            self.refuse(f"expected an integer from 0 to {ID_LIMIT - 1}, got {number}")
        return number

    def flag(self) -> bool:
        """True or false; false if it is null or not there."""
        return not self.is_null and bool(self._expect(bool))

    def __getitem__(self, key: str) -> Value:
        """The entry of an object, null if it has none."""
        return Value(self.object().get(key), self.source, f"{self.place}.{key}" if self.place else key)

    def __iter__(self) -> Iterator[Value]:
        """The elements of a list."""
        for i, element in enumerate(self.list()):
            yield Value(element, self.source, f"{self.place}[{i}]")

    def ids(self) -> dict[str, int]:
        """An object of ids by texts; several texts may have the same."""
        entries = self.object()
        for key, token_id in entries.items():
            self._check_text(key)
            if type(token_id) is not int or not 0 <= token_id < ID_LIMIT:
                Value(token_id, self.source, f"{self.place}[{key!r}]".lstrip(".")).integer()
        return entries


def brief(text: str) -> str:
    """A text for a message, without its middle if it is long: a key in a file may have any length."""
    return text if len(text) <= 500 else f"{text[:400]}...{text[-80:]}"  # noqa: PLR2004


def shown(contents: object) -> str:
    """A value for a message: what it is, and if it is short, itself."""
    kind = KINDS.get(type(contents), "")
    text = repr(contents)
    return (kind or text) if len(text) > 40 else f"{kind} {text}".strip()  # noqa: PLR2004
