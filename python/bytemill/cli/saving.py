"""Saving encodings: the format that a name means, and writing it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from bytemill.io import writing
from bytemill.io.atomic import check_folder, check_writable
from bytemill.io.reading import usual_name

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

# The files of each format that is a folder.
NAMES = {
    "huggingface": ("tokenizer.json", "tokenizer_config.json"),
    "gpt2": ("vocab.bpe", "encoder.json"),
    "merges": ("merges.txt", "vocab.json"),
}

FORMATS_HELP = (
    "Formats of the output: NAME.bytemill (everything in one file), NAME.tiktoken, NAME.model (minbpe), "
    "huggingface:FOLDER or FOLDER/tokenizer.json, gpt2:FOLDER or FOLDER/vocab.bpe, and FOLDER/merges.txt "
    "(the same with the file names of transformers)."
)


class Target(NamedTuple):
    """Where to write an encoding.

    Attributes:
        kind: The format.
        path: The file, or folder.
    """

    kind: str
    path: Path

    @property
    def files(self) -> list[Path]:
        """The files that are written."""
        if self.kind in NAMES:
            return [self.path / name for name in NAMES[self.kind]]
        if self.kind == "minbpe":
            return [self.path.with_suffix(".model"), self.path.with_suffix(".vocab")]
        return [self.path]

    @property
    def name(self) -> str:
        """The name that an encoding gets by these files, if it has none."""
        return usual_name(self.files[0])

    def check(self) -> None:
        """Raises now what writing would raise after long work.

        Raises:
            OSError: The files or their folder cannot be written.
        """
        if self.kind in NAMES:
            check_folder(self.path)
        for file in self.files:
            if self.kind not in NAMES or file.is_dir():
                check_writable(file)

    def save(self, encoding: Encoding, *, dry_run: bool = False) -> None:
        """Writes an encoding.

        Args:
            encoding: The encoding.
            dry_run: Whether to write nothing, but to raise what writing would raise for this encoding.

        Raises:
            Exception: As the method of `Encoding` for the format.
        """
        definition, encode = encoding.definition, encoding._encode_all  # noqa: SLF001 - of this library
        if self.kind == "bytemill":
            core = encoding._core_bpe  # noqa: SLF001 - of this library
            writing.write_native(definition, core, self.path, dry_run=dry_run)
        elif self.kind == "tiktoken":
            writing.write_tiktoken(definition, encode, self.path, dry_run=dry_run)
        elif self.kind == "minbpe":
            writing.write_minbpe(definition, encode, self.path.with_suffix(""), dry_run=dry_run)
        elif self.kind == "huggingface":
            writing.write_huggingface(definition, encode, self.path, dry_run=dry_run)
        else:
            writing.write_gpt2(definition, encode, self.path, NAMES[self.kind], dry_run=dry_run)


def target_of(spec: str) -> Target:
    """Parses an output option.

    Raises:
        UsageError: It means no format.
        OSError: It cannot be written, which is an error now rather than after long work.
    """
    target = parsed(spec)
    target.check()
    return target


def parsed(spec: str) -> Target:
    """Parses an output option; `UsageError` if it means no format."""
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
    return Target(SUFFIXES[path.suffix.lower()], path)
