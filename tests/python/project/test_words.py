"""How the project writes about itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]

# First lines are imperative or noun phrases: "Returns ...", "Number of ...".
UNWANTED = re.compile(r"(?:Gives|Tells|What)\b")


def python_docstrings() -> Iterator[tuple[Path, str]]:
    """Yields the docstrings of all modules, classes and functions."""
    for folder in ("python", "tests", "benches", "fuzz", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    docstring = ast.get_docstring(node)
                    if docstring:
                        yield path, docstring


def rust_docstrings() -> Iterator[tuple[Path, str]]:
    """Yields the blocks of `///` and `//!` lines of all Rust files."""
    for folder in ("src", "tests", "benches", "fuzz/targets", "tools"):
        for path in sorted((ROOT / folder).rglob("*.rs")):
            block: list[str] = []
            for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
                found = re.match(r"\s*//[/!] ?(.*)", line)
                if found:
                    block.append(found[1])
                elif block:
                    yield path, "\n".join(block)
                    block = []


def test_docstrings_begin_with_what_a_thing_does_or_is() -> None:
    docstrings = [*python_docstrings(), *rust_docstrings()]
    assert len(docstrings) > 3000
    assert [(path, text) for path, text in docstrings if UNWANTED.match(text)] == []
