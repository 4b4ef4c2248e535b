"""How far a step of a job is, while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytemill.jobs.work import Kind

__all__ = ["Progress", "Report"]


class Progress(NamedTuple):
    """How far a step of a job is.

    Attributes:
        step: "count", "reduce" (adding up the counts of all units), "shard" or "compact".
        done: How many units, parts of the counts, or large shards are done.
        units: How many there are.
        size: The bytes of the files of the units that are done, as stored; 0 in "reduce" and "compact".
    """

    step: Kind
    done: int
    units: int
    size: int


# What is called when a step begins, and after each unit.
Report: TypeAlias = "Callable[[Progress], object]"
