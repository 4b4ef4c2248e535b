"""`SourceText`: a text and its tokens; `SourceWords`: a list of words and theirs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from bytemill.hf.layout import joined
from bytemill.hf.spelling import respelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.hf.engine import Engine

__all__ = ["SourceText", "SourceWords"]


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
