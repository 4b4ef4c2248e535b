"""When a unit is not begun again: processes have died of it, which lost machines and killed jobs are not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bytemill import jobs
from bytemill.jobs.work import DEAD, MOST_ATTEMPTS, mark_of
from support.command_line import bytemill, environment

UNIT = "count-000000"

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture
def plan(tmp_path: Path) -> jobs.Plan:
    (tmp_path / "corpus.jsonl").write_text('{"text": "the cat"}\n' * 40)
    plan = jobs.plan(tmp_path / "corpus.jsonl", tmp_path / "work", unit_bytes=400)
    assert len(plan.units) > 1
    (tmp_path / "work" / "attempts").mkdir()
    return plan


def marked(plan: jobs.Plan, *marks: str) -> None:
    for mark in marks:
        (Path(plan.work) / "attempts" / mark).touch()


def marks(plan: jobs.Plan) -> list[str]:
    return sorted(path.name for path in (Path(plan.work) / "attempts").iterdir())


def count(plan: jobs.Plan) -> None:
    counts = jobs.count_pieces(plan, executor=jobs.Local(1))
    assert dict(counts) == {b"the": 40, b" cat": 40}
    assert not marks(plan), "those of units that are done no longer count"


class Processes:
    """Processes that wait until they are ended, and marks of attempts by them."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self) -> int:
        command = [sys.executable, "-c", "input()"]
        self.running.append(subprocess.Popen(command, stdin=subprocess.PIPE))  # noqa: S603
        return self.running[-1].pid

    def end(self) -> None:
        for process in self.running:
            process.communicate()


@pytest.fixture
def processes() -> Iterator[Processes]:
    processes = Processes()
    yield processes
    processes.end()


def test_a_unit_of_which_three_processes_died_is_not_begun_again(
    plan: jobs.Plan, processes: Processes
) -> None:
    for _ in range(3):
        marked(plan, mark_of(UNIT, processes.start(), os.getpid()))
    processes.end()
    with pytest.raises(RuntimeError, match="unit 0 has killed 3 processes"):
        jobs.count_pieces(plan, executor=jobs.Local(1))
    dead = marks(plan)
    assert [mark.endswith(DEAD) for mark in dead] == [True] * 3
    called = bytemill("job", "count", "--work", plan.work, "--unit", 0)
    assert called.code == 2
    assert called.err.startswith("bytemill: error: unit 0 has killed 3 processes, perhaps because memory ")
    # One less, as the message says.
    (Path(plan.work) / "attempts" / dead[0]).unlink()
    count(plan)


def test_a_death_is_noted_by_whoever_is_next_on_the_machine(plan: jobs.Plan, processes: Processes) -> None:
    mark = mark_of(UNIT, processes.start(), os.getpid())
    processes.end()
    marked(plan, mark)
    jobs.counting.begin(plan, "o200k", ())
    jobs.counting.count_unit(plan.work, 1)
    assert marks(plan) == [f"{mark}{DEAD}"]


def of_another_machine(processes: Processes) -> str:
    mark = mark_of(UNIT, processes.start(), os.getpid())
    unit, machine, *rest = mark.split(".")
    return ".".join([unit, machine[::-1], *rest])


def of_a_process_that_runs(processes: Processes) -> str:
    del processes
    return mark_of(UNIT, os.getpid(), os.getppid())


def of_a_job_that_was_killed(processes: Processes) -> str:
    return mark_of(UNIT, processes.start(), processes.start())


@pytest.mark.parametrize("make", [of_another_machine, of_a_process_that_runs, of_a_job_that_was_killed])
def test_attempts_that_the_unit_has_not_ended_do_not_count(
    plan: jobs.Plan, processes: Processes, make: Callable[[Processes], str]
) -> None:
    several = [make(processes) for _ in range(4)]
    processes.end()
    marked(plan, *several)
    count(plan)


# A command whose unit takes long.
COMMAND = """
import sys, time
from bytemill.cli import main
from bytemill.jobs import Plan

def wait(*_):
    print("begun", flush=True)
    time.sleep(60)

Plan.check_sources = wait
main(sys.argv[1:])
"""


@pytest.mark.parametrize("options", [["--unit", "0"], ["--processes", "1"]])
def test_a_command_that_is_terminated_is_no_death(plan: jobs.Plan, options: list[str]) -> None:
    command = [sys.executable, "-c", COMMAND, "job", "count", "--work", plan.work, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())  # noqa: S603
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    assert len(marks(plan)) == 1
    process.terminate()
    process.communicate()
    assert process.returncode == -signal.SIGTERM
    assert marks(plan) == []


def test_attempts_without_an_end_have_one(plan: jobs.Plan, processes: Processes) -> None:
    mark = of_another_machine(processes)
    marked(plan, *(f"{mark}{number}" for number in range(MOST_ATTEMPTS)))
    with pytest.raises(RuntimeError, match=f"unit 0 was begun {MOST_ATTEMPTS} times without an end"):
        jobs.count_pieces(plan, executor=jobs.Local(1))


def test_a_process_that_was_killed_is_dead_before_anybody_waits_for_it(plan: jobs.Plan) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    mark = mark_of(UNIT, process.pid, os.getpid())
    assert process.stdout is not None
    assert process.stdout.read() == b"", "it has ended or is about to"
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    marked(plan, mark)
    jobs.counting.begin(plan, "o200k", ())
    jobs.counting.count_unit(plan.work, 1)
    assert marks(plan) == [f"{mark}{DEAD}"]
    process.communicate()
