"""The running commit, for recorded results."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import bytemill

__all__ = ["commit"]


# What results depend on; results and the pages about them are written while they are recorded.
SOURCES = [":/src", ":/python", ":/tests", ":/Cargo.toml", ":/Cargo.lock"]


def commit() -> dict[str, Any]:
    """Returns the commit of the running library and whether sources differ from it; `None` without git."""
    folder = Path(bytemill.__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - fixed

    try:
        return {
            "commit": git("rev-parse", "HEAD"),
            "dirty": bool(git("status", "--porcelain", "--", *SOURCES)),
        }
    except (OSError, subprocess.CalledProcessError):
        return {"commit": None, "dirty": None}
