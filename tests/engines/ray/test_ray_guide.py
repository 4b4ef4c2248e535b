"""The examples of the guide to clusters run on Ray."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.examples import run_titled

pytest_plugins = ["support.ray_cluster"]


@pytest.mark.usefixtures("cluster")
def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_titled("guides/cluster.md", "On Ray")
