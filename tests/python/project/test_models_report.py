"""The table of models' own files: what was measured, and which results differ."""

from __future__ import annotations

from typing import Any

import pytest

from harness import model_tasks, models
from harness.models import Cell
from harness.suites import OURS


def cells(**changes: Any) -> list[Cell]:
    """Returns the cells of one model, with three texts and two engines."""
    speeds = {
        (OURS, "array"): 40.0,
        (OURS, "list"): 30.0,
        (OURS, "batch of 1"): 50.0,
        ("tokenizers", "list"): 2.0,
    }
    found = []
    for factor, corpus in enumerate(["code", "english", "cjk"], start=1):
        for (engine, form), speed in speeds.items():
            values: dict[str, Any] = {
                "model": "BERT",
                "kind": "words",
                "corpus": corpus,
                "engine": engine,
                "form": form,
                "bytes": 600_000,
                "load": 100.0,
                "cold": factor * speed,
                "warm": 10 * factor * speed,
                "decode": None if form in model_tasks.BATCHES else 5 * factor * speed,
                "rounds": 1,
                "ids_equal": True,
                "text_equal": True,
            }
            found.append(Cell(**values | changes))
    return found


def test_decoding_has_columns_of_its_own() -> None:
    lines = models.table(cells()).splitlines()
    assert lines[0].count("decode") == 2
    assert "| BERT | bytemill, array | 80.0 | 800.0 | 400.0 | 100 ms |  |  |  |" in lines
    assert "|  | bytemill, batch, 1 thread | 100.0 | 1000.0 |  | 100 ms |  |  |  |" in lines
    assert "|  | tokenizers, list | 4.0 | 40.0 | 20.0 | 100 ms | 15.0x | 15.0x | 15.0x |" in lines


def test_results_without_decoding_have_no_such_columns() -> None:
    table = models.table(cells(decode=None, text_equal=None))
    assert "decode" not in table
    assert "|  | tokenizers, list | 4.0 | 40.0 | 100 ms | 15.0x | 15.0x |" in table.splitlines()


@pytest.mark.parametrize(
    ("changes", "shown"), [({"ids_equal": False}, "ids differ"), ({"text_equal": False}, "text differs")]
)
def test_what_differs_is_shown(changes: dict[str, Any], shown: str) -> None:
    assert models.table(cells(**changes)).count(shown) == 4
