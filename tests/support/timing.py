"""Assertions about time that hold on a busy machine.

Time is processor time, which advances only while this process runs. What still disturbs it (cold
caches, a slow clock) makes work longer, never shorter: so the minimum of several tries counts, and work that
takes too long is tried again before it fails. More tries come nearer to the undisturbed
time, and quadratic work exceeds the bound even then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["assert_in_proportion", "assert_takes_less", "seconds"]

Work = Callable[[], object]
Size = TypeVar("Size")

# Number of attempts before failing.
TRIES = 12


def seconds(work: Work, tries: int = 1) -> float:
    """Returns the processor time of a call: the minimum of several tries."""
    least = float("inf")
    for _ in range(tries):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
    return least


def assert_takes_less(work: Work, times: float, base: Work, *, noise: float = 0.0, what: object = "") -> None:
    """Asserts that a call takes less than `times` as long as another.

    Args:
        work: The call to check.
        times: Upper bound of the ratio to `base`.
        base: The call to compare with.
        noise: Seconds allowed beyond that, for calls that are too short to compare.
        what: Name for the message.
    """
    # The base first, so that one-time work counts for neither.
    allowed = times * seconds(base, 3) + noise
    took = seconds(work)
    for _ in range(TRIES - 1):
        if took < allowed:
            break
        allowed = min(allowed, times * seconds(base) + noise)
        took = min(took, seconds(work))
    assert took < allowed, f"{what}: {took:.4f} s, where less than {allowed:.4f} s are expected"


def assert_in_proportion(
    work: Callable[[Size], object], small: Size, large: Size, *, what: object = ""
) -> None:
    """Asserts that four times the input takes less than nine times as long.

    n log n results in less than 5, n * n in 16.

    Args:
        work: The call to check, applied to either input.
        small: Input so large that quadratic work on it would take more than 50 ms.
        large: Input of four times the size.
        what: Name for the message.
    """
    assert_takes_less(lambda: work(large), 9, lambda: work(small), noise=0.005, what=what)
