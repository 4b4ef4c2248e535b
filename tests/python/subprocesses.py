"""Running a script in an interpreter of its own, for what must not happen in the one that tests."""

from __future__ import annotations

import subprocess
import sys
import textwrap

__all__ = ["run"]


def run(script: str, *, timeout: float = 120) -> str:
    """Runs a script in a fresh interpreter, warnings being errors, and gives what it prints.

    Raises:
        AssertionError: The script failed; the message is what it wrote to stderr.
        subprocess.TimeoutExpired: It did not end in time.
    """
    command = [sys.executable, "-I", "-W", "error", "-c", textwrap.dedent(script)]
    result = subprocess.run(  # noqa: S603 - our own scripts
        command, capture_output=True, text=True, check=False, timeout=timeout
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
