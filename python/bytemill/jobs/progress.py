"""The progress of a step of a job, while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from bytemill.jobs.work import Kind

__all__ = ["Progress", "Report"]


class Progress(NamedTuple):
    """The progress of a step of a job.

    Attributes:
        step: "count", "reduce" (adding up the counts of all units), "shard" or "compact".
        done: How many units, parts of the counts, or large shards are done.
        units: How many there are.
        source_bytes: The bytes of the files of the units that are done, as stored; 0 in other steps.
        text_bytes: The bytes of text of the units that this call has done, as UTF-8; 0 in other steps.
        tokens: The ids of the units that this call has written to shards.
    """

    step: Kind
    done: int
    units: int
    source_bytes: int
    text_bytes: int = 0
    tokens: int = 0


# What is called when a step begins, and after each unit.
Report: TypeAlias = "Callable[[Progress], object]"
