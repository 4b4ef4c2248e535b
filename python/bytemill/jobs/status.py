"""How far a job is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bytemill.jobs.plan import Plan
from bytemill.jobs.work import Work

if TYPE_CHECKING:
    import os

__all__ = ["Status", "status"]


class Status(NamedTuple):
    """How far a job is.

    Attributes:
        units: The number of units.
        size: The bytes of all units, as stored.
        counted: How many units are counted; `None` if that has not begun.
        counted_size: The bytes of those.
        pieces: The number of pieces in them.
        parts: How many parts the counts of all units are added up in; `None` if that has not begun.
        merged: How many of them are done.
        written: How many units are written to shards; `None` if that has not begun.
        written_size: The bytes of those.
        documents: The number of documents in them.
        tokens: The number of ids in their shards.
        compacted: How many large shards are made of those; `None` if that has not begun.
    """

    units: int
    size: int
    counted: int | None
    counted_size: int
    pieces: int
    parts: int | None
    merged: int
    written: int | None
    written_size: int
    documents: int
    tokens: int
    compacted: int | None

    @property
    def is_done(self) -> bool:
        """Returns whether all units are done, of counting and of shards as far as they have begun."""
        begun = [done for done in (self.counted, self.written) if done is not None]
        return bool(begun) and all(done == self.units for done in begun) and self.merged == (self.parts or 0)


def status(plan: Plan | str | os.PathLike[str]) -> Status:
    """Returns how far a job is.

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
        size=sum(unit.size for unit in plan.units),
        counted=len(counts) if work.has_begun("count") else None,
        counted_size=sum(plan.units[number].size for number in counts),
        pieces=total("pieces"),
        parts=parts,
        merged=0 if parts is None else len(work.done("reduce")),
        written=len(shards) if work.has_begun("shard") else None,
        written_size=sum(plan.units[number].size for number in shards),
        documents=total("documents"),
        tokens=total("tokens"),
        compacted=len(work.done("compact")) if work.has_begun("compact") else None,
    )
