"""Texts to measure with: a folder of files, or the source and documentation of this Python installation."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

DOCUMENT_BYTES = 4096


def installed_files() -> Iterator[Path]:
    """Yields the source and documentation files of the Python installation, without installed packages."""
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.rglob("*")):
        if path.suffix in {".py", ".txt"} and "site-packages" not in path.parts and path.is_file():
            yield path


def read_text(path: Path) -> str:
    """Returns a file as text, with replacement characters for invalid bytes."""
    return path.read_bytes().decode("utf-8", errors="replace")


def read_texts(folder: Path | None, most_bytes: int) -> dict[str, str]:
    """Returns texts by name, up to about `most_bytes` each: files of `folder`, or Python's own source."""
    if folder is not None:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".txt")
        return {path.stem: read_text(path)[:most_bytes] for path in paths}
    parts: list[str] = []
    size = 0
    for path in installed_files():
        if size >= most_bytes:
            break
        parts.append(read_text(path))
        size += len(parts[-1])
    return {"python": "".join(parts)[:most_bytes]}


def cut(text: str, most_bytes: int) -> list[str]:
    """Cuts a text into parts of at most `most_bytes` bytes of UTF-8, at least 4."""
    data = text.encode("utf-8")
    parts = []
    start = 0
    while start < len(data):
        end = min(start + most_bytes, len(data))
        # Not inside a character.
        while end < len(data) and data[end] & 0b1100_0000 == 0b1000_0000:
            end -= 1
        parts.append(data[start:end].decode("utf-8"))
        start = end
    return parts
