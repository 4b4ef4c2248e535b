"""`DecodeStream`: decodes token IDs that arrive one by one, with the same results as `tokenizers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bytemill.hf.arguments import IDS, flag, token_ids, unsigned

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import SupportsIndex

__all__ = ["DecodeStream"]

REPLACEMENT = "\ufffd"


class Decodes(Protocol):
    """A tokenizer."""

    def decode(self, ids: list[int], skip_special_tokens: bool = ...) -> str: ...


class DecodeStream:
    """Decodes token IDs as they arrive, same as `tokenizers.decoders.DecodeStream`.

    The results of `step`, joined, are the text of all IDs, unless it ends inside a character. The stream has
    state: each text needs its own, and threads must not share it.
    """

    def __init__(
        self, ids: Iterable[SupportsIndex] | None = None, skip_special_tokens: bool | None = False
    ) -> None:
        """Starts a stream.

        Args:
            ids: Earlier token IDs, whose text is known already.
            skip_special_tokens: Whether special tokens are left out.
        """
        self._ids = [] if ids is None else [unsigned("ids", each, IDS) for each in ids]
        # `None` is false there, too.
        self._skip = skip_special_tokens is not None and flag("skip_special_tokens", skip_special_tokens)
        self._prefix = ""
        self._prefix_end = 0  # of the ids, those of the prefix

    def step(self, tokenizer: Decodes, id: SupportsIndex | Iterable[SupportsIndex]) -> str | None:
        """Adds one or several token IDs, and returns the text that they complete; `None` if there is none.

        Args:
            tokenizer: The tokenizer of the IDs.
            id: The next ID, or several IDs.

        Raises:
            TypeError: `tokenizer` is not a tokenizer, or `id` is not one or several token IDs.
            ValueError: The text of all IDs does not begin with the text of the earlier ones.
        """
        if not hasattr(tokenizer, "decode"):
            raise TypeError(f"expected a tokenizer that decodes, not {type(tokenizer).__name__}")
        given = token_ids("id", id)
        if not self._prefix and self._ids:
            prefix = tokenizer.decode(self._ids, self._skip)
            if not prefix.endswith(REPLACEMENT):
                self._prefix, self._prefix_end = prefix, len(self._ids)
        self._ids += given
        text = tokenizer.decode(self._ids, self._skip)
        if len(text.encode()) <= len(self._prefix.encode()) or text.endswith(REPLACEMENT):
            return None
        if not text.startswith(self._prefix):
            raise ValueError(
                f"expected text that continues {self._prefix!r}, got {text!r} with the id {self._ids[-1]}"
            )
        new = text[len(self._prefix) :]
        kept = len(self._ids) - self._prefix_end
        self._ids = self._ids[self._prefix_end :]
        self._prefix, self._prefix_end = tokenizer.decode(self._ids, self._skip), kept
        return new
