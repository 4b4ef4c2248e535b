"""What all rows measure with: texts, engines, limits, and groups in this process or in fresh ones."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from corpora import DOCUMENT_BYTES, cut
from engines import SLOW, Call, Calls, load
from measuring import (
    Cell,
    Contender,
    IdsDifferError,
    Limits,
    Place,
    Work,
    alternate,
    digest,
    make_cell,
    measure,
)

WORKER = Path(__file__).with_name("compare_worker.py")

# What a slow engine gets of a long text.
SLOW_CHARACTERS = 500_000


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What all rows share.

    Attributes:
        corpora: The texts by name.
        encodings: The encodings to measure.
        engines: The engines to measure, installed and in this order.
        limits: How long to go on with a group in this process.
        fresh_limits: The same in fresh processes.
        folder: Where the vocabularies are, and files for other processes.
        quick: Whether sizes are small, for a first look.
        loaded: The engines that are loaded.
        cores: What two cores gave while two threads were measured, as `cores.work_at_once` says it.
    """

    corpora: Mapping[str, str]
    encodings: Sequence[str]
    engines: Sequence[str]
    limits: Limits
    fresh_limits: Limits
    folder: Path
    quick: bool
    loaded: dict[tuple[str, str], Calls] = field(default_factory=dict)
    cores: list[float] = field(default_factory=list)

    def calls(self, engine: str, encoding: str) -> Calls:
        """How an engine is called; nothing if it does not have the encoding."""
        key = (engine, encoding)
        if key not in self.loaded:
            try:
                self.loaded[key] = load(engine, encoding, self.folder)
            except LookupError:
                self.loaded[key] = {}
        return self.loaded[key]

    def tiktoken(self, encoding: str) -> Calls:
        """The original, to which everything is compared."""
        return self.calls("tiktoken", encoding)

    def each_text(self) -> Iterator[tuple[str, str, str]]:
        """Every corpus with every encoding, as (encoding, corpus, text)."""
        for encoding in self.encodings:
            for corpus, text in self.corpora.items():
                yield encoding, corpus, text

    def long_texts(self) -> Iterator[tuple[str, str, str, list[str]]]:
        """As `each_text`, with the engines that take all of it, and then the slow ones with less."""
        slow = [engine for engine in self.engines if engine in SLOW]
        fast = [engine for engine in self.engines if engine not in SLOW]
        for encoding, corpus, text in self.each_text():
            yield encoding, corpus, text, fast
            if slow:
                yield encoding, f"{corpus}, beginning", text[:SLOW_CHARACTERS], ["bytemill", *slow]

    def contenders(
        self,
        encoding: str,
        way: str,
        work: Callable[[Call], Work],
        answer: Callable[[Call], Work] | None = None,
    ) -> list[Contender]:
        """One contender for each engine that can be called in this way."""
        return [
            Contender(
                engine=engine, call=call, work=work(call), answer=None if answer is None else answer(call)
            )
            for engine in self.engines
            if (call := self.calls(engine, encoding).get(way)) is not None
        ]

    def over_texts(self, encoding: str, way: str, texts: Sequence[str]) -> list[Contender]:
        """Contenders that encode each of many texts, and drop the ids of one for those of the next."""
        return self.contenders(
            encoding,
            way,
            work=lambda call: lambda: for_each(call.work, texts),
            answer=lambda call: lambda: [call.work(text) for text in texts],
        )

    def measure(self, place: Place, contenders: Sequence[Contender], expected: object) -> list[Cell]:
        """Measures in this process; `expected` is tiktoken's answer."""
        return measure(place, contenders, digest(expected), self.limits)

    def measure_fresh(
        self, place: Place, engines: Iterable[str], task: Mapping[str, Any], expected: object = None
    ) -> Iterator[Cell]:
        """Measures in fresh processes, one for every round of every engine."""
        wanted = None if expected is None else digest(expected)
        calls: dict[str, Call] = {}

        def one_round(engine: str) -> float:
            result = run_worker({**task, "engine": engine, "folder": str(self.folder)})
            calls[engine] = called(result)
            if wanted is not None and result["digest"] != wanted:
                raise IdsDifferError
            seconds: float = result["seconds"]
            return seconds

        able = [engine for engine in engines if self.calls(engine, task["encoding"])]
        times, errors = alternate({engine: partial(one_round, engine) for engine in able}, self.fresh_limits)
        for engine in able:
            contender = Contender(engine=engine, call=calls.get(engine, called({})), work=no_work)
            cell = make_cell(place, contender, times[engine], errors.get(engine))
            yield cell if wanted is not None else replace(cell, ids_equal=None)

    def documents(self, corpus: str) -> list[str]:
        """The first documents of 4 KB of a corpus, about 4 MB."""
        most = 1_000_000 if self.quick else 4_000_000
        return cut(self.corpora[corpus], DOCUMENT_BYTES)[: most // DOCUMENT_BYTES]

    def file(self, name: str, contents: str) -> str:
        """Writes a text for another process, and returns its path."""
        path = self.folder / name
        if not path.exists():
            path.write_bytes(contents.encode())
        return str(path)


class WorkerError(Exception):
    """An engine failed in its own process."""


def run_worker(task: Mapping[str, Any]) -> dict[str, Any]:
    """Runs `compare_worker.py` and reads its last line; `WorkerError` if it fails."""
    done = subprocess.run(
        [sys.executable, str(WORKER), json.dumps(task)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise WorkerError(reason)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def called(result: Mapping[str, Any]) -> Call:
    """How a worker called its engine."""
    return Call(result.get("call", ""), result.get("form", ""), no_work, result.get("threads", 1))


def no_work() -> None:
    """Stands where the work is done in another process."""


def for_each(call: Callable[[str], object], texts: Iterable[str]) -> None:
    """Calls with every text."""
    for text in texts:
        call(text)


def size_of(texts: Iterable[str]) -> int:
    """Bytes of UTF-8."""
    return sum(len(text.encode()) for text in texts)
