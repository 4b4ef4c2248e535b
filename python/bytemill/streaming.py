"""Decoding while ids come in: text as soon as its characters are whole."""

from __future__ import annotations

import codecs
from operator import index
from typing import TYPE_CHECKING, SupportsIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.decoding import Decoder

__all__ = ["StreamDecoder"]


class StreamDecoder:
    """Turns ids into text as they come, and keeps back the bytes of a character that is not whole yet.

    All that `push` and then `flush` return, joined, is what `decode` gives for all ids at once. A stream
    decoder has a state: each stream needs its own, and it is not to be shared by threads.
    """

    def __init__(self, decoder: Decoder, errors: str = "replace") -> None:
        """Starts a stream.

        Args:
            decoder: The encoding whose ids they are.
            errors: What to do with bytes that are not UTF-8, as in `bytes.decode`.

        Raises:
            LookupError: There is no such way to handle errors.
        """
        codecs.lookup_error(errors)
        self._decoder = decoder
        self._text = codecs.getincrementaldecoder("utf-8")(errors)

    def push(self, tokens: SupportsIndex | Sequence[int]) -> str:
        """Takes one id or several, and gives the text that they complete: "" if they complete no character.

        After an error the stream is as it was before.

        Raises:
            UnknownTokenError, OverflowError, TypeError: As `Encoding.decode_bytes`.
            UnicodeDecodeError: The bytes are not UTF-8 and `errors` is "strict".
        """
        try:
            ids: Sequence[int] = [index(tokens)]  # type: ignore[arg-type]
        except TypeError:
            if isinstance(tokens, str):
                message = f"expected an id or a sequence of ids, got the text {tokens!r:.40}"
                raise TypeError(message) from None
            ids = tokens  # type: ignore[assignment]
        return self._text.decode(self._decoder.decode_bytes(ids))

    def flush(self) -> str:
        """Ends the stream: gives what becomes of bytes that were kept back. A new stream may follow.

        Raises:
            UnicodeDecodeError: A character is not whole and `errors` is "strict".
        """
        try:
            return self._text.decode(b"", final=True)
        finally:
            self._text.reset()
