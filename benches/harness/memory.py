"""The resident memory of this process."""

from __future__ import annotations

import os
from pathlib import Path


def resident_bytes() -> int:
    """Returns the resident memory of this process; `OSError` without /proc."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_megabytes() -> float:
    """Returns the peak of resident memory of this process alone, not of its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
