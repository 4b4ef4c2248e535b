"""The program of `make bench-threads`: it compares results of all numbers of threads, and draws a chart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness import threads
from harness.threads import BAR, LONG, STREAM, TRAINING, WORKS, Point

TASK = {"corpus": None, "megabytes": 1, "rounds": 1, "vocab_size": 300}

POINT = Point(
    work=LONG, threads=1, bytes=10**6, seconds=1.0, cpu_seconds=1.0, megabytes=100.0, caches=10, equal=True
)


@pytest.mark.parametrize(
    ("processors", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (64, [1, 2, 4, 8, 16, 32, 64])]
)
def test_numbers_of_threads_end_with_all_processors(processors: int, counts: list[int]) -> None:
    assert threads.counts_up_to(processors) == counts


@pytest.mark.parametrize("work", WORKS)
def test_results_do_not_depend_on_threads(work: str) -> None:
    one, two = (threads.scaling({"work": work, "threads": count, **TASK}) for count in (1, 2))
    assert one["digest"] == two["digest"]
    assert one["bytes"] == two["bytes"] > 900_000
    assert min(one["seconds"], one["megabytes"], one["caches"]) > 0


def test_digests_differ_where_ids_do() -> None:
    works = {work: threads.scaling({"work": work, "threads": 1, **TASK})["digest"] for work in WORKS}
    assert works[STREAM] != works[LONG] != works[TRAINING]
    longer = threads.scaling({"work": TRAINING, "threads": 1, **TASK, "vocab_size": 301})
    assert longer["digest"] != works[TRAINING]


def test_another_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(task: dict[str, Any]) -> dict[str, Any]:
        fields = {
            name: getattr(POINT, name) for name in ("bytes", "seconds", "cpu_seconds", "megabytes", "caches")
        }
        return {**fields, "digest": "b" if task["threads"] == 4 else "a"}

    monkeypatch.setattr(threads, "run_worker", answer)
    points = threads.measure(LONG, [4, 2], {})
    assert [(point.threads, point.equal) for point in points] == [(1, True), (2, True), (4, False)]
    assert [line.endswith("OTHER RESULT") for line in threads.chart(points)] == [False, False, False, True]


def test_the_table_to_send_has_a_row_for_each_number_of_threads() -> None:
    machine = {"cpu": "a CPU", "cores": 2, "memory_gigabytes": 8, "system": "Linux", "python": "CPython"}
    head = {"machine": machine, "source": {"commit": "abc"}, "encoding": "gpt2", "load": 0.1}
    points = [replace(POINT, work=work) for work in WORKS]
    points += [replace(point, threads=2, seconds=0.5, equal=point.work != LONG) for point in points]
    lines = threads.table(head, points)
    assert "commit abc, gpt2, on a CPU, 2 cores, 8 GB" in lines[0]
    assert lines[2:4] == [
        "| threads | stream | batch | one long text, again | training |",
        "|---|---|---|---|---|",
    ]
    assert lines[4] == "| 1 | " + " | ".join(["1 MB/s, 1.00x, 100 MB"] * 4) + " |"
    two = "2 MB/s, 2.00x, 100 MB"
    assert lines[5:] == [f"| 2 | {two} | {two} | **another result** | {two} |"]


def test_the_chart_compares_with_one_thread() -> None:
    four = replace(POINT, threads=4, seconds=0.25, megabytes=130.0)
    head, first, second = threads.chart([POINT, four])
    assert head == LONG
    assert first.count("█") * 4 == second.count("█") == BAR
    assert "4.00x" in second
    assert "4 MB/s" in second
    assert "10.0 MB for each more" in second
