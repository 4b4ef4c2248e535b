"""Recipes of a guide whose libraries all tests need anyway; `make test-integrations` runs the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.examples import run_titled


@pytest.mark.parametrize("title", ["datasets", "Polars", "DuckDB"])
def test_quick_recipes(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_titled("guides/use-it-in.md", title)
    assert "encoding" in names
