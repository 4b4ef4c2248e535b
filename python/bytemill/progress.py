"""How far long work is: a bar on a terminal, or calls to a function."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

__all__ = ["Progress", "Reporter", "Show", "show_line"]

# Seconds between two reports.
INTERVAL = 0.2


class Progress(NamedTuple):
    """How far training is.

    Attributes:
        documents: Documents counted so far.
        text_bytes: How large they were, in bytes; in characters where they were `str`.
        merges: Merges learned so far.
        merges_wanted: How many it will be at most; 0 as long as pieces are counted.
    """

    documents: int = 0
    text_bytes: int = 0
    merges: int = 0
    merges_wanted: int = 0


# Whether to show a bar, or what to call instead.
Show: TypeAlias = "bool | Callable[[Progress], object]"


class Reporter:
    """Reports progress: to be entered before the work and left when it has ended, in whatever way."""

    def __init__(self, show: Show) -> None:
        """Takes where to report to: `True` for a bar if stderr is a terminal, `False` for nothing."""
        self._call = show if callable(show) else None
        self._bar = show is True and sys.stderr is not None and sys.stderr.isatty()
        self._progress = Progress()
        self._start = self._reported = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            show_line("")

    def counted(self, documents: int, size: int) -> None:
        """Adds to what has been counted."""
        before = self._progress
        self._report(Progress(before.documents + documents, before.text_bytes + size))

    def merged(self, merges: int, wanted: int) -> None:
        """Tells how many merges have been learned."""
        if not self._progress.merges_wanted:
            self._start = monotonic()
        self._report(self._progress._replace(merges=merges, merges_wanted=wanted))

    def finish(self) -> None:
        """Reports the last state in any case."""
        if self._call is not None:
            self._call(self._progress)

    def _report(self, progress: Progress) -> None:
        self._progress = progress
        now = monotonic()
        if now - self._reported < INTERVAL:
            return
        self._reported = now
        if self._call is not None:
            self._call(progress)
        elif self._bar:
            show_line(describe(progress, now - self._start))


def show_line(line: str) -> None:
    """Shows a line on stderr, a terminal, in place of the one that is there."""
    sys.stderr.write(f"\r\x1b[K{line}")
    sys.stderr.flush()


def describe(progress: Progress, seconds: float) -> str:
    """A line for people, `seconds` after the beginning of the counting or the merging."""
    if not progress.merges_wanted:
        size = progress.text_bytes / 1e6
        rate = size / max(seconds, 1e-9)
        return f"counting: {progress.documents:,} documents, {size:,.0f} MB, {rate:,.0f} MB/s"
    rate = progress.merges / max(seconds, 1e-9)
    left = f", {(progress.merges_wanted - progress.merges) / rate:,.0f} s left" if rate else ""
    return f"merging: {progress.merges:,} of {progress.merges_wanted:,}, {rate:,.0f} a second{left}"
