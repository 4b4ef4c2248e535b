"""Counting the blocks of a dataset of Ray, as what it is written to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ray.data import Datasink
from ray.data.block import BlockAccessor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytemill.jobs.columns import ColumnCounter, Run

__all__ = ["CountsSink"]

# Ray bundles smaller blocks, so that a task counts so much into one table.
LEAST_BYTES = 256 << 20


class CountsSink(Datasink):  # type: ignore[misc] # Ray is not installed where types are checked
    """Counts all blocks of a task into one table.

    That is not done by actors that keep counts between calls: Ray takes a block for done when the call has
    returned, so counts are lost with an actor that dies, and the last ones always.

    Attributes:
        runs: The counts of the successful attempt of each task, once the dataset is written.
    """

    def __init__(self, counter: ColumnCounter) -> None:
        """Takes what counts a column."""
        self._counter = counter
        self.runs: list[Run] = []

    def write(self, blocks: Iterable[Any], ctx: Any) -> Run:  # noqa: ANN401, ARG002 - Ray's interface
        """Counts the blocks of one task, in a process of Ray."""
        return self._counter.count(BlockAccessor.for_block(block).to_arrow() for block in blocks)

    def on_write_complete(self, write_result: Any) -> None:  # noqa: ANN401 - Ray's interface
        """Takes the results of the tasks."""
        self.runs = list(write_result.write_returns)

    @property
    def min_bytes_per_write(self) -> int:
        """The bytes of blocks that a task gets, at least."""
        return LEAST_BYTES
