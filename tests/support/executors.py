"""Executors that do to tasks what engines do at their worst, and the end of a task at one of its steps."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple, TypeVar

import pytest

Result = TypeVar("Result")


class Killed(BaseException):
    """Ends a task as a signal would, in a test."""


class Twice:
    """Runs every task twice, in random order."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - not for secrets

    def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
        order = [*numbers, *numbers]
        self.random.shuffle(order)
        for number in order:
            task(number)
            yield number


class Interleaved:
    """Begins every task again while it runs, at the step at which it publishes its outputs."""

    STEP = "bytemill.jobs.work.Work.commit"

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch

    def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
        owner, _, name = self.STEP.rpartition(".")
        original = getattr(resolve_name(owner), name)
        for number in numbers:
            runs = 0

            def again(*arguments: object, number: int = number) -> None:
                nonlocal runs
                runs += 1
                if runs == 1:
                    task(number)
                original(*arguments)

            with self.patch.context() as patch:
                patch.setattr(resolve_name(owner), name, again)
                task(number)
            assert runs == 2
            yield number


def kill_at(patch: pytest.MonkeyPatch, step: str, when: str, call: int) -> None:
    """Has the n-th call of a function raise `Killed`, from 1; before or after it has done its work."""
    owner, _, name = step.rpartition(".")
    original = getattr(resolve_name(owner), name)
    calls = 0

    def killed(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call and when == "before":
            raise Killed
        result = original(*arguments, **options)
        if calls == call:
            raise Killed
        return result

    patch.setattr(resolve_name(owner), name, killed)


class Fault(NamedTuple):
    """The end of a process at a call of a function, before or after that has done its work."""

    step: str
    when: str
    call: int


def killed_once(patch: pytest.MonkeyPatch, fault: Fault, work: Path, run: Callable[[], Result]) -> Result:
    """Has a run in a work folder end by a fault, runs again, and returns the result.

    What was committed must not be done again, and nothing be left behind.
    """
    with patch.context() as context:
        kill_at(context, *fault)
        with pytest.raises(Killed):
            run()
    before = {path: path.stat().st_mtime_ns for path in (work / "commits").glob("*")}
    result = run()
    assert all(path.stat().st_mtime_ns == time for path, time in before.items()), "not done again"
    assert not list(work.rglob("*.tmp"))
    assert not list((work / "scratch").iterdir())
    return result
