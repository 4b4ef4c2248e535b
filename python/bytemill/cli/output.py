"""The output of commands: standard output, or a file that appears when it is complete."""

from __future__ import annotations

import errno
import functools
import io
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from bytemill.documents.sources import COMPRESSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

__all__ = ["input_bytes", "is_terminal", "output_file", "output_stream", "prepare", "prints_result"]

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


# The standard streams: daemons and schedulers may have closed one, and Python has `None` for it then.

STANDARD_ERROR = 2


def prepare() -> None:
    """Prepares the streams for a command: called once, before it opens any file."""
    if None in {sys.stdin, sys.stdout, sys.stderr}:
        # A file that is opened later would get the number of a closed stream, and what libraries write there.
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
            os.set_inheritable(descriptor, True)  # noqa: FBT003 - by position only
        os.close(descriptor)
    if sys.stderr is None:
        # The work is done without its messages.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names of files need not be text, and terminals need not have all characters.
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO | None) -> bool:
    """Returns whether a stream is open, and a terminal."""
    return stream is not None and stream.isatty()


def input_bytes() -> IO[bytes]:
    """Returns standard input; `OSError` if it is closed."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed: name a file, or redirect a file or pipe to it")
    return sys.stdin.buffer


def output_stream() -> TextIO:
    """Returns standard output; `OSError` if it is closed."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed: redirect it to a file, a pipe or /dev/null")
    return sys.stdout


def prints_result(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a command fail before its work if standard output, where its result goes, is closed."""

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - those of the command
        output_stream()
        return function(*args, **options)

    return checked
