"""The report of `make bench-families`: speeds of families, and the targets of the general engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import record
from harness.models import Cell
from harness.suites import CANDIDATE, OURS
from programs import models_page
from report import families as report

KINDS = {"gpt2": "native", "bloom": "general", "viking": "general"}


def cells(**changes: object) -> list[Cell]:
    """Returns cells of three families on two texts, the second twice as fast; the candidate refuses one."""
    speeds = {(OURS, "array"): 40.0, (OURS, "list"): 30.0, ("tokenizers", "list"): 2.0}
    speeds[CANDIDATE, "list"] = 15.0
    found = []
    for model, kind in KINDS.items():
        for factor, corpus in enumerate(["code", "multilingual"], start=1):
            for (engine, form), speed in speeds.items():
                if (model, engine) != ("viking", CANDIDATE):
                    values: dict[str, object] = {
                        "model": model,
                        "kind": kind,
                        "corpus": corpus,
                        "engine": engine,
                        "form": form,
                        "bytes": 600_000,
                        "load": 100.0,
                        "cold": factor * speed,
                        "warm": 10 * factor * speed,
                        "rounds": 1,
                        "ids_equal": True,
                    }
                    found.append(Cell(**values | changes))  # type: ignore[arg-type]
    return found


def test_speeds_are_medians_of_the_texts() -> None:
    assert report.COLUMNS == ["array, cold", "array, warm", "list, cold", "list, warm"]
    assert report.speeds(cells()) == {name: ["60", "600", "45", "450"] for name in KINDS}
    assert report.speeds(cells(ids_equal=False)) == {name: ["**ids differ**"] * 4 for name in KINDS}


def test_the_general_engine_is_judged() -> None:
    assert report.times_candidate(cells(), "general") == {"bloom": {"cold": 2.0, "warm": 2.0}}
    assert [*map(str, report.judged(cells()))] == [
        "bloom, list, cold, compared with tokenizers rc: 2.00x, at least 1.5x: met",
        "bloom, list, warm, compared with tokenizers rc: 2.00x, at least 1.5x: met",
    ]
    assert report.judged([]) == []
    assert str(report.judged(cells(warm=1.0))[1]) == (
        "bloom, list, warm, compared with tokenizers rc: 1.00x, at least 1.5x: missed"
    )
    assert next(report.lines(cells())) == (
        "gpt2: array, cold: 60 MB/s; array, warm: 600 MB/s; list, cold: 45 MB/s; list, warm: 450 MB/s"
    )


@pytest.mark.filterwarnings("ignore:.* its post-processor adds")
def test_the_page_shows_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "families.json"
    monkeypatch.setattr(report, "RESULT", path)
    assert report.recorded() == []
    record.write(path, record.description(), cells=cells())
    assert report.recorded() == cells()
    written = models_page.page()
    assert "|  | added tokens are normalized | 60 | 600 | 45 | 450 |" in written
    assert "| - | - | - | - |" in written
    assert "| bloom | 2.00x | 2.00x |" in written
    assert report.source() in written
