"""`Layout`: which tokens an encoding consists of, in what order, and all that may be done with them.

A layout is a row of runs. A run is a part of a source, a text for instance, whose tokens are made when they
are asked for: cutting, joining and filling up layouts moves numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from bytemill.hf.settings import windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bytemill.hf.settings import Padding, Truncation

__all__ = ["Columns", "Layout", "Run", "Source", "joined", "shortened"]

T = TypeVar("T")


class Source(Protocol):
    """Tokens: lists of the same length, one entry for each."""

    @property
    def ids(self) -> Sequence[int]: ...  # noqa: D102 - says its name
    @property
    def tokens(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def offsets(self) -> Sequence[tuple[int, int]]: ...  # noqa: D102
    @property
    def words(self) -> Sequence[int | None]: ...  # noqa: D102


class Columns(NamedTuple):
    """A source whose lists are there.

    Attributes:
        ids: The IDs.
        tokens: The spellings.
        offsets: The start and end of each token in its text, in characters; (0, 0) for added special tokens.
        words: The number of the piece of the text that each token is part of; `None` for added special
            tokens.
    """

    ids: Sequence[int]
    tokens: Sequence[str]
    offsets: Sequence[tuple[int, int]]
    words: Sequence[int | None]


class Run(NamedTuple):
    """Tokens in a row.

    Attributes:
        source: Where they are from.
        start: The first of them there.
        end: The end of them there.
        type_id: The number of the sequence that they count as part of.
        is_special: 1 for added special tokens, else 0.
        attention: 0 for padding, else 1.
        shift: What is added to their offsets.
    """

    source: Source
    start: int
    end: int
    type_id: int = 0
    is_special: int = 0
    attention: int = 1
    shift: int = 0

    @property
    def size(self) -> int:
        """The number of tokens."""
        return self.end - self.start

    @property
    def offsets(self) -> Sequence[tuple[int, int]]:
        """The start and end of each token."""
        offsets, shift = self.source.offsets[self.start : self.end], self.shift
        return [(start + shift, end + shift) for start, end in offsets] if shift else offsets

    @property
    def last_end(self) -> int:
        """The end of the last token's offsets."""
        return self.source.offsets[self.end - 1][1] + self.shift


@dataclass(frozen=True)
class Layout:
    """The runs of an encoding.

    Attributes:
        runs: The runs.
        ranges: The first and the end of the tokens of each sequence, by its number; not those put around it.
        others: The other parts of what was truncated.
    """

    runs: tuple[Run, ...] = ()
    ranges: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    others: tuple[Layout, ...] = ()

    @classmethod
    def of(cls, source: Source, type_id: int = 0, *, is_special: int = 0) -> Layout:
        """Returns the layout of all tokens of a source."""
        return cls((Run(source, 0, len(source.ids), type_id, is_special),))

    @property
    def size(self) -> int:
        """The number of tokens."""
        return sum(run.end - run.start for run in self.runs)

    def range(self, sequence: int) -> tuple[int, int]:
        """Returns the first and the end of the tokens of a sequence; all tokens if there is none."""
        return self.ranges.get(sequence) or (0, self.size)

    # --- What post-processors do ---

    def numbered(self, sequence: int) -> Layout:
        """Returns the layout as that of a sequence with a number."""
        return Layout(self.runs, {**self.ranges, sequence: (0, self.size)}, self.others)

    def typed(self, type_id: int) -> Layout:
        """Returns the layout with all tokens counted as part of a sequence, in this part alone."""
        runs = tuple(run._replace(type_id=type_id) for run in self.runs)
        return Layout(runs, self.ranges, self.others)

    def joined(self, other: Layout, *, growing: bool = False) -> Layout:
        """Returns both layouts, one after the other, and of their other parts each with each.

        Args:
            other: What comes after.
            growing: Whether its offsets continue from the end of the last token.
        """
        others = [mine.joined(theirs, growing=growing) for mine in self.others for theirs in other.parts]
        others += [self.joined(theirs, growing=growing) for theirs in other.others]
        shift = self.runs[-1].last_end if growing and self.runs else 0
        runs = tuple(run._replace(shift=run.shift + shift) for run in other.runs) if shift else other.runs
        size = self.size
        moved = {number: (size + start, size + end) for number, (start, end) in other.ranges.items()}
        return Layout(self.runs + runs, {**self.ranges, **moved}, tuple(others))

    @property
    def parts(self) -> tuple[Layout, ...]:
        """This part and the others, which have none."""
        return self, *self.others

    # --- Truncation and padding ---

    def truncated(self, max_length: int, stride: int, direction: str) -> Layout:
        """Returns the first part of at most `max_length` tokens, with the other parts.

        The numbers of sequences are lost, unless nothing is cut. Arguments and errors are those of `windows`.
        """
        size = self.size
        if size <= max_length:
            return self
        if max_length == 0:
            return Layout(others=(*self.others, self))
        first, *others = (Layout(self._between(*w)) for w in windows(size, max_length, stride, direction))
        return Layout(first.runs, {}, tuple(others))

    def _between(self, start: int, end: int) -> tuple[Run, ...]:
        runs, at = [], 0
        for run in self.runs:
            low, high = max(start - at, 0), min(end - at, run.size)
            if low < high:
                runs.append(run._replace(start=run.start + low, end=run.start + high))
            at += run.size
        return tuple(runs)

    def filled(self, padding: Padding, target: int) -> Layout:
        """Returns the layout, and its other parts, filled up to a number of tokens."""
        others = tuple(other.filled(padding, target) for other in self.others)
        missing = target - self.size
        if missing <= 0:
            return Layout(self.runs, self.ranges, others)
        pad = (Run(Filler(padding, missing), 0, missing, padding.pad_type_id, is_special=1, attention=0),)
        if padding.direction == "right":
            return Layout(self.runs + pad, self.ranges, others)
        moved = {number: (start + missing, end + missing) for number, (start, end) in self.ranges.items()}
        return Layout(pad + self.runs, moved, others)


class Filler:
    """Tokens that fill up, of any number: lists of them are made when they are asked for."""

    def __init__(self, padding: Padding, count: int) -> None:
        """Takes what fills up, and how many times."""
        self._padding = padding
        self._count = count

    @property
    def ids(self) -> list[int]:
        """The IDs."""
        return [self._padding.pad_id] * self._count

    @property
    def tokens(self) -> list[str]:
        """The spellings."""
        return [self._padding.pad_token] * self._count

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of none."""
        return [(0, 0)] * self._count

    @property
    def words(self) -> list[None]:
        """The numbers of no words."""
        return [None] * self._count


def shortened(layouts: list[Layout], truncation: Truncation, room: int) -> list[Layout]:
    """Returns the layouts of a text, or of two, truncated to `room` tokens in all.

    Raises:
        ValueError: There is no second text to be shortened, or the one to be shortened is too short for that.
    """
    sizes = [layout.size for layout in layouts]
    excess = sum(sizes) - room
    if excess <= 0:
        return layouts
    if room == 0:
        lengths = [0] * len(sizes)
    elif truncation.strategy == "longest_first":
        lengths = longest_first(sizes, room)
    else:
        target = int(truncation.strategy == "only_second")
        if target >= len(sizes):
            raise ValueError("expected a second text, which the strategy only_second shortens")
        if sizes[target] <= excess:
            raise ValueError(
                f"expected a text of more than {excess} tokens to drop these from by the strategy "
                f"{truncation.strategy}, got one of {sizes[target]}"
            )
        lengths = list(sizes)
        lengths[target] -= excess
    pairs = zip(layouts, lengths, strict=True)
    return [layout.truncated(length, truncation.stride, truncation.direction) for layout, length in pairs]


def longest_first(sizes: list[int], room: int) -> list[int]:
    """Returns how much is kept of a text, or of two: the longer one is dropped from until both are equal."""
    if len(sizes) == 1:
        return [room]
    short, long = sorted(sizes)
    long = short if short > room else max(short, room - short)
    if short + long > room:
        short, long = room // 2, room - room // 2
    return [long, short] if sizes[0] > sizes[1] else [short, long]


def joined(parts: Iterable[Sequence[T]]) -> list[T]:
    """Returns the elements of all parts."""
    return list(chain.from_iterable(parts))
