"""Packages that are installed only where they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["import_optional"]


def import_optional(module: str, what: str) -> Any:  # noqa: ANN401 - optional packages, not all with types
    """Imports a module of an optional package.

    Args:
        module: The name of the module.
        what: What needs it, in the plural: "Parquet files".

    Raises:
        ImportError: The package is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{what} need the package {package}: install it with `pip install {package}`"
        ) from error
