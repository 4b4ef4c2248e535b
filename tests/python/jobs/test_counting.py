"""Counting by units gives the counts of one process, whatever happens to the tasks."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import bytemill
from bytemill import jobs
from bytemill.jobs.counting import count_unit
from bytemill.training.options import TieBreak

TEXTS = ["the cat sat", " on the mat\n", "naïve 東京 😀", "", "line\nbreaks\r\nand tabs\t", "x" * 700]


def texts(seed: int, number: int) -> list[str]:
    source = random.Random(seed)  # noqa: S311 - not for secrets
    return ["".join(source.choices(TEXTS, k=source.randrange(5))) for _ in range(number)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Returns a folder with files of every kind, some of several units."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    records = [
        json.dumps({"text": text}, ensure_ascii=seed % 2 > 0)
        for seed in range(2)
        for text in texts(seed, 200)
    ]
    (folder / "a.jsonl").write_text("\n".join(records), encoding="utf-8")
    pq.write_table(pa.table({"text": texts(2, 300)}), folder / "b.parquet", row_group_size=37)
    for number in range(5):
        (folder / f"c{number}.jsonl").write_text(records[number] + "\n", encoding="utf-8")
    (folder / "d.jsonl").write_bytes(b"")
    return folder


def counted(counts: bytemill.PieceCounts) -> dict[bytes, int]:
    return dict(counts)


def one_process(corpus: Path, **options: object) -> dict[bytes, int]:
    return counted(bytemill.count_pieces(corpus, progress=False, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("unit_bytes", [1, 100, 5_000, "1M"])
def test_units_add_up_to_one_process(corpus: Path, tmp_path: Path, unit_bytes: int | str) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=unit_bytes)
    assert (len(plan.units) > 1) == (unit_bytes != "1M")
    counts = jobs.count_pieces(plan, executor=jobs.Local(1))
    assert counted(counts) == one_process(corpus)
    assert counts.is_sorted
    assert jobs.status(plan).done == len(plan.units)
    assert jobs.status(plan).total == counts.total()


def test_a_plan_covers_every_file_in_order(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=1_000)
    ranges = [part for unit in plan.units for part in unit.ranges]
    assert list(dict.fromkeys(part.path for part in ranges)) == sorted(map(str, corpus.iterdir()))
    for name in plan.sources:
        parts = [part for part in ranges if part.path == name]
        assert parts[0].start == 0
        assert parts[-1].end is None
        assert all(before.end == after.start for before, after in pairwise(parts))
    data = (corpus / "a.jsonl").read_bytes()
    cuts = [part.start for part in ranges if part.path.endswith("a.jsonl")][1:]
    assert len(cuts) > 5
    assert all(data[cut - 1 : cut] == b"\n" for cut in cuts)


def test_lines_of_text_are_cut_and_single_documents_are_not(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("one line\r\nanother\n\n" * 400, encoding="utf-8")
    whole = jobs.plan(path, tmp_path / "whole", unit_bytes=100)
    assert len(whole.units) == 1
    cut = jobs.plan(path, tmp_path / "cut", unit_bytes=100, lines=True)
    assert len(cut.units) > 10
    counts = jobs.count_pieces(cut, "gpt2", executor=jobs.Local(1))
    assert counted(counts) == one_process(path, pattern="gpt2", lines=True)


@pytest.mark.parametrize("tie_break", ["smallest_pair", "huggingface", "greatest_bytes"])
def test_the_vocabulary_is_that_of_one_process(corpus: Path, tmp_path: Path, tie_break: TieBreak) -> None:
    counts = jobs.count_pieces(jobs.plan(corpus, tmp_path / "work", unit_bytes=3_000), executor=jobs.Local(1))
    here = bytemill.count_pieces(corpus, progress=False)
    saved = []
    for number, each in enumerate([counts, here]):
        path = tmp_path / f"{number}.tiktoken"
        bytemill.train(each, 300, tie_break=tie_break, progress=False).save(path)
        saved.append(path.read_bytes())
    assert saved[0] == saved[1]


def test_processes_share_the_work(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)
    assert counted(jobs.count_pieces(plan, executor=jobs.Local(2))) == one_process(corpus)


class Killed(BaseException):
    """Ends a task as a signal would, in a test."""


class Twice:
    """Runs every task twice, in random order, and ends it in between."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - not for secrets

    def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
        order = [*numbers, *numbers]
        self.random.shuffle(order)
        for number in order:
            task(number)
            yield number


@pytest.mark.parametrize("seed", range(3))
def test_tasks_may_run_twice_in_any_order(corpus: Path, tmp_path: Path, seed: int) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=2_000)
    assert counted(jobs.count_pieces(plan, executor=Twice(seed))) == one_process(corpus)


# The steps of a task at which it is killed.
STEPS = ["bytemill.jobs.plan.Plan.check_sources", "bytemill.training.counts.PieceCounts.save"]
STEPS += ["bytemill.jobs.work.Work.commit", "bytemill.jobs.work.Work.forget_attempts", "os.link"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_goes_on(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    work = tmp_path / "work"
    owner, _, name = step.rpartition(".")
    target = os if owner == "os" else __import__("pkgutil").resolve_name(owner)
    original = getattr(target, name)
    calls = 0

    def killed(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 4 and when == "before":
            raise Killed
        result = original(*arguments, **options)
        if calls == 4:
            raise Killed
        return result

    plan = jobs.plan(corpus, work, unit_bytes=2_000)
    with monkeypatch.context() as patch:
        patch.setattr(target, name, killed)
        if name == "link":
            calls = 3
        with pytest.raises(Killed):
            jobs.count_pieces(plan, executor=jobs.Local(1))
    before = {path: path.stat().st_mtime_ns for path in (work / "commits").glob("*")}
    again = jobs.plan(corpus, work, unit_bytes=2_000)
    assert counted(jobs.count_pieces(again, executor=jobs.Local(1))) == one_process(corpus)
    assert all(path.stat().st_mtime_ns == time for path, time in before.items()), "not counted again"
    assert not list(work.rglob("*.tmp"))


def die_once(work: str, mark: Path, number: int) -> None:
    if number == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    count_unit(work, number)


class Dying(jobs.Local):
    """Processes one of which is killed."""

    def __init__(self, mark: Path) -> None:
        super().__init__(2)
        self.mark = mark

    def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
        assert isinstance(task, partial)
        return super().run(partial(die_once, task.args[0], self.mark), numbers)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no such signal")
def test_a_process_that_is_killed_is_replaced(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)
    counts = jobs.count_pieces(plan, executor=Dying(tmp_path / "mark"))
    assert (tmp_path / "mark").exists()
    assert counted(counts) == one_process(corpus)


def test_a_unit_that_kills_is_begun_three_times(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work")
    attempts = tmp_path / "work" / "attempts"
    attempts.mkdir()
    for mark in "abc":
        (attempts / f"count-000000.{mark}").touch()
    with pytest.raises(RuntimeError, match="unit 0 was begun 3 times"):
        jobs.count_pieces(plan, executor=jobs.Local(1))
    (attempts / "count-000000.a").unlink()
    assert counted(jobs.count_pieces(plan, executor=jobs.Local(1))) == one_process(corpus)
    assert not list(attempts.iterdir())


def test_what_belongs_to_another_job_is_refused(corpus: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    jobs.plan(corpus, work)
    with pytest.raises(ValueError, match="another plan"):
        jobs.plan(corpus, work, unit_bytes=1_000)
    jobs.count_pieces(work, executor=jobs.Local(1))
    with pytest.raises(ValueError, match="other options"):
        jobs.count_pieces(work, "gpt2", executor=jobs.Local(1))


def test_a_file_that_has_changed_is_refused(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work")
    (corpus / "d.jsonl").write_text('{"text": "new"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="changed since it was planned"):
        jobs.count_pieces(plan, executor=jobs.Local(1))


def test_an_output_that_has_changed_is_refused(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work")
    jobs.count_pieces(plan, executor=jobs.Local(1))
    with (tmp_path / "work" / "counts" / "unit-000000.parquet").open("ab") as file:
        file.write(b"more")
    with pytest.raises(ValueError, match="that were committed"):
        jobs.count_pieces(plan, executor=jobs.Local(1))


def test_an_executor_that_leaves_units_out_is_noticed(corpus: Path, tmp_path: Path) -> None:
    class Lazy:
        def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
            del task
            return iter(numbers)

    with pytest.raises(ValueError, match="but 1 are not, the first of them unit 0"):
        jobs.count_pieces(jobs.plan(corpus, tmp_path / "work"), executor=Lazy())


def test_an_error_names_file_and_place(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"text": "a"}\n' * 20 + '{"wrong": 1}\n', encoding="utf-8")
    plan = jobs.plan(path, tmp_path / "work", unit_bytes=100)
    with pytest.raises(
        ValueError, match=r"corpus\.jsonl, from 224 on, line 5: expected an object with the field"
    ):
        jobs.count_pieces(plan, executor=jobs.Local(1))
    assert not list((tmp_path / "work" / "attempts").iterdir())
    assert jobs.status(plan).done < len(plan.units)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unit_bytes": 0}, "at least 1"),
        ({"errors": "wrong"}, "errors must be one of"),
        ({"field": "text", "lines": True}, "lines are those of text"),
    ],
)
def test_options_are_checked(
    corpus: Path, tmp_path: Path, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        jobs.plan(corpus, tmp_path / "work", **arguments)  # type: ignore[arg-type]
    assert not (tmp_path / "work").exists()


def test_files_are_given_once(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="given twice"):
        jobs.plan([corpus, corpus / "a.jsonl"], tmp_path / "work")
    with pytest.raises(ValueError, match="got none"):
        jobs.plan([], tmp_path / "work")


@pytest.mark.parametrize("contents", ["", "[]", "{}", '{"version": 1}', '{"version": 1, "units": 3}'])
def test_a_damaged_plan_is_refused(tmp_path: Path, contents: str) -> None:
    (tmp_path / "plan.json").write_text(contents, encoding="utf-8")
    with pytest.raises(ValueError, match=r"plan\.json: expected"):
        jobs.status(tmp_path)
