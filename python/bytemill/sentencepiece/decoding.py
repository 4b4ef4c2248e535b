"""Decoding by the names of SentencePiece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill.errors import UnknownTokenError
from bytemill.sentencepiece import messages
from bytemill.sentencepiece.arguments import (
    checked_ids,
    is_sequence,
    resolved_return_type,
    thread_count,
)
from bytemill.sentencepiece.engine import OUT_OF_RANGE
from bytemill.sentencepiece.loading import WithModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.sentencepiece.arguments import ThreadPool
    from bytemill.sentencepiece.engine import Engine

__all__ = ["DecodingMethods"]


class DecodingMethods(WithModel):
    """The methods that decode."""

    def decode(
        self,
        input: Any,
        return_type: object = None,
        out_type: object = None,
        num_threads: int | None = None,
        thread_pool: ThreadPool | None = None,
        return_bytes: bool | None = None,
    ) -> Any:
        """Decodes IDs or pieces, or a list of lists of them.

        Args:
            input: An ID, a piece, several of one sort, or a list of such lists.
            return_type: `str`, `bytes`, `"offset_mapping"`, `"serialized_proto"` or `"proto"`.
            out_type: The former name of `return_type`.
            num_threads: The number of threads for lists; all processors if negative.
            thread_pool: Instead of a number of threads.
            return_bytes: Whether an offset mapping counts bytes.

        Raises:
            IndexError: An ID is out of range.
            TypeError: `input` is something else.
            ValueError: An argument is invalid.
        """
        kind = resolved_return_type(return_type, out_type, str)
        if kind is str and type(input) is list and input and return_bytes is None and thread_pool is None:
            decoded = self._decode_at_once(input, num_threads)
            if decoded is not None:
                return decoded
        if return_bytes is not None and kind != "offset_mapping":
            raise ValueError("return_bytes is only supported when return_type='offset_mapping'")
        threads = thread_count(self._num_threads if num_threads is None else num_threads, thread_pool)
        if kind in (int, "numpy"):
            raise ValueError(f"unknown return_type={kind} or input type")
        if input is None or (isinstance(input, (str, bytes)) and not input):
            input = []  # noqa: A001
        if not is_sequence(input):
            input = [input]  # noqa: A001
        if not is_batch(input):
            return self._decode_one(input, kind, bool(return_bytes), pieces=holds_pieces(input))
        pieces = next((holds_pieces(item) for item in input if is_sequence(item) and len(item)), False)
        if kind in (str, bytes) and not pieces:
            batch = [checked_ids(item) for item in input]
            for ids in batch:
                in_range(ids, self._engine)
            texts = self._loaded().decode_batch(batch, threads)
            return texts if kind is str else [text.encode() for text in texts]
        return [self._decode_one(item, kind, bool(return_bytes), pieces=pieces) for item in input]

    def _decode_at_once(self, input: list[Any], num_threads: int | None) -> Any:
        """Decodes IDs without checking each; `None` if the core finds something that is not an ID.

        Checking each takes four times as long as decoding.
        """
        threads = self._num_threads if num_threads is None else num_threads
        if self._engine is None or not isinstance(threads, int):
            return None
        core = self._engine.core
        try:
            if isinstance(input[0], list):
                return core.decode_batch(input, "replace", thread_count(threads))
            return core.decode(input, "replace") if isinstance(input[0], int) else None
        except (TypeError, OverflowError, UnknownTokenError):
            return None

    def _decode_one(self, sequence: Any, kind: object, as_bytes: bool, *, pieces: bool) -> Any:
        if pieces and not all(isinstance(piece, (str, bytes)) for piece in sequence):
            raise TypeError("List elements must be str or bytes")
        ids = [] if pieces else in_range(checked_ids(sequence), self._engine)
        loaded = self._loaded()
        given_bytes = pieces and bool(sequence) and isinstance(sequence[0], bytes)
        texts = [piece if isinstance(piece, str) else piece.decode() for piece in sequence] if pieces else []
        known = loaded.known_ids(texts) if pieces else ids
        if kind in (str, bytes) and known is not None:
            decoded = loaded.decode(known)
            return decoded.encode() if kind is bytes or given_bytes else decoded
        text, parts = loaded.decode_parts(texts or ids)
        if kind is bytes or (kind is str and given_bytes):
            return text
        if kind is str:
            return text.decode()
        if kind == "offset_mapping":
            as_bytes = as_bytes or given_bytes
            mapping = messages.offset_mapping(
                text,
                [part.token for part in parts],
                [part.piece for part in parts],
                [(part.begin, part.end) for part in parts],
                as_bytes=as_bytes,
            )
            return {"text": text if as_bytes else text.decode(), **mapping}
        message = messages.serialized(text, parts)
        return messages.parsed(message) if kind == "proto" else message

    def decode_pieces(self, input: Any, return_type: object = None, **options: Any) -> Any:
        """Same as `decode`."""
        return self.decode(input, return_type, **options)

    def decode_ids(self, input: Any, return_type: object = None, **options: Any) -> Any:
        """Same as `decode`."""
        return self.decode(input, return_type, **options)

    def decode_pieces_as_proto(self, input: Any, **options: Any) -> Any:
        """Same as `decode`, to messages."""
        return self.decode(input, "proto", **options)

    def decode_ids_as_proto(self, input: Any, **options: Any) -> Any:
        """Same as `decode`, to messages."""
        return self.decode(input, "proto", **options)

    detokenize = decode

    Decode = decode
    DecodePieces = decode_pieces
    DecodeIds = decode_ids
    DecodePiecesAsProto = decode_pieces_as_proto
    DecodeIdsAsProto = decode_ids_as_proto
    Detokenize = decode


def is_batch(sequence: Sequence[Any]) -> bool:
    """Returns whether a sequence is one of sequences."""
    dimensions = getattr(sequence, "ndim", None)
    if dimensions is not None:
        return bool(dimensions > 1)
    return len(sequence) > 0 and is_sequence(sequence[0])


def holds_pieces(sequence: Sequence[Any]) -> bool:
    """Returns whether a sequence holds pieces, as opposed to IDs."""
    return len(sequence) > 0 and not hasattr(sequence, "dtype") and isinstance(sequence[0], (str, bytes))


def in_range(ids: list[int], engine: Engine | None) -> list[int]:
    """Returns IDs; raises `IndexError` if one is out of range."""
    size = engine.size if engine else 0
    if ids and not (min(ids) >= 0 and max(ids) < size):
        raise IndexError(OUT_OF_RANGE)
    return ids
