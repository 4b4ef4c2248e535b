"""The examples of the README run, and what a comment says that a line gives is what it gives."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)

# A comment that begins with a value; words may follow after a comma, colon or semicolon.
VALUE = re.compile(r"# (\[.*?\]|b'[^']*'|\d+)(?:[,:;].*)?$")


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    checked = []
    for example in EXAMPLES:
        lines = example.splitlines()
        for statement in ast.parse(example).body:
            assert statement.end_lineno is not None
            source = ast.get_source_segment(example, statement) or ""
            said = VALUE.search(lines[statement.end_lineno - 1])
            value = None
            if isinstance(statement, ast.Expr):
                value = eval(source, names)  # noqa: S307 - our own README
            else:
                exec(source, names)  # noqa: S102 - our own README
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                value = names[statement.targets[0].id]
            if said:
                value = value.tolist() if isinstance(value, np.ndarray) else value
                assert value == ast.literal_eval(said[1]), source
                checked.append(source)
    assert len(checked) >= 8
