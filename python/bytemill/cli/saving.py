"""Encodings in files: which format a name means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bytemill.core import Encoding

__all__ = ["FORMATS", "check_output", "format_of", "save"]

# Each format, and the end of a name that means it. Those without one fill a folder.
FORMATS = {
    "bytemill": ".bytemill",
    "tiktoken": ".tiktoken",
    "minbpe": ".model",
    "huggingface": "",
    "gpt2": "",
}


def format_of(path: str) -> str:
    """The format that a name means.

    Raises:
        UsageError: It means none.
    """
    suffix = Path(path).suffix.lower()
    for name, ending in FORMATS.items():
        if suffix and suffix == ending:
            return name
    known = ", ".join(filter(None, FORMATS.values()))
    message = f"cannot tell the format of {path!r}: expected a name that ends in one of {known}, or --to"
    raise click.UsageError(message)


def check_output(path: str, kind: str) -> None:
    """Sees that a file can be there, before long work; `UsageError` if its folder does not exist.

    The folders of formats that fill one are made by those who write them.
    """
    folder = Path(path).parent
    if FORMATS[kind] and not folder.is_dir():
        message = f"there is no folder {str(folder)!r} to write {path!r} to"
        raise click.UsageError(message)


def save(encoding: Encoding, path: str, kind: str) -> None:
    """Writes an encoding in a format; errors as the methods of `Encoding` that do it."""
    if kind == "bytemill":
        encoding.save(path)
    elif kind == "tiktoken":
        encoding.save_tiktoken(path)
    elif kind == "minbpe":
        encoding.save_minbpe(str(Path(path).with_suffix("")) if path.endswith(FORMATS[kind]) else path)
    elif kind == "huggingface":
        encoding.save_huggingface(path)
    else:
        encoding.save_gpt2(path)
