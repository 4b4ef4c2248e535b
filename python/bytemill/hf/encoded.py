"""`Encoded`: tokens with the attributes of a `tokenizers.Encoding`, each computed on first access."""

from __future__ import annotations

import warnings
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from bytemill._arguments import check_type
from bytemill.hf.arguments import flag, one_of, unsigned
from bytemill.hf.layout import Columns, Layout, joined
from bytemill.hf.settings import DIRECTIONS, Padding

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Encoded"]


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
