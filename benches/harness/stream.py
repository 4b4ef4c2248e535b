"""Measures engines on a stream of documents that all differ: ids first, then speed and memory.

    python -m benches stream --stream STREAM.jsonl

Each run is a fresh process that reads some thousand documents at a time and encodes them in one call; only
the calls are timed. Processes take turns, round after round. Memory is the peak of the process, less that of
one that only reads the documents.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from harness.engines import SENTENCE, installed, load
from harness.measure import IDS_DIFFER, flatten
from harness.memory import peak_megabytes
from harness.models import CANDIDATE_FOLDER, CANDIDATE_VERSION
from harness.processes import WorkerError, run_worker
from harness.suites import CANDIDATE, suite

SUITE = suite("stream")
# Its ids are the right ones.
ORACLE = "tiktoken"
# Reads documents and does nothing with them.
READING = "reading"


@dataclass(frozen=True, kw_only=True)
class StreamCell:
    """One engine with a number of threads, as medians of the rounds; without `speed`, `error` is the reason.

    Attributes:
        engine: Name of the engine.
        threads: Number of threads.
        bytes: Bytes of text.
        speed: MB/s.
        megabytes: Peak memory, less that of reading the documents.
        rounds: Number of rounds.
        ids_equal: Whether the ids are those of tiktoken, as far as both were given the stream.
    """

    engine: str
    threads: int
    bytes: int = 0
    speed: float | None = None
    megabytes: float | None = None
    rounds: int = 0
    ids_equal: bool | None = None
    error: str | None = None


# --- In the measured process ---


def batches(path: Path, most_bytes: int | None) -> Iterator[list[str]]:
    """Yields the documents of a stream, some thousand at a time."""
    batch: list[str] = []
    size = 0
    with path.open("rb") as file:
        for line in file:
            if most_bytes is not None and size >= most_bytes:
                break
            batch.append(json.loads(line))
            size += len(line)
            if len(batch) == SUITE["batch"]:
                yield batch
                batch = []
    if batch:
        yield batch


def loaded(task: dict[str, Any]) -> Callable[[list[str], int], Any]:
    """Returns the call of an engine for a batch."""
    if task["engine"] == READING:
        return lambda _texts, _threads: ([], [])
    return load(task["engine"], SUITE["encoding"], Path(task["folder"]))["batch"].work


def streaming(task: dict[str, Any]) -> dict[str, Any]:
    """Encodes a stream once; returns seconds, megabytes, bytes, and a digest of all ids after each batch."""
    documents = batches(Path(task["stream"]), task["most_bytes"])
    batch = next(documents)
    encode = loaded(task)
    encode([SENTENCE], task["threads"])
    digest = hashlib.sha256()
    seconds, size, digests = 0.0, 0, []
    while batch:
        start = perf_counter()
        answer = encode(batch, task["threads"])
        seconds += perf_counter() - start
        size += sum(len(document.encode()) for document in batch)
        lengths, ids = flatten(answer)
        digest.update(np.asarray(lengths, dtype=np.int64).tobytes())
        digest.update(np.asarray(ids, dtype=np.uint32).tobytes())
        digests.append(digest.hexdigest())
        del answer
        batch = next(documents, [])
    return {
        "seconds": seconds,
        "bytes": size,
        "megabytes": peak_megabytes(),
        "digests": digests,
    }


# --- In the process that compares ---


def version_of(engine: str) -> str | None:
    """Returns the version of an engine."""
    return CANDIDATE_VERSION if engine == CANDIDATE else installed(engine)


def run(engine: str, threads: int, stream: Path, folder: Path) -> dict[str, Any]:
    """Runs `streaming` in a fresh process."""
    beginning = SUITE["beginning"].get(engine)
    task = {
        "task": "streaming",
        "engine": "tokenizers" if engine == CANDIDATE else engine,
        "threads": threads,
        "stream": str(stream),
        "folder": str(folder),
        "most_bytes": beginning and beginning * 1_000_000,
    }
    environment = {
        "OPENBLAS_NUM_THREADS": "1",
        # Thread pools are created once in a process, of this size.
        "RAYON_NUM_THREADS": str(threads),
        "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false",
    }
    if engine == CANDIDATE:
        folders = [str(CANDIDATE_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(folders)
    return run_worker(task, environment=environment)


def measure(engines: Sequence[str], stream: Path, folder: Path, rounds: int) -> Iterator[StreamCell]:
    """Yields the cells of all engines, for each number of threads."""
    if CANDIDATE in engines and not CANDIDATE_FOLDER.is_dir():
        sys.exit(f"not installed: {CANDIDATE}; run `make bench-stream`")
    reading = run(READING, 1, stream, folder)["megabytes"]
    for threads in SUITE["threads"]:
        results: dict[str, list[dict[str, Any]]] = {engine: [] for engine in engines}
        errors: dict[str, str] = {}
        for _ in range(rounds):
            for engine in engines:
                # The ids of the oracle are the same on any number of threads, and it is slow.
                if engine in errors or (engine == ORACLE and results[engine]):
                    continue
                try:
                    results[engine].append(run(engine, threads, stream, folder))
                except WorkerError as failure:
                    errors[engine] = str(failure)[:200]
                print(engine, threads, results[engine][-1:] and summary(results[engine][-1]), file=sys.stderr)
        expected = results[ORACLE][0]["digests"]
        for engine, figures in results.items():
            equal = all(agrees(each["digests"], expected) for each in figures)
            if not figures or not equal:
                error = errors.get(engine, IDS_DIFFER)
                yield StreamCell(engine=engine, threads=threads, ids_equal=equal, error=error)
                continue
            yield StreamCell(
                engine=engine,
                threads=threads,
                bytes=figures[0]["bytes"],
                speed=statistics.median(each["bytes"] / each["seconds"] / 1e6 for each in figures),
                megabytes=statistics.median(each["megabytes"] for each in figures) - reading,
                rounds=len(figures),
                ids_equal=True,
            )


def agrees(digests: Sequence[str], expected: Sequence[str]) -> bool:
    """Returns whether the ids are equal up to the last whole batch that both have encoded."""
    common = min(len(digests), len(expected))
    # The last batch of a beginning is not whole.
    last = common - 1 if len(digests) == len(expected) else common - 2
    return last >= 0 and digests[last] == expected[last]


def summary(result: dict[str, Any]) -> str:
    """Returns a result as a line."""
    return f"{result['bytes'] / result['seconds'] / 1e6:.1f} MB/s, {result['megabytes']:.0f} MB"
