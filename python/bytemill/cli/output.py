"""Where commands write to: standard output, or a file that appears when it is whole."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import click

from bytemill.documents.sources import COMPRESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["output_file"]

STANDARD_OUTPUT = "-"


@contextmanager
def output_file(name: str | None, *, binary: bool = False) -> Iterator[IO[bytes]]:
    """Opens what to write to.

    Args:
        name: The name of a file, which is replaced when all has been written, and not before; `None` or `-`
            for standard output.
        binary: Whether it is nothing for a terminal.

    Raises:
        UsageError: It is nothing for a terminal, and standard output is one; or the name promises what is
            not written, a compressed file.
        OSError: The file cannot be written; nothing is left behind.
    """
    if name is None or name == STANDARD_OUTPUT:
        stdout = sys.stdout.buffer
        if binary and stdout.isatty():
            message = "this is not for a terminal: give the name of a file by --output"
            raise click.UsageError(message)
        yield stdout
        stdout.flush()
        return
    if name.lower().endswith(COMPRESSIONS):
        message = f"what is written is not compressed: leave --output out, and pipe into {name!r}"
        raise click.UsageError(message)
    from bytemill.io.atomic import create, replacing

    with replacing(name) as temporary, create(temporary) as file:
        yield file
