"""Encodings by name: the built-in ones, and those of plugins.

A plugin is a module in the namespace package `tiktoken_ext` with a dictionary `ENCODING_CONSTRUCTORS` of
callables that return the arguments of `Encoding`. Plugins are imported only to find a name that is not built
in, or to list all names; a built-in encoding needs no import, no file and no network.
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bytemill._backend import CoreBPE, __version__
from bytemill._messages import alternatives, closest
from bytemill.builtin import BUILTIN_ENCODINGS, MODEL_TO_ENCODING, family_encoding
from bytemill.core import Encoding
from bytemill.errors import UnknownEncodingError
from bytemill.patterns import PATTERNS

__all__ = ["ENCODINGS", "ENCODING_CONSTRUCTORS", "get_encoding", "list_encoding_names"]

PLUGIN_PACKAGE = "tiktoken_ext"
# tiktoken's own plugin defines the encodings that are built in here.
BUILTIN_PLUGIN = "tiktoken_ext.openai_public"

Constructor = Callable[[], dict[str, Any]]

_lock = threading.RLock()


def _forget_owner() -> None:
    """Replaces the lock in a forked process, where the thread that held it may not exist."""
    global _lock  # noqa: PLW0603 - the lock of this module
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_owner)

# The encodings that have been built, one object for each name.
ENCODINGS: dict[str, Encoding] = {}

# How to build each encoding; `None` until plugins have been searched for.
ENCODING_CONSTRUCTORS: dict[str, Constructor] | None = None


def _builtin_arguments(name: str) -> dict[str, Any]:
    """Returns the arguments with which `Encoding` builds the same encoding as a built-in one."""
    encoding = BUILTIN_ENCODINGS[name]
    arguments: dict[str, Any] = {
        "name": name,
        "pat_str": encoding.pattern,
        "mergeable_ranks": CoreBPE.builtin(encoding.vocabulary, {}, encoding.pattern).mergeable_ranks(),
        "special_tokens": dict(encoding.special_tokens),
    }
    if encoding.explicit_n_vocab is not None:
        arguments["explicit_n_vocab"] = encoding.explicit_n_vocab
    return arguments


_BUILTIN_CONSTRUCTORS: dict[str, Constructor] = {
    name: partial(_builtin_arguments, name) for name in BUILTIN_ENCODINGS
}


@functools.lru_cache
def _available_plugin_modules() -> Sequence[str]:
    """Returns the names of the plugin modules, without importing them."""
    from importlib.util import find_spec
    from pkgutil import iter_modules

    package = find_spec(PLUGIN_PACKAGE)
    folders = package.submodule_search_locations if package else None
    modules = iter_modules(folders or [], PLUGIN_PACKAGE + ".")
    return [module.name for module in modules if module.name != BUILTIN_PLUGIN]


def _find_constructors() -> None:
    """Imports the plugins and fills `ENCODING_CONSTRUCTORS`, once.

    Raises:
        ValueError: A plugin defines no constructors, or a name that is in use. The table then stays unset, so
            the next call fails in the same way.
    """
    global ENCODING_CONSTRUCTORS  # noqa: PLW0603 - a public name that callers read
    with _lock:
        if ENCODING_CONSTRUCTORS is not None:
            return
        constructors = dict(_BUILTIN_CONSTRUCTORS)
        for module_name in _available_plugin_modules():
            module = importlib.import_module(module_name)
            try:
                found = module.ENCODING_CONSTRUCTORS
            except AttributeError as error:
                raise ValueError(
                    f"tiktoken plugin {module_name} does not define ENCODING_CONSTRUCTORS"
                ) from error
            for name, constructor in found.items():
                if name in constructors:
                    raise ValueError(f"Duplicate encoding name {name} in tiktoken plugin {module_name}")
                constructors[name] = constructor
        ENCODING_CONSTRUCTORS = constructors


def get_encoding(encoding_name: str) -> Encoding:
    """Returns the encoding of that name, the same object every time.

    Args:
        encoding_name: The name of a built-in encoding ("o200k_base" and others, see `list_encoding_names`) or
            an encoding that a plugin defines.

    Raises:
        UnknownEncodingError: No encoding has that name.
        ValueError: `encoding_name` is not a string, or a plugin is faulty.
    """
    if not isinstance(encoding_name, str):
        # On one line, since to mypy it cannot happen.
        raise ValueError(f"Expected a string in get_encoding, got {type(encoding_name)}")  # noqa: TRY004
    encoding = ENCODINGS.get(encoding_name)
    if encoding is not None:
        return encoding
    with _lock:
        if encoding_name not in ENCODINGS:
            encoding = _build(encoding_name)
            # It pickles as its name from now on, and so do its copies.
            encoding._registered_as = encoding_name  # noqa: SLF001 - of this package
            ENCODINGS[encoding_name] = encoding
        return ENCODINGS[encoding_name]


# Unpickling finds registered encodings here.
Encoding._find_registered = staticmethod(get_encoding)  # noqa: SLF001 - of this package


def _build(name: str) -> Encoding:
    """Builds the encoding of that name; same errors as `get_encoding`."""
    if ENCODING_CONSTRUCTORS is None and name not in BUILTIN_ENCODINGS:
        _find_constructors()
    # A caller may have put another constructor in the table; without a table there are only the built-in
    # ones.
    constructors = _BUILTIN_CONSTRUCTORS if ENCODING_CONSTRUCTORS is None else ENCODING_CONSTRUCTORS
    constructor = constructors.get(name)
    if constructor is None:
        raise UnknownEncodingError(
            f"Unknown encoding {name}.\n"
            f"Plugins found: {_available_plugin_modules()}\n"
            f"bytemill version: {__version__} (are you on latest?)\n"
            f"{_hint(name, list(constructors))}"
        )
    if constructor is _BUILTIN_CONSTRUCTORS.get(name):
        return _build_builtin(name)
    return Encoding(**constructor())


def _hint(name: str, encodings: list[str]) -> str:
    """Returns a hint for the message about an unknown encoding: what it may be, and which ones exist."""
    listed = f"Encodings: {', '.join(encodings)}"
    if name in MODEL_TO_ENCODING or family_encoding(name) is not None:
        return f"{name!r} is a model: use encoding_for_model({name!r}).\n{listed}"
    if near := closest(name, [*encodings, *MODEL_TO_ENCODING]):
        calls = [repr(each) if each in encodings else f"encoding_for_model({each!r})" for each in near]
        return f"Did you mean {alternatives(calls)}?\n{listed}"
    from bytemill.io.uris import example_of, is_model

    if is_model(name):
        return f"For a model of the Hugging Face Hub, use Encoding.from_file({name!r}).\n{listed}"
    if example := example_of(name):
        return (
            f"For a model's tokenizer, use its file or its name on the Hugging Face Hub: "
            f"Encoding.from_file({example!r}), after `hf download {example} tokenizer.json`.\n{listed}"
        )
    if name in PATTERNS:
        return (
            f"{name!r} is a split pattern: Encoding.from_file(path, pattern={name!r}) reads a vocabulary "
            f"file for it.\n{listed}"
        )
    return listed


def _build_builtin(name: str) -> Encoding:
    """Builds a built-in encoding around the vocabulary in the core, without reading files."""
    builtin = BUILTIN_ENCODINGS[name]
    special_tokens = dict(builtin.special_tokens)
    return Encoding._around(  # noqa: SLF001 - of this package
        CoreBPE.builtin(builtin.vocabulary, special_tokens, builtin.pattern),
        name=name,
        pat_str=builtin.pattern,
        special_tokens=special_tokens,
        max_token_value=builtin.max_id,
    )


def list_encoding_names() -> list[str]:
    """Returns the names of all encodings: the built-in ones, then those of plugins.

    Raises:
        ValueError: A plugin is faulty.
    """
    _find_constructors()
    return list(ENCODING_CONSTRUCTORS or ())
