"""Batches of texts that come one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    import numpy.typing as npt

__all__ = ["batches", "copied_rows"]

# A batch is complete once its texts have so many characters: enough work to keep all threads busy.
MOST_CHARACTERS = 1 << 24


def batches(texts: Iterable[str], batch_size: int) -> Iterator[list[str]]:
    """Yields the texts in lists of `batch_size`, or fewer that have about 16 million characters."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        # The core refuses what is not a string.
        characters += len(text) if isinstance(text, str) else 0
        if len(batch) == batch_size or characters >= MOST_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def copied_rows(
    ids: npt.NDArray[np.integer], offsets: npt.NDArray[np.int64]
) -> Iterator[npt.NDArray[np.uint32]]:
    """Yields the ids of each text, copied: a view would keep the ids of the whole batch in memory."""
    start = 0
    for end in offsets[1:].tolist():
        yield ids[start:end].astype("uint32")
        start = end
