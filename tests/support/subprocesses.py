"""Run a script in a fresh interpreter, for effects that must not reach the one running the tests."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import textwrap

import pytest

__all__ = ["completed", "has_fork", "run"]

has_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here"
)


def run(script: str, *, timeout: float = 120) -> str:
    """Runs a script in a fresh interpreter, with warnings as errors, and returns its output.

    Raises:
        AssertionError: The script failed; the message is its stderr.
        subprocess.TimeoutExpired: It did not end in time.
    """
    result = completed(script, timeout=timeout)
    assert result.returncode == 0, result.stderr
    return result.stdout


def completed(script: str, *, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs a script as `run`, which may fail.

    Raises:
        subprocess.TimeoutExpired: It did not end in time.
    """
    command = [sys.executable, "-I", "-W", "error", "-c", textwrap.dedent(script)]
    return subprocess.run(  # noqa: S603 - our own scripts
        command, capture_output=True, text=True, check=False, timeout=timeout
    )
