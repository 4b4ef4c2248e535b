"""Atomic replacement of files: readers see the old file or the complete new one, and errors name the file."""

from __future__ import annotations

import errno
import io
import os
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from typing_extensions import Buffer

__all__ = [
    "check_folder",
    "check_writable",
    "create",
    "discard",
    "named",
    "named_as",
    "replacing",
    "write_all",
    "write_atomically",
    "write_durably",
]

IS_FOLDER = "expected the name of a file, and this is a folder"
NOT_REGULAR = "expected the name of a file, and this is a pipe or a device: write a file, and copy it there"

# Bytes of a file's name in that of its temporary file: systems allow 255.
MOST_BYTES = 255 - 21


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raises now what writing a file would raise after long work.

    Raises:
        OSError: It is a folder, a pipe or a device; or there is no folder for it, or no permission to write
            there.
    """
    file = replaceable(path)
    if not file.parent.exists():
        raise FileNotFoundError(
            errno.ENOENT, f"there is no folder {str(file.parent)!r} to write it to", os.fspath(path)
        )
    check_folder(file.parent)


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raises now what making a folder, unless it exists, and a file in it would raise.

    Raises:
        OSError: It or a folder above it is a file, or there is no permission to write there.
    """
    place = next(
        place for place in (Path(path), *Path(path).parents) if place.exists() or place == place.parent
    )
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "expected a folder, and this is a file", str(place))
    if not os.access(place, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "no permission to write to this folder", str(place))


def replaceable(path: str | os.PathLike[str]) -> Path:
    """Returns the file that a path means, which need not exist: for a link, the one that it leads to.

    Raises:
        OSError: It is a folder; or a pipe, a device or the like, which a file must not take the place of, and
            where nothing can be written completely or not at all.
    """
    file = Path(path)
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, IS_FOLDER, os.fspath(path))
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, NOT_REGULAR, os.fspath(path))
    return Path(os.path.realpath(file)) if file.is_symlink() else file


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a temporary path beside a file to write to, and then renames it to the file.

    Args:
        path: The file, replaced if it exists; a link to it stays.

    Raises:
        OSError: The file cannot be replaced. Then, and if the body raises, nothing is left behind.
    """
    file = replaceable(path)
    # `tempfile` would make it readable by its owner only, and the rename would keep that.
    kept = file.name if len(os.fsencode(file.name)) <= MOST_BYTES else file.name[: MOST_BYTES // 4]
    temporary = file.with_name(f"{kept}.{os.urandom(8).hex()}.tmp")
    try:
        with named_as({temporary: path}):
            yield temporary
            temporary.replace(file)
    finally:
        discard(temporary)


@contextmanager
def named_as(names: Mapping[Path, str | os.PathLike[str]]) -> Iterator[None]:
    """Has system errors name files by what callers know, instead of by a temporary name.

    Args:
        names: Temporary paths, and the name that stands for each.
    """
    try:
        yield
    except OSError as error:
        known = None if error.filename is None else names.get(Path(os.fsdecode(error.filename)))
        if known is not None:
            error.filename = os.fspath(known)
            # Not `None`, which would be part of the message.
            del error.filename2
        raise


def discard(path: Path) -> None:
    """Removes a temporary file if there is one.

    It never raises: where a disk cannot be written to, the error to report is the one before this.
    """
    with suppress(OSError):
        path.unlink(missing_ok=True)


def create(path: Path) -> IO[bytes]:
    """Opens a new file whose errors name it: a full disk, for example.

    Raises:
        OSError: The file exists, or cannot be created.
    """
    return io.BufferedWriter(NamedErrorsFile(path, "x"), io.DEFAULT_BUFFER_SIZE)


class NamedErrorsFile(io.FileIO):
    """The unbuffered file of `create`."""

    def write(self, data: Buffer, /) -> int:
        """Writes some of the data, as `io.FileIO.write`."""
        with named(self.name):
            return super().write(data)


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Sets the file name of system errors that have none."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


def write_all(
    files: Sequence[tuple[str | os.PathLike[str], bytes]], check: Callable[..., None] | None = None
) -> None:
    """Writes files under temporary names, and renames none before all are written and checked.

    Args:
        files: The name and the contents of each file.
        check: If given, called with the contents of each file as read back; raises if they are not right.

    Raises:
        ValueError: Two of the names are those of one file.
        OSError: A file cannot be written. Then, and if `check` raises, no file has changed and none is left
            behind.
    """
    if len({os.path.realpath(path) for path, _ in files}) < len(files):
        raise ValueError(f"expected different files, got {', '.join([repr(str(path)) for path, _ in files])}")
    with ExitStack() as stack:
        temporaries = [stack.enter_context(replacing(path)) for path, _ in files]
        for temporary, (_, contents) in zip(temporaries, files, strict=True):
            with create(temporary) as file:
                file.write(contents)
        if check is not None:
            check(*[temporary.read_bytes() for temporary in temporaries])


def write_atomically(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a file as `replacing` does.

    Args:
        path: The file, replaced if it exists.
        contents: Its contents.

    Raises:
        OSError: The file cannot be written; nothing is left behind.
    """
    write_all([(path, contents)])


def write_durably(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a file as `write_atomically` does, and waits until it is on the disk.

    So nothing that was renamed before it is lost with the power.

    Raises:
        OSError: The file cannot be written; nothing is left behind.
    """
    with replacing(path) as temporary, create(temporary) as file, named(temporary):
        file.write(contents)
        file.flush()
        os.fsync(file.fileno())
