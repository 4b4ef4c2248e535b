"""The examples of the guide to clusters run on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.examples import run_python, titled_blocks

pytest_plugins = ["support.spark_cluster"]


@pytest.mark.usefixtures("session")
def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = titled_blocks("guides/cluster.md", "On Spark")
    assert len(blocks) >= 2
    names: dict[str, Any] = {}
    for block in blocks:
        run_python(block, names)
