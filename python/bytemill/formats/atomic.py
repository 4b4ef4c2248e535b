"""Writing a file so that no reader ever sees half of it."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a file under another name beside it, then renames that: readers see the old file or the new one.

    Args:
        path: The file, replaced if it exists.
        contents: All of it.

    Raises:
        OSError: The file cannot be written; nothing is left behind.
    """
    # `tempfile` would make it readable by its owner only, and the rename would keep that.
    temporary = Path(f"{os.fspath(path)}.{os.urandom(8).hex()}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(contents)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
