"""Reading and writing in background threads while ids are made."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from typing_extensions import Self

__all__ = ["BackgroundWriter", "prefetch_iter"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class OneThread:
    """A thread that makes calls, one after the other; where the system refuses it, they are made at once."""

    def __init__(self, name: str) -> None:
        """Takes the name of the thread, which the first call starts."""
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(1, name)

    def submit(self, function: Callable[..., Result], *arguments: object) -> Future[Result]:
        """Returns the future of a call."""
        if self._pool is not None:
            try:
                return self._pool.submit(function, *arguments)
            except RuntimeError:
                # The call is pending all the same, for a thread that does not come.
                self.end()
                self._pool = None
        done: Future[Result] = Future()
        try:
            done.set_result(function(*arguments))
        except BaseException as error:  # noqa: BLE001 - `Future.result` raises it
            done.set_exception(error)
        return done

    def end(self) -> None:
        """Waits for the call that runs; those that have not begun are not made."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def prefetch_iter(items: Iterator[Item]) -> Iterator[Item]:
    """Yields the items, and has a thread produce the next one meanwhile.

    An exception of the iterator is raised when the item that it stands for is due.
    """
    end = object()
    thread = OneThread("bytemill-read")
    try:
        following: Future[Item | object] = thread.submit(next, items, end)
        while (item := following.result()) is not end:
            following = thread.submit(next, items, end)
            yield item  # type: ignore[misc] # it is not the end
    finally:
        thread.end()


class BackgroundWriter:
    """Calls functions in a thread, one after the other, in the order in which they were submitted.

    An exception is raised from a later `submit`, or at the end of the `with` block; calls that were submitted
    after the one that failed are not made.
    """

    # Pending calls keep their ids in memory.
    MAX_PENDING = 2

    def __init__(self) -> None:
        """Starts the thread."""
        self._thread = OneThread("bytemill-write")
        self._pending: deque[Future[object]] = deque()
        self._has_failed = False

    def submit(self, function: Callable[..., object], *arguments: object) -> None:
        """Submits a call; blocks while `MAX_PENDING` others are pending."""
        while len(self._pending) >= self.MAX_PENDING:
            self._pending.popleft().result()
        self._pending.append(self._thread.submit(self._call, function, arguments))

    def _call(self, function: Callable[..., object], arguments: Iterable[object]) -> None:
        if self._has_failed:
            return
        try:
            function(*arguments)
        except BaseException:
            self._has_failed = True
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            while self._pending and kind is None:
                self._pending.popleft().result()
        finally:
            self._thread.end()
