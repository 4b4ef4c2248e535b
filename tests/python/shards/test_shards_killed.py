"""Shards after a kill: whenever it comes, resuming gives byte for byte what an undisturbed run gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import environment

pytestmark = pytest.mark.skipif(not hasattr(sys, "addaudithook") or sys.platform == "win32", reason="forks")

# A process that never starts a thread itself forks one for each run, so that a run costs no start of Python.
SCRIPT = """
import json, os, pathlib, random, sys, time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path[:0] = [entry for entry in os.environ["PYTHONPATH"].split(os.pathsep) if entry not in sys.path]
how, format, source, folder = sys.argv[1:]

import pyarrow.parquet
import bytemill
from bytemill.documents import blocks
from bytemill.shards import source_blocks, write_shards
from support.killed import came_to_end

# To be killed is not to lose what the disk has not got yet.
os.fsync = lambda _: None
source_blocks.BLOCK_BYTES = 3000
blocks.CUT_WINDOW = 500
encoding = bytemill.get_encoding("gpt2")
# What each run would else make for itself, which takes longer than to write all shards.
encoding.encode("")
encoding.sha256
if format == "parquet":
    import pandas


def run(out, **killed):
    tokens = 2600 if how == "steps" else 1100
    return came_to_end(
        lambda: write_shards([pathlib.Path(source)], out, encoding, format=format, shard_tokens=tokens,
                             append=50256, num_threads=2, resume=True),
        folder=out, **killed)


start = time.perf_counter()
assert run(os.path.join(folder, "whole"))
lasts = time.perf_counter() - start
killed = 0
if how == "steps":
    # Each run comes one step further than the one before, from the beginning or from where that ended.
    for fresh in (True, False):
        out = os.path.join(folder, "steps")
        for die_at in range(1000):
            if fresh:
                out = os.path.join(folder, f"step{die_at}")
            ended = run(out, die_at=die_at)
            killed += not ended
            if fresh and not ended:
                assert run(out)
            if ended:
                break
else:
    chance = random.Random(int(how))
    for i in range(20):
        # Where the first run was slow, all others may have ended before they are killed.
        if i >= 3 and killed:
            break
        out = os.path.join(folder, f"out{i}")
        for _ in range(20):
            if run(out, seconds=chance.uniform(0, lasts)):
                break
            killed += 1
        else:
            assert run(out)
print(json.dumps(killed))
"""


def killed(how: object, form: str, source: Path, folder: Path) -> int:
    """Runs the script; gives how many runs were killed."""
    command = [sys.executable, "-c", SCRIPT, str(how), form, str(source), str(folder)]
    done = subprocess.run(  # noqa: S603 - our own script
        command, capture_output=True, text=True, check=False, timeout=120, env=environment()
    )
    assert done.returncode == 0, done.stderr
    number: int = json.loads(done.stdout)
    return number


def all_are_equal(folder: Path) -> int:
    """Compares all folders with the one that nothing stopped; gives how many there are."""
    trees = {out.name: {path.name: path.read_bytes() for path in out.iterdir()} for out in folder.iterdir()}
    whole = trees.pop("whole")
    assert len(whole) >= 4
    for name, tree in trees.items():
        assert tree == whole, name
    return len(trees)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text(
        "".join(
            json.dumps({"text": f"{i}: the quick brown fox, naïve 日本語 " * (i % 9)}) + "\n"
            for i in range(60)
        ),
        encoding="utf-8",
    )
    return path


def test_killed_at_every_step(source: Path, tmp_path: Path) -> None:
    """With two files for each shard, so that one of them may have its name and the other not."""
    (tmp_path / "shards").mkdir()
    assert killed("steps", "megatron", source, tmp_path / "shards") > 15
    assert all_are_equal(tmp_path / "shards") > 10


@pytest.mark.parametrize("form", ["bin", "parquet"])
def test_killed_at_any_time(form: str, source: Path, tmp_path: Path) -> None:
    (tmp_path / "shards").mkdir()
    assert killed(1, form, source, tmp_path / "shards") > 0
    assert all_are_equal(tmp_path / "shards") >= 3


def test_killed_inside_a_document(source: Path, tmp_path: Path) -> None:
    """A file that is one document, so that every shard begins inside it."""
    path = source.rename(tmp_path / "document.txt")
    (tmp_path / "shards").mkdir()
    assert killed(2, "npy", path, tmp_path / "shards") > 0
    assert all_are_equal(tmp_path / "shards") >= 3
