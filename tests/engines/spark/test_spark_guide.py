"""The examples of the guide to clusters run on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.examples import run_titled

pytest_plugins = ["support.spark_cluster"]


@pytest.mark.usefixtures("session")
def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_titled("guides/cluster.md", "On Spark")
