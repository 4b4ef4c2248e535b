"""The tasks of `worker` that train: each has the file `text`.

Little is imported here, and what is measured before its time begins: the peak of memory is that of an
interpreter, a trainer and its work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from harness.memory import peak_megabytes

Result = dict[str, Any]


def timed(work: Callable[[], Any]) -> tuple[Any, Result]:
    """Calls, and measures wall time, time of all processors, and peak memory."""
    start, start_processors = perf_counter(), process_time()
    result = work()
    seconds, processors = perf_counter() - start, process_time() - start_processors
    return result, {"seconds": seconds, "cpu_seconds": processors, "peak_megabytes": peak_megabytes()}


def training(task: Result) -> Result:
    """Trains to `vocab_size` tokens."""
    from harness.trainers import TRAINERS

    path = Path(task["text"])
    trainer = TRAINERS[task["trainer"]]
    import_module(trainer.module)
    trained, figures = timed(lambda: trainer.work(path, task["vocab_size"], task["threads"]))
    tokens = trainer.tokens(trained)
    return {**figures, "tokens": len(tokens), "digest": digest_of_tokens(tokens)}


def counting(task: Result) -> Result:
    """Counts the pieces of the text, whose documents are in memory."""
    import bytemill
    from harness.trainers import documents

    texts = list(documents(Path(task["text"])))
    counts, figures = timed(
        lambda: bytemill.count_pieces(texts, task["pattern"], num_threads=task["threads"], progress=False)
    )
    return {**figures, "unique": len(counts), "pieces": counts.total()}


def counting_apart(task: Result) -> Result:
    """Counts in two processes that share nothing, each every other document: the attainable speed-up."""
    import multiprocessing

    import bytemill
    from harness.trainers import documents

    processes = multiprocessing.get_context("fork")
    start, answers = processes.Barrier(2), processes.SimpleQueue()

    def count(number: int) -> None:
        texts = list(documents(Path(task["text"])))[number::2]
        start.wait()
        started = perf_counter()
        counts, figures = timed(
            lambda: bytemill.count_pieces(texts, task["pattern"], num_threads=1, progress=False)
        )
        ended = started + figures["seconds"]
        answers.put({**figures, "started": started, "ended": ended, "pieces": counts.total()})

    halves = [processes.Process(target=count, args=(number,)) for number in range(2)]
    for half in halves:
        half.start()
    done = [answers.get() for _ in halves]
    for half in halves:
        half.join()
    seconds = max(each["ended"] for each in done) - min(each["started"] for each in done)
    sums = {key: sum(each[key] for each in done) for key in ("cpu_seconds", "peak_megabytes", "pieces")}
    return {"seconds": seconds, **sums}


def merging(task: Result) -> Result:
    """Learns merges from the pieces of the text, counted before."""
    import bytemill
    from harness.trainers import documents

    counts = bytemill.count_pieces(documents(Path(task["text"])), task["pattern"], progress=False)
    trained, figures = timed(
        lambda: bytemill.train(counts, task["vocab_size"], num_threads=task["threads"], progress=False)
    )
    return {**figures, "unique": len(counts), "merges": len(trained.merges())}


def digest_of_tokens(tokens: Sequence[bytes]) -> str:
    """Returns a digest of the tokens in order, without single bytes, whose order differs between engines."""
    import hashlib

    merged = (b"%d:%b" % (len(token), token) for token in tokens if len(token) > 1)
    return hashlib.sha256(b"".join(merged)).hexdigest()
