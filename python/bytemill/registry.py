"""Encodings by name: the built-in ones, and those of plugins.

A plugin is a module in the namespace package `tiktoken_ext` with a dictionary `ENCODING_CONSTRUCTORS` of
callables, each giving the arguments of `Encoding`. Plugins are imported only when a name is asked for that is
not built in, or when all names are listed; a built-in encoding needs no import, no file and no network.
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from bytemill.builtin import BUILTIN_ENCODINGS, BuiltinEncoding
from bytemill.core import Encoding, __version__
from bytemill.errors import UnknownEncodingError

__all__ = ["ENCODINGS", "ENCODING_CONSTRUCTORS", "get_encoding", "list_encoding_names"]

PLUGIN_PACKAGE = "tiktoken_ext"
# tiktoken's own plugin defines the encodings that are built in here.
BUILTIN_PLUGIN = "tiktoken_ext.openai_public"

Constructor = Callable[[], dict[str, Any]]

_lock = threading.RLock()


def _forget_owner() -> None:
    """Makes the lock anew in a forked process: the thread that held it may not be there."""
    global _lock  # noqa: PLW0603 - the lock of this module
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_owner)

# The encodings that exist already, one object for each name.
ENCODINGS: dict[str, Encoding] = {}

# How to build each encoding; `None` until plugins have been looked for.
ENCODING_CONSTRUCTORS: dict[str, Constructor] | None = None


@functools.lru_cache
def _available_plugin_modules() -> Sequence[str]:
    """Lists the names of the plugin modules, without importing them."""
    from importlib.util import find_spec
    from pkgutil import iter_modules

    package = find_spec(PLUGIN_PACKAGE)
    folders = package.submodule_search_locations if package else None
    modules = iter_modules(folders or [], PLUGIN_PACKAGE + ".")
    return [module.name for module in modules if module.name != BUILTIN_PLUGIN]


def _find_constructors() -> None:
    """Imports the plugins and fills `ENCODING_CONSTRUCTORS`, once.

    Raises:
        ValueError: A plugin defines no constructors, or a name that is taken. The table then stays unset, so
            that the next call fails in the same way.
    """
    global ENCODING_CONSTRUCTORS  # noqa: PLW0603 - a public name that callers read
    with _lock:
        if ENCODING_CONSTRUCTORS is not None:
            return
        constructors: dict[str, Constructor] = dict(BUILTIN_ENCODINGS)
        for module_name in _available_plugin_modules():
            module = importlib.import_module(module_name)
            try:
                found = module.ENCODING_CONSTRUCTORS
            except AttributeError as error:
                message = f"tiktoken plugin {module_name} does not define ENCODING_CONSTRUCTORS"
                raise ValueError(message) from error
            for name, constructor in found.items():
                if name in constructors:
                    message = f"Duplicate encoding name {name} in tiktoken plugin {module_name}"
                    raise ValueError(message)
                constructors[name] = constructor
        ENCODING_CONSTRUCTORS = constructors


def get_encoding(encoding_name: str) -> Encoding:
    """Gives the encoding of that name, the same object every time.

    Args:
        encoding_name: The name of a built-in encoding ("o200k_base" and others, see `list_encoding_names`) or
            of one that a plugin defines.

    Raises:
        UnknownEncodingError: No encoding has that name.
        ValueError: `encoding_name` is no string, or a plugin is faulty.
    """
    if not isinstance(encoding_name, str):
        # On one line, since to mypy it cannot happen.
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")  # noqa: TRY004
    encoding = ENCODINGS.get(encoding_name)
    if encoding is not None:
        return encoding
    with _lock:
        if encoding_name not in ENCODINGS:
            ENCODINGS[encoding_name] = _build(encoding_name)
        return ENCODINGS[encoding_name]


def _build(name: str) -> Encoding:
    if ENCODING_CONSTRUCTORS is None and name not in BUILTIN_ENCODINGS:
        _find_constructors()
    # A caller may have put a constructor of their own in the table; without a table there are only ours.
    constructors = BUILTIN_ENCODINGS if ENCODING_CONSTRUCTORS is None else ENCODING_CONSTRUCTORS
    constructor = constructors.get(name)
    if constructor is None:
        message = (
            f"Unknown encoding {name}.\n"
            f"Plugins found: {_available_plugin_modules()}\n"
            f"bytemill version: {__version__} (are you on latest?)"
        )
        raise UnknownEncodingError(message)
    if isinstance(constructor, BuiltinEncoding):
        return constructor.encoding()
    return Encoding(**constructor())


def list_encoding_names() -> list[str]:
    """Lists the names of all encodings: the built-in ones, then those of plugins.

    Raises:
        ValueError: A plugin is faulty.
    """
    _find_constructors()
    return list(ENCODING_CONSTRUCTORS or ())
