"""How everything is measured: answers compared first, then the contenders in turn, round after round."""

from __future__ import annotations

import gc
import hashlib
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from engines import Call

Work = Callable[[], object]

IDS_DIFFER = "ids differ"


@dataclass(frozen=True, kw_only=True)
class Place:
    """What the contenders of a group have in common.

    Attributes:
        row: A key of `targets.TITLES`.
        corpus: The name of the text.
        encoding: The name of the encoding.
        state: "first pass", "replay", "fresh pieces" or "isolated".
        size: Bytes of text that one round deals with.
        calls: How many calls one round makes.
    """

    row: str
    corpus: str
    encoding: str
    state: str
    size: int
    calls: int = 1


@dataclass(frozen=True, kw_only=True)
class Contender:
    """Who is measured.

    Attributes:
        engine: A key of `engines.LOADERS`.
        variant: What tells it from other contenders of this engine in the group, or nothing.
        call: How the engine is called.
        work: One round.
        answer: What is compared, if `work` does not return it.
        threads: How many threads work.
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
        """What it is called, unique in its group."""
        return f"{self.engine}, {self.variant}" if self.variant else self.engine


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One figure: what was measured, and what came out; without `median` nothing, and `error` says why."""

    row: str
    corpus: str
    encoding: str
    engine: str
    contender: str
    call: str
    form: str
    state: str
    threads: int
    bytes: int
    calls: int
    unit: str = "s"
    min: float | None = None
    median: float | None = None
    rounds: int = 0
    ids_equal: bool | None = None
    error: str | None = None


@dataclass(frozen=True)
class Limits:
    """How long to go on: at most `rounds`, and for each contender no further once `seconds` have passed.

    In fresh processes the seconds are those of the whole process, in this one those of the call.
    """

    rounds: int
    seconds: float


def seconds(work: Work) -> float:
    """How long a call takes. What it returns is freed when the clock has stopped."""
    start = perf_counter()
    result = work()
    end = perf_counter()
    del result
    return end - start


@contextmanager
def no_collector() -> Iterator[None]:
    """Keeps the cyclic garbage collector out of the figures."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class IdsDifferError(Exception):
    """An engine gives other ids than tiktoken."""


def attempt(work: Callable[[], None]) -> str | None:
    """Does something with an engine; returns why it failed, or None."""
    try:
        work()
    except IdsDifferError:
        return IDS_DIFFER
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of PyO3 is no Exception
        return f"{type(error).__name__}: {error}".splitlines()[0][:100]
    return None


def alternate(
    rounds: Mapping[str, Callable[[], float]], limits: Limits
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Runs one round of each in turn, so that a busy machine is as unkind to one as to the others.

    Returns:
        The seconds of each round, and the errors of those that failed, which were not asked again.
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


def measure(place: Place, contenders: Sequence[Contender], expected: str, limits: Limits) -> list[Cell]:
    """Measures a group in this process.

    Args:
        place: What the contenders have in common.
        contenders: Who is measured; those that fail, or whose answer has another digest, get no time.
        expected: The digest of tiktoken's answer.
        limits: How long to go on.

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
        make_cell(place, each, times.get(each.label, []), checked[each.label] or errors.get(each.label))
        for each in contenders
    ]


def make_cell(place: Place, contender: Contender, times: Sequence[float], error: str | None) -> Cell:
    """Puts a figure together; there is none if there was an error."""
    if error is not None:
        times = []
    return Cell(
        row=place.row,
        corpus=place.corpus,
        encoding=place.encoding,
        engine=contender.engine,
        contender=contender.label,
        call=contender.call.name,
        form=contender.call.form,
        state=place.state,
        threads=max(contender.threads, contender.call.threads),
        bytes=place.size if contender.size is None else contender.size,
        calls=place.calls,
        min=min(times, default=None),
        median=statistics.median(times) if times else None,
        rounds=len(times),
        ids_equal={None: True, IDS_DIFFER: False}.get(error),
        error=error,
    )


def digest(answer: Any) -> str:
    """The SHA-256 of an answer, equal for equal answers in whatever form.

    Args:
        answer: Text or bytes; a number; the ids of one text as a list or array; or those of many as lists,
            as a pair of ids and offsets, or as an Awkward array; or a list of texts.
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
    """Gives the number of ids of each text, and all ids."""
    if isinstance(answer, tuple):
        ids, offsets = answer
        return np.diff(offsets), ids
    if type(answer).__module__.startswith("awkward"):
        answer = answer.to_list()
    if len(answer) == 0 or isinstance(answer[0], int | np.integer):
        return [len(answer)], answer
    if isinstance(answer[0], str):
        answer = [text.encode("utf-32-le", "surrogatepass") for text in answer]
        return [len(data) for data in answer], np.frombuffer(b"".join(answer), dtype=np.uint32)
    return [len(ids) for ids in answer], np.concatenate([np.asarray(ids, dtype=np.uint32) for ids in answer])


def resident_bytes() -> int:
    """How much memory of this process is resident; `OSError` where there is no /proc."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
