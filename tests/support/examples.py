"""Examples in pages: running them, and comparing the values that their comments say."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]

# A comment that begins with a value, behind a statement or on the line below it; words may follow after a
# comma, colon or semicolon.
VALUE = re.compile(r"# (\[.*?\]|b?'[^']*'|-?\d+|True|False|None)(?:[,:;].*)?$")


def run_titled(page: str, title: str) -> dict[str, Any]:
    """Runs the blocks of a page below docs/ that have this title, for not every environment can.

    Returns what they have named.
    """
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(rf'^```py title="{re.escape(title)}"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, Any] = {}
    for block in blocks:
        run_python(block, names)
    return names


def run_python(block: str, names: dict[str, Any]) -> None:
    """Runs a block statement by statement and compares the values that comments say."""
    lines = block.splitlines()
    for statement in ast.parse(block).body:
        assert statement.end_lineno is not None
        source = ast.get_source_segment(block, statement) or ""
        # Of a function, that begins behind its decorators.
        decorators = [each.lineno for each in getattr(statement, "decorator_list", [])]
        if decorators:
            source = "\n".join(lines[min(decorators) - 1 : statement.end_lineno])
        value = None
        if isinstance(statement, ast.Expr):
            value = eval(source, names)  # noqa: S307 - our own pages
        else:
            exec(source, names)  # noqa: S102 - our own pages
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            value = names[statement.targets[0].id]
        end = statement.end_lineno
        said = VALUE.search(lines[end - 1]) or VALUE.match(lines[end] if end < len(lines) else "")
        if said:
            value = value.tolist() if isinstance(value, np.ndarray) else value
            assert value == ast.literal_eval(said[1]), source
