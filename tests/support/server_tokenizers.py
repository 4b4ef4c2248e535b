"""Stand-ins for what inference servers make of a tokenizer of `transformers`."""

from __future__ import annotations

import contextlib
import copy
import queue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cached", "pooled"]


def cached(tokenizer: Any) -> Any:
    """Returns a copy of a tokenizer that remembers its vocabulary, as servers make it."""
    result = copy.copy(tokenizer)
    vocabulary, size = tokenizer.get_vocab(), len(tokenizer)

    class Cached(tokenizer.__class__):  # type: ignore[misc]
        def get_vocab(self) -> dict[str, int]:
            found: dict[str, int] = vocabulary
            return found

        def __len__(self) -> int:
            return size

        def __reduce__(self) -> tuple[Any, ...]:
            return cached, (tokenizer,)

    Cached.__name__ = f"Cached{tokenizer.__class__.__name__}"
    result.__class__ = Cached
    return result


def pooled(tokenizer: Any, copies: int) -> Any:
    """Makes a tokenizer pass each call to one of some deep copies, as servers do for threads."""
    original = copy.copy(tokenizer)
    pool: queue.Queue[Any] = queue.Queue()
    for _ in range(copies):
        pool.put(copy.deepcopy(original))

    @contextlib.contextmanager
    def borrowed() -> Iterator[Any]:
        one = pool.get_nowait()
        try:
            yield one
        finally:
            pool.put(one)

    class Pooled(tokenizer.__class__):  # type: ignore[misc]
        def __call__(self, *args: Any, **given: Any) -> Any:
            with borrowed() as one:
                return one(*args, **given)

        def decode(self, *args: Any, **given: Any) -> Any:
            with borrowed() as one:
                return one.decode(*args, **given)

        def batch_decode(self, *args: Any, **given: Any) -> Any:
            with borrowed() as one:
                return one.batch_decode(*args, **given)

        def __reduce__(self) -> tuple[Any, ...]:
            return pooled, (original, copies)

    tokenizer.__class__ = Pooled
    return tokenizer
