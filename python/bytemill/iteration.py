"""The part of an encoding for texts that come one after the other, more of them than memory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill.decoding import thread_count
from bytemill.special import NO_TOKENS, AllowedSpecial, DisallowedSpecial, resolve_for_core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    import numpy.typing as npt

    from bytemill._core import CoreBPE  # noqa: TID251 - its type only

__all__ = ["IteratingEncoder"]

# A batch is not filled up once its texts have so many characters: that keeps all threads busy.
MOST_CHARACTERS = 1 << 24


class IteratingEncoder:
    """What `Encoding` inherits. Special tokens are ordinary text unless they are allowed."""

    _core_bpe: CoreBPE
    _special_tokens: dict[str, int]

    def encode_iter(
        self,
        texts: Iterable[str],
        *,
        batch_size: int = 1024,
        num_threads: int | None = None,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
    ) -> Iterator[npt.NDArray[np.uint32]]:
        """Encodes texts as they come, a batch at a time in parallel.

        Args:
            texts: The texts; a generator is asked for those of one batch at a time, when its ids are wanted.
                A single string counts as the texts of its characters.
            batch_size: How many texts are encoded at a time; fewer if they have more than 16 million
                characters together.
            num_threads: How many threads may work; all processors if not given.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`, but by default nothing is an error.

        Returns:
            An iterator over the ids of each text, in the order of the texts: arrays of shape (tokens,) and
            dtype uint32, each with memory of its own that the caller may write to.

        Raises:
            ValueError: `batch_size` or `num_threads` is not positive.
            DisallowedSpecialTokenError, TypeError, PatternError: As `encode`, when the first text of the
                batch is due that the failing text is in.

        Complexity:
            That of `encode` for each text, divided by the threads. Memory for the texts of a batch and twice
            their ids.
        """
        special_tokens = self._special_tokens.keys()
        allowed, disallowed = resolve_for_core(special_tokens, allowed_special, disallowed_special)
        threads = thread_count(num_threads)
        if batch_size < 1:
            message = f"expected a batch_size of 1 or more, got {batch_size}"
            raise ValueError(message)
        core = self._core_bpe

        source = iter(texts)

        def encoded() -> Iterator[npt.NDArray[np.uint32]]:
            for batch in batches(source, batch_size):
                ids, offsets = core.encode_batch_to_numpy(
                    batch, allowed, disallowed, [], [], "uint32", threads
                )
                start = 0
                for end in offsets[1:].tolist():
                    # A copy: a view would keep the ids of the whole batch in memory.
                    yield ids[start:end].astype("uint32")
                    start = end

        return encoded()


def batches(texts: Iterable[str], batch_size: int) -> Iterator[list[str]]:
    """Gives the texts in lists of `batch_size`, or as many as have about 16 million characters."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        # What is no text is refused by the core.
        characters += len(text) if isinstance(text, str) else 0
        if len(batch) == batch_size or characters >= MOST_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
