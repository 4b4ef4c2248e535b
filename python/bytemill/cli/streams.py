"""The standard streams: daemons and schedulers may have closed one, and Python has `None` for it then."""

from __future__ import annotations

import errno
import functools
import io
import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

__all__ = ["input_bytes", "is_terminal", "output_stream", "prepare", "prints_result"]

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
