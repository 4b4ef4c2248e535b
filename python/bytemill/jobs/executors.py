"""Executors, which run tasks: processes of this machine."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Protocol

from bytemill._arguments import thread_count
from bytemill.errors import JobError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Executor", "Local", "checked_executor"]


class Executor(Protocol):
    """Runs tasks, anywhere.

    A task can be pickled, and may run more than once, also at the same time.
    """

    def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
        """Calls `task(number)` for each number, and yields it when that has ended, in any order.

        Raises:
            Exception: What a call has raised.
        """
        ...


def checked_executor(executor: Executor | None) -> Executor:
    """Returns the executor, `Local()` if none is given.

    Raises:
        TypeError: It is none.
    """
    if executor is not None and not callable(getattr(executor, "run", None)):
        raise TypeError(f"executor must have a method run(task, numbers), as Local has, got {executor!r:.80}")
    return Local() if executor is None else executor


class Local:
    """Processes of this machine."""

    def __init__(self, processes: int | None = None) -> None:
        """Takes the number of processes; one per processor if not given. With 1, this process does the work.

        They are spawned: a script must start its work below `if __name__ == "__main__":`.

        Raises:
            ValueError: It is below 1.
            TypeError: It is not an integer.
        """
        self.processes = thread_count(processes)

    def __repr__(self) -> str:
        return f"Local({self.processes})"

    def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
        """Calls `task(number)` for each number, see `Executor`.

        Calls whose process died are repeated, with those that never began. A task that always kills its
        process must end that itself.

        Raises:
            JobError: All processes died before they could begin a call.
            Exception: As `Executor.run`.
        """
        if self.processes == 1:
            for number in numbers:
                task(number)
                yield number
            return
        left = dict.fromkeys(numbers)
        context = multiprocessing.get_context("spawn")
        while left:
            # Set by the first process that can begin a call.
            started = context.Event()
            with ProcessPoolExecutor(
                min(self.processes, len(left)), mp_context=context, initializer=started.set
            ) as pool:
                try:
                    calls = {pool.submit(task, number): number for number in left}
                    for call in as_completed(calls):
                        call.result()
                        del left[calls[call]]
                        yield calls[call]
                except BrokenProcessPool:
                    if not started.is_set():
                        raise JobError(
                            "expected processes that do units, but each ended while it started, perhaps "
                            "with a message above: processes import the script, which must start its work "
                            'below `if __name__ == "__main__":`; or use Local(1), which starts none'
                        ) from None
                except BaseException:
                    pool.shutdown(cancel_futures=True)
                    raise
