"""The tasks of `worker` that encode: each has "engine", "encoding" and "folder"."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from time import perf_counter
from typing import Any

from harness.corpora import DOCUMENT_BYTES, cut
from harness.engines import MODULES, SENTENCE, Call, Calls, imported, load
from harness.measure import digest
from harness.memory import resident_bytes

Result = dict[str, Any]

MEGABYTE = 1e6

# Documents between two samples of the memory.
SAMPLED = 2000


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
