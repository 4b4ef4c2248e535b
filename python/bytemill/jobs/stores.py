"""Where the files of a job are: a folder that processes and machines share, or a place on an object store."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol

from bytemill.io.atomic import discard, named_as, write_durably
from bytemill.io.uris import file_system, identity, is_uri, named_uri, open_input, without_scheme

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

__all__ = ["Facts", "FolderStore", "ObjectStore", "Store", "facts_of", "sha256_of", "store_of"]

# The folder for what is not finished.
SCRATCH = "scratch"

# Stores whose packages for `fsspec` make writing on a condition one request; "memory" is this process.
CONDITIONAL = frozenset({"abfs", "abfss", "az", "gcs", "gs", "memory", "s3", "s3a"})

# What `os.link` fails with on file systems without hard links, such as exFAT, SMB and those of object stores.
WITHOUT_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})

# Bytes that are hashed at a time.
CHUNK = 1 << 20


class Facts(NamedTuple):
    """Size and hash of the contents of a file.

    Attributes:
        size: Their bytes.
        sha256: Their SHA-256, as hexadecimal digits.
    """

    size: int
    sha256: str


class Store(Protocol):
    """Files with names such as "commits/count-000123.json", which processes and machines share."""

    def path(self, name: str) -> str:
        """Returns the path or URI of a file."""
        ...

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files in a folder, sorted; none if there is no folder."""
        ...

    def open(self, name: str) -> IO[bytes]:
        """Opens a file for reading."""
        ...

    def read(self, names: Sequence[str]) -> list[bytes]:
        """Returns the contents of small files."""
        ...

    def size(self, name: str) -> int:
        """Returns the bytes of a file."""
        ...

    def exists(self, name: str) -> bool:
        """Returns whether there is such a file."""
        ...

    def create(self, name: str, contents: bytes) -> bool:
        """Writes a file unless there is one, and returns whether there was none."""
        ...

    def write(self, name: str, contents: bytes) -> None:
        """Writes or replaces a file: readers see the old one or the complete new one."""
        ...

    def remove(self, name: str) -> None:
        """Removes a file if there is one."""
        ...

    def scratch(self, name: str) -> AbstractContextManager[Path]:
        """Makes a folder of this machine, which vanishes with the body of the `with` statement."""
        ...

    def publish(self, local: Path, name: str) -> None:
        """Moves a file or folder of a scratch folder to its name, which may have its contents already."""
        ...

    def sweep(self, kind: str) -> None:
        """Removes what killed processes have left of a kind of units, all of which are done."""
        ...


class FolderStore:
    """A folder that all machines mount."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Takes the folder, which need not exist."""
        self.folder = Path(folder)

    def path(self, name: str) -> str:
        """Returns the path of a file."""
        return os.fspath(self.folder / name)

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files in a folder, without those that are being written."""
        try:
            return sorted(path.name for path in (self.folder / folder).iterdir() if path.suffix != ".tmp")
        except FileNotFoundError:
            return []

    def open(self, name: str) -> IO[bytes]:
        """Opens a file for reading."""
        return (self.folder / name).open("rb")

    def read(self, names: Sequence[str]) -> list[bytes]:
        """Returns the contents of small files."""
        return [(self.folder / name).read_bytes() for name in names]

    def size(self, name: str) -> int:
        """Returns the bytes of a file."""
        return (self.folder / name).stat().st_size

    def exists(self, name: str) -> bool:
        """Returns whether there is such a file."""
        return (self.folder / name).exists()

    def create(self, name: str, contents: bytes) -> bool:
        """Writes a file unless there is one, and returns whether there was none."""
        path = self._made(name)
        temporary = path.with_name(f"{path.name}.{os.urandom(8).hex()}.tmp")
        try:
            with named_as({temporary: path}):
                write_durably(temporary, contents)
            # Unlike renaming, this fails if there is a file, which another process may write right now.
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in WITHOUT_LINKS:
                raise
            raise OSError(
                error.errno,
                "expected a work folder on a file system with hard links, by which processes agree who does "
                f"what ({error.strerror}): choose another folder, or one of an object store",
                os.fspath(path),
            ) from error
        finally:
            discard(temporary)
        return True

    def write(self, name: str, contents: bytes) -> None:
        """Writes or replaces a file."""
        write_durably(self._made(name), contents)

    def remove(self, name: str) -> None:
        """Removes a file if there is one."""
        discard(self.folder / name)

    @contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """Makes a folder beside the others, from which files can be renamed."""
        path = self.folder / SCRATCH / f"{name}.{os.urandom(8).hex()}"
        path.mkdir(parents=True)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def publish(self, local: Path, name: str) -> None:
        """Renames a file or folder; if an equal folder exists, it stays."""
        target = self._made(name)
        if not local.is_dir():
            local.replace(target)
            return
        try:
            local.rename(target)
        except OSError:
            if not target.is_dir():
                raise
            if facts_of(target) != facts_of(local):
                # It was not committed, or its commit was removed because it was damaged.
                target.rename(local.with_name(f"{local.name}.replaced"))
                local.rename(target)

    def sweep(self, kind: str) -> None:
        """Removes the scratch folders of a kind of units, and commits that were never complete."""
        for path in (self.folder / SCRATCH).glob(f"{kind}-*"):
            shutil.rmtree(path, ignore_errors=True)
        for path in (self.folder / "commits").glob(f"{kind}-*.tmp"):
            discard(path)

    def _made(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


class ObjectStore:
    """A place on an object store, which renames nothing: an object is there when it was uploaded to its end.

    Outputs are made on this machine and uploaded under their names; the commit comes after them, and nothing
    reads what has none.
    """

    def __init__(self, uri: str) -> None:
        """Takes the URI of the place."""
        self.uri = uri.rstrip("/")

    def path(self, name: str) -> str:
        """Returns the URI of an object."""
        return f"{self.uri}/{name}"

    def names(self, folder: str) -> list[str]:
        """Returns the names of the objects in a folder, sorted; none if there is no folder."""
        with self._at(folder) as (system, path):
            try:
                found = system.ls(path, detail=False)
            except FileNotFoundError:
                return []
        return sorted(name.rpartition("/")[2] for name in found)

    def open(self, name: str) -> IO[bytes]:
        """Opens an object for reading."""
        return open_input(self.path(name))

    def read(self, names: Sequence[str]) -> list[bytes]:
        """Returns the contents of small objects, many of which are requested at once."""
        if not names:
            return []
        with self._at(names[0]) as (system, first):
            root = first.removesuffix(names[0])
            found = system.cat([f"{root}{name}" for name in names])
        return [found[f"{root}{name}"] for name in names]

    def size(self, name: str) -> int:
        """Returns the bytes of an object."""
        return identity(self.path(name))[0]

    def exists(self, name: str) -> bool:
        """Returns whether there is such an object."""
        try:
            self.size(name)
        except FileNotFoundError:
            return False
        return True

    def create(self, name: str, contents: bytes) -> bool:
        """Writes an object unless there is one, and returns whether there was none.

        One request does it where the store has conditional writes, as S3, Google's and Azure's have.

        Warns:
            UserWarning: The store is not known to have them, or takes no notice of the condition: of two jobs
                that begin at the same moment in one place, both go on.
        """
        try:
            with self._at(name) as (system, path):
                system.pipe_file(path, contents, mode="create")
        except FileExistsError:
            return False
        if not self._is_conditional(name, contents):
            warnings.warn(
                f"{self.path(name)}: the store is not known to write on the condition that there is no such "
                "object, so two jobs that begin here at the same moment are not told apart: begin one, and "
                "the others when it has begun",
                UserWarning,
                stacklevel=2,
            )
        return True

    def _is_conditional(self, name: str, contents: bytes) -> bool:
        """Returns whether writing an object again, which is there, fails in the store itself."""
        with self._at(name) as (system, path):
            protocols = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
            if not protocols & CONDITIONAL:
                # What `fsspec` does for these is to look first and write then.
                return False
            try:
                system.pipe_file(path, contents, mode="create")
            except FileExistsError:
                return True
        return False

    def write(self, name: str, contents: bytes) -> None:
        """Writes or replaces an object."""
        with self._at(name) as (system, path):
            system.pipe_file(path, contents)

    def remove(self, name: str) -> None:
        """Removes an object if there is one."""
        with suppress(OSError), self._at(name) as (system, path):
            system.rm_file(path)

    @contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """Makes a folder among the temporary files of this machine."""
        with tempfile.TemporaryDirectory(prefix=f"bytemill-{name}.") as folder:
            yield Path(folder)

    def publish(self, local: Path, name: str) -> None:
        """Uploads a file, or all files of a folder; the same bytes may be there already."""
        files = sorted(path for path in local.rglob("*") if path.is_file()) if local.is_dir() else [local]
        for file in files:
            target = name if file == local else f"{name}/{file.relative_to(local).as_posix()}"
            with self._at(target) as (system, path):
                system.put_file(os.fspath(file), path)
            if (size := self.size(target)) != file.stat().st_size:
                raise OSError(
                    errno.EIO, f"{size} bytes of {file.stat().st_size} are there", self.path(target)
                )

    def sweep(self, kind: str) -> None:
        """Does nothing: what killed processes have left is on their machines."""

    @contextmanager
    def _at(self, name: str) -> Iterator[tuple[Any, str]]:
        """Yields the file system and the path of an object; errors have its URI."""
        uri = self.path(name)
        system, path = file_system(uri)
        with named_uri(uri):
            yield system, path


def store_of(place: str | os.PathLike[str]) -> Store:
    """Returns the store of a folder or of a URI."""
    name = without_scheme(place)
    return ObjectStore(name) if is_uri(name) else FolderStore(name)


def facts_of(folder: Path) -> dict[str, Facts]:
    """Returns the facts of all files in a folder and below, by their names from there, sorted."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    found = {}
    for path in paths:
        with path.open("rb") as file:
            found[path.relative_to(folder).as_posix()] = Facts(path.stat().st_size, sha256_of(file))
    return found


def sha256_of(file: IO[bytes]) -> str:
    """Returns the SHA-256 of the rest of a file, as hexadecimal digits."""
    digest = hashlib.sha256()
    while data := file.read(CHUNK):
        digest.update(data)
    return digest.hexdigest()
