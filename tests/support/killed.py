"""Work in forked processes that are killed: a run costs no start of Python.

A process that forks must have started no thread.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["came_to_end"]

# What the interpreter tells of work on files.
STEPS = ("open", "os.rename", "os.remove", "os.mkdir", "os.listdir", "os.scandir")


def came_to_end(
    work: Callable[[], object],
    *,
    folder: Path | None = None,
    die_at: int | None = None,
    seconds: float | None = None,
) -> bool:
    """Runs work in a forked process, and kills it, with all that it has started, by SIGKILL.

    Args:
        work: What the process does.
        folder: Where steps are counted.
        die_at: The number of steps after which the process kills itself; never if not given.
        seconds: When this process kills it; never if not given.

    Returns:
        Whether the work came to its end before.

    Raises:
        AssertionError: The work raised an exception, which is printed.
    """
    # Closed once all processes are gone.
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            if seconds is not None:
                os.setpgid(0, 0)
            if die_at is not None:
                die_after(die_at, str(folder))
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - nothing may reach what this process was forked from
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)
    os.close(writing)
    if seconds is not None:
        # Both processes set it: it is set before either goes on.
        os.setpgid(process, process)
        time.sleep(seconds)
        os.killpg(process, signal.SIGKILL)
    status = os.waitpid(process, 0)[1]
    os.read(reading, 1)
    os.close(reading)
    assert status in (0, signal.SIGKILL), status
    return status == 0


def die_after(number: int, folder: str) -> None:
    """Kills this process at the first step in a folder after the first `number` steps."""
    steps = 0

    def step(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal steps
        if event in STEPS and folder in str(arguments[0]):
            steps += 1
            if steps > number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(step)
