"""Saving encodings: the format that a name means, and writing it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from bytemill.core import Encoding

__all__ = ["FORMATS_HELP", "Target", "target_of"]

# The formats of suffixes, and the formats that are folders.
SUFFIXES = {".bytemill": "bytemill", ".tiktoken": "tiktoken", ".model": "minbpe"}
FOLDERS = ("huggingface", "gpt2")

# Files that are alone in a folder, or one of two: the format of the folder.
FILES = {
    "tokenizer.json": "huggingface",
    "vocab.bpe": "gpt2",
    "encoder.json": "gpt2",
    "merges.txt": "merges",
    "vocab.json": "merges",
}

FORMATS_HELP = (
    "NAME.bytemill holds all of an encoding; NAME.tiktoken, NAME.model (minbpe), huggingface:FOLDER and "
    "gpt2:FOLDER are for other programs. FOLDER/tokenizer.json is huggingface:FOLDER; FOLDER/vocab.bpe is "
    "gpt2:FOLDER, and FOLDER/merges.txt the same two files by the names that transformers gives them."
)


class Target(NamedTuple):
    """Where to write an encoding.

    Attributes:
        kind: The format.
        path: The file, or folder.
    """

    kind: str
    path: Path

    def save(self, encoding: Encoding) -> None:
        """Writes an encoding; errors as the method of `Encoding` for the format."""
        if self.kind == "bytemill":
            encoding.save(self.path)
        elif self.kind == "tiktoken":
            encoding.save_tiktoken(self.path)
        elif self.kind == "minbpe":
            encoding.save_minbpe(self.path.with_suffix(""))
        elif self.kind == "huggingface":
            encoding.save_huggingface(self.path)
        elif self.kind == "gpt2":
            encoding.save_gpt2(self.path)
        else:
            encoding.save_gpt2(self.path, file_names=("merges.txt", "vocab.json"))


def target_of(spec: str) -> Target:
    """Parses an output option.

    Raises:
        UsageError: It means no format; or the folder for the file does not exist, which is an error now
            rather than after long work.
    """
    kind, colon, folder = spec.partition(":")
    if colon and kind in FOLDERS:
        return Target(kind, Path(folder))
    path = Path(spec)
    if path.name in FILES:
        return Target(FILES[path.name], path.parent)
    if path.suffix.lower() not in SUFFIXES:
        raise click.UsageError(
            f"cannot tell the format of {spec!r}: expected a name that ends in {', '.join(SUFFIXES)}, "
            f"a folder as {' or '.join(f'{name}:FOLDER' for name in FOLDERS)}, or one of {', '.join(FILES)}"
        )
    if not path.parent.is_dir():
        raise click.UsageError(f"there is no folder {str(path.parent)!r} to write {spec!r} to")
    return Target(SUFFIXES[path.suffix.lower()], path)
