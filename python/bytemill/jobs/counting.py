"""Counting the pieces of a plan's units, and adding them up."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from bytemill._arguments import thread_count
from bytemill.core import __version__
from bytemill.jobs.executors import checked_executor
from bytemill.jobs.plan import Plan
from bytemill.jobs.reducing import merged
from bytemill.jobs.work import Work
from bytemill.progress import check_callable
from bytemill.training.counting import add_source
from bytemill.training.counts import PieceCounts
from bytemill.training.options import DEFAULT_PATTERN

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from bytemill.jobs.executors import Executor
    from bytemill.jobs.work import Report

__all__ = ["begin", "count_left", "count_pieces", "count_unit"]

NAME = "count.json"


def count_pieces(
    plan: Plan | str | os.PathLike[str],
    pattern: str | None = DEFAULT_PATTERN,
    *,
    special_tokens: Iterable[str] = (),
    executor: Executor | None = None,
    progress: Report | None = None,
) -> PieceCounts:
    """Counts the pieces of all units that are not yet counted, and adds up all.

    Args:
        plan: The plan, or its work folder.
        pattern: As in `bytemill.count_pieces`.
        special_tokens: As in `bytemill.count_pieces`.
        executor: What runs the units; `Local()` if not given.
        progress: Called with a `Progress` when a step begins, and whenever a unit is done.

    Returns:
        The counts, those of one process, but sorted: `bytemill.train` takes them, with any tie rule but
        "first_seen".

    Raises:
        TypeError: An argument is of a wrong type.
        ValueError: An argument has no meaning, the units were counted with other options, a file has changed
            since the plan, or is not what its name says.
        JobError: Three processes have died of a unit.
        PatternError, OSError, ImportError: As `bytemill.count_pieces`.

    Complexity:
        As `bytemill.count_pieces`, divided by the processes. So is adding up n rows of k units, in
        O(n log k). Reading the sum takes O(n) in this process, and no memory for all pieces.
    """
    executor = checked_executor(executor)
    check_callable(progress)
    plan = begin(plan, pattern, special_tokens)
    count_left(plan, executor, progress)
    return merged(plan, executor, progress)


def begin(
    plan: Plan | str | os.PathLike[str],
    pattern: str | None,
    special_tokens: Iterable[str],
) -> Plan:
    """Returns the plan, once its work folder has these options of counting; arguments as `count_pieces`.

    Raises:
        Exception: As `count_pieces`.
    """
    plan = Plan.of(plan)
    # The limit is of no job, but must be one before there is anything in the folder.
    checked = PieceCounts(pattern=pattern, special_tokens=special_tokens)
    options = {
        "bytemill": __version__,
        "pattern": checked.pattern,
        "special_tokens": list(checked.special_tokens),
    }
    Work(plan.work).write_once(NAME, options, what="other options of counting")
    return plan


def count_left(plan: Plan, executor: Executor, progress: Report | None = None) -> None:
    """Counts the units that are not yet counted; arguments as `count_pieces`.

    Raises:
        Exception: As `count_pieces`.
    """
    task = functools.partial(count_unit, plan.work)
    Work(plan.work).run_left(
        "count", plan.largest_first(), task, executor, progress=progress, sizes=plan.sizes
    )


def count_unit(
    work: str | os.PathLike[str],
    number: int,
    *,
    num_threads: int | None = None,
) -> None:
    """Counts the pieces of a unit, unless they are counted: the task of an executor.

    Args:
        work: The work folder, which has a plan and the options of counting.
        number: The number of the unit, from 0.
        num_threads: As in `bytemill.count_pieces`.

    Raises:
        Exception: As `count_pieces`.
    """
    folder, plan = Work(work), Plan.load(work)
    unit = plan.unit(number)
    if folder.is_done("count", number):
        return
    options = folder.options("count")
    with folder.unit("count", number) as (outputs, sums), plan.unchanged(unit):
        counts = PieceCounts(pattern=options["pattern"], special_tokens=options["special_tokens"])
        add_source(
            counts,
            unit.ranges,
            plan.reading,
            num_threads=thread_count(num_threads),
            report=lambda batch: sums.update(text_bytes=sums.get("text_bytes", 0) + batch.size),
        )
        counts.save(outputs / f"unit-{number:06}.parquet", sort=True)
        sums["pieces"] = counts.total()
