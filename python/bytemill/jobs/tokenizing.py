"""Writing the shards of a plan's units."""

from __future__ import annotations

import functools
import pickle
import warnings
from typing import TYPE_CHECKING, Any

from bytemill._arguments import thread_count
from bytemill._named import encoding_of
from bytemill.core import __version__
from bytemill.jobs.compacting import Manifest
from bytemill.jobs.executors import checked_executor
from bytemill.jobs.plan import Plan
from bytemill.jobs.work import Work
from bytemill.progress import check_callable
from bytemill.shards.manifest import Provenance
from bytemill.shards.options import SHARD_TOKENS, described
from bytemill.shards.writer import write_described
from bytemill.special import NO_TOKENS

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from bytemill._calls import Tokens
    from bytemill.core import Encoding
    from bytemill.documents.sources import Reading
    from bytemill.jobs.executors import Executor
    from bytemill.jobs.work import Report
    from bytemill.shards.options import Format
    from bytemill.special import AllowedSpecial, DisallowedSpecial

__all__ = ["begin", "check_options", "shard_unit", "write_left", "write_shards"]

NAME = "shard.json"


def write_shards(  # noqa: PLR0913 - all but the first two have names
    plan: Plan | str | os.PathLike[str],
    encoding: Encoding | str,
    *,
    format: Format = "bin",  # noqa: A002 - nothing else is meant
    shard_tokens: int | None = SHARD_TOKENS,
    prepend: Tokens = None,
    append: Tokens = None,
    dtype: npt.DTypeLike | None = None,
    allowed_special: AllowedSpecial = NO_TOKENS,
    disallowed_special: DisallowedSpecial = (),
    executor: Executor | None = None,
    progress: Report | None = None,
) -> Manifest:
    """Encodes the documents of all units that are not yet written, each into shards of its own.

    The same plan and arguments give the same files, whatever runs the units. All ids, in the order of the
    manifest, are those of `bytemill.write_shards` for the same files; but a unit ends a shard. `compact`
    makes large shards of them.

    Args:
        plan: The plan, or its work folder.
        encoding: The encoding, or the name of an encoding or model. Processes and machines get it by value,
            and check that it is the same.
        format: As in `bytemill.write_shards`.
        shard_tokens: As in `bytemill.write_shards`, within a unit.
        prepend: As in `bytemill.write_shards`.
        append: As in `bytemill.write_shards`.
        dtype: As in `bytemill.write_shards`.
        allowed_special: As in `bytemill.write_shards`.
        disallowed_special: As in `bytemill.write_shards`.
        executor: What runs the units; `Local()` if not given.
        progress: Called with a `Progress` when a step begins, and whenever a unit is done.

    Returns:
        What was written: also in `manifest.json` in the work folder, which is written last.

    Raises:
        TypeError: An argument is of a wrong type.
        ValueError: An argument has no meaning, the shards were begun with other options or another encoding,
            a file has changed since the plan or is not what its name says, or no file has a document.
        JobError: Three processes have died of a unit.
        OSError, ImportError, PatternError: As `bytemill.write_shards`.

    Complexity:
        As `bytemill.write_shards`, divided by the processes, and reading what was written for its SHA-256.
    """
    executor = checked_executor(executor)
    check_callable(progress)
    encoding = encoding_of(encoding)
    plan = begin(
        plan,
        encoding,
        format=format,
        shard_tokens=shard_tokens,
        prepend=prepend,
        append=append,
        dtype=dtype,
        allowed_special=allowed_special,
        disallowed_special=disallowed_special,
    )
    write_left(plan, encoding, executor, progress)
    return Manifest.finish(plan)


def begin(plan: Plan | str | os.PathLike[str], encoding: Encoding, **options: Any) -> Plan:  # noqa: ANN401
    """Returns the plan, once its work folder has these options of `write_shards`.

    Raises:
        Exception: As `write_shards`.
    """
    plan = Plan.of(plan)
    wanted = described(encoding, plan.reading, **options, name="shard")
    contents = {"bytemill": wanted.bytemill, "encoding": wanted.encoding, "options": wanted.options}
    Work(plan.work).write_once(NAME, contents, what="shards of other options or of another encoding")
    return plan


def check_options(encoding: Encoding, reading: Reading, **options: Any) -> None:  # noqa: ANN401
    """Raises now what `begin` would raise once there is a plan; it warns then.

    Args:
        encoding: The encoding.
        reading: How files are read.
        **options: Those of `write_shards`.

    Raises:
        Exception: As `write_shards`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        described(encoding, reading, **options, name="shard")


def write_left(plan: Plan, encoding: Encoding, executor: Executor, progress: Report | None = None) -> None:
    """Writes the units that are not yet written; arguments as `write_shards`.

    Raises:
        Exception: As `write_shards`.
    """
    task = functools.partial(shard_unit, plan.work, encoding=EncodingValue(encoding))
    Work(plan.work).run_left(
        "shard", plan.largest_first(), task, executor, progress=progress, sizes=plan.sizes
    )


def shard_unit(
    work: str | os.PathLike[str],
    number: int,
    *,
    encoding: EncodingValue,
    num_threads: int | None = None,
) -> None:
    """Writes the shards of a unit, unless they are written: the task of an executor.

    Args:
        work: The work folder, which has a plan and the options of `write_shards`.
        number: The number of the unit, from 0.
        encoding: The encoding.
        num_threads: As in `bytemill.write_shards`.

    Raises:
        Exception: As `write_shards`.
    """
    folder, plan = Work(work), Plan.load(work)
    unit = plan.unit(number)
    if folder.is_done("shard", number):
        return
    wanted = Provenance(**folder.options("shard"))
    check_encoding(encoding.value, wanted)
    with folder.unit("shard", number) as (outputs, sums), plan.unchanged(unit):
        written = write_described(
            unit.ranges,
            outputs / f"unit-{number:06}",
            encoding.value,
            wanted,
            num_threads=thread_count(num_threads),
            progress=lambda now: sums.update(text_bytes=now.text_bytes),
            may_be_empty=True,
        )
        sums |= {"documents": written.documents, "tokens": written.tokens}


class EncodingValue:
    """An encoding as a part of tasks: a process unpickles it once, and keeps what it learns of text.

    Attributes:
        value: The encoding.
    """

    def __init__(self, value: Encoding) -> None:
        """Takes the encoding."""
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (pickle.dumps(self.value),)


@functools.lru_cache(maxsize=1)
def unpickled(data: bytes) -> EncodingValue:
    """Returns the encoding of a pickle, the same object as for the last call."""
    return EncodingValue(pickle.loads(data))  # noqa: S301 - it is part of a pickle


def check_encoding(encoding: Encoding, wanted: Provenance) -> None:
    """Raises `ValueError` if an encoding is not the one that shards are written with.

    An encoding that comes with the package is pickled by its name, which may stand for another one elsewhere.
    """
    if encoding.sha256 != wanted.encoding["sha256"]:
        raise ValueError(
            f"expected the encoding {wanted.encoding['name']} with the SHA-256 {wanted.encoding['sha256']}, "
            f"as bytemill {wanted.bytemill} has it, got {encoding.name} with {encoding.sha256} of bytemill "
            f"{__version__}"
        )
