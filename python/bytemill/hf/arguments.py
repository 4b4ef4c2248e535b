"""Checks of arguments, which raise what `tokenizers` raises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from bytemill._arguments import check_type, several

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeGuard

    from bytemill.formats.json_file import Value

__all__ = [
    "DIRECTIONS",
    "IDS",
    "PAIR",
    "SIZES",
    "Padding",
    "Truncation",
    "elements",
    "flag",
    "inputs_of",
    "number",
    "one_of",
    "text",
    "token_ids",
    "unsigned",
    "windows",
    "words_of",
]

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


def strings(name: str, values: Iterable[Any]) -> list[str]:
    """Returns the texts in the argument called `name`; errors as `elements`, and as `text` for each."""
    texts = list(elements(name, values))
    # Most are checked without a call for each, which took a third of the time of a batch.
    if {*map(type, texts)} <= {str} and all(map(str.isascii, texts)):
        return texts
    return [text("each text", each) for each in texts]


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


# Truncation and padding, as `tokenizers` has them.

STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
DIRECTIONS = {"right": "Right", "left": "Left"}


class Truncation(NamedTuple):
    """How much of a text is kept.

    Attributes:
        max_length: The maximum number of tokens, including those that a post-processor adds.
        stride: The number of tokens that a part repeats from the previous one.
        strategy: Which text of a pair is shortened: "longest_first", "only_first" or "only_second".
        direction: The side to drop: "right" or "left".
    """

    max_length: int
    stride: int = 0
    strategy: str = "longest_first"
    direction: str = "right"

    def checked(self, extras: int) -> Truncation:
        """Returns the setting with plain values.

        Args:
            extras: The number of tokens that are added to a text.

        Raises:
            TypeError: A value is of another type.
            OverflowError: A number is negative or too large.
            ValueError: A name is not known, or `stride` is more than what `max_length` leaves of a text.
        """
        max_length, stride = unsigned("max_length", self.max_length), unsigned("stride", self.stride)
        strategy = one_of("strategy", self.strategy, STRATEGIES)
        direction = one_of("direction", self.direction, DIRECTIONS)
        if stride > max_length - extras >= 0:
            raise ValueError(
                f"expected a stride of at most {max_length - extras}, which is max_length without the "
                f"{extras} tokens that are added, got {stride}"
            )
        return Truncation(max_length, stride, strategy, direction)

    @classmethod
    def parse(cls, entry: Value) -> Truncation | None:
        """Parses the entry of a file."""
        if entry.is_null:
            return None
        return cls(
            number(entry["max_length"]),
            number(entry["stride"]),
            spelled(entry["strategy"], STRATEGIES),
            "right" if entry["direction"].is_null else spelled(entry["direction"], DIRECTIONS),
        )

    def entry(self) -> dict[str, Any]:
        """Returns the entry for a file."""
        return {
            "direction": DIRECTIONS[self.direction],
            "max_length": self.max_length,
            "strategy": STRATEGIES[self.strategy],
            "stride": self.stride,
        }


class Padding(NamedTuple):
    """How texts are padded to the same length.

    Attributes:
        direction: The side to pad: "right" or "left".
        pad_id: The ID of the padding token.
        pad_type_id: The number of the sequence that it counts as part of.
        pad_token: Its spelling.
        length: The number of tokens; `None` for the length of the longest text of a batch.
        pad_to_multiple_of: The number of tokens is rounded up to a multiple of this.
    """

    direction: str = "right"
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"  # noqa: S105 - no password
    length: int | None = None
    pad_to_multiple_of: int | None = None

    def checked(self) -> Padding:
        """Returns the setting with plain values.

        Raises:
            TypeError: A value is of another type.
            OverflowError: A number is negative or too large.
            ValueError: The direction is not known.
        """
        length, multiple = self.length, self.pad_to_multiple_of
        return Padding(
            one_of("direction", self.direction, DIRECTIONS),
            unsigned("pad_id", self.pad_id, IDS),
            unsigned("pad_type_id", self.pad_type_id, IDS),
            text("pad_token", self.pad_token),
            None if length is None else unsigned("length", length),
            None if multiple is None else unsigned("pad_to_multiple_of", multiple),
        )

    @classmethod
    def parse(cls, entry: Value) -> Padding | None:
        """Parses the entry of a file."""
        if entry.is_null:
            return None
        strategy = entry["strategy"]
        multiple = entry["pad_to_multiple_of"]
        return cls(
            spelled(entry["direction"], DIRECTIONS),
            number(entry["pad_id"], IDS),
            number(entry["pad_type_id"], IDS),
            entry["pad_token"].text(),
            None if strategy.contents == "BatchLongest" else number(strategy["Fixed"]),
            None if multiple.is_null else number(multiple),
        )

    def entry(self) -> dict[str, Any]:
        """Returns the entry for a file."""
        return {
            "strategy": "BatchLongest" if self.length is None else {"Fixed": self.length},
            "direction": DIRECTIONS[self.direction],
            "pad_to_multiple_of": self.pad_to_multiple_of,
            "pad_id": self.pad_id,
            "pad_type_id": self.pad_type_id,
            "pad_token": self.pad_token,
        }

    def target(self, longest: int) -> int:
        """Returns the number of tokens to which the texts of a batch are padded."""
        target = longest if self.length is None else self.length
        multiple = self.pad_to_multiple_of or 1
        return -(-target // multiple) * multiple


def spelled(entry: Value, known: dict[str, str]) -> str:
    """Returns the value that an entry of a file stands for."""
    for value, spelling in known.items():
        if entry.contents == spelling:
            return value
    return entry.refuse(f"expected one of {', '.join(known.values())}, got {entry.contents!r}")


def windows(count: int, max_length: int, stride: int, direction: str) -> list[tuple[int, int]]:
    """Returns the start and the end of each part of a text with too many tokens.

    Args:
        count: The number of tokens.
        max_length: The maximum number of tokens of a part.
        stride: The number of tokens that a part repeats from the previous one.
        direction: The side that is dropped from the first part: the other parts continue there.

    Raises:
        ValueError: `stride` is not below `max_length`.
    """
    if count <= max_length:
        return [(0, count)]
    if max_length == 0:
        return [(0, 0), (0, count)]
    if stride >= max_length:
        raise ValueError(
            f"expected a stride below {max_length}, the tokens of a text that are kept, got {stride}"
        )
    step = max_length - stride
    parts: list[tuple[int, int]] = []
    if direction == "right":
        for start in range(0, count, step):
            parts.append((start, min(start + max_length, count)))
            if parts[-1][1] == count:
                break
    else:
        for end in range(count, 0, -step):
            parts.append((max(end - max_length, 0), end))
            if parts[-1][0] == 0:
                break
    return parts


# Texts, lists of words, and pairs of either, as callers give them.

# The number of texts in a pair.
PAIR = 2


def words_of(given: object, in_words: bool) -> Sequence[str]:
    """Returns the parts of a text that are encoded by themselves.

    Raises:
        TypeError: It is not a string, or not a list of strings if it is to be one of words; or no Unicode.
    """
    if in_words:
        if not is_words(given):
            raise TypeError(f"expected a list of words as strings, got {given!r:.60}")
        return [text("each word", word) for word in given]
    return (text("each text", given),)


def inputs_of(item: object, in_words: bool) -> list[Sequence[str]]:
    """Returns the one text or the two of an element of a batch, each as by `words_of`; errors likewise."""
    if not isinstance(item, (tuple, list)) or len(item) != PAIR or (in_words and is_words(item)):
        return [words_of(item, in_words)]
    return [words_of(each, in_words) for each in item]


def is_words(value: object) -> TypeGuard[Iterable[str]]:
    """Returns whether this is a list of strings."""
    # Arrays of numpy are taken as well.
    if not isinstance(value, (list, tuple)) and type(value).__name__ != "ndarray":
        return False
    return all(isinstance(word, str) for word in value)  # type: ignore[attr-defined]
