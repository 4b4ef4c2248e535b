"""The entries of a GGUF file about its vocabulary, read by the package `gguf`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill._optional import import_optional
from bytemill.errors import VocabularyError
from bytemill.formats.gguf_model import MAGIC, PREFIX

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["is_gguf", "read_entries"]


def is_gguf(file: Path) -> bool:
    """Returns whether a file is one of GGUF, by its first bytes; it may be larger than memory."""
    with file.open("rb") as start:
        return start.read(len(MAGIC)) == MAGIC


def read_entries(file: Path) -> dict[str, Any]:
    """Returns the entries that begin with `PREFIX`, without that.

    Raises:
        ImportError: `gguf` is not installed.
        VocabularyError: The file is damaged.
    """
    gguf = import_optional("gguf", "GGUF files")
    try:
        # The file is mapped: weights are not read.
        fields = gguf.GGUFReader(file).fields
        return {
            name.removeprefix(PREFIX): field.contents()
            for name, field in fields.items()
            if name.startswith(PREFIX)
        }
    except (ValueError, KeyError, IndexError, OverflowError) as error:
        raise VocabularyError(f"{file}: expected a GGUF file, and it is damaged: {error}") from error
