"""Tasks of jobs that wait in the middle of a unit, so that a test can kill what runs them.

Tests wait for a state, not for a time: while a `Hold` is closed and some units are committed, all others wait
between their output and their commit, with a mark that says which process on which node waits.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from bytemill.jobs.work import Kind, Work

TEXTS = ["the cat sat", " on the mat\n", "naïve 東京 😀", "", "line\nbreaks\r\nand tabs\t", "x" * 70]

# Units that are committed before others wait.
COMMITTED = 3

# Seconds until a state that does not come is a failure.
PATIENCE = 120


def write_corpus(folder: Path, files: int = 12, lines: int = 400) -> Path:
    """Writes files of JSON lines to a folder, and returns it."""
    folder.mkdir()
    source = random.Random(0)  # noqa: S311 - not for secrets
    for number in range(files):
        with (folder / f"{number:02}.jsonl").open("w", encoding="utf-8") as file:
            for line in range(lines):
                text = "".join(source.choices(TEXTS, k=source.randrange(9))) + f" {number}-{line // 3}"
                file.write(json.dumps({"text": text, "number": line}, ensure_ascii=line % 2 > 0) + "\n")
    return folder


def outputs(work: Path) -> dict[str, str]:
    """Returns the SHA-256 of each output and commit of a work folder, and of its manifest if it has one."""
    folders = ("counts", "merged", "shards", "commits")
    paths = [path for name in folders for path in (work / name).rglob("*.*")]
    paths += work.glob("manifest.json")
    assert paths
    return {str(path.relative_to(work)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


class Waiting(NamedTuple):
    """A task that waits in the middle of a unit."""

    number: int
    process: int
    node: str


class Hold:
    """A folder that makes tasks wait."""

    def __init__(self, folder: Path) -> None:
        """Takes the folder, which is made."""
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._closed = folder / "closed"
        self._closed.touch()

    def open(self) -> None:
        """Lets all tasks go on."""
        self._closed.unlink(missing_ok=True)

    def wait_here(self, number: int) -> None:
        """Waits until the hold is open, in a task."""
        mark = self.folder / f"waiting-{number}-{os.getpid()}-{node_id()}"
        mark.touch()
        while self._closed.exists():
            time.sleep(0.01)
        mark.unlink()

    def waiting(self) -> list[Waiting]:
        """Returns the tasks that wait, or died while they did."""
        fields = [path.name.split("-")[1:] for path in self.folder.glob("waiting-*")]
        return [Waiting(int(number), int(process), node) for number, process, node in fields]

    def wait_for(self, number: int) -> list[Waiting]:
        """Returns the tasks that wait, once there are so many."""
        until(lambda: len(self.waiting()) >= number)
        return self.waiting()


def node_id() -> str:
    """Returns the node of Ray that this process is on; none outside of Ray."""
    try:
        import ray
    except ImportError:
        return ""
    return ray.get_runtime_context().get_node_id() if ray.is_initialized() else ""


def until(condition: Callable[[], object]) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "the state did not come"
        time.sleep(0.005)


def held(task: Callable[[int], None], folder: Path, number: int) -> None:
    """Runs a task, which waits between its output and its commit once some units are committed."""
    original = Work.commit

    def commit(work: Work, kind: Kind, *arguments: Any) -> None:
        if len(work.done(kind)) >= COMMITTED:
            existing(folder).wait_here(number)
        original(work, kind, *arguments)

    with patch.object(Work, "commit", commit):
        task(number)


def existing(folder: Path) -> Hold:
    """Returns the hold of a folder as it is."""
    hold = object.__new__(Hold)
    hold.folder, hold._closed = folder, folder / "closed"
    return hold


@contextmanager
def holding(executor: Any, hold: Hold) -> Iterator[Any]:
    """Makes an executor run tasks that wait, until the hold is open or the body has ended."""
    run = executor.run
    with patch.object(executor, "run", lambda task, numbers: run(partial(held, task, hold.folder), numbers)):
        try:
            yield executor
        finally:
            hold.open()


def deadly(task: Callable[[int], None], number: int) -> None:
    """Runs a task, but kills its process in the middle of unit 2, every time."""
    if number != 2:
        task(number)
        return
    with patch.object(Work, "commit", lambda *_: os.kill(os.getpid(), signal.SIGKILL)):
        task(number)
