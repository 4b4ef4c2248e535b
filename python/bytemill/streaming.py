"""Decoding of token IDs as they arrive: text as soon as its characters are complete."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

from bytemill._arguments import check_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from typing_extensions import Self

    from bytemill._backend import CoreBPE

__all__ = ["CoreStreamDecoder", "SentencePieceStreamDecoder", "StreamDecoder", "TextStreamDecoder"]

# As "replace", but for each byte by itself, as SentencePiece does.
REPLACE_EACH_BYTE = "bytemill.replace_each_byte"


class StreamDecoder(ABC):
    """Decodes token IDs as they arrive, and holds back the bytes of an incomplete character.

    The results of `push` and then `flush`, joined, are what `decode` returns for all token IDs at once. A
    stream decoder has state: each stream needs its own, and threads must not share it.
    `Encoding.stream_decoder` makes one, which decodes as the encoding does.
    """

    # What is held back; calls replace it and change nothing in it.
    _state: Any

    def push(self, tokens: SupportsIndex | Sequence[int]) -> str:
        """Adds one or several token IDs, and returns the text that they complete, which may be empty.

        After an error the stream is in the state before the call.

        Raises:
            UnknownTokenError, OverflowError, TypeError: Same as `Encoding.decode_bytes`.
            UnicodeDecodeError: The bytes are not UTF-8 and `errors` is "strict".
        """
        text, self._state = self._pushed(ids_of(tokens))
        return text

    @staticmethod
    def push_batch(
        streams: Sequence[StreamDecoder], tokens: Iterable[SupportsIndex | Sequence[int]]
    ) -> list[str]:
        """Adds token IDs to several streams, such as those of all requests of a server after each step.

        After an error all streams are in the state before the call.

        Args:
            streams: Different streams, which may be of different encodings.
            tokens: One element for each stream, in the same order: a token ID or a sequence of token IDs. An
                array of integers gives each stream one ID.

        Returns:
            For each stream the text that its token IDs complete, which may be empty.

        Raises:
            ValueError: A stream occurs twice, or there are more or fewer streams than elements of `tokens`.
            UnknownTokenError, OverflowError, TypeError, UnicodeDecodeError: Same as `push`.
        """
        if len(set(map(id, streams))) < len(streams):
            raise ValueError("expected different streams, got one of them twice")
        tokens = tokens if hasattr(tokens, "__len__") else list(tokens)
        together = pushed_together(streams, tokens)
        if together is None:
            for stream in streams:
                check_type("streams", stream, StreamDecoder)
            each = zip(streams, tokens, strict=True)
            pushed = [stream._pushed(ids_of(ids)) for stream, ids in each]  # noqa: SLF001 - of this class
            together = [text for text, _ in pushed], [state for _, state in pushed]
        texts, states = together
        for stream, state in zip(streams, states, strict=True):
            stream._state = state  # noqa: SLF001 - of this class
        return texts

    @abstractmethod
    def _pushed(self, ids: Sequence[int]) -> tuple[str, Any]:
        """Returns the text that IDs complete, and the state after them."""

    @abstractmethod
    def flush(self) -> str:
        """Ends the stream and returns the text of the bytes held back. A new stream may follow.

        Raises:
            UnicodeDecodeError: A character is incomplete and `errors` is "strict".
        """


class CoreStreamDecoder(StreamDecoder):
    """The stream decoder of an encoding whose tokens are bytes, many of which go on in one call."""

    def __init__(self, decoder: CoreBPE, errors: str = "replace") -> None:
        """Starts a stream.

        Args:
            decoder: The core of the encoding.
            errors: How to handle invalid UTF-8, same as in `bytes.decode`.

        Raises:
            LookupError: There is no such error handler.
        """
        codecs.lookup_error(errors)
        self._decoder = decoder
        self._errors = errors
        # The bytes held back.
        self._state = b""

    def _pushed(self, ids: Sequence[int]) -> tuple[str, Any]:
        data = self._state + self._decoder.decode_bytes(ids)
        text, used = codecs.utf_8_decode(data, self._errors, False)  # noqa: FBT003 - not the end
        return text, data[used:]

    def flush(self) -> str:
        """Ends the stream; same as `StreamDecoder.flush`."""
        data, self._state = self._state, b""
        return codecs.utf_8_decode(data, self._errors, True)[0]  # noqa: FBT003 - the end

    def core(self) -> CoreBPE | None:
        """Returns the core that continues this stream together with others, if its errors allow that."""
        return self._decoder if self._errors == "replace" else None


def pushed_together(
    streams: Sequence[StreamDecoder],
    tokens: Any,  # noqa: ANN401 - IDs, arrays of them, or anything
) -> tuple[list[str], list[Any]] | None:
    """Returns texts and states after one ID for each stream, if one call of a core gives them."""
    cores = {stream.core() if isinstance(stream, CoreStreamDecoder) else None for stream in streams}
    core = cores.pop() if len(cores) == 1 else None
    if core is None:
        return None
    try:
        return core.continue_texts([stream._state for stream in streams], tokens)  # noqa: SLF001 - of its base
    except (TypeError, ValueError):
        # Several IDs for one stream, or invalid ones: continuing each stream by itself decodes or raises.
        return None


class DecodesFurther(Protocol):
    """An encoding of a SentencePiece model."""

    def decode_bytes(self, tokens: Sequence[int], /) -> bytes: ...

    def decode_further_bytes(self, tokens: Sequence[int], /) -> bytes: ...


class SentencePieceStreamDecoder(StreamDecoder):
    """Decodes token IDs of a SentencePiece model as they arrive; otherwise same as `StreamDecoder`.

    Spaces are removed only at the start of the text, and a control token ends a run of bytes.
    """

    def __init__(self, decoder: DecodesFurther, errors: str = "replace") -> None:
        """Starts a stream; same arguments and errors as `CoreStreamDecoder`."""
        codecs.lookup_error(errors)
        self._decoder = decoder
        self._errors = REPLACE_EACH_BYTE if errors == "replace" else errors
        # The ids whose bytes are not yet text: those of an incomplete character, or at the start, of none;
        # and whether there has been text.
        self._state = [], False

    def _pushed(self, ids: Sequence[int]) -> tuple[str, Any]:
        pending, has_text = self._state
        ids = [*pending, *ids]
        data = self._decode(ids)
        kept = incomplete_bytes(data)
        text = data[: len(data) - kept].decode("utf-8", self._errors)
        has_text = has_text or bool(data)
        # Each byte of an incomplete character is that of an id of its own.
        return text, (ids[len(ids) - kept :] if has_text else ids, has_text)

    def _decode(self, ids: Sequence[int]) -> bytes:
        """Returns the bytes of ids after those that have become text."""
        return self._decoder.decode_further_bytes(ids) if self._state[1] else self._decoder.decode_bytes(ids)

    def flush(self) -> str:
        """Ends the stream; same as `StreamDecoder.flush`."""
        data = self._decode(self._state[0])
        self._state = [], False
        return data.decode("utf-8", self._errors)


class DecodesTexts(Protocol):
    """A stream of the core, which calls leave as it is."""

    def push(self, tokens: Sequence[int], /) -> tuple[str, Self]: ...

    def finish(self) -> tuple[str, Self]: ...


class TextStreamDecoder(StreamDecoder):
    """Decodes token IDs as they arrive where later ones may change text; otherwise same as `StreamDecoder`.

    A `tokenizer.json` with such a decoder, and rules for decoded text of a SentencePiece model, make valid
    text of any IDs, so `errors` has no effect.
    """

    def __init__(self, stream: DecodesTexts, errors: str = "replace") -> None:
        """Starts a stream; same errors as `CoreStreamDecoder`."""
        codecs.lookup_error(errors)
        self._state = stream

    def _pushed(self, ids: Sequence[int]) -> tuple[str, Any]:
        stream: DecodesTexts = self._state
        return stream.push(ids)

    def flush(self) -> str:
        """Ends the stream; same as `StreamDecoder.flush`."""
        stream: DecodesTexts = self._state
        text, self._state = stream.finish()
        return text


def ids_of(tokens: SupportsIndex | Sequence[int]) -> Sequence[int]:
    """Returns one ID or several as a sequence."""
    try:
        return [index(tokens)]  # type: ignore[arg-type]
    except TypeError:
        if isinstance(tokens, str):
            raise TypeError(
                f"expected a token ID or a sequence of them, got the text {tokens!r:.40}"
            ) from None
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
