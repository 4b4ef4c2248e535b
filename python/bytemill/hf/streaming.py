"""`DecodeStream`: text of ids that come one by one, in the pieces in which `tokenizers` returns it."""

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
    """Decodes ids as they arrive, as `tokenizers.decoders.DecodeStream` does.

    What `step` returns, joined, is the text of all ids, as long as that does not end inside a character. A
    stream has a state: each needs its own, and threads must not share it.
    """

    def __init__(
        self, ids: Iterable[SupportsIndex] | None = None, skip_special_tokens: bool | None = False
    ) -> None:
        """Starts a stream.

        Args:
            ids: Those before the first, whose text is known already.
            skip_special_tokens: Whether special tokens are left out.
        """
        self._ids = [] if ids is None else [unsigned("ids", each, IDS) for each in ids]
        # `None` is false there, too.
        self._skip = skip_special_tokens is not None and flag("skip_special_tokens", skip_special_tokens)
        self._prefix = ""
        self._prefix_end = 0  # of the ids, those of the prefix

    def step(self, tokenizer: Decodes, id: SupportsIndex | Iterable[SupportsIndex]) -> str | None:
        """Takes an id or several, and returns the text that they complete; `None` if there is none yet.

        Args:
            tokenizer: The tokenizer of the ids.
            id: The next id, or several.

        Raises:
            TypeError: `tokenizer` is none, or `id` is neither a token id nor several.
            ValueError: The text of the ids does not begin with that of those before.
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
                f"expected text that goes on after {self._prefix!r}, got {text!r} with the id {self._ids[-1]}"
            )
        new = text[len(self._prefix) :]
        kept = len(self._ids) - self._prefix_end
        self._ids = self._ids[self._prefix_end :]
        self._prefix, self._prefix_end = tokenizer.decode(self._ids, self._skip), kept
        return new
