"""The work folder: what is written once, commits, attempts."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from bytemill.io.atomic import discard, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Commit", "Kind", "Work"]

Kind: TypeAlias = Literal["count"]

# A unit whose process died so often is not begun again: a document that takes all memory would kill every
# worker, for ever.
MOST_DEATHS = 3

CHUNK = 1 << 20


class Commit(NamedTuple):
    """Says that a unit is done.

    Attributes:
        size: Bytes of its output.
        sha256: Their SHA-256.
        total: The number of pieces counted.
    """

    size: int
    sha256: str
    total: int


class Work:
    """A work folder, which several processes and machines may share."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Takes the folder, which need not exist."""
        self.folder = Path(folder)

    def write_once(self, name: str, contents: dict[str, Any], *, what: str) -> None:
        """Writes a JSON file, or checks that it has these contents.

        Raises:
            ValueError: It has others: the folder belongs to another job.
            OSError: It cannot be written.
        """
        path = self.folder / name
        data = json.dumps(contents, indent=1, ensure_ascii=False).encode() + b"\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{name}.{os.urandom(8).hex()}.tmp")
        try:
            write_atomically(temporary, data)
            # Unlike renaming, this fails if there is a file, which another process may write right now.
            os.link(temporary, path)
        except FileExistsError:
            if path.read_bytes() != data:
                raise ValueError(
                    f"{path}: the folder belongs to a job with {what}: give another work folder, or remove "
                    "this one"
                ) from None
        finally:
            discard(temporary)

    def read(self, name: str) -> dict[str, Any]:
        """Returns the contents of a JSON file.

        Raises:
            ValueError: It is no JSON object.
            OSError: It cannot be read.
        """
        path = self.folder / name
        try:
            contents = json.loads(path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: expected JSON: {error}") from error
        if not isinstance(contents, dict):
            raise ValueError(f"{path}: expected a JSON object, got {type(contents).__name__}")  # noqa: TRY004
        return contents

    def output(self, kind: Kind, number: int) -> Path:
        """Returns the file for the output of a unit; its folder exists then."""
        folder = self.folder / f"{kind}s"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"unit-{number:06}.parquet"

    # --- Commits ---

    def commit(self, kind: Kind, number: int, total: int) -> None:
        """Writes the commit of a unit whose output is there."""
        path = self.output(kind, number)
        commit = Commit(path.stat().st_size, sha256_of(path), total)
        folder = self.folder / "commits"
        folder.mkdir(exist_ok=True)
        write_atomically(folder / f"{kind}-{number:06}.json", json.dumps(commit._asdict()).encode() + b"\n")

    def is_done(self, kind: Kind, number: int) -> bool:
        """Returns whether a unit has a commit."""
        return (self.folder / "commits" / f"{kind}-{number:06}.json").exists()

    def commits(self, kind: Kind) -> dict[int, Commit]:
        """Returns the commits of all units that are done.

        Raises:
            ValueError: One is malformed.
        """
        found = {}
        for path in sorted((self.folder / "commits").glob(f"{kind}-*.json")):
            fields = self.read(f"commits/{path.name}")
            try:
                found[int(path.stem.removeprefix(f"{kind}-"))] = Commit(**fields)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}: expected a commit: {error}") from error
        return found

    def checked_output(self, kind: Kind, number: int, commit: Commit) -> Path:
        """Returns the output of a unit that is done.

        Raises:
            ValueError: It is not what was committed.
            OSError: It cannot be read.
        """
        path = self.output(kind, number)
        if (path.stat().st_size, sha256_of(path)) != (commit.size, commit.sha256):
            raise ValueError(
                f"{path}: expected the {commit.size} bytes that were committed: the file has changed since; "
                f"remove {kind}-{number:06}.json from {self.folder / 'commits'} to do the unit again"
            )
        return path

    # --- Attempts ---

    @contextmanager
    def attempt(self, kind: Kind, number: int) -> Iterator[None]:
        """Marks a unit as begun while the body runs; a mark stays if the process dies.

        Raises:
            RuntimeError: So many processes died of the unit, or are at it, that it is not begun again.
        """
        folder = self.folder / "attempts"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{kind}-{number:06}"
        if len(list(folder.glob(f"{name}.*"))) >= MOST_DEATHS:
            raise RuntimeError(
                f"unit {number} was begun {MOST_DEATHS} times without an end: processes were killed, perhaps "
                f"for want of memory; remove {folder / name}.* to try again"
            )
        mark = folder / f"{name}.{os.urandom(8).hex()}"
        mark.touch()
        try:
            yield
        finally:
            discard(mark)

    def forget_attempts(self, kind: Kind, number: int) -> None:
        """Removes the marks of processes that died."""
        for mark in (self.folder / "attempts").glob(f"{kind}-{number:06}.*"):
            discard(mark)


def sha256_of(path: Path) -> str:
    """Returns the SHA-256 of a file, as hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            digest.update(data)
    return digest.hexdigest()
