"""Reading and writing in threads of their own, while ids are made."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from typing_extensions import Self

__all__ = ["Behind", "ahead"]

Item = TypeVar("Item")


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Gives the items, and has the next one made in a thread meanwhile.

    What making an item raises comes when that item is due.
    """
    end = object()
    with ThreadPoolExecutor(1, "bytemill-read") as thread:
        coming: Future[Item | object] = thread.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, items, end)
            yield item  # type: ignore[misc] # it is not the end


class Behind:
    """Does things in a thread, one after the other in the order in which they were asked for.

    What one of them raises comes out of a later call of `do`, or of leaving the `with` block; what was asked
    for after it is not done.
    """

    # Things that wait to be done keep their ids in memory.
    MOST = 2

    def __init__(self) -> None:
        """Starts the thread."""
        self._thread = ThreadPoolExecutor(1, "bytemill-write")
        self._waiting: deque[Future[object]] = deque()
        self._has_failed = False

    def do(self, work: Callable[..., object], *arguments: object) -> None:
        """Asks for a call of `work`; waits if others wait already."""
        while len(self._waiting) >= self.MOST:
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._attempt, work, arguments))

    def _attempt(self, work: Callable[..., object], arguments: Iterable[object]) -> None:
        if self._has_failed:
            return
        try:
            work(*arguments)
        except BaseException:
            self._has_failed = True
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            while self._waiting and kind is None:
                self._waiting.popleft().result()
        finally:
            self._thread.shutdown(cancel_futures=True)
