"""Decoding of ids as they arrive: text as soon as its characters are complete."""

from __future__ import annotations

import codecs
from operator import index
from typing import TYPE_CHECKING, Protocol, SupportsIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["StreamDecoder"]


class DecodesBytes(Protocol):
    """An encoding."""

    def decode_bytes(self, tokens: Sequence[int], /) -> bytes: ...


class StreamDecoder:
    """Decodes ids as they arrive, and keeps back the bytes of an incomplete character.

    All that `push` and then `flush` return, joined, is what `decode` returns for all ids at once. A stream
    decoder has a state: each stream needs its own, and threads must not share it.
    """

    def __init__(self, decoder: DecodesBytes, errors: str = "replace") -> None:
        """Starts a stream.

        Args:
            decoder: The encoding of the ids.
            errors: How to treat bytes that are not UTF-8, as in `bytes.decode`.

        Raises:
            LookupError: There is no such error handler.
        """
        codecs.lookup_error(errors)
        self._decoder = decoder
        self._text = codecs.getincrementaldecoder("utf-8")(errors)

    def push(self, tokens: SupportsIndex | Sequence[int]) -> str:
        """Takes one id or several, and returns the text that they complete, which may be empty.

        After an error the stream is in the state before the call.

        Raises:
            UnknownTokenError, OverflowError, TypeError: As `Encoding.decode_bytes`.
            UnicodeDecodeError: The bytes are not UTF-8 and `errors` is "strict".
        """
        try:
            ids: Sequence[int] = [index(tokens)]  # type: ignore[arg-type]
        except TypeError:
            if isinstance(tokens, str):
                raise TypeError(f"expected an id or a sequence of ids, got the text {tokens!r:.40}") from None
            ids = tokens  # type: ignore[assignment]
        return self._text.decode(self._decoder.decode_bytes(ids))

    def flush(self) -> str:
        """Ends the stream and returns the text of the bytes that were kept back. A new stream may follow.

        Raises:
            UnicodeDecodeError: A character is incomplete and `errors` is "strict".
        """
        try:
            return self._text.decode(b"", final=True)
        finally:
            self._text.reset()
