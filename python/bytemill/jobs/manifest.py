"""`manifest.json`: the shards of all units, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.jobs.plan import Plan
from bytemill.jobs.stores import Facts
from bytemill.jobs.work import FOLDERS, Work, json_of
from bytemill.shards.manifest import NAME as PROVENANCE
from bytemill.shards.manifest import check_contents

if TYPE_CHECKING:
    import os

__all__ = ["Manifest", "UnitShards"]

NAME = "manifest.json"


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
            ValueError: A unit is not written, or there is no token in any.
            OSError: The manifest cannot be written.
        """
        plan = Plan.of(plan)
        work = Work(plan.work)
        commits = work.all_commits("shard", len(plan.units))
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
        work.store.write(NAME, json_of(contents))
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
        stored = folder.read(NAME)
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
            raise ValueError(f"{folder.store.path(NAME)}: expected a manifest: {error!r}") from error
