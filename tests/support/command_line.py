"""Run the command `bytemill`, in this process or in a new one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

from click.testing import CliRunner

from bytemill.cli import main

__all__ = ["Called", "arguments", "bytemill", "environment", "started"]


class Called(NamedTuple):
    """Result of a run."""

    code: int
    out: str
    err: str


def bytemill(*args: object, given: str | bytes = b"") -> Called:
    """Runs the command in this process with the given standard input."""
    result = CliRunner().invoke(main, list(map(str, args)), input=given, prog_name="bytemill")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Called(result.exit_code, result.stdout, result.stderr)


def arguments(*args: object) -> list[str]:
    """Returns the arguments that run it in a new process."""
    return [sys.executable, "-m", "bytemill", *map(str, args)]


def environment() -> dict[str, str]:
    """Returns the environment in which the new process imports the tested package."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def started(*args: object, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Runs the command in a new process."""
    return subprocess.run(  # noqa: S603 - our own command
        arguments(*args), input=given, capture_output=True, check=False, timeout=60, env=environment()
    )
