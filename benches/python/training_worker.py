"""One trainer in a process of its own: `training_worker.py TASK` prints what it found as a line of JSON.

TASK is JSON too: "task" is a key of `TASKS`; then what the task needs.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import bytemill
from trainers import TRAINERS, documents

Result = dict[str, Any]


def peak_megabytes() -> float:
    """The most memory of this process that was ever resident; of it alone, not of the one that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def timed(work: Callable[[], Any]) -> tuple[Any, Result]:
    """Calls and measures: seconds of wall time, of all processors, and the peak of memory."""
    start, start_processors = perf_counter(), process_time()
    result = work()
    seconds, processors = perf_counter() - start, process_time() - start_processors
    return result, {"seconds": seconds, "cpu_seconds": processors, "peak_megabytes": peak_megabytes()}


def training(task: Result) -> Result:
    """Trains on the file `text` to `vocab_size` tokens, which are written to the file `vocabulary`."""
    path = Path(task["text"])
    work = TRAINERS[task["trainer"]].work
    tokens, figures = timed(lambda: work(path, task["vocab_size"], task["threads"]))
    Path(task["vocabulary"]).write_bytes(b"\n".join(token.hex().encode() for token in tokens))
    return {**figures, "tokens": len(tokens), "digest": digest(tokens)}


def counting(task: Result) -> Result:
    """Counts the pieces of the file `text`, whose documents are in memory."""
    texts = list(documents(Path(task["text"])))
    counts, figures = timed(
        lambda: bytemill.count_pieces(texts, task["pattern"], num_threads=task["threads"], progress=False)
    )
    return {**figures, "unique": len(counts), "pieces": counts.total()}


def counting_apart(task: Result) -> Result:
    """The same by two processes that share nothing, each with every other document: what two cores give."""
    processes = multiprocessing.get_context("fork")
    start, answers = processes.Barrier(2), processes.SimpleQueue()

    def count(number: int) -> None:
        texts = list(documents(Path(task["text"])))[number::2]
        start.wait()
        begun = perf_counter()
        counts, figures = timed(
            lambda: bytemill.count_pieces(texts, task["pattern"], num_threads=1, progress=False)
        )
        answers.put(
            {**figures, "begun": begun, "ended": begun + figures["seconds"], "pieces": counts.total()}
        )

    halves = [processes.Process(target=count, args=(number,)) for number in range(2)]
    for half in halves:
        half.start()
    done = [answers.get() for _ in halves]
    for half in halves:
        half.join()
    seconds = max(each["ended"] for each in done) - min(each["begun"] for each in done)
    sums = {key: sum(each[key] for each in done) for key in ("cpu_seconds", "peak_megabytes", "pieces")}
    return {"seconds": seconds, **sums}


def merging(task: Result) -> Result:
    """Learns merges from the pieces of the file `text`, which have been counted before."""
    path = Path(task["text"])
    counts = bytemill.count_pieces(documents(path), task["pattern"], progress=False)
    encoding, figures = timed(
        lambda: bytemill.train(counts, task["vocab_size"], num_threads=task["threads"], progress=False)
    )
    return {**figures, "unique": len(counts), "merges": len(encoding.merges())}


def digest(tokens: Sequence[bytes]) -> str:
    """A number for the tokens in their order, but for single bytes, which every engine numbers in its way."""
    merged = (b"%d:%b" % (len(token), token) for token in tokens if len(token) > 1)
    return hashlib.sha256(b"".join(merged)).hexdigest()


TASKS: dict[str, Callable[[Result], Result]] = {
    "training": training,
    "counting": counting,
    "counting_apart": counting_apart,
    "merging": merging,
}


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print("\n" + json.dumps(TASKS[asked["task"]](asked)))
