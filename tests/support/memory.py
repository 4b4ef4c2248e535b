"""Memory use of this process: now, and the peak of a call.

The peak since the process started is useless here: an earlier test may have used more.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

__all__ = ["needs_memory", "peak_beyond", "resident"]

STATUS = Path("/proc/self/status")

needs_memory = pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell how much is used")


def resident() -> int:
    """Returns the bytes of memory in use."""
    return used("VmRSS")


def peak_beyond(work: Callable[[], object]) -> int:
    """Returns the peak of memory during a call, in bytes beyond those in use before.

    Skips the test if the system does not report it.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        pytest.skip("the system does not tell how much memory was used at most")
    before = resident()
    work()
    return used("VmHWM") - before


def used(kind: str) -> int:
    """Returns one of the system's figures in bytes."""
    lines = dict(line.split(":", 1) for line in STATUS.read_text(encoding="ascii").splitlines())
    return int(lines[kind].split()[0]) << 10
