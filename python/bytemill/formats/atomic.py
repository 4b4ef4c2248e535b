"""Writing a file so that no reader ever sees half of it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["replacing", "write_atomically"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Gives a name beside a file to write to, and then renames that: readers see the old file or the new one.

    Args:
        path: The file, replaced if it exists.

    Raises:
        OSError: The file cannot be replaced. Then, or if the caller fails, nothing is left behind.
    """
    # `tempfile` would make it readable by its owner only, and the rename would keep that.
    temporary = Path(f"{os.fspath(path)}.{os.urandom(8).hex()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if error.filename == str(temporary):
            # Who reads the message does not know the other name.
            error.filename, error.filename2 = os.fspath(path), None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a file as `replacing` does.

    Args:
        path: The file, replaced if it exists.
        contents: All of it.

    Raises:
        OSError: The file cannot be written; nothing is left behind.
    """
    with replacing(path) as temporary, temporary.open("xb") as file:
        file.write(contents)
