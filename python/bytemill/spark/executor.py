"""Running the tasks of a job on Spark."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import TYPE_CHECKING, Any

from bytemill._messages import import_optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Executor"]

# Jobs of Spark in flight for each of its cores: a core that ends one finds the next.
AHEAD = 2


class Executor:
    """Tasks of Spark, see `bytemill.jobs.Executor`.

    A task whose executor dies is run again, as often as `spark.task.maxFailures` says, and under
    `spark.speculation` also at the same time.
    """

    def __init__(self, session: Any = None) -> None:  # noqa: ANN401 - pyspark is optional
        """Takes a `SparkSession`, the active or a new one if not given, which has a `sparkContext`.

        Raises:
            ImportError: PySpark is not installed.
            TypeError: The session is none of Spark, or one of Spark Connect, which runs no functions.
        """
        sql = import_optional("pyspark.sql", "jobs on Spark")
        session = sql.SparkSession.builder.getOrCreate() if session is None else session
        if not isinstance(session, sql.SparkSession):
            raise TypeError(f"session must be a SparkSession, not {type(session).__name__}")
        self._context = session.sparkContext

    def __repr__(self) -> str:
        return f"Executor({self._context.master})"

    def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
        """Calls `task(number)` for each number, see `bytemill.jobs.Executor`."""
        # A job of Spark for each: one for all of them would end, or fail, with its last task only.
        with ThreadPoolExecutor(AHEAD * self._context.defaultParallelism) as pool:
            try:
                for call in as_completed([pool.submit(self._call, task, number) for number in numbers]):
                    yield call.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _call(self, task: Callable[[int], None], number: int) -> int:
        """Calls a task and returns its number.

        Raises:
            Exception: What the task has raised.
        """
        (raised,) = self._context.parallelize([number], 1).map(partial(outcome, task)).collect()
        if raised is not None:
            raise raised
        return number


def outcome(task: Callable[[int], None], number: int) -> Exception | None:
    """Calls a task in a process of Spark, and returns what it has raised.

    Spark would run it again, and end with the text of its error.
    """
    try:
        task(number)
    except Exception as error:  # noqa: BLE001 - it is raised where the job was started
        return error
    return None
