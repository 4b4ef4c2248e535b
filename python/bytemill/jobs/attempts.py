"""Attempts at units: marks of those that have begun, which stay if a process dies.

A unit that kills its process, most often because a document takes more memory than there is, would do so for
ever: engines run a task again. But an attempt without an end need not be one that the unit has killed: it may
still run, its node may be lost or taken back, or its job may have been killed as a whole. Who finds a mark on
another machine cannot tell. So a mark says which process on which machine makes the attempt, and which
process has started that one, such as the server of an engine or the driver; and each attempt at any unit
looks at all marks of its own machine. A process that is gone while the one that had started it is still there
has died alone, which is recorded as a death of its unit. If a whole machine is lost, no death is recorded.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytemill.jobs.stores import Store

__all__ = ["FOLDER", "attempt", "forget", "mark_of"]

FOLDER = "attempts"

# A mark is called by its unit, the machine, the process, its parent, and a random number.
FIELDS = 5

# What the name of a mark ends in once its process has died alone.
DEAD = ".dead"

# A unit with this many recorded deaths is not started again.
MOST_DEATHS = 3

# Nor is one with this many unfinished attempts, whatever the reason: where each process has a machine of its
# own, as in some containers, deaths are not recorded.
MOST_ATTEMPTS = 20


@contextmanager
def attempt(store: Store, unit: str) -> Iterator[None]:
    """Marks a unit as begun while the body runs.

    Args:
        store: Where the marks are.
        unit: The name of the unit, such as "count-000123".

    Raises:
        RuntimeError: The unit has `MOST_DEATHS` deaths or `MOST_ATTEMPTS` unfinished attempts, and is not
            started again.
        OSError: The store cannot be read or written.
    """
    marks = [mark for mark in with_deaths(store) if mark.startswith(f"{unit}.")]
    deaths = sum(mark.endswith(DEAD) for mark in marks)
    if deaths >= MOST_DEATHS or len(marks) >= MOST_ATTEMPTS:
        how = (
            f"has killed {deaths} processes, perhaps because memory ran out"
            if deaths >= MOST_DEATHS
            else f"was begun {len(marks)} times without an end"
        )
        raise RuntimeError(
            f"unit {int(unit[-6:])} {how}; remove {store.path(f'{FOLDER}/{unit}')}.* to try again"
        )
    mark = f"{FOLDER}/{mark_of(unit, os.getpid(), os.getppid())}"
    store.write(mark, b"")
    try:
        yield
    finally:
        # The mark stays if the process dies.
        store.remove(mark)


def forget(store: Store, unit: str) -> None:
    """Removes the marks of all attempts at a unit, which is done."""
    for mark in store.names(FOLDER):
        if mark.startswith(f"{unit}."):
            store.remove(f"{FOLDER}/{mark}")


def mark_of(unit: str, process: int, parent: int) -> str:
    """Returns the name of a new mark for an attempt at a unit by a process of this machine."""
    return ".".join([unit, machine(), identity(process), identity(parent), os.urandom(8).hex()])


def with_deaths(store: Store) -> list[str]:
    """Returns the names of all marks, after those who died alone on this machine were noted."""
    marks = store.names(FOLDER)
    for number, mark in enumerate(marks):
        if mark.endswith(DEAD) or len(fields := mark.split(".")) != FIELDS:
            continue
        _, where, process, parent, _ = fields
        if where == machine() and died_alone(process, parent):
            # Others may do the same at this moment.
            store.write(f"{FOLDER}/{mark}{DEAD}", b"")
            store.remove(f"{FOLDER}/{mark}")
            marks[number] = f"{mark}{DEAD}"
    return sorted(set(marks))


def died_alone(process: str, parent: str) -> bool:
    """Returns whether a process of this machine is known to be gone, and its parent is not."""
    return is_there(process) is False and is_there(parent) is True


def is_there(process: str) -> bool | None:
    """Returns whether a process of this machine is there; `None` where systems do not tell."""
    number, _, started = process.partition("-")
    return started_at(int(number)) == started if started else None


def identity(process: int) -> str:
    """Returns a name for a process of this machine that no later one has: its number, and when it started."""
    return f"{process}-{started_at(process)}"


def started_at(process: int) -> str:
    """Returns when a process of this machine started; nothing if it has ended, or systems do not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    # One that has ended may wait for being waited for.
    return "" if fields[0] in {"Z", "X"} else fields[19]


@functools.cache
def machine() -> str:
    """Returns a name for this machine since it was started; one for each container of it."""
    facts = [platform.node()]
    with suppress(OSError):
        facts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        facts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
