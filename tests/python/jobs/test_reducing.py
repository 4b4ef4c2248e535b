"""Counts are added up in parts, whose files are the same whatever adds them up."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import bytemill
from bytemill import jobs
from bytemill.io.piece_table import first_pieces
from bytemill.jobs import counting, reducing
from support.command_line import environment
from support.executors import Fault, Interleaved, Twice, killed_once
from support.mixed_corpus import write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes parts and row groups of few pieces, so that there are many."""
    monkeypatch.setattr("bytemill.jobs.reducing.PART_BYTES", 4_000)
    monkeypatch.setattr("bytemill.io.piece_table.ROWS", 3)


def counted(corpus: Path, work: Path) -> jobs.Plan:
    """Returns a plan whose units are counted."""
    plan = jobs.plan(corpus, work, unit_bytes=10_000)
    counting.count_left(counting.begin(plan, "gpt2", ()), jobs.Local(1))
    return plan


def parts(work: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((work / "merged").iterdir())}


def test_parts_follow_each_other_and_add_up_to_one_process(corpus: Path, tmp_path: Path) -> None:
    plan = counted(corpus, tmp_path / "work")
    counts = reducing.merged(plan)
    whole = bytemill.count_pieces(corpus, "gpt2", progress=False)
    assert dict(counts) == dict(whole)
    assert counts.total() == whole.total()
    tables = [pq.read_table(tmp_path / "work" / "merged" / name) for name in parts(tmp_path / "work")]
    assert len(tables) > 3
    rows = [row for table in tables for row in zip(*table.to_pydict().values(), strict=True)]
    assert rows == sorted(whole)
    assert all(len(table) for table in tables)
    found = jobs.status(plan)
    assert (found.parts, found.parts_merged) == (len(tables), len(tables))
    assert list(counts) == rows
    assert (
        bytemill.train(counts, 280, progress=False).sha256
        == bytemill.train(whole, 280, progress=False).sha256
    )


def test_the_files_depend_on_the_counts_alone(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executors: list[jobs.Executor] = [jobs.Local(1), Twice(1), Twice(2), Interleaved(monkeypatch)]
    found = []
    for number, executor in enumerate(executors):
        plan = counted(corpus, tmp_path / str(number))
        reducing.reduce_left(plan, executor)
        found.append(parts(tmp_path / str(number)))
        # Other files open at once, in two steps and more.
        monkeypatch.setattr("bytemill.io.piece_table.MOST_OPEN", 5 - number)
    assert all(each == found[0] for each in found)


FEW_FILES = """
import resource, sys
from bytemill import jobs
from bytemill.jobs import reducing
plan = jobs.Plan.load(sys.argv[1])
# Imported and started before: what is left is for the files of the units.
resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
reducing.merged(plan)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no such limit")
def test_few_files_may_be_open_at_once(tmp_path: Path) -> None:
    """A unit's counts are read by each part: more units than a process may have files."""
    path, limit = tmp_path / "corpus.jsonl", 60
    path.write_text("".join(f'{{"text": "line {line // 2} of many"}}\n' for line in range(400)))
    found = []
    for name in ("whole", "limited"):
        plan = jobs.plan(path, tmp_path / name, unit_bytes=80)
        assert len(plan.units) > limit
        counting.count_left(counting.begin(plan, "gpt2", ()), jobs.Local(1))
        if name == "whole":
            reducing.merged(plan)
        else:
            program = FEW_FILES.replace("FILES", str(limit))
            done = subprocess.run([sys.executable, "-c", program, plan.work], env=environment(), check=False)  # noqa: S603
            assert done.returncode == 0
        # In one part there: sizes of parts are patched in this process only.
        found.append(dict(jobs.count_pieces(plan, "gpt2", executor=jobs.Local(1))))
    assert found[0] == found[1] == dict(bytemill.count_pieces(path, "gpt2", progress=False))


STEPS = [
    "bytemill.training.counts.PieceCounts.save",
    "bytemill.jobs.work.facts_of",
    "bytemill.jobs.reducing.bounds",
]
STEPS += ["bytemill.jobs.work.Work.commit", "bytemill.jobs.stores.FolderStore.publish"]
STEPS += ["bytemill.jobs.stores.FolderStore.write", "bytemill.jobs.stores.FolderStore.remove"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_goes_on(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    reducing.merged(counted(corpus, tmp_path / "undisturbed"))
    plan = counted(corpus, tmp_path / "work")
    fault = Fault(step, when, 1 if step.endswith("bounds") else 3)
    killed_once(monkeypatch, fault, tmp_path / "work", lambda: reducing.merged(plan))
    assert parts(tmp_path / "work") == parts(tmp_path / "undisturbed")


@pytest.mark.parametrize("seed", range(5))
def test_ranges_of_files_with_long_and_equal_beginnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    source = random.Random(seed)  # noqa: S311 - not for secrets
    beginnings = [b"", b"a", b"a" * 63, b"a" * 64, b"a" * 64 + b"b", b"b" * 200, b"\xff" * 70]
    pieces = {
        source.choice(beginnings) + source.randbytes(source.randrange(1, 4)): source.randrange(1, 9)
        for _ in range(60)
    }
    path = tmp_path / "counts.parquet"
    bytemill.PieceCounts(pieces, pattern="gpt2").save(path, sort=True)
    firsts = first_pieces(path)
    assert firsts == [piece[:64] for piece in sorted(pieces)[::3]]
    edges = sorted({piece[:64] for piece in source.sample(sorted(pieces), 6)} | {firsts[4]})
    found = []
    for first, end in zip([b"", *edges], [*edges, None], strict=True):
        counts = bytemill.PieceCounts._merged([str(path)], 9, first, end)
        expected = sorted(piece for piece in pieces if first <= piece and (end is None or piece < end))
        assert [piece for piece, _ in counts] == expected
        found += list(counts)
    assert found == sorted(pieces.items())
    # A file that does not tell where its row groups begin is read as a whole.
    monkeypatch.setattr("bytemill.io.piece_table.stored_first_pieces", lambda *_: [])
    counts = bytemill.PieceCounts._merged([str(path)], 9, edges[0], edges[1])
    assert [piece for piece, _ in counts] == sorted(each for each in pieces if edges[0] <= each < edges[1])


def test_what_is_not_counted_or_has_changed_is_refused(corpus: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    plan = jobs.plan(corpus, work, unit_bytes=10_000)
    with pytest.raises(ValueError, match="first of them unit 0"):
        reducing.merged(plan)
    plan = counted(corpus, work)
    run = work / "counts" / "unit-000000.parquet"
    data = run.read_bytes()
    run.write_bytes(data + b"more")
    with pytest.raises(ValueError, match="bytes that were committed"):
        reducing.begin(plan)
    run.write_bytes(data)
    # The same size, and other contents: their hash is that of the whole file, which no task reads.
    at = data.index(b"\x28\xb5\x2f\xfd") + 12
    reducing.begin(plan)
    run.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises((ValueError, OSError), match=r"unit-000000\.parquet"):
        reducing.merged(plan)
    run.write_bytes(data)
    reducing.merged(plan)
    part = work / "merged" / "part-000001.parquet"
    part.write_bytes(part.read_bytes()[::-1])
    with pytest.raises(ValueError, match=r"part-000001\.parquet: expected the .* bytes that were committed"):
        reducing.merged(plan)


def test_a_part_that_is_not_there_is_an_error(corpus: Path, tmp_path: Path) -> None:
    plan = counted(corpus, tmp_path / "work")
    number = reducing.begin(plan)
    for wrong in (-1, number):
        with pytest.raises(ValueError, match=f"expected a part from 0 to {number - 1}"):
            reducing.reduce_part(plan.work, wrong)
