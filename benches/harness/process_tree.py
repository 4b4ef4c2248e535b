"""The CPU time and the memory of this process and all that it has started, also of processes that have ended.

Engines start servers, virtual machines and workers that this process does not wait for, so `getrusage` does
not count their times.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

PROC = Path("/proc")
TICK = 1 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PR_SET_CHILD_SUBREAPER = 36

# Seconds between two looks. What a process has worked after the last look before its end is not counted.
INTERVAL = 0.25


class Process(NamedTuple):
    """A process at one moment.

    Attributes:
        number: Its id.
        parent: The id of its parent.
        started: When it was started, in ticks since the machine was.
        cpu_seconds: The time that it has worked, without its children.
    """

    number: int
    parent: int
    started: int
    cpu_seconds: float

    @classmethod
    def of(cls, number: int) -> Process:
        """Reads a process; `OSError` if there is none."""
        # Names of programs have blanks and parentheses.
        fields = (PROC / str(number) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return cls(number, int(fields[1]), int(fields[19]), (int(fields[11]) + int(fields[12])) * TICK)


def adopt_orphans() -> None:
    """Makes this process the parent of all that it has started and whose own parent ends."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def tree() -> list[Process]:
    """Returns this process and all below it."""
    children: dict[int, list[Process]] = {}
    for number in [int(path.name) for path in PROC.iterdir() if path.name.isdecimal()]:
        with suppress(OSError):
            process = Process.of(number)
            children.setdefault(process.parent, []).append(process)
    found = [Process.of(os.getpid())]
    for process in found:
        found += children.get(process.number, [])
    return found


def private_bytes(process: Process) -> int:
    """Returns the resident memory of a process that is neither of files nor shared."""
    with suppress(OSError):
        _, resident, shared, *_ = map(int, (PROC / str(process.number) / "statm").read_text().split())
        return (resident - shared) * PAGE
    return 0


class Usage:
    """Context manager that measures its body.

    Attributes:
        cpu_seconds: The time that all processes have worked, once the body has ended.
        peak_megabytes: The most private memory that they had, all together, at one of the looks.
    """

    def __enter__(self) -> Self:
        self._before = {(process.number, process.started): process.cpu_seconds for process in tree()}
        self._last: dict[tuple[int, int], float] = {}
        self._peak = 0
        self._ended = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._look()
        self.cpu_seconds = sum(now - self._before.get(key, 0) for key, now in self._last.items())
        self.peak_megabytes = self._peak / 1e6

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            self._look()

    def _look(self) -> None:
        processes = tree()
        self._last |= {(process.number, process.started): process.cpu_seconds for process in processes}
        self._peak = max(self._peak, sum(map(private_bytes, processes)))
