"""`provenance.json`: what the shards of a folder were written from, and where writing continues.

A folder may hold the shards of several runs under different names: the first run has `provenance.json`, each
other one `NAME.provenance.json`.

The file decides what a folder holds: a shard exists when it is listed there. It is replaced atomically
whenever a shard is finished. It has no time and no host: the same sources and options give the same file.
"""

from __future__ import annotations

import errno
import json
import os
import re
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.documents.blocks import Position
from bytemill.formats.json_file import json_bytes
from bytemill.io.atomic import write_durably
from bytemill.shards.source_blocks import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "NAME",
    "TEMPORARY",
    "Cursor",
    "Provenance",
    "Shard",
    "check_contents",
    "directory_lock",
    "load",
    "manifest_path",
    "open_or_create_manifest",
    "save",
]

NAME = "provenance.json"

# The suffix of files that are not finished.
TEMPORARY = ".tmp"


class Cursor(NamedTuple):
    """Where the next shard begins.

    Attributes:
        block: Where a block starts.
        documents: Documents of that block that are in earlier shards.
        tokens: Ids of that block that are in earlier shards.
    """

    block: Position = Position()
    documents: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class Shard:
    """A finished shard.

    Attributes:
        files: The names of its files, and their sizes in bytes; no file if all its documents are empty and
            readers of the format cannot map an empty file.
        documents: Number of documents that end in it.
        tokens: Number of ids in it.
    """

    files: dict[str, int]
    documents: int
    tokens: int


@dataclass(frozen=True)
class Provenance:
    """The record of a folder of shards: its sources, and where writing continues.

    Attributes:
        bytemill: The version that wrote it.
        encoding: The name, the SHA-256 and the number of ids of the encoding.
        options: All arguments that the bytes of the shards depend on.
        sources: The files that shards were written from, in order. Documents in memory are not listed.
        shards: The finished shards, in order.
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
        """Number of documents that end in the shards."""
        return sum(shard.documents for shard in self.shards)

    @property
    def tokens(self) -> int:
        """Number of ids in the shards."""
        return sum(shard.tokens for shard in self.shards)

    def to_json(self) -> bytes:
        """Returns the contents of the file."""
        described = {
            "bytemill": self.bytemill,
            "encoding": self.encoding,
            "options": self.options,
            "documents": self.documents,
            "tokens": self.tokens,
            "complete": self.next is None,
            "next": None if self.next is None else record_of(self.next),
            "sources": [source._asdict() for source in self.sources],
            "shards": [asdict(shard) for shard in self.shards],
        }
        return json_bytes(described, indent=1) + b"\n"

    @classmethod
    def from_json(cls, contents: str | bytes) -> Provenance:
        """Parses the contents of the file.

        Raises:
            ValueError: They are something else.
        """
        try:
            read = json.loads(contents)
            found = cls(
                bytemill=read["bytemill"],
                encoding=read["encoding"],
                options=read["options"],
                sources=tuple(SourceFile(**source) for source in read["sources"]),
                shards=tuple(Shard(**shard) for shard in read["shards"]),
                next=None if read["next"] is None else cursor_of(read["next"]),
            )
            found.check_types()
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"expected the record of a run of write_shards, got something else: {error!r}"
            ) from error
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
            block = self.next.block
            numbers += [block.item, block.offset, block.line, self.next.documents, self.next.tokens]
        for value in texts:
            if not isinstance(value, str):
                raise TypeError(f"expected a text, got {value!r}")
        for value in numbers:
            if type(value) is not int or value < 0:
                raise TypeError(f"expected a number that is not negative, got {value!r}")
        for value in objects:
            if not isinstance(value, dict):
                raise TypeError(f"expected an object, got {value!r}")


def record_of(cursor: Cursor) -> dict[str, object]:
    """Returns a cursor by the names that it has in the file."""
    block = {
        "item": cursor.block.item,
        "position": cursor.block.offset,
        "line": cursor.block.line,
        "inside": cursor.block.inside,
    }
    return {"place": block, "documents": cursor.documents, "tokens": cursor.tokens}


def cursor_of(record: dict[str, Any]) -> Cursor:
    """Returns the cursor of `record_of`; `KeyError` or `TypeError` if it is none."""
    block = dict(record["place"])
    position = Position(offset=block.pop("position"), **block)
    return Cursor(position, documents=record["documents"], tokens=record["tokens"])


def manifest_path(folder: Path, name: str) -> Path:
    """Returns the path of the record of the shards with this name.

    Raises:
        ValueError: The first record in the folder is damaged.
    """
    own = folder / f"{name}.{NAME}"
    if own.exists():
        return own
    first = load(folder / NAME)
    return folder / NAME if first is None or is_unstarted(first) or first.options["name"] == name else own


def load(path: Path) -> Provenance | None:
    """Reads a record; `None` if there is none.

    Raises:
        ValueError: The file is damaged.
    """
    try:
        return Provenance.from_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def save(provenance: Provenance, path: Path) -> None:
    """Replaces a record, and flushes it to the disk."""
    write_durably(path, provenance.to_json())


@contextmanager
def directory_lock(directory: Path) -> Iterator[None]:
    """Locks a folder against other processes. The system releases the lock however this process ends.

    Raises:
        BlockingIOError: Another process has the lock.
    """
    try:
        import fcntl
    except ImportError:
        # Windows cannot open folders: there is no lock.
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


def open_or_create_manifest(path: Path, wanted: Provenance, *, resume: bool) -> Provenance:
    """Returns the record to continue from, or writes a new one.

    Args:
        path: The path of the record, see `manifest_path`.
        wanted: The record of a run with the same arguments that has not started.
        resume: Whether to continue a run.

    Raises:
        FileExistsError: The folder has other files, or shards that are not to be resumed.
        ValueError: Its shards were written with other arguments, or are damaged.
    """
    folder, name = path.parent, wanted.options["name"]
    found = load(path)
    if resume:
        remove_temporary(folder, name)
    if (
        found is not None
        and is_unstarted(found)
        and not (resume and fingerprint(found) == fingerprint(wanted))
    ):
        remove_temporary(folder, found.options["name"])
        found = None
    if found is None:
        check_room(path, name)
        save(wanted, path)
        return wanted
    if not resume:
        raise FileExistsError(
            errno.EEXIST,
            f"the folder has shards with the name {name!r} already: resume writing them (--resume, "
            "resume=True), or give another folder or name (--name, name=)",
            str(folder),
        )
    given, before = fingerprint(wanted), fingerprint(found)
    changes = [
        f"{key} {shown(before.get(key))}, not {shown(given.get(key))}"
        for key in {**before, **given}
        if before.get(key) != given.get(key)
    ]
    if changes:
        raise ValueError(
            f"{path} was begun with {'; '.join(changes)}: resume with the same, or write to another folder"
        )
    check_sizes(found, folder)
    return found


def shown(value: object) -> str:
    """Returns a value for a message."""
    return "nothing" if value in (None, [], "") else f"{value!r:.80}"


def check_room(record: Path, name: str) -> None:
    """Raises `FileExistsError` unless the folder of a record has nothing else, or shards of other names only.

    The record, if there is one, is of a run that has not started. A shard of it may be there already, which
    is written again where the run is resumed: so nothing may change before this.
    """
    folder = record.parent
    paths = [path for path in folder.iterdir() if path != record]
    others = [load(path) for path in paths if path.name == NAME or path.name.endswith(f".{NAME}")]
    if paths and not others:
        begun = ", or resume with the arguments of the run that began there (--resume, resume=True)"
        raise FileExistsError(
            errno.EEXIST,
            f"the folder is not empty: name one that is, or does not exist{begun if record.exists() else ''}",
            str(folder),
        )
    shard = re.compile(rf"{re.escape(name)}(?:-\d+)?\.\w+")
    taken = next((path for path in paths if shard.fullmatch(path.name)), None)
    if taken is not None:
        raise FileExistsError(
            errno.EEXIST, f"shards with the name {name!r} could replace this file: choose another", str(taken)
        )
    for other in others:
        known = name if other is None else other.options["name"]
        # Shards of the one, which have numbers, might replace a single one of the other.
        if any(re.fullmatch(rf"{re.escape(a)}-\d+", b) for a, b in ((name, known), (known, name))):
            raise FileExistsError(
                errno.EEXIST,
                f"files named {name!r} and {known!r} could be the same: choose another",
                str(folder),
            )


def check_contents(documents: int, tokens: int) -> None:
    """Raises `ValueError` if shards hold nothing: no program can map a file of no ids."""
    if not documents:
        raise ValueError("expected documents, got none: the source is empty, or all its files are")
    if not tokens:
        raise ValueError(f"expected documents with tokens, got {documents:,} that are all empty")


def is_unstarted(found: Provenance) -> bool:
    """Returns whether a run ended before its first shard, perhaps because of a wrong argument."""
    return not found.shards and found.next is not None


def check_sizes(found: Provenance, folder: Path) -> None:
    """Raises `ValueError` if the size of a finished file has changed."""
    for shard in found.shards:
        for name, size in shard.files.items():
            actual = (folder / name).stat().st_size
            if actual != size:
                raise ValueError(
                    f"{folder / name}: expected the {size} bytes that were written, got {actual}: start in "
                    "another folder"
                )


def fingerprint(provenance: Provenance) -> dict[str, object]:
    """Returns the fields that must be equal for a run to be continued, by their names in messages."""
    encoding = provenance.encoding
    described = (
        f"{encoding.get('name')} of {encoding.get('n_vocab')} token IDs, SHA-256 {encoding.get('sha256')}"
    )
    return {"bytemill": provenance.bytemill, "the encoding": described, **provenance.options}


def remove_temporary(folder: Path, name: str) -> None:
    """Removes unfinished files of a process that was killed."""
    for path in folder.iterdir():
        if path.suffix == TEMPORARY and path.name.startswith((f"{name}-", f"{name}.", f"{NAME}.")):
            path.unlink()
