"""Counting by units gives the counts of one process, whatever happens to the tasks."""

from __future__ import annotations

import gzip
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

import bytemill
from bytemill import jobs
from bytemill.training.options import TieBreak
from support.executors import Fault, Interleaved, Killed, Twice, kill_at, killed_once
from support.mixed_corpus import write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus")


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
    assert jobs.status(plan).units_counted == len(plan.units)
    assert jobs.status(plan).pieces == counts.total()
    assert jobs.status(plan).is_done


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


def test_a_file_that_is_not_cut_is_a_warning(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(random.Random(0).randbytes(60_000))  # noqa: S311 - not for secrets
    monkeypatch.setattr(sys.modules["bytemill.jobs.plan"], "LARGE_BYTES", 50_000)
    with pytest.warns(UserWarning, match=r"large\.jsonl\.gz: a unit has 6\d{4} bytes"):
        jobs.plan([corpus, path], tmp_path / "work", unit_bytes=10_000)
    jobs.plan([corpus, path], tmp_path / "other", unit_bytes=40_000)


@pytest.mark.parametrize("tie_break", ["smallest_pair", "huggingface", "greatest_bytes"])
def test_the_vocabulary_is_that_of_one_process(corpus: Path, tmp_path: Path, tie_break: TieBreak) -> None:
    counts = jobs.count_pieces(jobs.plan(corpus, tmp_path / "work", unit_bytes=3_000), executor=jobs.Local(1))
    here = bytemill.count_pieces(corpus, progress=False)
    saved = []
    for number, each in enumerate([counts, here]):
        path = tmp_path / f"{number}.tiktoken"
        bytemill.train(each, 300, tie_break=tie_break, progress=False).save_tiktoken(path)
        saved.append(path.read_bytes())
    assert saved[0] == saved[1]


def test_processes_share_the_work(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)
    assert counted(jobs.count_pieces(plan, executor=jobs.Local(2))) == one_process(corpus)


@pytest.mark.parametrize("seed", range(3))
def test_tasks_may_run_twice_in_any_order(corpus: Path, tmp_path: Path, seed: int) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=2_000)
    assert counted(jobs.count_pieces(plan, executor=Twice(seed))) == one_process(corpus)


# The steps of a task at which it is killed.
STEPS = ["bytemill.jobs.plan.Plan.check_sources", "bytemill.training.counts.PieceCounts.save"]
STEPS += ["bytemill.jobs.work.Work.commit", "bytemill.jobs.stores.FolderStore.publish"]
STEPS += ["bytemill.jobs.stores.FolderStore.write", "bytemill.jobs.stores.FolderStore.remove"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_goes_on(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=10_000)
    counts = killed_once(
        monkeypatch,
        Fault(step, when, 4),
        tmp_path / "work",
        lambda: jobs.count_pieces(plan, executor=jobs.Local(1)),
    )
    assert counted(counts) == one_process(corpus)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_plan_that_is_killed_is_made_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    with monkeypatch.context() as patch:
        kill_at(patch, "os.link", when, 1)
        with pytest.raises(Killed):
            jobs.plan(corpus, tmp_path / "work", unit_bytes=2_000)
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=2_000)
    assert counted(jobs.count_pieces(plan, executor=jobs.Local(1))) == one_process(corpus)


def test_a_task_may_run_while_it_runs(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)
    assert counted(jobs.count_pieces(plan, executor=Interleaved(monkeypatch))) == one_process(corpus)


def die_once(task: Callable[[int], None], mark: Path, number: int) -> None:
    if number == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    task(number)


class Dying(jobs.Local):
    """Processes one of which is killed."""

    def __init__(self, mark: Path) -> None:
        super().__init__(2)
        self.mark = mark

    def run(self, task: Callable[[int], None], numbers: Sequence[int]) -> Iterator[int]:
        return super().run(partial(die_once, task, self.mark), numbers)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no such signal")
def test_a_process_that_is_killed_is_replaced(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)
    counts = jobs.count_pieces(plan, executor=Dying(tmp_path / "mark"))
    assert (tmp_path / "mark").exists()
    assert counted(counts) == one_process(corpus)


def test_what_a_killed_process_has_left_is_removed(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)
    left = [
        tmp_path / "work" / name for name in ("commits/count-000001.json.ab.tmp", "scratch/count-000001.cd/a")
    ]
    for path in left:
        path.parent.mkdir(parents=True)
        path.touch()
    assert counted(jobs.count_pieces(plan, executor=jobs.Local(1))) == one_process(corpus)
    assert not any(path.exists() for path in left)


def test_progress_is_reported(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)
    seen: list[jobs.Progress] = []
    jobs.count_pieces(plan, executor=Twice(0), progress=seen.append)
    counting = [each for each in seen if each.step == "count"]
    units = len(plan.units)
    assert [each.done for each in counting[:1] + counting[-1:]] == [0, units]
    assert [each.done for each in counting] == sorted(each.done for each in counting)
    assert {each.units for each in counting} == {units}
    assert (counting[0].source_bytes, counting[0].text_bytes) == (0, 0)
    assert counting[-1].source_bytes == sum(unit.size for unit in plan.units)
    assert counting[-1].text_bytes > 0
    assert seen[len(counting) :] == [
        jobs.Progress("reduce", 0, 1, 0),
        *[jobs.Progress("reduce", 1, 1, 0)] * 2,
    ]
    # What is done already counts from the start.
    again: list[jobs.Progress] = []
    jobs.count_pieces(plan, executor=jobs.Local(1), progress=again.append)
    assert again == [counting[-1]._replace(text_bytes=0), jobs.Progress("reduce", 1, 1, 0)]
    encoding = bytemill.get_encoding("gpt2")
    written: list[jobs.Progress] = []
    manifest = jobs.write_shards(plan, encoding, executor=jobs.Local(1), progress=written.append)
    assert written[-1] == counting[-1]._replace(step="shard", tokens=manifest.tokens)
    jobs.compact(plan, executor=jobs.Local(1), progress=written.append)
    assert [each.done for each in written if each.step == "shard"] == [*range(units + 1)]
    assert written[-1] == jobs.Progress("compact", 1, 1, 0)


def test_what_progress_raises_ends_the_job(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)

    def stop(progress: jobs.Progress) -> None:
        if progress.done == 2:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        jobs.count_pieces(plan, executor=jobs.Local(1), progress=stop)
    assert jobs.status(plan).units_counted == 2
    with pytest.raises(TypeError, match="progress must be a function, or None, not bool"):
        jobs.count_pieces(plan, executor=jobs.Local(1), progress=True)  # type: ignore[arg-type]


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
    with (tmp_path / "work" / "merged" / "part-000000.parquet").open("ab") as file:
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
    assert not jobs.status(plan).is_done


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
