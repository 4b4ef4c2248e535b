"""The steps that encode texts: IDs, truncation, post-processing, padding."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from bytemill.hf.arguments import PAIR
from bytemill.hf.encoded import Layout, joined, shortened
from bytemill.hf.processing import processed
from bytemill.hf.spelling import respelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.hf.arguments import Padding, Truncation
    from bytemill.hf.encoded import Source
    from bytemill.hf.engine import Engine

__all__ = ["Settings", "SourceText", "SourceWords", "completed", "encoded", "room_of"]

# `SourceText`: a text and its tokens; `SourceWords`: a list of words and theirs.


class SourceText:
    """A text and its tokens; all but the IDs are made when they are asked for."""

    def __init__(self, engine: Engine, text: str, ids: list[int], *, finds_special: bool) -> None:
        """Takes a text and its IDs."""
        self._engine = engine
        self._text = text
        self._finds_special = finds_special
        self.ids = ids

    @cached_property
    def tokens(self) -> list[str]:
        """The spelling of each token."""
        if not self._engine.unclear.isdisjoint(self.ids):
            return respelled(
                self._engine, self._text, self.ids, self.offsets, finds_special=self._finds_special
            )
        token_of_id = self._engine.token_of_id
        return [token_of_id[token_id] for token_id in self.ids]

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in characters."""
        return self._engine.offsets(self._text, finds_special=self._finds_special)

    @cached_property
    def words(self) -> Sequence[int]:
        """The number of the piece of the text that each token is part of."""
        return self._engine.piece_numbers(self._text, finds_special=self._finds_special)


class SourceWords:
    """Words that are encoded by themselves, and their tokens.

    All but the IDs are made when they are asked for.
    """

    def __init__(
        self, engine: Engine, words: Sequence[str], rows: Sequence[list[int]], *, finds_special: bool
    ) -> None:
        """Takes words and the IDs of each."""
        self._engine = engine
        self._words = words
        self._rows = rows
        self._finds_special = finds_special
        self.ids = joined(rows)

    @cached_property
    def _parts(self) -> list[SourceText]:
        engine, finds_special = self._engine, self._finds_special
        pairs = zip(self._words, self._rows, strict=True)
        return [SourceText(engine, word, ids, finds_special=finds_special) for word, ids in pairs]

    @cached_property
    def tokens(self) -> list[str]:
        """The spelling of each token."""
        return joined(part.tokens for part in self._parts)

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in its word, in characters."""
        return joined(part.offsets for part in self._parts)

    @cached_property
    def words(self) -> list[int]:
        """The number of the word that each token is part of."""
        return [number for number, ids in enumerate(self._rows) for _ in ids]


class Settings(NamedTuple):
    """How texts are encoded.

    Attributes:
        in_words: Whether texts are lists of words, each of which is encoded by itself.
        adds: Whether the tokens of the post-processor are added.
        finds_special: Whether special tokens in a text are those.
        truncation: How much of a text is kept; `None` for all.
        padding: What fills up; `None` for nothing.
    """

    in_words: bool
    adds: bool
    finds_special: bool
    truncation: Truncation | None
    padding: Padding | None


def encoded(engine: Engine, batch: list[list[Sequence[str]]], settings: Settings) -> list[Layout]:
    """Returns the layout of each element of a batch.

    Args:
        engine: What encodes.
        batch: One text, or two, for each element: each a list of parts that are encoded by themselves.
        settings: How.

    Raises:
        ValueError: Same as `completed`.
    """
    texts = [text for inputs in batch for parts in inputs for text in parts]
    finds_special = settings.finds_special
    rows = iter(engine.rows(texts, finds_special=finds_special)) if texts else iter(())
    layouts = []
    for inputs in batch:
        plain = []
        for number, parts in enumerate(inputs):
            source: Source
            if settings.in_words:
                own = list(islice(rows, len(parts)))
                source = SourceWords(engine, parts, own, finds_special=finds_special)
            else:
                source = SourceText(engine, parts[0], next(rows), finds_special=finds_special)
            plain.append(Layout.of(source, number))
        layouts.append(completed(engine, plain, settings))
    if settings.padding is not None:
        target = settings.padding.target(max((layout.size for layout in layouts), default=0))
        layouts = [layout.filled(settings.padding, target) for layout in layouts]
    return layouts


def completed(engine: Engine, layouts: list[Layout], settings: Settings) -> Layout:
    """Returns the layout of a text, or of two, truncated and post-processed.

    Raises:
        ValueError: `max_length` is too small, or the text that the strategy names cannot be truncated.
    """
    processor, truncation = engine.processor, settings.truncation
    if truncation is not None:
        is_pair = len(layouts) == PAIR
        extras = engine.extras(is_pair=is_pair) if settings.adds else 0
        layouts = shortened(layouts, truncation, room_of(truncation, extras))
    return processed(processor, layouts, adds=settings.adds)


def room_of(truncation: Truncation, extras: int) -> int:
    """Returns how many tokens of texts are kept beside those that are added.

    Raises:
        ValueError: `max_length` is smaller than the number of those.
    """
    if truncation.max_length < extras:
        raise ValueError(
            f"expected a max_length of at least {extras}, the tokens that are added, "
            f"got {truncation.max_length}"
        )
    return truncation.max_length - extras
