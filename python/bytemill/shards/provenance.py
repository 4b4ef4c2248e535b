"""What was written from what, and how far it came: `provenance.json` beside the shards.

The file is the truth about a folder: a shard is written when this says so. It is replaced as a whole whenever
a shard is done, so at any moment it tells where to go on. It holds no clock and no host: the same sources and
options give the same file.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.formats.atomic import create, named, replacing
from bytemill.shards.documents import Place, SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["NAME", "TEMPORARY", "Cursor", "Provenance", "Shard", "begun", "claimed", "save"]

NAME = "provenance.json"

# How names of files end that are not whole yet.
TEMPORARY = ".tmp"


class Cursor(NamedTuple):
    """Where the next shard begins.

    Attributes:
        place: The place of a block.
        documents: How many documents of that block are in shards already.
        tokens: How many of its ids are.
    """

    place: Place = Place()
    documents: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class Shard:
    """A shard that is done.

    Attributes:
        files: The names of its files, and their sizes in bytes.
        documents: How many documents end in it.
        tokens: How many ids are in it.
    """

    files: dict[str, int]
    documents: int
    tokens: int


@dataclass(frozen=True)
class Provenance:
    """What a folder of shards was written from, and how far that came.

    Attributes:
        bytemill: The version that wrote it.
        encoding: The name, the SHA-256 and the number of ids of the encoding.
        options: All arguments that decide which bytes are written.
        sources: The files that shards were written from, in order. Documents that were not in files are not
            listed.
        shards: The shards that are done, in order.
        next: Where the next one begins; `None` if all is written.
    """

    bytemill: str
    encoding: dict[str, str | int]
    options: dict[str, Any]
    sources: tuple[SourceFile, ...] = ()
    shards: tuple[Shard, ...] = ()
    next: Cursor | None = field(default_factory=Cursor)

    @property
    def documents(self) -> int:
        """How many documents end in the shards."""
        return sum(shard.documents for shard in self.shards)

    @property
    def tokens(self) -> int:
        """How many ids are in the shards."""
        return sum(shard.tokens for shard in self.shards)

    def to_json(self) -> str:
        """Gives the contents of the file."""
        described = {
            "bytemill": self.bytemill,
            "encoding": self.encoding,
            "options": self.options,
            "documents": self.documents,
            "tokens": self.tokens,
            "complete": self.next is None,
            "next": None
            if self.next is None
            else {**self.next._asdict(), "place": self.next.place._asdict()},
            "sources": [source._asdict() for source in self.sources],
            "shards": [asdict(shard) for shard in self.shards],
        }
        return json.dumps(described, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, contents: str | bytes) -> Provenance:
        """Takes the contents of the file.

        Raises:
            ValueError: They are something else.
        """
        try:
            read = json.loads(contents)
            cursor = read["next"]
            found = cls(
                bytemill=read["bytemill"],
                encoding=read["encoding"],
                options=read["options"],
                sources=tuple(SourceFile(**source) for source in read["sources"]),
                shards=tuple(Shard(**shard) for shard in read["shards"]),
                next=None if cursor is None else Cursor(**{**cursor, "place": Place(**cursor["place"])}),
            )
            found.check_types()
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            message = f"expected what is written beside shards, got something else: {error!r}"
            raise ValueError(message) from error
        return found

    def check_types(self) -> None:
        """Raises `TypeError` if anything is not of its type, or a number is negative."""
        texts: list[object] = [self.bytemill, self.options["name"], *self.encoding]
        numbers: list[object] = []
        objects: list[object] = [self.encoding, self.options]
        for source in self.sources:
            texts.append(source.path)
            numbers += [source.item, source.size]
        for shard in self.shards:
            texts += shard.files
            numbers += [*shard.files.values(), shard.documents, shard.tokens]
        if self.next is not None:
            place = self.next.place
            numbers += [place.item, place.position, place.line, self.next.documents, self.next.tokens]
        for value in texts:
            if not isinstance(value, str):
                message = f"expected a text, got {value!r}"
                raise TypeError(message)
        for value in numbers:
            if type(value) is not int or value < 0:
                message = f"expected a number that is not negative, got {value!r}"
                raise TypeError(message)
        for value in objects:
            if not isinstance(value, dict):
                message = f"expected an object, got {value!r}"
                raise TypeError(message)


def load(directory: Path) -> Provenance | None:
    """Reads what is known about a folder; `None` if nothing is.

    Raises:
        ValueError: The file is damaged.
    """
    path = directory / NAME
    try:
        return Provenance.from_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        message = f"{path}: {error}"
        raise ValueError(message) from error


def save(provenance: Provenance, directory: Path) -> None:
    """Replaces the file, on the disk too."""
    with replacing(directory / NAME) as temporary, create(temporary) as file, named(temporary):
        file.write(provenance.to_json().encode())
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def claimed(directory: Path) -> Iterator[None]:
    """Keeps other processes from writing to a folder; the system forgets it when this one ends, in any way.

    Raises:
        BlockingIOError: Another process has it.
    """
    try:
        import fcntl
    except ImportError:
        # Windows does not open folders.
        yield
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BlockingIOError(
                error.errno, "another process writes shards there", str(directory)
            ) from None
        yield
    finally:
        os.close(descriptor)


def begun(folder: Path, wanted: Provenance, *, resume: bool) -> Provenance:
    """Gives what is known about the folder, or makes it known that writing there begins."""
    found = load(folder)
    if resume:
        remove_temporary(folder, wanted.options["name"])
    if found is not None and binds_none(found) and not (resume and facts(found) == facts(wanted)):
        remove_temporary(folder, found.options["name"])
        (folder / NAME).unlink()
        found = None
    if found is None:
        if any(folder.iterdir()):
            message = "the folder is not empty: name one that is, or does not exist"
            raise FileExistsError(errno.EEXIST, message, str(folder))
        save(wanted, folder)
        return wanted
    if not resume:
        message = (
            "the folder has shards already: resume writing them (--resume, resume=True), or name another one"
        )
        raise FileExistsError(errno.EEXIST, message, str(folder))
    given, before = facts(wanted), facts(found)
    for fact in given.keys() | before.keys():
        if given.get(fact) != before.get(fact):
            message = (
                f"{folder / NAME} was begun with {fact} {before.get(fact)!r}, not {given.get(fact)!r}: "
                "resume with the same, or write to another folder"
            )
            raise ValueError(message)
    check_sizes(found, folder)
    return found


def binds_none(found: Provenance) -> bool:
    """Tells of a run that ended before its first shard, perhaps for a mistake in its arguments."""
    return not found.shards and found.next is not None


def check_sizes(found: Provenance, folder: Path) -> None:
    """Raises if a file is not as large as it was when it was done."""
    for shard in found.shards:
        for name, size in shard.files.items():
            actual = (folder / name).stat().st_size
            if actual != size:
                message = (
                    f"{folder / name}: expected the {size} bytes that were written, got {actual}: start in "
                    "another folder"
                )
                raise ValueError(message)


def facts(provenance: Provenance) -> dict[str, object]:
    """What must be the same to go on."""
    encoding = {f"encoding {key}": value for key, value in provenance.encoding.items()}
    return {"bytemill": provenance.bytemill, **encoding, **provenance.options}


def remove_temporary(folder: Path, name: str) -> None:
    """Removes what a process that was killed had not finished."""
    for path in folder.iterdir():
        if path.suffix == TEMPORARY and path.name.startswith((f"{name}-", f"{name}.", f"{NAME}.")):
            path.unlink()
