"""Training on corpora, and writing them to shards, on Ray."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from bytemill import jobs
from bytemill._arguments import repeatable
from bytemill._named import encoding_of
from bytemill.documents.sources import Reading
from bytemill.jobs.plan import UNIT_BYTES, Plan
from bytemill.jobs.reducing import merged
from bytemill.jobs.tokenizing import check_options
from bytemill.progress import check_callable
from bytemill.ray.datasets import planned
from bytemill.ray.executor import Executor
from bytemill.training.counts import PieceCounts
from bytemill.training.learning import train as train_here

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from bytemill.core import Encoding
    from bytemill.documents.sources import Field, InvalidUtf8
    from bytemill.jobs.work import Report

__all__ = ["train", "write_shards"]

# Training in a task of Ray, on a node that has the memory.


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


# Writing files of token ids on Ray, by units.


def write_shards(  # noqa: PLR0913 - all but the first two have names
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | jobs.Plan,
    encoding: Encoding | str,
    *,
    to: str | os.PathLike[str] | None = None,
    field: Field = None,
    lines: bool = False,
    errors: InvalidUtf8 = "strict",
    unit_bytes: int | str = UNIT_BYTES,
    num_cpus: int = 1,
    address: str | None = None,
    progress: Report | None = None,
    **options: Any,  # noqa: ANN401 - those of `bytemill.jobs.write_shards`
) -> jobs.Manifest:
    """Encodes the documents of files into files of token ids, on a cluster of Ray.

    If the call is interrupted for whatever reason, the same call continues with the units that are left.

    Args:
        source: Files and folders, or a plan, as of `count_pieces`.
        encoding: The encoding, or the name of an encoding or model.
        to: The work folder, which all nodes share; that of a plan if `source` is one. It may have counts of
            the same files.
        field: As in `bytemill.count_pieces`.
        lines: As in `bytemill.count_pieces`.
        errors: As in `bytemill.count_pieces`.
        unit_bytes: As in `bytemill.jobs.plan`.
        num_cpus: The processors of a task, which are also its threads.
        address: As of `Executor`.
        progress: As in `bytemill.jobs.write_shards`.
        **options: The other arguments of `bytemill.jobs.write_shards`: `format`, `shard_tokens`, `prepend`,
            `append` and so on.

    Returns:
        What was written, as of `bytemill.jobs.write_shards`.

    Raises:
        Exception: As `bytemill.jobs.plan`, `bytemill.jobs.write_shards` and `Executor`.

    Complexity:
        As `bytemill.jobs.write_shards`.
    """
    executor = Executor(num_cpus=num_cpus, address=address)
    # All else is checked before there is anything in the work folder.
    check_callable(progress)
    encoding = encoding_of(encoding)
    reading = Reading.checked(field, lines, errors)
    options = repeatable(options)
    check_options(encoding, reading, **options)
    plan = planned(source, to, reading, unit_bytes)
    return jobs.write_shards(plan, encoding, executor=executor, progress=progress, **options)
