"""Writing files of token ids on Ray, by units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill import jobs
from bytemill._named import encoding_of
from bytemill.jobs.plan import UNIT_BYTES
from bytemill.jobs.tokenizing import check_options
from bytemill.progress import check_callable
from bytemill.ray.counting import planned
from bytemill.ray.executor import Executor

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from bytemill.core import Encoding
    from bytemill.documents.blocks import InvalidUtf8
    from bytemill.documents.sources import Field
    from bytemill.jobs.progress import Report

__all__ = ["write_shards"]


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
    check_options(encoding, **options, field=field, lines=lines, errors=errors)
    plan = planned(source, to, field=field, lines=lines, errors=errors, unit_bytes=unit_bytes)
    return jobs.write_shards(plan, encoding, executor=executor, progress=progress, **options)
