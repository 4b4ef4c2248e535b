"""`make demo`: what it prints, and that it needs nothing but tiktoken beside the library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import demo
from support.subprocesses import run

ROOT = Path(__file__).parents[3]


def test_the_demo_prints_eight_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "MOST_BYTES", 200_000)
    assert demo.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert "all ids equal" in lines[2]
    assert re.fullmatch(r"  ratio +\d+\.\d", lines[-1])


def test_the_demo_needs_tiktoken_alone() -> None:
    """Its group of dependencies has tiktoken only, of the version that tests compare with."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [version] = set(re.findall(r'"(tiktoken==[\d.]+)"', project))
    assert re.search(r"^demo = (.*)$", project, re.MULTILINE)[1] == f'["{version}"]'  # type: ignore[index]
    loaded = run(
        f"""
        import sys
        sys.path[:0] = {[str(ROOT / "tests"), str(ROOT / "benches")]}
        import harness.demo
        print(*{{name.partition(".")[0] for name in sys.modules}})
        """
    ).split()
    assert {"bytemill", "numpy", "tiktoken"} <= set(loaded)
    heavy = ("datasets", "hypothesis", "matplotlib", "pandas", "polars", "pyarrow", "pytest", "transformers")
    assert not set(heavy) & set(loaded)


def test_environments_share_what_is_compiled() -> None:
    """The path of Python is the same for all of them; otherwise cargo compiles again for each."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "use-base-python = true" in project
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "maturin develop" not in makefile
