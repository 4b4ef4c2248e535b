"""What tests say about time, so that a machine with other things to do does not make them fail.

Time is that of the processor, which goes on only while this process has one. What still disturbs it (cold
caches, a slow clock) makes work longer, never shorter: so the least of some tries is taken, and what takes
too long is tried again before it fails. The more tries, the nearer they come to what the work takes by
itself, of which the square of something is always too much.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["assert_in_proportion", "assert_takes_less", "seconds"]

Work = Callable[[], object]
Size = TypeVar("Size")

# How often what takes too long is tried.
TRIES = 12


def seconds(work: Work, tries: int = 1) -> float:
    """How long this process computes for some work: the least of some tries."""
    least = float("inf")
    for _ in range(tries):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
    return least


def assert_takes_less(work: Work, times: float, base: Work, *, noise: float = 0.0, what: object = "") -> None:
    """Asserts that some work takes less than so many times as long as other work.

    Args:
        work: What must not take long.
        times: How many times as long as `base` it may take.
        base: What it is compared with.
        noise: Seconds that it may take beyond that, for what is too quick to compare.
        what: Said if it takes longer.
    """
    # First the base, so that what is not there yet the first time counts for neither.
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
    """Asserts that four times as much takes less than nine times as long.

    n log n gives less than 5, n * n gives 16.

    Args:
        work: Works on either.
        small: So much that the square of it would take longer than a twentieth of a second.
        large: Four times as much.
        what: Said if it takes longer.
    """
    assert_takes_less(lambda: work(large), 9, lambda: work(small), noise=0.005, what=what)
