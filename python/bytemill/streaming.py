"""Decoding of token IDs as they arrive: text as soon as its characters are complete."""

from __future__ import annotations

import codecs
from operator import index
from typing import TYPE_CHECKING, Protocol, SupportsIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SentencePieceStreamDecoder", "StreamDecoder", "TextStreamDecoder"]

# As "replace", but for each byte by itself, as SentencePiece does.
REPLACE_EACH_BYTE = "bytemill.replace_each_byte"


class DecodesBytes(Protocol):
    """An encoding."""

    def decode_bytes(self, tokens: Sequence[int], /) -> bytes: ...


class StreamDecoder:
    """Decodes token IDs as they arrive, and holds back the bytes of an incomplete character.

    The results of `push` and then `flush`, joined, are what `decode` returns for all token IDs at once. A
    stream decoder has state: each stream needs its own, and threads must not share it.
    """

    def __init__(self, decoder: DecodesBytes, errors: str = "replace") -> None:
        """Starts a stream.

        Args:
            decoder: The encoding.
            errors: How to handle invalid UTF-8, same as in `bytes.decode`.

        Raises:
            LookupError: There is no such error handler.
        """
        codecs.lookup_error(errors)
        self._decoder = decoder
        self._text = codecs.getincrementaldecoder("utf-8")(errors)

    def push(self, tokens: SupportsIndex | Sequence[int]) -> str:
        """Adds one or several token IDs, and returns the text that they complete, which may be empty.

        After an error the stream is in the state before the call.

        Raises:
            UnknownTokenError, OverflowError, TypeError: Same as `Encoding.decode_bytes`.
            UnicodeDecodeError: The bytes are not UTF-8 and `errors` is "strict".
        """
        return self._text.decode(self._decoder.decode_bytes(ids_of(tokens)))

    def flush(self) -> str:
        """Ends the stream and returns the text of the bytes held back. A new stream may follow.

        Raises:
            UnicodeDecodeError: A character is incomplete and `errors` is "strict".
        """
        try:
            return self._text.decode(b"", final=True)
        finally:
            self._text.reset()


class DecodesFurther(DecodesBytes, Protocol):
    """An encoding of a SentencePiece model."""

    def decode_further_bytes(self, tokens: Sequence[int], /) -> bytes: ...


class SentencePieceStreamDecoder(StreamDecoder):
    """Decodes token IDs of a SentencePiece model as they arrive; otherwise same as `StreamDecoder`.

    Spaces are removed only at the start of the text, and a control token ends a run of bytes.
    """

    _decoder: DecodesFurther

    def __init__(self, decoder: DecodesFurther, errors: str = "replace") -> None:
        """Starts a stream; same arguments and errors as `StreamDecoder`."""
        super().__init__(decoder, errors)
        self._errors = REPLACE_EACH_BYTE if errors == "replace" else errors
        # Ids whose bytes are not yet text: those of an incomplete character, or at the start, of none.
        self._pending: list[int] = []
        self._has_text = False

    def push(self, tokens: SupportsIndex | Sequence[int]) -> str:
        """Adds one or several token IDs; same as `StreamDecoder.push`."""
        ids = [*self._pending, *ids_of(tokens)]
        decode = self._decoder.decode_further_bytes if self._has_text else self._decoder.decode_bytes
        data = decode(ids)
        kept = incomplete_bytes(data)
        text = data[: len(data) - kept].decode("utf-8", self._errors)
        self._has_text = self._has_text or bool(data)
        # Each byte of an incomplete character is that of an id of its own.
        self._pending = ids[len(ids) - kept :] if self._has_text else ids
        return text

    def flush(self) -> str:
        """Ends the stream; same as `StreamDecoder.flush`."""
        decode = self._decoder.decode_further_bytes if self._has_text else self._decoder.decode_bytes
        data = decode(self._pending)
        self._pending, self._has_text = [], False
        return data.decode("utf-8", self._errors)


class DecodesTexts(Protocol):
    """A stream of the core."""

    def push(self, tokens: Sequence[int], /) -> str: ...

    def finish(self) -> str: ...


class TextStreamDecoder(StreamDecoder):
    """Decodes token IDs as they arrive with the decoder of a `tokenizer.json`; else same as `StreamDecoder`.

    It decodes any IDs to valid text, so `errors` has no effect.
    """

    def __init__(self, stream: DecodesTexts, errors: str = "replace") -> None:
        """Starts a stream; same errors as `StreamDecoder`."""
        codecs.lookup_error(errors)
        self._stream = stream

    def push(self, tokens: SupportsIndex | Sequence[int]) -> str:
        """Adds one or several token IDs; same as `StreamDecoder.push`."""
        return self._stream.push(ids_of(tokens))

    def flush(self) -> str:
        """Ends the stream; same as `StreamDecoder.flush`."""
        return self._stream.finish()


def ids_of(tokens: SupportsIndex | Sequence[int]) -> Sequence[int]:
    """Returns one ID or several as a sequence."""
    try:
        return [index(tokens)]  # type: ignore[arg-type]
    except TypeError:
        if isinstance(tokens, str):
            raise TypeError(f"expected an id or a sequence of ids, got the text {tokens!r:.40}") from None
        return tokens  # type: ignore[return-value]


def incomplete_bytes(data: bytes) -> int:
    """Returns how many bytes at the end begin a character and do not end it."""
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")
    decoder.decode(data[-3:])
    return len(decoder.getstate()[0])


def replace_one_byte(error: UnicodeError) -> tuple[str, int]:
    """Replaces the first byte that is not UTF-8 by U+FFFD."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\N{REPLACEMENT CHARACTER}", error.start + 1


codecs.register_error(REPLACE_EACH_BYTE, replace_one_byte)
