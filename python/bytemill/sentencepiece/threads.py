"""Threads and random numbers, as far as they mean something here."""

from __future__ import annotations

from bytemill.sentencepiece.arguments import thread_count

__all__ = ["ThreadPool", "set_min_log_level", "set_random_generator_seed"]


class ThreadPool:
    """A number of threads, which methods take as `thread_pool`. They start and end with each call."""

    def __init__(self, num_threads: int) -> None:
        """Decides how many threads work; a negative number stands for all processors."""
        self._num_threads = thread_count(num_threads)

    def num_threads(self) -> int:
        """Returns the number of threads."""
        return self._num_threads


def set_random_generator_seed(seed: int) -> None:
    """Does nothing: nothing here is random but what training leaves out, which its option `seed` decides."""
    if not isinstance(seed, int):
        raise TypeError(f"expected the seed to be an int, not {seed!r:.40}")


def set_min_log_level(level: int) -> None:
    """Does nothing: nothing is logged."""
    if not isinstance(level, int):
        raise TypeError(f"expected the level to be an int, not {level!r:.40}")
