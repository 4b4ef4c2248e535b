"""`Snapshot`: a tokenizer of `tokenizers` as it was, for encodings that are asked for later."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from bytemill._messages import import_optional
from bytemill.hf.arguments import PAIR
from bytemill.hf.samples import set_lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.hf.engine import Engine
    from bytemill.hf.pipeline import Settings

__all__ = ["Snapshot"]


class Snapshot:
    """Copies of a `tokenizers.Tokenizer` that stay the same when it gets other tokens or settings.

    They share its model, which is the largest part by far, and are made when they are needed. A call sets its
    truncation and padding in a copy, so each thread takes one of its own.
    """

    def __init__(self, engine: Engine, model: Any) -> None:
        """Takes what the file of the tokenizer says, and the model of the tokenizer itself."""
        self._file = engine.file_without_tokens()
        self._tokens = [token for _, token in sorted(engine.added.by_id.items())]
        self._model = model
        self._idle: list[Any] = []

    def encodings(
        self, batch: list[list[Sequence[str]]], settings: Settings, *, with_overflow: bool
    ) -> list[Any]:
        """Returns a `tokenizers.Encoding` for each row.

        Args:
            batch: One text, or two, for each element: each a list of parts that are encoded by themselves.
            settings: How.
            with_overflow: Whether the other parts of truncated texts are rows too.
        """
        try:
            tokenizer = self._idle.pop()
        except IndexError:
            tokenizer = self._new()
        truncation, padding = settings.truncation, settings.padding
        set_lengths(
            tokenizer,
            None if truncation is None else truncation._asdict(),
            None if padding is None else padding._asdict(),
        )
        tokenizer.encode_special_tokens = not settings.finds_special
        given = [inputs if settings.in_words else [parts[0] for parts in inputs] for inputs in batch]
        made = tokenizer.encode_batch(
            [tuple(inputs) if len(inputs) == PAIR else inputs[0] for inputs in given],
            is_pretokenized=settings.in_words,
            add_special_tokens=settings.adds,
        )
        self._idle.append(tokenizer)
        return [part for each in made for part in ([each, *each.overflowing] if with_overflow else [each])]

    def _new(self) -> Any:
        tokenizers = import_optional("tokenizers", "accelerated tokenizers")
        tokenizer = tokenizers.Tokenizer.from_str(self._file)
        tokenizer.model = self._model
        # All at once, as they are numbered when a file is read.
        tokenizer.add_tokens([tokenizers.AddedToken(**asdict(token)) for token in self._tokens])
        return tokenizer
