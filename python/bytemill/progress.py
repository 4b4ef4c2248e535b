"""Report progress: a line on a terminal, or calls of a function."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bytemill._messages import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

__all__ = ["Progress", "Reporter", "Show", "check_callable", "show_line"]

# Minimum seconds between two reports.
INTERVAL = 0.2


class Progress(NamedTuple):
    """Progress of training.

    Attributes:
        documents: Documents counted so far.
        text_bytes: Their size in bytes; in characters for `str` documents.
        merges: Merges learned so far.
        merges_wanted: Maximum number of merges; 0 while pieces are counted.
    """

    documents: int = 0
    text_bytes: int = 0
    merges: int = 0
    merges_wanted: int = 0


# Whether to show a progress line, or a function to call instead.
Show: TypeAlias = "bool | Callable[[Progress], object]"


def check_callable(progress: Callable[..., object] | None) -> None:
    """Raises `TypeError` if the function that is to be called is none."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function, or None, not {type(progress).__name__}")


class Reporter:
    """Context manager that reports the progress of the work in its body."""

    def __init__(self, show: Show) -> None:
        """Creates a reporter: `True` shows a line if stderr is a terminal, `False` nothing."""
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
        """Adds counted documents."""
        before = self._progress
        self._report(Progress(before.documents + documents, before.text_bytes + size))

    def merged(self, merges: int, wanted: int) -> None:
        """Sets the number of merges learned."""
        if not self._progress.merges_wanted:
            self._start = monotonic()
        self._report(self._progress._replace(merges=merges, merges_wanted=wanted))

    def finish(self) -> None:
        """Reports the final state to the function, however recent the last report."""
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
            show_line(progress_line(progress, now - self._start))


def show_line(line: str) -> None:
    """Replaces the current line of stderr, a terminal."""
    sys.stderr.write(f"\r\x1b[K{printable(line)}")
    sys.stderr.flush()


def progress_line(progress: Progress, seconds: float) -> str:
    """Returns a line for the terminal, `seconds` after counting or merging began."""
    if not progress.merges_wanted:
        size = progress.text_bytes / 1e6
        rate = size / max(seconds, 1e-9)
        return f"counting: {progress.documents:,} documents, {size:,.0f} MB, {rate:,.0f} MB/s"
    rate = progress.merges / max(seconds, 1e-9)
    left = f", {(progress.merges_wanted - progress.merges) / rate:,.0f} s left" if rate else ""
    return f"merging: {progress.merges:,} of {progress.merges_wanted:,}, {rate:,.0f} a second{left}"
