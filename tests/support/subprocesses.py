"""Running a script in an interpreter of its own, for what must not happen in the one that tests."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import textwrap

import pytest

__all__ = ["has_fork", "run"]

has_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here"
)


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
