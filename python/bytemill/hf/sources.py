"""`SourceText`: a text and its tokens."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.hf.engine import Engine

__all__ = ["SourceText"]


class SourceText:
    """A text and its tokens; all but the ids are made when they are asked for."""

    def __init__(
        self, engine: Engine, text: str, ids: list[int], *, finds_special: bool, word: int | None = None
    ) -> None:
        """Takes a text and its ids, and its number if it is one of several words."""
        self._engine = engine
        self._text = text
        self._finds_special = finds_special
        self._word = word
        self.ids = ids

    @cached_property
    def tokens(self) -> list[str]:
        """The spelling of each token."""
        token_of_id = self._engine.token_of_id
        tokens = [token_of_id[token_id] for token_id in self.ids]
        # The spelling of these has the white space that they took.
        strips = {i for i, token in self._engine.added.items() if token.lstrip or token.rstrip}
        if not strips.isdisjoint(self.ids):
            for index, (token_id, (start, end)) in enumerate(zip(self.ids, self.offsets, strict=True)):
                if token_id in strips:
                    tokens[index] = self._text[start:end]
        return tokens

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in characters."""
        found = self._engine.encoding.encode_with_offsets(
            self._text, unit="char", allowed_special=self._allowed, disallowed_special=()
        )
        return list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))

    @cached_property
    def words(self) -> Sequence[int]:
        """The number of the piece of the text, or of the word, that each token is part of."""
        if self._word is not None:
            return [self._word] * len(self.ids)
        return self._engine.piece_numbers(self._text, finds_special=self._finds_special)

    @property
    def _allowed(self) -> Any:
        return "all" if self._finds_special else set()
