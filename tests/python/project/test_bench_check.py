"""`make bench-check`: which figures moved since they were recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import check, record

PART = check.Part(
    "speeds.json", lambda _: 0, "", "cells", ("text", "engine"), times=("median",), speeds=("cold",)
)


def result(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": list(cells)}


def test_figures_of_both_results_are_compared() -> None:
    recorded = result(
        {"text": "a", "median": 2.0, "cold": 100.0},
        {"text": "b", "median": 1.0},
        {"text": "a", "engine": "other", "median": 1.0},
        {"text": "gone", "median": 1.0},
    )
    measured = result(
        {"text": "a", "median": 3.0, "cold": 50.0},
        {"text": "b", "error": "no"},
        {"text": "a", "engine": "other", "median": 2.0},
        {"text": "new"},
    )
    found = {each.name: each.ratio for each in check.moved(PART, recorded, measured)}
    assert found == {"a, median": 1.5, "a, cold": 2.0}
    others = [*check.moved(PART, recorded, measured, ours=False)]
    assert others == [check.Moved("speeds", "a, other, median", 2.0)]


def test_figures_are_relative_to_other_libraries() -> None:
    figures = [check.Moved("x", "a", 3.0), check.Moved("x", "b", 2.0)]
    others = [check.Moved("x", name, ratio) for name, ratio in [("c", 1.0), ("d", 2.0), ("e", 4.0)]]
    assert check.relative(figures, others) == [check.Moved("x", "a", 1.5), check.Moved("x", "b", 1.0)]
    assert check.relative(figures, []) == figures


def test_what_moved_is_listed_the_slowest_first() -> None:
    ratios = [("x", "a", 1.04), ("x", "b", 0.5), ("y", "c", 1.3), ("x", "d", 0.97)]
    figures = [check.Moved(*each) for each in ratios]
    assert check.report(figures, 5).splitlines() == [
        "y: c: 1.30 times the recorded time",
        "x: b: 0.50 times the recorded time",
        "x: 3 figures, 1 moved by more than 5 %; median 0.97",
        "y: 1 figures, 1 moved by more than 5 %; median 1.30",
    ]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Measures a single part, whose cells and exit code a test changes."""
    values: dict[str, Any] = {"cells": [{"text": "a", "median": 1.0}], "code": 0}

    def run(arguments: Sequence[str]) -> int:
        head = {"date": "2026", "machine": record.machine()}
        record.write(Path(arguments[arguments.index("--output") + 1]), head, cells=values["cells"])
        return int(values["code"])

    monkeypatch.setattr(record, "machine", lambda: {"cpu": "A CPU, model 1"})
    monkeypatch.setattr(check, "RESULTS", tmp_path)
    monkeypatch.setattr(check, "PARTS", [replace(PART, run=run)])
    return values


def test_recorded_parts_are_compared_on_the_same_processor_only(
    measured: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--corpus", "."]
    assert check.main(arguments) == 2
    assert check.main([*arguments, "--record"]) == 0
    assert [each.name for each in (check.RESULTS / "check").iterdir()] == ["a-cpu-model-1"]
    assert check.main(arguments) == 0
    measured["cells"] = [{"text": "a", "median": 1.5}]
    assert check.main(arguments) == 1
    assert "speeds: a, median: 1.50 times the recorded time" in capsys.readouterr().out
    monkeypatch.setattr(record, "machine", lambda: {"cpu": "another"})
    assert check.main(arguments) == 2
    assert "not recorded on another" in capsys.readouterr().out


def test_token_ids_that_differ_fail_the_check(
    measured: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main(["--corpus", ".", "--record"]) == 0
    measured["code"] = 1
    assert check.main(["--corpus", "."]) == 1
    assert "DIFFER" in capsys.readouterr().out
    assert check.main(["--corpus", ".", "--record"]) == 1


@pytest.mark.usefixtures("measured")
def test_the_newest_result_is_compared() -> None:
    assert check.main(["--corpus", ".", "--record"]) == 0
    head = {"date": "2027", "machine": record.machine()}
    record.write(check.RESULTS / PART.result, head, cells=[{"text": "a", "median": 0.5}])
    assert check.main(["--corpus", "."]) == 1


@pytest.mark.parametrize("part", check.PARTS, ids=lambda part: part.result)
def test_parts_name_what_results_have(part: check.Part) -> None:
    """Measured again as it is recorded, nothing moves, and there is something that could."""
    recorded = record.read(check.RESULTS / part.result)
    figures = list(check.moved(part, recorded, recorded))
    assert len(figures) > 10
    assert {each.ratio for each in figures} == {1}
    found = [check.measurements(part, recorded, ours=ours) for ours in (True, False)]
    assert sum(map(len, found)) == len(recorded[part.records])
