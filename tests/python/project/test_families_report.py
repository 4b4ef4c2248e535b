"""The report of `make bench-families`: speeds of families, and the verdict on the general engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import record
from harness.models import CANDIDATE, OURS, Cell
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
    assert report.speeds(cells()) == dict.fromkeys(KINDS, "60 / 600, 45 / 450")
    assert set(report.speeds(cells(ids_equal=False)).values()) == {"**ids differ**"}


def test_the_general_engine_is_judged() -> None:
    assert report.times_candidate(cells(), "general") == {"bloom": {"cold": 2.0, "warm": 2.0}}
    assert list(report.verdicts(cells())) == [
        "cold: 1 of 1 at least 1.5 times tokenizers rc: met",
        "warm: 1 of 1 at least 1.5 times tokenizers rc: met",
    ]
    assert report.refused(cells()) == ["viking"]
    assert list(report.verdicts([])) == ["cold: **not measured**", "warm: **not measured**"]
    assert list(report.verdicts(cells(warm=1.0)))[1] == (
        "warm: 0 of 1 at least 1.5 times tokenizers rc: **missed** by bloom 1.0"
    )


@pytest.mark.filterwarnings("ignore:.* its post-processor adds")
def test_the_page_shows_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "families.json"
    monkeypatch.setattr(report, "RESULT", path)
    assert report.recorded() == []
    record.write(path, record.description(), cells=cells())
    assert report.recorded() == cells()
    written = models_page.page()
    assert "| native |  | added tokens in normalized text | 60 / 600, 45 / 450 |" in written
    assert "| not measured |" in written
    assert "| bloom | 2.0x | 2.0x |" in written
    assert "or gives other ids: viking.\n" in written
    assert report.source() in written
