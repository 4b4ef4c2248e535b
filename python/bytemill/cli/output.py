"""The output of commands: standard output, or a file that appears when it is complete."""

from __future__ import annotations

from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import click

from bytemill.cli.streams import output_stream
from bytemill.documents.sources import COMPRESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["output_file"]

STANDARD_OUTPUT = "-"


@contextmanager
def output_file(name: str | None, *, binary: bool = False) -> Iterator[IO[bytes]]:
    """Opens the output.

    Args:
        name: The name of a file, which is replaced when everything has been written; `None` or `-` for
            standard output.
        binary: Whether the output is unfit for a terminal.

    Raises:
        UsageError: It is unfit for a terminal, and standard output is one; or the name is that of a
            compressed file, which is not written.
        OSError: The file cannot be written, and nothing is left behind; or standard output is closed.
    """
    if name is None or name == STANDARD_OUTPUT:
        stdout = output_stream().buffer
        if binary and stdout.isatty():
            raise click.UsageError("the output is binary: pass a file with --output")
        yield stdout
        stdout.flush()
        return
    if name.lower().endswith(COMPRESSIONS):
        raise click.UsageError(
            f"the output is not compressed: omit --output, and pipe it through a compressor into {name!r}"
        )
    from bytemill.io.atomic import create, replacing

    with replacing(name) as temporary, create(temporary) as file:
        yield file
