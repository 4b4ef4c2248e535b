"""One engine in a process of its own: `compare_worker.py TASK` prints what it found as a line of JSON.

TASK is JSON too: "task" is a key of `TASKS`; then "engine", "encoding", "folder", and what the task needs.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from string import ascii_lowercase
from time import perf_counter
from typing import Any

from corpora import DOCUMENT_BYTES, cut
from engines import MODULES, SENTENCE, Call, Calls, imported, load
from measuring import digest, resident_bytes

Result = dict[str, Any]

MEGABYTE = 1e6

# How much is encoded between two looks at the memory.
DOCUMENTS_BETWEEN = 2000


def loaded(task: Result) -> Calls:
    """The engine of a task, with one sentence encoded."""
    calls = load(task["engine"], task["encoding"], Path(task["folder"]))
    calls["list"].work(SENTENCE)
    calls.get("array", calls["list"]).work(SENTENCE)
    return calls


def described(call: Call) -> Result:
    """How an engine was called."""
    return {"call": call.name, "form": call.form, "threads": call.threads}


def first_pass(task: Result) -> Result:
    """Encodes the text of the file `text` to an array, once."""
    text = Path(task["text"]).read_bytes().decode()
    call = loaded(task)["array"]
    gc.disable()
    start = perf_counter()
    ids = call.work(text)
    end = perf_counter()
    return {"seconds": end - start, "digest": digest(ids), **described(call)}


def isolated(task: Result) -> Result:
    """Encodes the texts of the JSON file `texts` to lists, each for the first time."""
    texts = json.loads(Path(task["texts"]).read_bytes())
    call = loaded(task)["list"]
    encode = call.work
    gc.disable()
    start = perf_counter()
    lists = [encode(text) for text in texts]
    end = perf_counter()
    return {"seconds": end - start, "digest": digest(lists), **described(call)}


def loading(task: Result) -> Result:
    """Loads the encoding and encodes a sentence, without the import; how long, and how much memory."""
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
    """Encodes `bytes` of ever new documents to lists, and tells the most that memory grew."""
    calls = loaded(task)
    encode = calls["list"].work
    before = most = resident_bytes()
    usage: Result = {}
    done = 0
    for number, document in enumerate(ever_new_documents(Path(task["text"]))):
        encode(document)
        done += len(document.encode())
        if number % DOCUMENTS_BETWEEN == 0:
            most = max(most, resident_bytes())
        if done >= task["bytes"]:
            break
    most = max(most, resident_bytes())
    if "memory_usage" in calls:
        usage["used"] = calls["memory_usage"].work() / MEGABYTE
        calls["clear_cache"].work()
        usage["cleared"] = calls["memory_usage"].work() / MEGABYTE
    call = calls["list"]
    grown = (most - before) / MEGABYTE
    return {"megabytes": grown, **described(call), **usage}


def ever_new_documents(path: Path) -> Iterator[str]:
    """The documents of a file, then again with every small letter replaced by the next, and so on.

    Words keep their lengths and how often they occur, but most are pieces never seen before. After 26 turns
    it begins again.
    """
    for shift in range(len(ascii_lowercase)):
        table = str.maketrans(ascii_lowercase, ascii_lowercase[shift:] + ascii_lowercase[:shift])
        with path.open(encoding="utf-8", newline="") as file:
            while block := file.read(250_000):
                yield from cut(block.translate(table), DOCUMENT_BYTES)
    yield from ever_new_documents(path)


def importing(task: Result) -> Result:
    """Imports the engine in an interpreter that has imported the modules `after` and nothing else."""
    before = "".join(f"import {name}; " for name in task["after"])
    module = MODULES.get(task["engine"], task["engine"])
    measured = f"start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", f"{before}import time; {measured}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {"seconds": float(done.stdout.split()[-1]), "call": "import", "form": "nothing"}


TASKS: dict[str, Callable[[Result], Result]] = {
    "first_pass": first_pass,
    "isolated": isolated,
    "loading": loading,
    "growth": growth,
    "importing": importing,
}


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(TASKS[asked["task"]](asked)))
