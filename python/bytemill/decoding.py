"""The half of an encoding that turns ids into bytes and text."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from bytemill.streaming import StreamDecoder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bytemill._core import CoreBPE  # noqa: TID251 - its type only

__all__ = ["Decoder", "thread_count"]

# Bytes that continue a UTF-8 character, as opposed to those that start one.
CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


class Decoder:
    """What `Encoding` inherits: it needs the tokens only, neither pattern nor merges."""

    _core_bpe: CoreBPE

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Gives the bytes that ids stand for.

        Args:
            tokens: Ids of mergeable and special tokens: a list, tuple, range, array, NumPy array of integers
                or buffer.

        Raises:
            UnknownTokenError: An id belongs to no token.
            OverflowError: An id is negative or above 2**32 - 1.
            TypeError: `tokens` is not a sequence of integers.
        """
        return self._core_bpe.decode_bytes(tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Gives the text that ids stand for; arguments and errors as `decode_bytes`.

        Any ids may be decoded, so the bytes need not be UTF-8. By default those that are not become U+FFFD,
        and the text does not give these ids again.

        Args:
            tokens: The ids.
            errors: What to do with bytes that are not UTF-8, as in `bytes.decode`.

        Raises:
            UnicodeDecodeError: The bytes are not UTF-8 and `errors` is "strict".
        """
        return self._core_bpe.decode(tokens, errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Gives the bytes of one token, mergeable or special; errors as `decode_bytes`."""
        return self._core_bpe.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Gives the bytes of each token; errors as `decode_bytes`."""
        return [self._core_bpe.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Iterable[int]) -> tuple[str, list[int]]:
        """Gives the text that ids stand for and where in it each token starts; errors as `decode_bytes`.

        Returns:
            The text, and for each token the index of its first character. A token that starts inside a
            character has the index of that character.

        Raises:
            UnicodeDecodeError: The bytes are not UTF-8.
        """
        parts = self.decode_tokens_bytes(tokens)
        offsets = []
        characters = 0
        for part in parts:
            starts_inside = part[0] in CONTINUATION_BYTES
            offsets.append(max(0, characters - starts_inside))
            characters += len(part.translate(None, CONTINUATION_BYTES))
        return b"".join(parts).decode("utf-8"), offsets

    def stream_decoder(self, errors: str = "replace") -> StreamDecoder:
        """Makes a decoder for ids that come one by one, as from a model; arguments and errors as its own."""
        return StreamDecoder(self, errors)

    def decode_batch(
        self, batch: Iterable[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Gives the text of many sequences of ids; arguments and errors as `decode_bytes_batch`, `decode`."""
        threads = thread_count(num_threads)
        return self._core_bpe.decode_batch(list(batch), errors, threads)

    def decode_bytes_batch(self, batch: Iterable[Sequence[int]], *, num_threads: int = 8) -> list[bytes]:
        """Decodes many sequences of ids in parallel, as `decode_bytes` does one.

        Args:
            batch: The sequences; the rows of a two-dimensional NumPy array will do.
            num_threads: How many threads may work.

        Raises:
            ValueError: `num_threads` is not positive.
            UnknownTokenError, OverflowError, TypeError: As `decode_bytes`.
        """
        threads = thread_count(num_threads)
        return self._core_bpe.decode_bytes_batch(list(batch), threads)


def thread_count(num_threads: int | None) -> int:
    """Checks a number of threads.

    `None`, which tiktoken takes too, stands for all processors. In a process that `multiprocessing` has
    started, as PyTorch and `datasets` have it do, it stands for one: other such processes have the others.

    Raises:
        ValueError: The number is not positive.
    """
    if num_threads is None:
        return 1 if is_worker() else os.cpu_count() or 1
    if num_threads <= 0:
        message = "max_workers must be greater than 0"
        raise ValueError(message)
    return num_threads


def is_worker() -> bool:
    """Tells whether `multiprocessing`, or `multiprocess` as `datasets` has it, started this process."""
    # A process that was started by one of them has imported it: there is nothing to import.
    modules = (sys.modules.get(f"{package}.process") for package in ("multiprocessing", "multiprocess"))
    return any(module.parent_process() is not None for module in modules if module)
