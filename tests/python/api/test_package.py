"""The package: submodules are at hand without an import, and what is listed is what is public."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import bytemill

SUBMODULES = [
    "chat",
    "hf",
    "inspection",
    "jobs",
    "minbpe",
    "reference",
    "sentencepiece",
    "shards",
    "training",
]


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodules_are_imported_on_first_use(name: str) -> None:
    program = (
        f"import bytemill, sys; assert 'bytemill.{name}' not in sys.modules; print(bytemill.{name}.__name__)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert ran.stdout == f"bytemill.{name}\n"


def test_what_is_listed_is_public() -> None:
    assert {*bytemill.__all__, *SUBMODULES} <= {*dir(bytemill)}
    assert not {"builtin", "core", "results", "streaming"} & {*dir(bytemill)}
    for name in ("inspection", "shards", "jobs", "hf"):
        module: Any = getattr(bytemill, name)
        assert dir(module) == sorted(module.__all__), name


def test_other_names_are_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tokenise'"):
        bytemill.tokenise  # noqa: B018
