"""Reads the suites: rows, targets, engines and trainers as data."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]

# The engines by name: this library, and the next version of tokenizers.
OURS = "bytemill"
CANDIDATE = "tokenizers rc"


@cache
def suite(name: str) -> dict[str, Any]:
    """Returns the contents of `suites/NAME.toml`."""
    return tomllib.loads((ROOT / "benches" / "suites" / f"{name}.toml").read_text(encoding="utf-8"))
