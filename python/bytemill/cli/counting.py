"""Counting the pieces of files, in groups whose counts are kept until training has ended.

A run that was killed goes on without counting a file again whose group was finished. The counts of a group
are a file of their own, called after what they depend on: the pattern, the special tokens, how files are
read, and name, size and time of each file. So counts of files that have changed since are never taken.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from bytemill.cli.reading import raw_batches
from bytemill.piece_counts import PieceCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["CountFiles", "count_files"]

# A group is full with so many bytes: so much is counted again at most after a run was killed, and many small
# files share one file of counts.
GROUP_BYTES = 1 << 26

SUFFIX = ".arrow"


def count_files(
    counts: PieceCounts, files: Sequence[str], *, field: str | None, lines: bool, threads: int
) -> None:
    """Adds the pieces of files to counts."""
    batches = raw_batches(
        files, field=field, lines=lines, pattern=counts.pattern, special_tokens=counts.special_tokens
    )
    texts = (batch.texts for _, batch in batches)
    counts._add_batches(texts, num_threads=threads, ahead=True)  # noqa: SLF001 - of this package


class CountFiles:
    """The counts that are kept of a training run, in a folder beside its output."""

    def __init__(self, output: Path, *, field: str | None, lines: bool) -> None:
        """Takes the file that training will write, and how files are read."""
        self.folder = output.with_name(f"{output.name}.counts")
        self._field = field
        self._lines = lines

    def add(
        self, counts: PieceCounts, files: Sequence[str], *, threads: int, memory_limit: int | None
    ) -> None:
        """Adds the pieces of files to counts: those that are kept, and what has to be counted.

        Raises:
            OSError, ValueError, ImportError: A file cannot be read, or counts not be written.
        """
        self.folder.mkdir(exist_ok=True)
        for group in groups(files):
            path = self._path(counts, group)
            if path.exists():
                counts.merge(PieceCounts.load(path))
                continue
            counted = PieceCounts(
                pattern=counts.pattern, special_tokens=counts.special_tokens, memory_limit=memory_limit
            )
            count_files(counted, group, field=self._field, lines=self._lines, threads=threads)
            counted.save(path)
            counts.merge(counted)

    def remove(self) -> None:
        """Removes the folder and what `add` put there."""
        for path in [*self.folder.glob(f"*{SUFFIX}"), *self.folder.glob(f"*{SUFFIX}.*.tmp")]:
            path.unlink()
        self.folder.rmdir()

    def _path(self, counts: PieceCounts, group: Sequence[str]) -> Path:
        description = [counts.pattern, counts.special_tokens, self._field, self._lines, *map(identity, group)]
        digest = hashlib.sha256(json.dumps(description).encode()).hexdigest()
        return self.folder / f"{digest[:32]}{SUFFIX}"


def identity(name: str) -> tuple[str, int, int]:
    """What tells a file from others and from itself after a change."""
    path = Path(name).resolve()
    status = path.stat()
    return str(path), status.st_size, status.st_mtime_ns


def groups(files: Sequence[str]) -> Iterator[list[str]]:
    """Gives the files in groups of about `GROUP_BYTES`, in their order."""
    group: list[str] = []
    size = 0
    for name in files:
        group.append(name)
        size += Path(name).stat().st_size
        if size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
