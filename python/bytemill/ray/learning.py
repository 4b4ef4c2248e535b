"""Training in a task of Ray, on a node that has the memory."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from bytemill.jobs.plan import Plan
from bytemill.jobs.reducing import merged
from bytemill.ray.executor import Executor
from bytemill.training.counts import PieceCounts
from bytemill.training.learning import train as train_here

if TYPE_CHECKING:
    import os

    from bytemill.core import Encoding

__all__ = ["train"]


def train(
    counts: PieceCounts | Plan | str | os.PathLike[str],
    vocab_size: int,
    *,
    num_cpus: int = 1,
    memory: int | str | None = None,
    address: str | None = None,
    **options: Any,  # noqa: ANN401 - those of `bytemill.train`
) -> Encoding:
    """Learns a vocabulary in one task, on a node of the cluster that has the memory for it.

    Args:
        counts: The work folder of counted files or their plan: the task adds up the counts. Or counts
            themselves, which travel to the node.
        vocab_size: As in `bytemill.train`.
        num_cpus: The processors of the task, which are also its threads.
        memory: The bytes of memory to reserve on the node, as an integer or as "64G"; `bytemill.train` says
            how much training takes.
        address: As of `Executor`.
        **options: The other arguments of `bytemill.train`; there is no progress.

    Returns:
        The encoding, that of `bytemill.train` in one process.

    Raises:
        Exception: As `bytemill.train` and `Executor`; or units are not counted.

    Warns:
        UserWarning: Training ended before there were `vocab_size` tokens.
    """
    if not isinstance(counts, PieceCounts):
        counts = Plan.of(counts)
    encoding: Encoding
    encoding, warned = Executor(num_cpus=num_cpus, memory=memory, address=address).call(
        learn, counts, vocab_size, options
    )
    for message in warned:
        warnings.warn(message, UserWarning, stacklevel=2)
    return encoding


def learn(counts: PieceCounts | Plan, vocab_size: int, options: dict[str, Any]) -> tuple[Encoding, list[str]]:
    """Learns a vocabulary in a process of Ray, and returns the texts of warnings too."""
    if isinstance(counts, Plan):
        counts = merged(counts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoding = train_here(counts, vocab_size, progress=False, **options)
    return encoding, [str(warning.message) for warning in caught]
