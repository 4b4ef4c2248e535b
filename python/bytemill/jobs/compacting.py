"""Few large shards of the many that units have written."""

from __future__ import annotations

import functools
import os
from itertools import starmap
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytemill.core import __version__
from bytemill.errors import InternalError
from bytemill.jobs.executors import checked_executor
from bytemill.jobs.plan import Plan
from bytemill.jobs.stores import Facts
from bytemill.jobs.work import FOLDERS, Work, json_of
from bytemill.progress import check_callable
from bytemill.shards.manifest import NAME as PROVENANCE
from bytemill.shards.manifest import check_contents
from bytemill.shards.options import SHARD_TOKENS, checked_shard_tokens, format_named
from bytemill.shards.token_ranges import (
    ItemRange,
    cut_items,
    cut_tokens,
    item_tokens,
    read_range,
    stored_tokens,
)
from bytemill.shards.writer import shard_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from bytemill.jobs.executors import Executor
    from bytemill.jobs.work import Report
    from bytemill.shards.token_files import Ends, Ids

__all__ = ["Manifest", "UnitShards", "begin", "compact", "compact_left", "compact_shard", "finish"]

NAME = "compact.json"


def compact(
    plan: Plan | str | os.PathLike[str],
    *,
    shard_tokens: int | None = SHARD_TOKENS,
    executor: Executor | None = None,
    progress: Report | None = None,
) -> dict[str, Facts]:
    """Copies the shards of all units into few large ones, in the folder `compacted` of the work folder.

    In "bin", "npy" and "megatron" they are byte for byte those that `bytemill.write_shards` writes of the
    same files. In "parquet" a shard is full with the row group of a unit's shard that brings it to
    `shard_tokens`. The shards of the units stay.

    Args:
        plan: The plan, or its work folder.
        shard_tokens: As in `bytemill.write_shards`.
        executor: What runs the tasks, one for each new shard; `Local()` if not given.
        progress: Called with a `Progress` when this begins, and whenever a new shard is done.

    Returns:
        The files by their names in the work folder, in order, with their sizes and SHA-256: also in
        `compacted/manifest.json`, which is written last.

    Raises:
        TypeError: An argument is of a wrong type.
        ValueError: A unit is not written, or a shard has changed since; or compaction was begun with another
            `shard_tokens`.
        JobError: Three processes have died of a shard.
        OSError: A file cannot be read or written.
        ImportError: Parquet needs `pyarrow`, which is not installed.

    Complexity:
        Reads and writes each id once, divided by the processes. "megatron" keeps 8 bytes for each document of
        a shard in memory, and "parquet" a row group.
    """
    executor = checked_executor(executor)
    check_callable(progress)
    plan, _ = begin(plan, shard_tokens)
    compact_left(plan, executor, progress)
    return finish(plan)


class Inputs:
    """The shards of all units, as numbered by `ItemRange`."""

    def __init__(self, folder: str) -> None:
        """Takes the work folder, whose shards are all written.

        Raises:
            ValueError: Its manifest is none.
            OSError: There is no manifest, or it cannot be read.
        """
        self._work = Work(folder)
        self.manifest = Manifest.load(folder)
        self.kind = format_named(self.manifest.options["format"])
        self.dtype: str = self.manifest.options["dtype"]
        self._files = {name: facts for unit in self.manifest.units for name, facts in unit.files.items()}
        first, *_ = self.kind.suffixes
        self.names: list[str] = []
        # The documents of units that have no file because all are empty, by the number in place of a shard's.
        self._empty: dict[int, int] = {}
        for unit in self.manifest.units:
            names = [name.removesuffix(first) for name in unit.files if name.endswith(first)]
            if self.kind.whole_documents and not names:
                self._empty[len(self.names)] = unit.documents
                names = [""]
            self.names += names

    def open(self, shard: int, suffix: str) -> IO[bytes]:
        """Opens the file of a shard that has this suffix.

        Raises:
            ValueError: Its size has changed.
            OSError: It cannot be read.
        """
        name = f"{self.names[shard]}{suffix}"
        self._work.checked({name: self._files[name]})
        return self._work.store.open(name)

    def cuts(self, shard_tokens: int) -> Iterator[list[ItemRange]]:
        """Yields which parts of shards make up each new one."""
        if self.kind.whole_documents:
            return cut_items(map(self._item_tokens, range(len(self.names))), shard_tokens)
        sizes = (self._files[f"{name}{self.kind.suffixes[0]}"].size for name in self.names)
        return cut_tokens((stored_tokens(self.kind, self.dtype, size) for size in sizes), shard_tokens)

    def _item_tokens(self, shard: int) -> npt.NDArray[np.int64]:
        if shard in self._empty:
            return np.zeros(self._empty[shard], np.int64)
        return item_tokens(self.kind, functools.partial(self.open, shard))

    def read(self, part: ItemRange) -> Iterator[tuple[Ids, Ends]]:
        """Yields the ids of a part of a shard, and where documents end, as `read_range`."""
        if part.shard in self._empty:
            return iter([(np.zeros(0, self.dtype), np.zeros(part.end - part.first, np.int64))])
        return read_range(self.kind, self.dtype, self.open, part)


def begin(
    plan: Plan | str | os.PathLike[str], shard_tokens: int | None, number: int | None = None
) -> tuple[Plan, int]:
    """Returns the plan and the number of new shards, once its work folder says of which parts they are made.

    Args:
        plan: As in `compact`.
        shard_tokens: As in `compact`.
        number: The number of the shard that will be written; `None` for all.

    Raises:
        Exception: As `compact`.
    """
    plan = Plan.of(plan)
    shard_tokens = checked_shard_tokens(shard_tokens)
    inputs = Inputs(plan.work)
    shards = list(inputs.cuts(inputs.manifest.tokens if shard_tokens is None else shard_tokens))
    if number is not None:
        check_number(number, len(shards))
    contents = {"bytemill": __version__, "shard_tokens": shard_tokens, "shards": shards}
    Work(plan.work).write_once(NAME, contents, what="compacted shards of another size")
    return plan, len(shards)


def check_number(number: int, shards: int) -> None:
    """Raises `ValueError` if there is no new shard with this number."""
    if not 0 <= number < shards:
        raise ValueError(f"expected a shard from 0 to {shards - 1}, got {number}")


def compact_left(plan: Plan, executor: Executor, progress: Report | None = None) -> None:
    """Writes the new shards that are not yet written; arguments as `compact`.

    Raises:
        Exception: As `compact`.
    """
    work = Work(plan.work)
    numbers = range(len(work.options("compact")["shards"]))
    task = functools.partial(compact_shard, plan.work)
    work.run_left("compact", numbers, task, executor, progress=progress)


def compact_shard(work: str | os.PathLike[str], number: int) -> None:
    """Writes a new shard, unless it is written: the task of an executor.

    Args:
        work: The work folder, where `begin` was called.
        number: The number of the new shard, from 0.

    Raises:
        Exception: As `compact`.
    """
    folder = Work(work)
    options = folder.options("compact")
    shards = options["shards"]
    check_number(number, len(shards))
    if folder.is_done("compact", number):
        return
    inputs = Inputs(os.fspath(work))
    names = shard_names({**inputs.manifest.options, "shard_tokens": options["shard_tokens"]}, number)
    with folder.unit("compact", number) as (outputs, sums):
        file = inputs.kind([outputs / name for name in names], inputs.dtype)
        tokens = 0
        try:
            for part in starmap(ItemRange, shards[number]):
                for ids, ends in inputs.read(part):
                    file.write(ids, ends)
                    tokens += len(ids)
            file.close()
        except BaseException:
            file.abandon()
            raise
        sums["tokens"] = tokens


def finish(plan: Plan) -> dict[str, Facts]:
    """Writes the manifest of new shards that are all written, and returns their files.

    Raises:
        ValueError: One is not written.
        OSError: The manifest cannot be written.
    """
    work, manifest = Work(plan.work), Manifest.load(plan.work)
    options = work.options("compact")
    commits = work.all_commits("compact", len(options["shards"]))
    if (tokens := sum(commit.sums["tokens"] for commit in commits)) != manifest.tokens:
        raise InternalError(f"expected {manifest.tokens} token IDs in all shards, got {tokens}")
    contents = {
        "bytemill": manifest.bytemill,
        "encoding": manifest.encoding,
        "options": {**manifest.options, "shard_tokens": options["shard_tokens"]},
        "documents": manifest.documents,
        "tokens": tokens,
        "shards": [
            {
                "tokens": commit.sums["tokens"],
                "files": {name: facts._asdict() for name, facts in commit.files.items()},
            }
            for commit in commits
        ],
    }
    work.store.write(f"{FOLDERS['compact']}/{MANIFEST}", json_of(contents))
    work.store.sweep("compact")
    return {name: facts for commit in commits for name, facts in commit.files.items()}


# `manifest.json`: the shards of all units, in order.

MANIFEST = "manifest.json"


class UnitShards(NamedTuple):
    """The shards of a unit.

    Attributes:
        files: The files, in order, by their names in the work folder.
        documents: Number of documents in them.
        tokens: Number of ids in them.
    """

    files: dict[str, Facts]
    documents: int
    tokens: int


class Manifest(NamedTuple):
    """The shards of all units, in the order of the documents.

    Attributes:
        bytemill: The version that wrote them.
        encoding: The name, the SHA-256 and the number of ids of the encoding.
        options: All arguments that the bytes of the shards depend on.
        units: The shards of each unit.
    """

    bytemill: str
    encoding: dict[str, str | int]
    options: dict[str, Any]
    units: list[UnitShards]

    @property
    def documents(self) -> int:
        """Number of documents in all shards."""
        return sum(unit.documents for unit in self.units)

    @property
    def tokens(self) -> int:
        """Number of ids in all shards."""
        return sum(unit.tokens for unit in self.units)

    @property
    def files(self) -> list[str]:
        """The names of all files in the work folder, in order."""
        return [name for unit in self.units for name in unit.files]

    @classmethod
    def finish(cls, plan: Plan | str | os.PathLike[str]) -> Manifest:
        """Writes the manifest of units that are all written, and returns it.

        Raises:
            ValueError: A unit is not written, a file has another size now, or there is no token in any unit.
            OSError: A file is missing, or the manifest cannot be written.
        """
        plan = Plan.of(plan)
        work = Work(plan.work)
        commits = work.all_commits("shard", len(plan.units))
        for commit in commits:
            work.checked(commit.files)
        units = [
            UnitShards(
                {name: facts for name, facts in commit.files.items() if not name.endswith(PROVENANCE)},
                commit.sums["documents"],
                commit.sums["tokens"],
            )
            for commit in commits
        ]
        manifest = cls(**work.options("shard"), units=units)
        check_contents(manifest.documents, manifest.tokens)
        contents = {
            "bytemill": manifest.bytemill,
            "encoding": manifest.encoding,
            "options": manifest.options,
            "documents": manifest.documents,
            "tokens": manifest.tokens,
            "sources": [
                {"path": name, "size": size, "version": version}
                for name, (size, version) in plan.sources.items()
            ],
            "units": [
                {
                    "folder": f"{FOLDERS['shard']}/unit-{number:06}",
                    "ranges": planned.ranges,
                    "documents": unit.documents,
                    "tokens": unit.tokens,
                    "files": {name: facts._asdict() for name, facts in unit.files.items()},
                }
                for number, (planned, unit) in enumerate(zip(plan.units, units, strict=True))
            ],
        }
        work.store.write(MANIFEST, json_of(contents))
        work.store.sweep("shard")
        return manifest

    @classmethod
    def load(cls, work: str | os.PathLike[str]) -> Manifest:
        """Reads the manifest of a work folder.

        Raises:
            ValueError: It is not a manifest.
            OSError: There is none, as long as units are left, or it cannot be read.
        """
        folder = Work(work)
        stored = folder.read(MANIFEST)
        try:
            units = [
                UnitShards(
                    {name: Facts(**facts) for name, facts in unit["files"].items()},
                    unit["documents"],
                    unit["tokens"],
                )
                for unit in stored["units"]
            ]
            return cls(stored["bytemill"], stored["encoding"], stored["options"], units)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{folder.store.path(MANIFEST)}: expected a manifest: {error!r}") from error
