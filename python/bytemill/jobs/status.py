"""The status of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bytemill.jobs.plan import Plan
from bytemill.jobs.work import Work

if TYPE_CHECKING:
    import os

__all__ = ["Status", "status"]


class Status(NamedTuple):
    """The status of a job.

    Attributes:
        units: The number of units.
        source_bytes: The bytes of the files of all units, as stored.
        units_counted: How many units are counted; `None` if counting has not begun.
        source_bytes_counted: The bytes of the files of those.
        pieces: The number of pieces in them.
        parts: The number of parts of the sum of all counts; `None` if adding up has not begun.
        parts_merged: How many of them are done.
        units_written: How many units are written to shards; `None` if writing has not begun.
        source_bytes_written: The bytes of the files of those.
        documents: The number of documents in them.
        tokens: The number of ids in their shards.
        shards_compacted: How many large shards are written; `None` if compaction has not begun.
    """

    units: int
    source_bytes: int
    units_counted: int | None
    source_bytes_counted: int
    pieces: int
    parts: int | None
    parts_merged: int
    units_written: int | None
    source_bytes_written: int
    documents: int
    tokens: int
    shards_compacted: int | None

    @property
    def is_done(self) -> bool:
        """Returns whether all units are done, of counting and of shards as far as they have begun."""
        begun = [done for done in (self.units_counted, self.units_written) if done is not None]
        return (
            bool(begun)
            and all(done == self.units for done in begun)
            and self.parts_merged == (self.parts or 0)
        )


def status(plan: Plan | str | os.PathLike[str]) -> Status:
    """Returns the status of a job.

    Args:
        plan: The plan, or its work folder.

    Raises:
        ValueError: The folder has no plan, or a commit is malformed.
        OSError: The folder cannot be read.

    Complexity:
        Reads a small file for each unit that is done.
    """
    plan = Plan.of(plan)
    work = Work(plan.work)
    counts, shards = work.commits("count"), work.commits("shard")

    parts = len(work.options("reduce")["bounds"]) + 1 if work.has_begun("reduce") else None

    def total(name: str) -> int:
        return sum(commit.sums.get(name, 0) for commit in [*counts.values(), *shards.values()])

    return Status(
        units=len(plan.units),
        source_bytes=sum(unit.size for unit in plan.units),
        units_counted=len(counts) if work.has_begun("count") else None,
        source_bytes_counted=sum(plan.units[number].size for number in counts),
        pieces=total("pieces"),
        parts=parts,
        parts_merged=0 if parts is None else len(work.done("reduce")),
        units_written=len(shards) if work.has_begun("shard") else None,
        source_bytes_written=sum(plan.units[number].size for number in shards),
        documents=total("documents"),
        tokens=total("tokens"),
        shards_compacted=len(work.done("compact")) if work.has_begun("compact") else None,
    )
