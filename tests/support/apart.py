"""Call functions in another process, which they may end: code in C++ that aborts, or never returns."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

__all__ = ["Apart", "EndedError"]

SPAWN = multiprocessing.get_context("spawn")


class EndedError(Exception):
    """The process has ended, or had to be."""


class Apart:
    """A process that calls functions, one after the other; where one ends it, another is started."""

    def __init__(self, seconds: float = 60, context: Any = SPAWN) -> None:
        """Starts none yet.

        Args:
            seconds: How long a call may take.
            context: How processes are started, of `multiprocessing`.
        """
        self._seconds = seconds
        self._context = context
        self._process: Any = None
        self._connection: Any = None

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Returns what a function returns there, or raises what it raises.

        Raises:
            EndedError: The process has ended meanwhile, or is ended as it takes too long.
        """
        if self._process is None:
            self._connection, theirs = self._context.Pipe()
            self._process = self._context.Process(target=serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        answer = None
        with contextlib.suppress(EOFError, OSError):
            self._connection.send((function, arguments))
            if self._connection.poll(self._seconds):
                answer = self._connection.recv()
        if answer is None:
            self.close()
            raise EndedError
        result, error = answer
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def serve(connection: Connection) -> None:
    """Calls the functions that it receives and sends their results. Discards what they write to stderr."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with contextlib.suppress(EOFError):
        while True:
            function, arguments = connection.recv()
            result, error = None, None
            try:
                result = function(*arguments)
            except Exception as raised:  # noqa: BLE001 - whatever it is
                error = raised
            connection.send((result, error))
