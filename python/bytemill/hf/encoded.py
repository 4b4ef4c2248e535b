"""`Encoded`: a text's tokens with the attributes of `tokenizers.Encoding`, each made when it is asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytemill.hf.processing import Frame
    from bytemill.hf.settings import Padding

__all__ = ["Encoded", "Part", "Text"]

T = TypeVar("T")


class Text(Protocol):
    """A text and all of its tokens."""

    ids: list[int]

    @property
    def tokens(self) -> list[str]: ...  # noqa: D102 - says its name
    @property
    def offsets(self) -> list[tuple[int, int]]: ...  # noqa: D102
    @property
    def words(self) -> list[int]: ...  # noqa: D102


class Part(NamedTuple):
    """The part of a text that an encoding holds.

    Attributes:
        text: The text.
        window: The first and the end of its tokens that are held.
        frame: What stands around them.
        filler: What fills up, and how many times; `None` for nothing.
    """

    text: Text
    window: tuple[int, int]
    frame: Frame
    filler: tuple[Padding, int] | None = None

    @property
    def size(self) -> int:
        """The number of tokens without those that fill up."""
        start, end = self.window
        return len(self.frame.before) + end - start + len(self.frame.after)

    def row(self, before: Iterable[T], text: list[T], after: Iterable[T], pad: T) -> list[T]:
        """Returns a value for each token.

        Args:
            before: Those of the tokens before the text.
            text: Those of all tokens of the text.
            after: Those of the tokens after it.
            pad: That of each token that fills up.
        """
        start, end = self.window
        row = [*before, *text[start:end], *after]
        if self.filler is None:
            return row
        padding, count = self.filler
        return row + [pad] * count if padding.direction == "right" else [pad] * count + row


class Encoded:
    """The tokens of a text: lists of the same length, one entry for each token.

    The ids are there at once, everything else is made when it is first asked for. It does not change.
    """

    def __init__(self, part: Part, others: list[Part]) -> None:
        """Makes the encoding of a part of a text; `others` are the other parts of it."""
        self._part = part
        self._others = others

    def __len__(self) -> int:
        filler = self._part.filler
        return self._part.size + (0 if filler is None else filler[1])

    def __repr__(self) -> str:
        return f"<Encoded: {len(self)} tokens>"

    def _row(self, beside: T, text: list[T], pad: T) -> list[T]:
        """Returns a row with the same value for all tokens beside the text."""
        frame = self._part.frame
        return self._part.row([beside] * len(frame.before), text, [beside] * len(frame.after), pad)

    @property
    def _padding(self) -> Padding | None:
        return None if self._part.filler is None else self._part.filler[0]

    @cached_property
    def ids(self) -> list[int]:
        """The ids."""
        before, after, *_ = self._part.frame
        pad = 0 if self._padding is None else self._padding.pad_id
        return self._part.row(
            [extra.token_id for extra in before],
            self._part.text.ids,
            [extra.token_id for extra in after],
            pad,
        )

    @cached_property
    def tokens(self) -> list[str]:
        """The spellings of the tokens, as in the vocabulary."""
        before, after, *_ = self._part.frame
        pad = "" if self._padding is None else self._padding.pad_token
        return self._part.row(
            [extra.token for extra in before], self._part.text.tokens, [extra.token for extra in after], pad
        )

    @cached_property
    def type_ids(self) -> list[int]:
        """The number of the sequence that each token counts as part of."""
        before, after, type_id, *_ = self._part.frame
        pad = 0 if self._padding is None else self._padding.pad_type_id
        types = [type_id] * len(self._part.text.ids)
        return self._part.row(
            [extra.type_id for extra in before], types, [extra.type_id for extra in after], pad
        )

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in the text, in characters; (0, 0) for those beside it."""
        return self._row((0, 0), self._part.text.offsets, (0, 0))

    @cached_property
    def attention_mask(self) -> list[int]:
        """0 for tokens that only fill up, else 1."""
        return self._row(1, [1] * len(self._part.text.ids), 0)

    @cached_property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens beside the text, else 0."""
        return self._row(1, [0] * len(self._part.text.ids), 1)

    @cached_property
    def word_ids(self) -> list[int | None]:
        """The number of the piece of the text that each token is part of; `None` for those beside it."""
        words: list[int | None] = [*self._part.text.words]
        return self._row(None, words, None)

    @cached_property
    def sequence_ids(self) -> list[int | None]:
        """0 for the tokens of the text, `None` for those beside it."""
        numbers: list[int | None] = [0] * len(self._part.text.ids)
        return self._row(None, numbers, None)

    @property
    def n_sequences(self) -> int:
        """The number of texts, which is 1."""
        return 1

    @cached_property
    def overflowing(self) -> list[Encoded]:
        """The other parts of a text that was truncated."""
        return [Encoded(part, []) for part in self._others]

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Returns the start and end of a token of the text, in characters; `None` if it stands beside it."""
        if not 0 <= token_index < len(self) or self.sequence_ids[token_index] is None:
            return None
        return self.offsets[token_index]

    def token_to_sequence(self, token_index: int) -> int | None:
        """Returns 0 for a token of the text, `None` for one beside it."""
        return self.sequence_ids[token_index] if 0 <= token_index < len(self) else None

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Returns the number of the first token with a character; `None` if there is none."""
        if sequence_index != 0:
            return None
        for index, (start, end) in enumerate(self.offsets):
            if start <= char_pos < end and self.sequence_ids[index] == 0:
                return index
        return None
