"""Measures writing shards beside encoding the same documents in memory.

Ids are compared first. Then the two take turns, in fresh processes: `encode_batch_to_numpy` with a list of
all documents, and `write_shards` from a file to files.

    python -m benches shards --corpus DIR --megabytes 1000
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import bytemill
from bytemill._core import BUILD_PROFILE
from bytemill.shards import Provenance, write_shards
from harness.corpora import DOCUMENT_BYTES, cut, read_texts
from harness.memory import peak_megabytes
from harness.processes import run_worker

# Minimum speed relative to encoding.
TARGET = 0.7

SHARD_TOKENS = 50_000_000


def write_sources(folder: Path, corpus: Path | None, megabytes: int) -> dict[str, Path]:
    """Writes the same documents, without inner line breaks, as lines of text and as lines of JSON."""
    paths = {"lines": folder / "documents.txt", "JSON lines": folder / "documents.jsonl"}
    texts = read_texts(corpus, megabytes * 1_000_000)
    documents = [
        part.replace("\r", " ").replace("\n", " ")
        for text in texts.values()
        for part in cut(text, DOCUMENT_BYTES)
    ]
    size = 0
    with paths["lines"].open("wb") as text_file, paths["JSON lines"].open("wb") as json_file:
        for number, document in enumerate(cycle(documents)):
            if size >= megabytes * 1_000_000:
                break
            # The line break is part of a line, so it is part of the document.
            line = f"{document}\n".encode()
            text_file.write(line)
            record = {"id": number, "text": f"{document}\n", "meta": {"source": "corpus"}}
            json_file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            size += len(line)
    return paths


def lines_of(path: Path) -> list[str]:
    """Returns lines, which end with a line feed only."""
    with path.open(encoding="utf-8", newline="\n") as file:
        return list(file)


def shards_of(path: Path, folder: Path, task: dict[str, Any]) -> Provenance:
    """Writes shards."""
    encoding = bytemill.get_encoding(task["encoding"])
    return write_shards(
        path,
        folder,
        encoding,
        lines=True,
        append=encoding.eot_token,
        shard_tokens=SHARD_TOKENS,
        num_threads=task["threads"],
    )


def sharding(task: dict[str, Any]) -> dict[str, Any]:
    """Encodes or shards several times and returns the times; from the second on pieces are cached."""
    encoding = bytemill.get_encoding(task["encoding"])
    path, folder = Path(task["path"]), Path(task["folder"])
    before = peak_megabytes()
    once: Callable[[], object]
    if task["work"] == "encoding":
        documents = lines_of(path)

        def once() -> object:
            return encoding.encode_batch_to_numpy(
                documents, append=encoding.eot_token, dtype=task["dtype"], num_threads=task["threads"]
            )
    else:

        def once() -> object:
            return shards_of(path, folder, task)

    times = []
    for _ in range(task["rounds"]):
        shutil.rmtree(folder, ignore_errors=True)
        start = perf_counter()
        result = once()
        times.append(perf_counter() - start)
        del result
    return {"times": times, "peak": peak_megabytes(), "before": before}


def check(paths: dict[str, Path], folder: Path, task: dict[str, Any]) -> str:
    """Compares all ids and returns the type in which they are stored."""
    encoding = bytemill.get_encoding(task["encoding"])
    expected = encoding.encode_batch_to_numpy(
        lines_of(paths["lines"]), append=encoding.eot_token, num_threads=task["threads"]
    )
    for name, path in paths.items():
        shutil.rmtree(folder, ignore_errors=True)
        provenance = shards_of(path, folder, task)
        dtype = np.dtype(provenance.options["dtype"])
        if (provenance.documents, provenance.tokens) != (len(expected.offsets) - 1, len(expected.ids)):
            sys.exit(f"{name}: {provenance.documents} documents and {provenance.tokens} ids differ")
        start = 0
        for shard in provenance.shards:
            (file,) = shard.files
            ids = np.fromfile(folder / file, dtype)
            if not np.array_equal(ids, expected.ids[start : start + len(ids)]):
                sys.exit(f"{name}: ids differ in {file}")
            start += len(ids)
    return str(dtype)


def main(arguments: Sequence[str]) -> int:
    """Measures and prints; the exit code is 1 if the target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="its .txt files, not Python's source")
    parser.add_argument("--megabytes", type=int, default=200, help="of text (default: %(default)s)")
    parser.add_argument("--encoding", default="gpt2", help="(default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    options = parser.parse_args(arguments)
    if BUILD_PROFILE != "release":
        sys.exit(f"the extension is a {BUILD_PROFILE} build: run `make build`")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_sources(folder, options.corpus, options.megabytes)
        size = paths["lines"].stat().st_size
        task: dict[str, Any] = {
            "task": "sharding",
            "encoding": options.encoding,
            "threads": options.threads,
            "folder": str(folder / "shards"),
            "rounds": 2,
        }
        task["dtype"] = check(paths, folder / "shards", task)
        print(f"{size / 1e6:,.0f} MB, {options.encoding}, {options.threads} threads; all ids are equal")
        kinds = {
            "encode_batch_to_numpy": {"work": "encoding", "path": str(paths["lines"])},
            **{
                f"shards from {kind}": {"work": "sharding", "path": str(path)} for kind, path in paths.items()
            },
        }
        results: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
        for _ in range(options.rounds):
            for kind, its in kinds.items():
                results[kind].append(run_worker({**task, **its}))
        rates = {kind: [size / run["times"][-1] / 1e6 for run in runs] for kind, runs in results.items()}
        encoding_rate, *others = map(statistics.median, rates.values())
        for kind, runs in results.items():
            rate, peak = statistics.median(rates[kind]), max(run["peak"] for run in runs)
            print(
                f"{kind:24} {rate:6.0f} MB/s  {rate / encoding_rate:4.2f}  peak {peak:5.0f} MB, "
                f"{peak - runs[0]['before']:,.0f} MB above the encoding"
            )
    reached = min(others) / encoding_rate
    print(f"{'reached' if reached >= TARGET else 'MISSED'}: {reached:.2f} of {TARGET}")
    return 0 if reached >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
