"""Truncation and padding, as `tokenizers` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.hf.arguments import IDS, number, one_of, text, unsigned

if TYPE_CHECKING:
    from bytemill.formats.json_file import Value

__all__ = ["DIRECTIONS", "Padding", "Truncation", "windows"]

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
