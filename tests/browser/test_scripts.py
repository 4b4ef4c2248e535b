"""The scripts can be parsed as they are served; that they are the same programs is tested elsewhere."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bytemill.playground.files import static_files
from support.chromium import missing


def deno(*arguments: str) -> str:
    """Returns what deno prints."""
    found = shutil.which("deno", path=str(Path(sys.executable).parent)) or shutil.which("deno")
    if found is None:
        missing("no deno: pip install --group browser")
    done = subprocess.run([found, *arguments], capture_output=True, text=True, check=True)  # noqa: S603 - our own call
    return done.stdout


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder with the scripts as they are served."""
    for name, (_, content) in static_files().items():
        if name.endswith(".js"):
            (tmp_path / name).write_bytes(content)
    return tmp_path


def test_served_scripts_can_be_parsed(served: Path) -> None:
    graph = json.loads(deno("info", "--json", str(served / "main.js")))
    assert {Path(each["local"]).name for each in graph["modules"]} == {each.name for each in served.iterdir()}
    assert [each["error"] for each in graph["modules"] if "error" in each] == []
