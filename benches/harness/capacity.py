"""Measures the available parallelism: a shared machine does not always provide all its processors.

Processes that share nothing show the speed-up that threads could reach at most, at that moment.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from time import perf_counter

# About a tenth of a second that touches next to no memory.
SPIN = [sys.executable, "-I", "-S", "-c", "for _ in range(4_000_000): pass"]


def parallelism(processes: int = 2) -> float:
    """Returns how many times the work of one process several do at once; ideally their number."""
    alone = seconds_of(1)
    return processes * alone / seconds_of(processes)


def seconds_of(processes: int) -> float:
    """Returns the seconds until the last of some processes, started at once, exits."""
    start = perf_counter()
    running = [subprocess.Popen(SPIN) for _ in range(processes)]
    for process in running:
        if process.wait() != 0:
            raise subprocess.CalledProcessError(process.returncode, SPIN)
    return perf_counter() - start


def summary(samples: Sequence[float]) -> dict[str, float]:
    """Returns the record of some results of `parallelism`; empty for none."""
    if not samples:
        return {}
    of_all = {"least": min(samples), "median": statistics.median(samples), "most": max(samples)}
    return {name: round(value, 2) for name, value in of_all.items()} | {"samples": len(samples)}


def sentence(recorded: Mapping[str, float]) -> str:
    """Returns the sentence on a record, after a space; empty for an empty record."""
    if not recorded:
        return ""
    return (
        " Available parallelism during the runs with two threads, by two independent processes: "
        f"{recorded['median']:.2f}x (range {recorded['least']:.2f}x to {recorded['most']:.2f}x)."
    )
