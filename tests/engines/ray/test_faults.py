"""Whatever dies on a cluster of Ray, counts and files are those of one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.json  # type: ignore[import-untyped]
import pytest

import bytemill
import bytemill.ray
from bytemill import jobs
from bytemill.jobs.columns import ColumnCounter, Run
from bytemill.ray.datasets import count_dataset
from support.held_tasks import COMMITTED, Hold, deadly, existing, holding, outputs, write_corpus
from support.ray_cluster import NODE, NODES, ray

UNIT = 4_000

pytest_plugins = ["support.ray_cluster"]
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("texts") / "corpus")


@pytest.fixture(scope="module")
def here(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[bytes, int], dict[str, str]]:
    """The counts of one process, and the SHA-256 of all files of a job that one process did."""
    work = tmp_path_factory.mktemp("here") / "work"
    plan = jobs.plan(corpus, work, unit_bytes=UNIT)
    assert len(plan.units) > 30
    jobs.count_pieces(plan, executor=jobs.Local(1))
    return dict(bytemill.count_pieces(corpus, progress=False)), outputs(work)


@pytest.fixture
def hold(tmp_path: Path) -> Iterator[Hold]:
    hold = Hold(tmp_path / "hold")
    yield hold
    hold.open()


def start_driver(cluster: Any, corpus: Path, work: Path, hold: Hold) -> subprocess.Popen[bytes]:
    arguments = [cluster.address, corpus, work, hold.folder, str(UNIT)]
    return subprocess.Popen([sys.executable, "-c", DRIVER, *arguments])  # noqa: S603


def test_a_worker_that_is_killed(
    cluster: Any, corpus: Path, here: tuple[Any, Any], hold: Hold, tmp_path: Path
) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=UNIT)
    executor = bytemill.ray.Executor(address=cluster.address)
    with ThreadPoolExecutor(1) as pool, holding(executor, hold):
        counting = pool.submit(jobs.count_pieces, plan, executor=executor)
        waiting = hold.wait_for(NODES)
        assert len({each.node for each in waiting}) == NODES
        assert 0 < (jobs.status(plan).units_counted or 0) < len(plan.units)
        os.kill(waiting[0].process, signal.SIGKILL)
        # Another process has its place.
        hold.wait_for(NODES + 1)
        hold.open()
        counts = counting.result()
    assert (dict(counts), outputs(tmp_path / "work")) == here
    assert not list((tmp_path / "work" / "attempts").iterdir())


def test_a_worker_that_is_killed_while_it_writes(
    cluster: Any, corpus: Path, hold: Hold, tmp_path: Path
) -> None:
    encoding = bytemill.get_encoding("gpt2")
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=UNIT)
    executor = bytemill.ray.Executor(address=cluster.address)
    with ThreadPoolExecutor(1) as pool, holding(executor, hold):
        writing = pool.submit(jobs.write_shards, plan, encoding, executor=executor)
        os.kill(hold.wait_for(NODES)[0].process, signal.SIGKILL)
        hold.wait_for(NODES + 1)
        hold.open()
        written = writing.result()
    alone = jobs.plan(corpus, tmp_path / "alone", unit_bytes=UNIT)
    assert written == jobs.write_shards(alone, encoding, executor=jobs.Local(1))
    assert outputs(tmp_path / "work") == outputs(tmp_path / "alone")


def test_a_driver_that_is_killed_goes_on(
    cluster: Any, corpus: Path, here: tuple[Any, Any], hold: Hold, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    driver = start_driver(cluster, corpus, work, hold)
    hold.wait_for(NODES)
    driver.kill()
    assert driver.wait() == -signal.SIGKILL
    before = {path: path.stat().st_mtime_ns for path in (work / "commits").iterdir()}
    assert 0 < len(before) < len(jobs.Plan.load(work).units)
    hold.open()
    counts = bytemill.ray.count_pieces(corpus, to=work, unit_bytes=UNIT, address=cluster.address)
    assert (dict(counts), outputs(work)) == here
    assert {path: path.stat().st_mtime_ns for path in before} == before, "not counted again"


def test_two_drivers_at_once(
    cluster: Any, corpus: Path, here: tuple[Any, Any], hold: Hold, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    drivers = [start_driver(cluster, corpus, work, hold) for _ in range(2)]
    hold.wait_for(NODES)
    hold.open()
    assert [driver.wait() for driver in drivers] == [0, 0]
    counts = jobs.count_pieces(work, executor=jobs.Local(1))
    assert (dict(counts), outputs(work)) == here
    with pytest.raises(ValueError, match="other options of counting"):
        bytemill.ray.count_pieces(corpus, "gpt2", to=work, unit_bytes=UNIT)
    with pytest.raises(ValueError, match="another plan"):
        bytemill.ray.count_pieces(corpus, to=work, unit_bytes=2 * UNIT)


def test_attempts_of_one_unit_at_once(
    cluster: Any, corpus: Path, here: tuple[Any, Any], hold: Hold, tmp_path: Path
) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=UNIT)
    executor = bytemill.ray.Executor(address=cluster.address)
    jobs.counting.begin(plan, "o200k", ())
    task = partial(jobs.counting.count_unit, plan.work)
    assert sorted(executor.run(task, range(COMMITTED))) == [*range(COMMITTED)]
    with ThreadPoolExecutor(1) as pool, holding(executor, hold):
        counting = pool.submit(lambda: list(executor.run(task, [COMMITTED] * NODES)))
        assert {each.number for each in hold.wait_for(NODES)} == {COMMITTED}
        hold.open()
        assert counting.result() == [COMMITTED] * NODES
    counts = jobs.count_pieces(plan, executor=executor)
    assert (dict(counts), outputs(tmp_path / "work")) == here


def test_a_unit_that_kills_every_worker_ends_the_job(cluster: Any, corpus: Path, tmp_path: Path) -> None:
    executor = bytemill.ray.Executor(address=cluster.address)
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=UNIT)
    jobs.counting.begin(plan, "o200k", ())
    task = partial(deadly, partial(jobs.counting.count_unit, plan.work))
    with pytest.raises(RuntimeError, match="unit 2 has killed 3 processes"):
        list(executor.run(task, range(4)))


def test_bad_input_is_an_error_with_its_name(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b'{"text": "good"}\n{"text": "\xff"}\n')
    with pytest.raises(ValueError, match=r"bad\.jsonl"):
        bytemill.ray.count_pieces(tmp_path / "bad.jsonl", to=tmp_path / "work", address=cluster.address)


class HeldCounter(ColumnCounter):
    """Waits before it returns the counts of a task."""

    hold: Path

    def count(self, tables: Any) -> Run:
        run = super().count(tables)
        existing(self.hold).wait_here(0)
        return run


# The last one: the cluster has a node less after it.
def test_a_node_that_is_lost(
    cluster: Any,
    corpus: Path,
    here: tuple[Any, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A job and a dataset at once: Ray takes some 20 seconds to notice."""
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=UNIT)
    executor = bytemill.ray.Executor(address=cluster.address)
    files = [pyarrow.json.read_json(path) for path in sorted(corpus.iterdir())]
    dataset = ray.data.from_arrow(files)
    counter = HeldCounter(tmp_path / "runs", "text", "o200k", ())
    monkeypatch.setattr("bytemill.ray.sink.LEAST_BYTES", 1)
    for count in (
        partial(jobs.count_pieces, plan, executor=executor),
        partial(count_dataset, dataset, counter, "text", num_cpus=1),
    ):
        hold = Hold(tmp_path / f"hold-{len(list(tmp_path.iterdir()))}")
        counter.hold = hold.folder
        with ThreadPoolExecutor(1) as pool, holding(executor, hold):
            counting = pool.submit(count)
            lost = next(each for each in hold.wait_for(NODES) if each.node != cluster.head_node.node_id)
            node = next(node for node in cluster.worker_nodes if node.node_id == lost.node)
            cluster.remove_node(node, allow_graceful=False)
            hold.open()
            assert dict(counting.result()) == here[0]
        cluster.add_node(**NODE)
    assert outputs(tmp_path / "work") == here[1]
    assert not list((tmp_path / "runs").iterdir())


DRIVER = """
import sys
from pathlib import Path
import bytemill.ray
from bytemill import jobs
from support.held_tasks import existing, holding

address, corpus, work, hold, unit_bytes = sys.argv[1:]
executor = bytemill.ray.Executor(address=address)
plan = jobs.plan(corpus, work, unit_bytes=int(unit_bytes))
with holding(executor, existing(Path(hold))):
    jobs.count_pieces(plan, executor=executor)
"""
