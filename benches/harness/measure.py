"""Measures contenders: compares their answers first, then times them in alternating rounds."""

from __future__ import annotations

import gc
import hashlib
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from harness.engines import Call
from harness.record import Cell

Work = Callable[[], object]

IDS_DIFFER = "ids differ"


@dataclass(frozen=True, kw_only=True)
class Case:
    """Common properties of the contenders of a group; see `Cell`."""

    row: str
    corpus: str
    encoding: str
    state: str
    size: int
    calls: int = 1


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One engine in a group.

    Attributes:
        engine: Name of the engine.
        variant: Distinguishes contenders of the same engine in a group.
        call: How the engine is called.
        work: One round.
        answer: Returns what is compared, if `work` does not.
        threads: Number of threads.
        size: Bytes of text, if not those of the group.
    """

    engine: str
    variant: str = ""
    call: Call
    work: Work
    answer: Work | None = None
    threads: int = 1
    size: int | None = None

    @property
    def label(self) -> str:
        """Name, unique in its group."""
        return f"{self.engine}, {self.variant}" if self.variant else self.engine


@dataclass(frozen=True)
class Limits:
    """When to stop: after `rounds`, or for each contender once `seconds` have passed.

    In fresh processes the seconds are those of the whole process, otherwise those of the call.
    """

    rounds: int
    seconds: float


def seconds(work: Work) -> float:
    """Returns the seconds of a call; its result is freed after the clock has stopped."""
    start = perf_counter()
    result = work()
    end = perf_counter()
    del result
    return end - start


@contextmanager
def no_collector() -> Iterator[None]:
    """Disables the cyclic garbage collector in the body."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class IdsDifferError(Exception):
    """An engine returns other ids than tiktoken."""


def attempt(work: Callable[[], None]) -> str | None:
    """Calls an engine and returns the reason of a failure, or `None`."""
    try:
        work()
    except IdsDifferError:
        return IDS_DIFFER
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - panics of PyO3 are not `Exception`s
        return f"{type(error).__name__}: {error}".splitlines()[0][:100]
    return None


def alternate(
    rounds: Mapping[str, Callable[[], float]], limits: Limits
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Runs one round of each in turn, so that a busy machine affects all alike.

    Returns:
        The seconds of each round, and the errors of those that failed, which were not run again.
    """
    times: dict[str, list[float]] = {name: [] for name in rounds}
    errors: dict[str, str] = {}
    spent = dict.fromkeys(rounds, 0.0)

    def one_round(name: str) -> None:
        times[name].append(rounds[name]())

    with no_collector():
        for _ in range(limits.rounds):
            for name in rounds:
                if name in errors or spent[name] >= limits.seconds:
                    continue
                start = perf_counter()
                error = attempt(partial(one_round, name))
                spent[name] += perf_counter() - start
                if error is not None:
                    errors[name] = error
    return times, errors


def measure(case: Case, contenders: Sequence[Contender], expected: str, limits: Limits) -> list[Cell]:
    """Measures a group in this process.

    Args:
        case: What the contenders have in common.
        contenders: The contenders; those that fail, or whose answer has another digest, are not timed.
        expected: Digest of tiktoken's answer.
        limits: When to stop.

    Returns:
        A cell for each contender.
    """

    def check(contender: Contender) -> None:
        if digest((contender.answer or contender.work)()) != expected:
            raise IdsDifferError

    checked = {each.label: attempt(partial(check, each)) for each in contenders}
    able = [each for each in contenders if checked[each.label] is None]
    times, errors = alternate({each.label: partial(seconds, each.work) for each in able}, limits)
    return [
        make_cell(case, each, times.get(each.label, []), checked[each.label] or errors.get(each.label))
        for each in contenders
    ]


def make_cell(case: Case, contender: Contender, times: Sequence[float], error: str | None) -> Cell:
    """Returns the cell of a contender, without times if there was an error."""
    if error is not None:
        times = []
    return Cell(
        row=case.row,
        corpus=case.corpus,
        encoding=case.encoding,
        engine=contender.engine,
        contender=contender.label,
        call=contender.call.name,
        form=contender.call.form,
        state=case.state,
        threads=max(contender.threads, contender.call.threads),
        bytes=case.size if contender.size is None else contender.size,
        calls=case.calls,
        min=min(times, default=None),
        median=statistics.median(times) if times else None,
        rounds=len(times),
        ids_equal={None: True, IDS_DIFFER: False}.get(error),
        error=error,
    )


def digest(answer: Any) -> str:
    """Returns the SHA-256 of an answer, equal for equal answers in any form.

    Args:
        answer: Text or bytes; a number; the ids of one text as a list or array; the ids of several as lists,
        as a
            pair of ids and offsets, or as an Awkward array; or a list of texts.
    """
    if isinstance(answer, str):
        return hashlib.sha256(answer.encode()).hexdigest()
    if isinstance(answer, bytes):
        return hashlib.sha256(answer).hexdigest()
    if isinstance(answer, int):
        return f"the number {answer}"
    lengths, ids = flatten(answer)
    parts = [np.asarray(lengths, dtype=np.int64).tobytes(), np.asarray(ids, dtype=np.uint32).tobytes()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def flatten(answer: Any) -> tuple[Any, Any]:
    """Returns the number of ids of each text, and all ids."""
    if isinstance(answer, tuple):
        ids, offsets = answer
        return np.diff(offsets), ids
    if type(answer).__module__.startswith("awkward"):
        awkward = import_module("awkward")
        return awkward.to_numpy(awkward.num(answer)), awkward.to_numpy(awkward.flatten(answer))
    if len(answer) == 0 or isinstance(answer[0], int | np.integer):
        return [len(answer)], answer
    if isinstance(answer[0], str):
        answer = [text.encode("utf-32-le", "surrogatepass") for text in answer]
        return [len(data) for data in answer], np.frombuffer(b"".join(answer), dtype=np.uint32)
    return [len(ids) for ids in answer], np.concatenate([np.asarray(ids, dtype=np.uint32) for ids in answer])
