"""`Encoded`: tokens with the attributes of a `tokenizers.Encoding`, each computed on first access."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from bytemill._arguments import check_type
from bytemill.hf.arguments import DIRECTIONS, Padding, flag, one_of, unsigned, windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bytemill.hf.arguments import Truncation

__all__ = ["Columns", "Encoded", "Layout", "Run", "Source", "joined", "shortened"]


class Encoded:
    """The tokens of a text, or of two: lists of the same length, one entry for each token.

    The IDs are available at once; everything else is computed on first access. `truncate`, `pad` and
    `set_sequence_id` change the object; threads must not share it then.
    """

    def __init__(self, layout: Layout) -> None:
        """Creates the encoding of a layout; use `Tokenizer.encode`."""
        self.layout = layout

    def _change(self, layout: Layout) -> None:
        self.__dict__.clear()
        self.layout = layout

    def __len__(self) -> int:
        return self.layout.size

    def __repr__(self) -> str:
        return f"<Encoded: {len(self)} tokens>"

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (plain(self.layout),)

    # --- One entry for each token ---

    @cached_property
    def ids(self) -> list[int]:
        """The IDs."""
        return joined(run.source.ids[run.start : run.end] for run in self.layout.runs)

    @cached_property
    def tokens(self) -> list[str]:
        """The spellings of the tokens, as in the vocabulary."""
        return joined(run.source.tokens[run.start : run.end] for run in self.layout.runs)

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in its text, in characters; (0, 0) for added special tokens."""
        return joined(run.offsets for run in self.layout.runs)

    @cached_property
    def word_ids(self) -> list[int | None]:
        """The number of the piece, or of the given word, of each token; `None` for added special tokens."""
        return joined(run.source.words[run.start : run.end] for run in self.layout.runs)

    @cached_property
    def type_ids(self) -> list[int]:
        """The type ID of each token."""
        return joined([run.type_id] * run.size for run in self.layout.runs)

    @cached_property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for other tokens."""
        return joined([run.attention] * run.size for run in self.layout.runs)

    @cached_property
    def special_tokens_mask(self) -> list[int]:
        """1 for special tokens added to the texts and for padding, 0 for other tokens."""
        return joined([run.is_special] * run.size for run in self.layout.runs)

    @cached_property
    def sequence_ids(self) -> list[int | None]:
        """The number of the text of each token; `None` for added special tokens."""
        numbers: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            start, end = self.layout.range(sequence)
            numbers[start:end] = [sequence] * (end - start)
        return numbers

    @property
    def words(self) -> list[int | None]:
        """A deprecated name of `word_ids`."""
        warnings.warn("words is deprecated, use word_ids", DeprecationWarning, stacklevel=2)
        return self.word_ids

    @property
    def n_sequences(self) -> int:
        """The number of texts."""
        return len(self.layout.ranges) or 1

    @cached_property
    def overflowing(self) -> list[Encoded]:
        """The other parts of texts that were truncated."""
        return [Encoded(other) for other in self.layout.others]

    # --- From tokens to words and characters, and back ---

    def token_to_sequence(self, token_index: int) -> int | None:
        """Returns the number of the text of a token; `None` for added special tokens."""
        index = unsigned("token_index", token_index)
        if index > len(self):
            return None
        if not self.layout.ranges:
            return 0
        found = (number for number, (low, high) in self.layout.ranges.items() if low <= index < high)
        return next(found, None)

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Returns the start and end of a token in its text; `None` for added special tokens."""
        in_text = self.token_to_sequence(token_index) is not None and token_index < len(self)
        return self.offsets[token_index] if in_text else None

    def token_to_word(self, token_index: int) -> int | None:
        """Returns the number of the word of a token; `None` for added special tokens."""
        in_text = self.token_to_sequence(token_index) is not None and token_index < len(self)
        return self.word_ids[token_index] if in_text else None

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Returns the first and the end of the tokens of a word of a text; `None` if there are none."""
        word = unsigned("word_index", word_index)
        low, high = self.layout.range(unsigned("sequence_index", sequence_index))
        until = takewhile(lambda pair: pair[1] is None or pair[1] <= word, enumerate(self.word_ids[low:high]))
        places = [low + place for place, number in until if number == word]
        return (places[0], places[-1] + 1) if places else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Returns the start and end of a word of a text, in characters; `None` if it has no tokens."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        return None if tokens is None else (self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1])

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Returns the number of the first token with a character of a text; `None` if there is none."""
        position = unsigned("char_pos", char_pos)
        low, high = self.layout.range(unsigned("sequence_index", sequence_index))
        places = enumerate(self.offsets[low:high], low)
        return next((place for place, (start, end) in places if start <= position < end), None)

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Returns the number of the word with a character of a text; `None` if there is none."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    # --- Changes ---

    def set_sequence_id(self, sequence_id: int) -> None:
        """Assigns all tokens to the text with a number."""
        self._change(self.layout.numbered(unsigned("sequence_id", sequence_id)))

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Keeps the first `max_length` tokens; the other parts become `overflowing`.

        Args:
            max_length: The maximum number of tokens of a part.
            stride: The number of tokens that a part repeats from the previous one.
            direction: The side to drop: "right" or "left".

        Raises:
            ValueError: `stride` is not below `max_length`, or the direction is unknown.
        """
        one_of("direction", direction, DIRECTIONS)
        length, common = unsigned("max_length", max_length), unsigned("stride", stride)
        self._change(self.layout.truncated(length, common, direction))

    def pad(
        self,
        length: int,
        *,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",  # noqa: S107 - no password
    ) -> None:
        """Pads to a number of tokens, including all parts in `overflowing`.

        Args:
            length: The number of tokens.
            direction: The side to pad: "right" or "left".
            pad_id: The ID of the padding token.
            pad_type_id: Its entry in `type_ids`.
            pad_token: Its spelling.

        Raises:
            ValueError: The direction is unknown.
        """
        padding = Padding(direction, pad_id, pad_type_id, pad_token).checked()
        self._change(self.layout.filled(padding, unsigned("length", length)))

    @staticmethod
    def merge(encodings: Iterable[Encoded], growing_offsets: bool = True) -> Encoded:
        """Returns encodings joined in order; each part in `overflowing` is joined with each.

        Args:
            encodings: The encodings.
            growing_offsets: Whether the offsets of each continue from the end of those before.
        """
        result = Layout()
        for encoding in encodings:
            check_type("an encoding", encoding, Encoded)
            result = result.joined(encoding.layout, growing=flag("growing_offsets", growing_offsets))
        return Encoded(result)


def plain(layout: Layout) -> Layout:
    """Returns a layout whose lists are there, and only the parts of them that it has."""
    runs = []
    for run in layout.runs:
        source, part = run.source, slice(run.start, run.end)
        columns = Columns(source.ids[part], source.tokens[part], source.offsets[part], source.words[part])
        runs.append(run._replace(source=columns, start=0, end=run.size))
    return Layout(tuple(runs), layout.ranges, tuple(plain(other) for other in layout.others))


def restored(layout: Layout) -> Encoded:
    """Returns the encoding of a layout."""
    return Encoded(layout)


# `Layout`: which tokens an encoding consists of, in what order, and all that may be done with them.
#
# A layout is a row of runs. A run is a part of a source, a text for instance, whose tokens are made when
# they are asked for: cutting, joining and filling up layouts moves numbers only.

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
        # That of the last token: a run may have none.
        shift = next((run.last_end for run in reversed(self.runs) if run.size), 0) if growing else 0
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
            return Layout(others=(self,))
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
