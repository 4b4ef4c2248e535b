"""Running the tasks of a job on Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill._arguments import byte_limit, check_type, integer
from bytemill._messages import import_optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Executor", "connected", "processors"]

# Tasks in flight for each that fits on the cluster: a worker that ends one finds the next.
AHEAD = 2


class Executor:
    """Tasks of Ray, see `bytemill.jobs.Executor`.

    A task whose worker or node dies is run again, on a node that is left.
    """

    def __init__(
        self, *, num_cpus: int = 1, memory: int | str | None = None, address: str | None = None
    ) -> None:
        """Takes what a task needs, and which cluster runs it.

        Args:
            num_cpus: The processors of a task, which are also its threads.
            memory: The bytes of memory to reserve for a task, as an integer or as "4G"; none if not given.
            address: The cluster, as of `ray.init`, such as "auto" for the one that runs here. By default
                the one that this process is connected to; else that of `RAY_ADDRESS`, the one that runs on
                this machine, or a new one of this machine.

        Raises:
            ImportError: Ray is not installed.
            ValueError: A number is below 1.
            TypeError: An argument is of a wrong type.
            ConnectionError: There is no cluster at the address.
        """
        self._options = {"num_cpus": processors(num_cpus)}
        if memory is not None:
            self._options["memory"] = byte_limit("memory", memory)
        self._ray = connected(address)

    def __repr__(self) -> str:
        return f"Executor({', '.join(f'{name}={value}' for name, value in self._options.items())})"

    def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
        """Calls `task(number)` for each number, see `bytemill.jobs.Executor`."""
        ray = self._ray
        # Without an end: each unit counts its own attempts.
        remote = ray.remote(max_retries=-1, **self._options)(call)
        stored = ray.put(task)
        left = list(reversed(numbers))
        running: dict[Any, int] = {}
        try:
            while left or running:
                # Nodes come and go.
                places = ray.cluster_resources().get("CPU", 1) / self._options["num_cpus"]
                while left and len(running) < AHEAD * max(1, places):
                    number = left.pop()
                    running[remote.remote(stored, number)] = number
                # All of them: those that are not waited for may be fetched late.
                ended, _ = ray.wait(list(running), num_returns=1)
                for reference in ended:
                    # It is no longer one to cancel: Ray ends this process (a failed check of pending tasks)
                    # if it is asked to, just when the result arrives, which may be an error.
                    number = running.pop(reference)
                    result_of(reference)
                    yield number
        finally:
            for reference in running:
                ray.cancel(reference)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - as the function
        """Calls a function with these arguments in one task, and returns its result.

        Raises:
            Exception: What the function has raised.
        """
        return result_of(self._ray.remote(max_retries=-1, **self._options)(call).remote(function, *arguments))


def processors(num_cpus: int) -> int:
    """Returns the number of processors of a task.

    Raises:
        TypeError: It is not an integer.
        ValueError: It is below 1.
    """
    if integer("num_cpus", num_cpus) < 1:
        raise ValueError(f"num_cpus must be 1 or more, not {num_cpus}")
    return num_cpus


def call(function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - as the function
    """Calls a function, in a process of Ray."""
    return function(*arguments)


def connected(address: str | None) -> Any:  # noqa: ANN401 - ray is optional
    """Returns the module `ray`, which is connected to a cluster.

    Raises:
        Exception: As `Executor`.
    """
    if address is not None:
        check_type("address", address, str)
    ray = import_optional("ray", "jobs on Ray")
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    return ray


def result_of(reference: Any) -> Any:  # noqa: ANN401 - as above
    """Returns the result of a task.

    Raises:
        Exception: What the task has raised, from the error of Ray, which has the traceback.
    """
    ray = import_optional("ray", "jobs on Ray")
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
