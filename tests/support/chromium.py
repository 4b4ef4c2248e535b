"""The browser of the tests, and what drives it."""

from __future__ import annotations

import importlib
import os
import shutil
from typing import Any, NoReturn

import pytest

__all__ = ["chromium", "missing", "playwright"]


def missing(message: str) -> NoReturn:
    """Skips a test for want of a tool; where `CI` is set, a missing tool is a failure."""
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message, allow_module_level=True)


def playwright() -> Any:
    """Returns the module that drives browsers."""
    try:
        return importlib.import_module("playwright.sync_api")
    except ImportError:
        missing("no playwright: pip install --group browser")


def chromium() -> str:
    """Returns the path of Chromium."""
    named = os.environ.get("BYTEMILL_CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("chromium-headless-shell")
    return found or missing("no Chromium: apt-get install chromium, or name one by BYTEMILL_CHROMIUM")
