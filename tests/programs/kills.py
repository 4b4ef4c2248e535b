"""Kill writers at random moments by SIGKILL, and check what they leave and what they go on to.

    PYTHONPATH=tests python -m programs.kills [--kills N] [--output FILE]

Each writer begins in a new folder, is killed, and begins again where it was, until it comes to its end or
has been killed ten times; then it is left alone. After each kill, what is complete is what an undisturbed run
writes; in the end, so is everything. A run that was interrupted is resumed. Exits with an error at the first
difference.
"""

# ruff: noqa: T201 - a script: it prints

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import NamedTuple

import bytemill
from bytemill import jobs
from bytemill.documents import blocks
from bytemill.io.atomic import write_atomically
from bytemill.shards import source_blocks, write_shards
from support.held_tasks import outputs, write_corpus
from support.killed import came_to_end
from support.revision import commit

# The most kills before a writer is left alone: a unit of a job that was begun twenty times without an end is
# not begun again.
MOST_KILLS = 10

# Where a run that was interrupted stands.
PROGRESS = Path("target/kills.json")

OLD = b"what was there before"


class Writer(NamedTuple):
    """A writer that may be killed.

    Attributes:
        write: Writes into a folder, or goes on with what a killed run has left there.
        complete: Returns the contents of all outputs that are complete, by name.
    """

    write: Callable[[Path], object]
    complete: Callable[[Path], dict[str, object]]


def shards(corpus: Path, encoding: bytemill.Encoding) -> Writer:
    """Shards of one file."""

    def write(folder: Path) -> None:
        write_shards(
            [corpus / "00.jsonl"],
            folder / "shards",
            encoding,
            shard_tokens=1_100,
            append=50256,
            num_threads=2,
            resume=True,
        )

    return Writer(write, lambda folder: contents(folder / "shards", "*.bin"))


def job(corpus: Path, encoding: bytemill.Encoding) -> Writer:
    """Counts and shards of a job, in units; its process is killed with the one that started it."""

    def work(folder: Path) -> None:
        plan = jobs.plan(corpus, folder / "work", unit_bytes=20_000, field="text")
        jobs.count_pieces(plan, "gpt2", executor=jobs.Local(1))
        jobs.write_shards(plan, encoding, append=50256, executor=jobs.Local(1))

    def complete(folder: Path) -> dict[str, object]:
        work = folder / "work"
        return {**outputs(work)} if any(work.glob("commits/*.json")) else {}

    return Writer(lambda folder: came_to_end(lambda: work(folder)), complete)


def saved(encoding: bytemill.Encoding) -> Writer:
    """An encoding in place of an older file."""
    return Writer(lambda folder: encoding.save(folder / "saved"), lambda folder: contents(folder, "saved"))


def counts(texts: list[str]) -> Writer:
    """Counts in place of an older file."""

    def write(folder: Path) -> None:
        counted = bytemill.count_pieces(texts, num_threads=2, progress=False)
        counted.save(folder / "saved.parquet", sort=True)

    def complete(folder: Path) -> dict[str, object]:
        return contents(folder, "saved.parquet")

    return Writer(write, complete)


def contents(folder: Path, pattern: str) -> dict[str, object]:
    """Returns the contents of files by name, without those that are as they were before."""
    found = {path.name: path.read_bytes() for path in folder.glob(pattern)}
    return {name: data for name, data in found.items() if data != OLD}


def prepared(folder: Path) -> Path:
    """Makes a folder with files of before."""
    (folder / "temporary").mkdir(parents=True)
    for name in ("saved", "saved.parquet"):
        (folder / name).write_bytes(OLD)
    return folder


class Undisturbed(NamedTuple):
    """The outputs of an undisturbed run of a writer, and the seconds that it takes."""

    outputs: dict[str, object]
    seconds: float

    @classmethod
    def of(cls, writer: Writer, folder: Path) -> Undisturbed:
        """Runs a writer; the second run is timed, for which everything is loaded."""
        for number in range(2):
            fresh = prepared(folder / f"{number}")
            start = time.perf_counter()
            assert came_to_end(partial(writer.write, fresh))
            seconds = time.perf_counter() - start
        outputs = [writer.complete(folder / f"{number}") for number in range(2)]
        assert outputs[0] == outputs[1]
        assert outputs[0]
        return cls(outputs[0], seconds)


def kill(writer: Writer, undisturbed: Undisturbed, folder: Path, most: int, chance: random.Random) -> int:
    """Kills a writer until it comes to its end; returns how often.

    Raises:
        AssertionError: It has left or written something else than an undisturbed run.
    """
    prepared(folder)
    killed = 0
    while killed < most:
        ended = came_to_end(lambda: writer.write(folder), seconds=chance.uniform(0, undisturbed.seconds))
        assert writer.complete(folder).items() <= undisturbed.outputs.items()
        if ended:
            break
        killed += 1
    else:
        assert came_to_end(lambda: writer.write(folder))
    assert writer.complete(folder) == undisturbed.outputs
    return killed


def words(chance: random.Random) -> list[str]:
    """Returns texts with more different words than a mebibyte has room for."""
    made = ["".join(chance.choices("abcdefghijklmnop", k=12)) for _ in range(40_000)]
    return [" ".join(made[start : start + 5_000]) for start in range(0, len(made), 5_000)]


def main() -> None:
    """Runs the program."""
    parser = argparse.ArgumentParser(description="Kill writers at random moments.")
    parser.add_argument("--kills", type=int, default=1000, metavar="N")
    parser.add_argument("--output", type=Path, default=Path("benches/results/kills.jsonl"), metavar="FILE")
    arguments = parser.parse_args()
    # To be killed is not to lose what the disk has not got yet.
    os.fsync = lambda fd: None  # noqa: ARG005 - the name is part of its type
    # Many blocks in little text.
    source_blocks.BLOCK_BYTES, blocks.CUT_WINDOW = 3_000, 500
    encoding = bytemill.get_encoding("gpt2")
    # What each run would else make for itself.
    assert encoding.encode("") == []
    assert encoding.sha256
    start = time.perf_counter()
    record = {**commit(), "kills": {}, "seconds": 0}
    if PROGRESS.exists() and (before := json.loads(PROGRESS.read_bytes()))["commit"] == record["commit"]:
        record = before
    killed, seconds = record["kills"], record["seconds"]
    # Other moments after a run that was interrupted.
    chance = random.Random(sum(killed.values()))  # noqa: S311 - not for secrets
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        corpus = write_corpus(folder / "corpus", files=3, lines=150)
        writers = {
            "shards": shards(corpus, encoding),
            "job": job(corpus, encoding),
            "save": saved(encoding),
            "counts": counts(words(chance)),
        }
        undisturbed = {
            name: Undisturbed.of(writer, folder / f"{name}-undisturbed") for name, writer in writers.items()
        }
        for number in range(arguments.kills * 100):
            left = arguments.kills - sum(killed.values())
            if left <= 0:
                break
            # The one that was killed least.
            name = min(writers, key=lambda name: killed.get(name, 0))
            with tempfile.TemporaryDirectory(dir=folder) as fresh:
                most = min(left, MOST_KILLS)
                times = kill(writers[name], undisturbed[name], Path(fresh) / "out", most, chance)
            killed[name] = killed.get(name, 0) + times
            record["seconds"] = round(seconds + time.perf_counter() - start)
            write_atomically(PROGRESS, json.dumps(record).encode())
            if number % 20 == 0:
                print(f"{sum(killed.values()):6} kills: {killed}", flush=True)
    assert sum(killed.values()) == arguments.kills, "writers came to their end before they were killed"
    line = json.dumps({"date": datetime.now(timezone.utc).isoformat(timespec="seconds"), **record})
    with arguments.output.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    PROGRESS.unlink()
    print(line)


if __name__ == "__main__":
    main()
