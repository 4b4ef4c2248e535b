"""What two cores give: a machine that others share does not always give both.

Two processes that share nothing show what two threads can reach at most, then and there.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from time import perf_counter

# A tenth of a second or so, in which next to no memory is touched.
SPIN = [sys.executable, "-I", "-S", "-c", "for _ in range(4_000_000): pass"]


def work_at_once(processes: int = 2) -> float:
    """How many times the work of one process so many do at once: as many, where nobody else is."""
    alone = seconds_of(1)
    return processes * alone / seconds_of(processes)


def seconds_of(processes: int) -> float:
    """How long so many take, started at once, until the last one ends."""
    start = perf_counter()
    running = [subprocess.Popen(SPIN) for _ in range(processes)]
    for process in running:
        if process.wait() != 0:
            raise subprocess.CalledProcessError(process.returncode, SPIN)
    return perf_counter() - start


def summary(samples: Sequence[float]) -> dict[str, float]:
    """What is recorded of some answers of `work_at_once`; nothing if there are none."""
    if not samples:
        return {}
    of_all = {"least": min(samples), "median": statistics.median(samples), "most": max(samples)}
    return {name: round(value, 2) for name, value in of_all.items()} | {"samples": len(samples)}


def sentence(cores: Mapping[str, float]) -> str:
    """What a summary says, after a space; nothing of an empty one."""
    if not cores:
        return ""
    return (
        f" Between measurements of two threads, two processes at once did {cores['least']:.2f} to "
        f"{cores['most']:.2f} times the work of one, {cores['median']:.2f} times in the median: "
        "what the machine gave."
    )
