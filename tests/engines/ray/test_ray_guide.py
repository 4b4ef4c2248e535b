"""The examples of the guide to clusters run on Ray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.examples import run_python, titled_blocks

pytest_plugins = ["support.ray_cluster"]


@pytest.mark.usefixtures("cluster")
def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = titled_blocks("guides/cluster.md", "On Ray")
    assert len(blocks) >= 2
    names: dict[str, Any] = {}
    for block in blocks:
        run_python(block, names)
