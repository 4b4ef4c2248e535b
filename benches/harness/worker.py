"""Runs one task in a fresh process: `python -m harness.worker TASK` prints its result as a line of JSON.

TASK is JSON: "task" is a key of `TASKS`, the other entries are its arguments.
"""

from __future__ import annotations

import gc
import hashlib
import json
import multiprocessing
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase
from time import perf_counter, process_time
from typing import Any

from harness.corpora import DOCUMENT_BYTES, cut
from harness.engines import MODULES, SENTENCE, Call, Calls, imported, load
from harness.measure import digest, peak_megabytes, resident_bytes

Result = dict[str, Any]

MEGABYTE = 1e6

# Documents between two samples of the memory.
SAMPLED = 2000


# --- Encoding: each task has "engine", "encoding" and "folder" ---


def loaded(task: Result) -> Calls:
    """Returns the engine of a task after one sentence."""
    calls = load(task["engine"], task["encoding"], Path(task["folder"]))
    calls["list"].work(SENTENCE)
    calls.get("array", calls["list"]).work(SENTENCE)
    return calls


def described(call: Call) -> Result:
    """Returns the entries that say how an engine was called."""
    return {"call": call.name, "form": call.form, "threads": call.threads}


def encoding(task: Result) -> Result:
    """Encodes the text, or each of the texts, in the JSON file `input` once, by the call `way`."""
    texts = json.loads(Path(task["input"]).read_bytes())
    call = loaded(task)[task["way"]]
    encode = call.work
    gc.disable()
    start = perf_counter()
    answer = encode(texts) if isinstance(texts, str) else [encode(text) for text in texts]
    end = perf_counter()
    return {"seconds": end - start, "digest": digest(answer), **described(call)}


def loading(task: Result) -> Result:
    """Loads the encoding and encodes a sentence, after the import; measures time and memory."""
    imported(task["engine"])
    before = resident_bytes()
    gc.disable()
    start = perf_counter()
    call = load(task["engine"], task["encoding"], Path(task["folder"]))["list"]
    ids = call.work(SENTENCE)
    end = perf_counter()
    grown = (resident_bytes() - before) / MEGABYTE
    return {"seconds": end - start, "megabytes": grown, "digest": digest(ids), **described(call)}


def growth(task: Result) -> Result:
    """Encodes `bytes` of new documents to lists and measures the peak of memory growth."""
    calls = loaded(task)
    encode = calls["list"].work
    before = highest = resident_bytes()
    usage: Result = {}
    done = 0
    for number, document in enumerate(new_documents(Path(task["text"]))):
        encode(document)
        done += len(document.encode())
        if number % SAMPLED == 0:
            highest = max(highest, resident_bytes())
        if done >= task["bytes"]:
            break
    highest = max(highest, resident_bytes())
    if "memory_usage" in calls:
        usage["used"] = calls["memory_usage"].work() / MEGABYTE
        calls["clear_cache"].work()
        usage["cleared"] = calls["memory_usage"].work() / MEGABYTE
    return {"megabytes": (highest - before) / MEGABYTE, **described(calls["list"]), **usage}


def new_documents(path: Path) -> Iterator[str]:
    """Yields the documents of a file, then again with every lower-case letter shifted by one, and so on.

    Words keep their lengths and frequencies, but most are new pieces. It repeats after 26 turns.
    """
    for shift in range(len(ascii_lowercase)):
        table = str.maketrans(ascii_lowercase, ascii_lowercase[shift:] + ascii_lowercase[:shift])
        with path.open(encoding="utf-8", newline="") as file:
            while block := file.read(250_000):
                yield from cut(block.translate(table), DOCUMENT_BYTES)
    yield from new_documents(path)


def importing(task: Result) -> Result:
    """Imports the engine in an interpreter that has imported only the modules `after`."""
    before = "".join(f"import {name}; " for name in task["after"])
    module = MODULES.get(task["engine"], task["engine"])
    measured = f"start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", f"{before}import time; {measured}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {"seconds": float(done.stdout.split()[-1]), "call": "import", "form": "nothing"}


# --- Training: each task has the file `text` ---


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
    work = TRAINERS[task["trainer"]].work
    tokens, figures = timed(lambda: work(path, task["vocab_size"], task["threads"]))
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


def spilling(task: Result) -> Result:
    """Counts and trains with the limit of memory `memory_limit`, or none."""
    import bytemill

    start = perf_counter()
    limit = task["memory_limit"]
    counts = bytemill.count_pieces(Path(task["text"]), "cl100k", memory_limit=limit, progress=False)
    counted = perf_counter() - start
    trained = bytemill.train(counts, task["vocab_size"], progress=False)
    return {
        "memory_limit": limit,
        "seconds": round(perf_counter() - start, 2),
        "counting_seconds": round(counted, 2),
        "peak_megabytes": round(peak_megabytes()),
        "unique": len(counts),
        "digest": hashlib.sha256(repr(trained.merges()).encode()).hexdigest()[:16],
    }


def digest_of_tokens(tokens: Sequence[bytes]) -> str:
    """Returns a digest of the tokens in order, without single bytes, whose order differs between engines."""
    merged = (b"%d:%b" % (len(token), token) for token in tokens if len(token) > 1)
    return hashlib.sha256(b"".join(merged)).hexdigest()


def sharding(task: Result) -> Result:
    """Encodes or shards; see `shards.work`."""
    from harness.shards import work

    return work(task)


TASKS: dict[str, Callable[[Result], Result]] = {
    "encoding": encoding,
    "loading": loading,
    "growth": growth,
    "importing": importing,
    "training": training,
    "counting": counting,
    "counting_apart": counting_apart,
    "merging": merging,
    "spilling": spilling,
    "sharding": sharding,
}


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print("\n" + json.dumps(TASKS[asked["task"]](asked)))
