"""Adding up the counts of all units: parts of the keys, each merged by one task."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from bytemill.core import __version__
from bytemill.errors import InternalError
from bytemill.io.piece_table import first_pieces, most_open
from bytemill.jobs.executors import Local
from bytemill.jobs.plan import Plan
from bytemill.jobs.stores import Facts
from bytemill.jobs.work import Work
from bytemill.training.counts import PieceCounts

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from bytemill.jobs.executors import Executor
    from bytemill.jobs.work import Report

__all__ = ["begin", "merged", "reduce_left", "reduce_part"]

NAME = "reduce.json"

# About how many bytes of the units' counts a part has: some 30 million rows.
PART_BYTES = 1 << 28

# The parts are divided by the first pieces of so many units.
MOST_SAMPLED = 256


def begin(plan: Plan | str | os.PathLike[str], number: int | None = None) -> int:
    """Returns the number of parts, once the work folder says where they begin.

    That depends on the counts alone, so whatever merges them gives the same files.

    Args:
        plan: The plan, or its work folder.
        number: The number of the part that will be added up; `None` for all.

    Raises:
        ValueError: There is no such part; a unit is not counted, or its counts have another size than was
            committed.
        OSError: A file cannot be read or written.
    """
    plan = Plan.of(plan)
    work = Work(plan.work)
    if not work.has_begun("reduce"):
        commits = work.all_commits("count", len(plan.units))
        runs = {name: facts for commit in commits for name, facts in commit.files.items()}
        size = sum(facts.size for facts in runs.values())
        found = bounds(work.checked(runs), -(-size // PART_BYTES))
        if number is not None:
            check_number(number, len(found) + 1)
        contents = {
            "bytemill": __version__,
            "pieces": sum(commit.sums["pieces"] for commit in commits),
            "runs": runs,
            "bounds": [piece.hex() for piece in found],
        }
        work.write_once(NAME, contents, what="other counts to add up")
    return len(work.options("reduce")["bounds"]) + 1


def check_number(number: int, parts: int) -> None:
    """Raises `ValueError` if there is no part with this number."""
    if not 0 <= number < parts:
        raise ValueError(f"expected a part from 0 to {parts - 1}, got {number}")


def bounds(runs: Sequence[str], parts: int) -> list[bytes]:
    """Returns the pieces at which parts begin, but for the first part; fewer where pieces are few."""
    if parts <= 1:
        return []
    step = -(-len(runs) // MOST_SAMPLED)
    pieces = sorted(piece for run in runs[::step] for piece in first_pieces(run))
    chosen = {pieces[len(pieces) * part // parts] for part in range(1, parts) if pieces}
    return sorted(chosen - set(pieces[:1]))


def reduce_left(plan: Plan, executor: Executor, progress: Report | None = None) -> None:
    """Adds up the parts that are not yet done.

    Raises:
        Exception: As `begin` and `reduce_part`.
    """
    task = functools.partial(reduce_part, plan.work)
    Work(plan.work).run_left("reduce", range(begin(plan)), task, executor, progress=progress)


def reduce_part(work: str | os.PathLike[str], number: int) -> None:
    """Adds up a part of the counts of all units, unless that is done: the task of an executor.

    Args:
        work: The work folder, where `begin` was called.
        number: The number of the part, from 0.

    Raises:
        ValueError: There is no such part; or the counts of a unit are not those that were committed, or of
            another pattern or special tokens than the others.
        JobError: Three processes have died of the part.
        OSError: A file cannot be read or written.
    """
    folder = Work(work)
    options = folder.options("reduce")
    edges = [None, *map(bytes.fromhex, options["bounds"]), None]
    check_number(number, len(edges) - 1)
    if folder.is_done("reduce", number):
        return
    with folder.unit("reduce", number) as (outputs, sums):
        paths = folder.checked({name: Facts(*facts) for name, facts in options["runs"].items()})
        counts = PieceCounts._merged(  # noqa: SLF001 - of this package
            paths, most_open(), edges[number] or b"", edges[number + 1]
        )
        counts.save(outputs / f"part-{number:06}.parquet", sort=True)
        sums["pieces"] = counts.total()


def merged(plan: Plan, executor: Executor | None = None, progress: Report | None = None) -> PieceCounts:
    """Returns the sum of the counts of all units.

    Args:
        plan: The plan, whose units are all counted.
        executor: What runs the parts that are not yet added up; this process if not given.
        progress: As in `count_pieces`.

    Raises:
        ValueError: A unit is not counted; or counts are not those that were committed.
        JobError: Three processes have died of a part.
        OSError: A file cannot be read or written.
    """
    reduce_left(plan, executor or Local(1), progress)
    work = Work(plan.work)
    options = work.options("reduce")
    commits = work.all_commits("reduce", len(options["bounds"]) + 1)
    files = {name: facts for commit in commits for name, facts in commit.files.items()}
    counts = PieceCounts._of_parts(work.checked(files, contents=True))  # noqa: SLF001
    if counts.total() != options["pieces"]:
        raise InternalError(f"expected {options['pieces']} pieces in all units, got {counts.total()}")
    for kind in ("count", "reduce"):
        work.store.sweep(kind)
    return counts
