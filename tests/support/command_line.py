"""Calling the command `bytemill`, in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

from click.testing import CliRunner

from bytemill.cli import main

__all__ = ["Called", "arguments", "bytemill", "environment", "started"]


class Called(NamedTuple):
    """What a call came to."""

    code: int
    out: str
    err: str


def bytemill(*args: object, given: str | bytes = b"") -> Called:
    """Calls the command in this process, with something as standard input."""
    result = CliRunner().invoke(main, list(map(str, args)), input=given, prog_name="bytemill")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Called(result.exit_code, result.stdout, result.stderr)


def arguments(*args: object) -> list[str]:
    """The arguments that start it as a process of its own."""
    return [sys.executable, "-m", "bytemill", *map(str, args)]


def environment() -> dict[str, str]:
    """The environment in which that finds what is tested."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def started(*args: object, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Calls the command as a process of its own."""
    return subprocess.run(  # noqa: S603 - our own command
        arguments(*args), input=given, capture_output=True, check=False, timeout=60, env=environment()
    )
