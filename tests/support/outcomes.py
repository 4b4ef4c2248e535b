"""Results and exceptions of calls as values that can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["outcome", "plain"]


def outcome(call: Callable[[], Any]) -> Any:
    """Returns what a call returns, or its exception; a panic of `tokenizers` is one too."""
    try:
        return call()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | AssertionError):
            raise
        return type(error), str(error)


def plain(value: Any) -> Any:
    """Returns an array, or lists with arrays in them, as lists."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return [plain(part) for part in value] if isinstance(value, list) else value
