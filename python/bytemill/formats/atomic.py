"""Writing files so that no reader ever sees half of one, and errors name the file."""

from __future__ import annotations

import errno
import io
import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from typing_extensions import Buffer

__all__ = ["create", "named", "replacing", "write_all", "write_atomically"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a name beside a file to write to, and then renames that: readers see the old file or the new one.

    Args:
        path: The file, replaced if it exists.

    Raises:
        OSError: The file cannot be replaced. Then, or if the caller fails, nothing is left behind.
    """
    name = os.fspath(path)
    if Path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, "expected the name of a file, and this is a folder", name)
    # `tempfile` would make it readable by its owner only, and the rename would keep that.
    temporary = Path(f"{name}.{os.urandom(8).hex()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if str(error.filename) == str(temporary):
            # Nobody has heard of the other name.
            error.filename, error.filename2 = name, None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def create(path: Path) -> IO[bytes]:
    """Opens a new file whose errors name it: that the disk is full, for one.

    Raises:
        OSError: The file exists, or cannot be made.
    """
    return io.BufferedWriter(Created(path, "x"), io.DEFAULT_BUFFER_SIZE)


class Created(io.FileIO):
    """What is below the buffer of such a file."""

    def write(self, data: Buffer, /) -> int:
        """Writes some of the data."""
        with named(self.name):
            return super().write(data)


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Has errors of the system that name no file name this one."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


def write_all(files: Mapping[str | os.PathLike[str], bytes]) -> None:
    """Writes files as `replacing` does, and renames none before all are written.

    Args:
        files: The contents of each.

    Raises:
        OSError: One cannot be written; nothing is left behind.
    """
    with ExitStack() as stack:
        temporaries = [stack.enter_context(replacing(path)) for path in files]
        for temporary, contents in zip(temporaries, files.values(), strict=True):
            with create(temporary) as file:
                file.write(contents)


def write_atomically(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a file as `replacing` does.

    Args:
        path: The file, replaced if it exists.
        contents: All of it.

    Raises:
        OSError: The file cannot be written; nothing is left behind.
    """
    write_all({path: contents})
