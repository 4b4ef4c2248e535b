"""How much memory this process takes: now, and at most while something works.

What it took at most since it started tells nothing: another test may have taken more before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

__all__ = ["needs_memory", "peak_beyond", "resident"]

STATUS = Path("/proc/self/status")

needs_memory = pytest.mark.skipif(not STATUS.exists(), reason="the system does not tell how much is used")


def resident() -> int:
    """The bytes of memory that are used now."""
    return used("VmRSS")


def peak_beyond(work: Callable[[], object]) -> int:
    """The most bytes that are used while something works, beyond those that were before.

    Skips the test where the system does not tell.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        pytest.skip("the system does not tell how much memory was used at most")
    before = resident()
    work()
    return used("VmHWM") - before


def used(kind: str) -> int:
    """One of the figures that the system has, in bytes."""
    lines = dict(line.split(":", 1) for line in STATUS.read_text(encoding="ascii").splitlines())
    return int(lines[kind].split()[0]) << 10
