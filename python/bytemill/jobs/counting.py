"""Counting the pieces of a plan's units, and adding them up."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from bytemill._arguments import thread_count
from bytemill.core import __version__
from bytemill.errors import InternalError
from bytemill.jobs.executors import Local
from bytemill.jobs.plan import Plan
from bytemill.jobs.work import Work
from bytemill.training.counting import add_source
from bytemill.training.counts import PieceCounts
from bytemill.training.options import DEFAULT_PATTERN

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from bytemill.jobs.executors import Executor

__all__ = ["Status", "begin", "count_left", "count_pieces", "count_unit", "merged", "status"]

NAME = "count.json"


class Status(NamedTuple):
    """How far a job is.

    Attributes:
        units: The number of units.
        done: How many of them are counted.
        size: The bytes of all units, as stored.
        size_done: Those of the units that are counted.
        total: The number of pieces counted.
    """

    units: int
    done: int
    size: int
    size_done: int
    total: int


def count_pieces(
    plan: Plan | str | os.PathLike[str],
    pattern: str | None = DEFAULT_PATTERN,
    *,
    special_tokens: Iterable[str] = (),
    memory_limit: int | str | None = None,
    executor: Executor | None = None,
) -> PieceCounts:
    """Counts the pieces of all units that are not yet counted, and adds up all.

    Args:
        plan: The plan, or its work folder.
        pattern: As in `bytemill.count_pieces`.
        special_tokens: As in `bytemill.count_pieces`.
        memory_limit: As in `bytemill.count_pieces`, for each process.
        executor: What runs the units; `Local()` if not given.

    Returns:
        The counts, those of one process, but sorted: `bytemill.train` takes them, with any tie rule but
        "first_seen".

    Raises:
        TypeError: An argument is of a wrong type.
        ValueError: An argument has no meaning, the units were counted with other options, a file has changed
            since the plan, or is not what its name says.
        RuntimeError: Three processes have died of a unit.
        PatternError, OSError, ImportError: As `bytemill.count_pieces`.

    Complexity:
        As `bytemill.count_pieces`, divided by the processes. Adding up n rows of k units takes O(n log k), in
        this process.
    """
    plan = begin(plan, pattern, special_tokens)
    count_left(plan, memory_limit, executor or Local())
    return merged(plan)


def begin(plan: Plan | str | os.PathLike[str], pattern: str | None, special_tokens: Iterable[str]) -> Plan:
    """Returns the plan, once its work folder has these options of counting.

    Raises:
        Exception: As `count_pieces`.
    """
    plan = plan if isinstance(plan, Plan) else Plan.load(plan)
    checked = PieceCounts(pattern=pattern, special_tokens=special_tokens)
    options = {
        "bytemill": __version__,
        "pattern": checked.pattern,
        "special_tokens": list(checked.special_tokens),
    }
    Work(plan.work).write_once(NAME, options, what="other options of counting")
    return plan


def count_left(plan: Plan, memory_limit: int | str | None, executor: Executor) -> None:
    """Counts the units that are not yet counted.

    Raises:
        Exception: As `count_pieces`.
    """
    # Checked here, not by each of the tasks.
    PieceCounts(memory_limit=memory_limit)
    done = Work(plan.work).commits("count")
    left = [number for number in range(len(plan.units)) if number not in done]
    # The largest first: none of them is what all others wait for.
    left.sort(key=lambda number: -plan.units[number].size)
    for _ in executor.run(functools.partial(count_unit, plan.work, memory_limit=memory_limit), left):
        pass


def merged(plan: Plan) -> PieceCounts:
    """Returns the sum of the counts of all units.

    Raises:
        ValueError: A unit is not counted, or its counts are not those that were committed.
        OSError: A file cannot be read, or a temporary file not written.
    """
    work = Work(plan.work)
    commits = work.commits("count")
    if missing := [number for number in range(len(plan.units)) if number not in commits]:
        raise ValueError(
            f"expected all {len(plan.units)} units to be counted, but {len(missing)} are not, the first of "
            f"them unit {missing[0]}"
        )
    paths = [work.checked_output("count", number, commits[number]) for number in range(len(plan.units))]
    counts = PieceCounts.merge_files(paths)
    if counts.total() != (total := sum(commits[number].total for number in range(len(plan.units)))):
        raise InternalError(f"expected {total} pieces in all units, got {counts.total()}")
    return counts


def count_unit(
    work: str | os.PathLike[str],
    number: int,
    *,
    memory_limit: int | str | None = None,
    num_threads: int | None = None,
) -> None:
    """Counts the pieces of a unit, unless they are counted: the task of an executor.

    Args:
        work: The work folder, which has a plan and the options of counting.
        number: The number of the unit, from 0.
        memory_limit: As in `count_pieces`.
        num_threads: As in `bytemill.count_pieces`.

    Raises:
        Exception: As `count_pieces`.
    """
    folder = Work(work)
    plan = Plan.load(work)
    if not 0 <= number < len(plan.units):
        raise ValueError(f"expected a unit from 0 to {len(plan.units) - 1}, got {number}")
    if folder.is_done("count", number):
        return
    options = folder.read(NAME)
    if options["bytemill"] != __version__:
        raise ValueError(f"the job was begun by bytemill {options['bytemill']}, and this is {__version__}")
    unit = plan.units[number]
    with folder.attempt("count", number):
        plan.check_sources(unit)
        counts = PieceCounts(
            pattern=options["pattern"], special_tokens=options["special_tokens"], memory_limit=memory_limit
        )
        add_source(
            counts,
            unit.ranges,
            field=plan.field,
            lines=plan.lines,
            errors=plan.errors,
            num_threads=thread_count(num_threads),
            report=lambda _: None,
        )
        plan.check_sources(unit)
        counts.save(folder.output("count", number), sort=True)
        folder.commit("count", number, counts.total())
    folder.forget_attempts("count", number)


def status(plan: Plan | str | os.PathLike[str]) -> Status:
    """Returns how far a job is.

    Args:
        plan: The plan, or its work folder.

    Raises:
        ValueError: The folder has no plan, or a commit is malformed.
        OSError: The folder cannot be read.
    """
    plan = plan if isinstance(plan, Plan) else Plan.load(plan)
    commits = Work(plan.work).commits("count")
    return Status(
        len(plan.units),
        len(commits),
        sum(unit.size for unit in plan.units),
        sum(plan.units[number].size for number in commits),
        sum(commit.total for commit in commits.values()),
    )
