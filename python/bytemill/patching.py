"""Putting bytemill in the place of tiktoken, for libraries that import it."""

from __future__ import annotations

import sys
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any

from bytemill._arguments import several

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

__all__ = ["patch_tiktoken", "unpatch_tiktoken"]

# The modules of tiktoken, and those here that have their interface.
MODULES = {
    "tiktoken": "bytemill",
    "tiktoken.core": "bytemill.core",
    "tiktoken.load": "bytemill.load",
    "tiktoken.model": "bytemill.model",
    "tiktoken.registry": "bytemill.registry",
    "tiktoken._educational": "bytemill._educational",
}

# What programs call. Modules that have imported tiktoken keep its module, so these are replaced in it.
NAMES = (
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
)

# Pieces of every kind: words, contractions, numbers, signs, white space, several scripts and special tokens.
SAMPLES = (
    "hello world",
    "Don't you'LL\n\n  12345 x=y+1;\t\r\n\u3000",
    "na\u00efve \u0416\u0443\u043a \u4e2d\u6587\u5b57\u7b26 \ud55c\uad6d\uc5b4",
    "\u0e44\u0e17\u0e22 \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301 ///***   <|endoftext|>",
)

LOCK = RLock()

# What was in the places of `patch_tiktoken`, `None` for nothing: modules by name, and attributes of modules.
REPLACED: dict[str, ModuleType | None] = {}
ATTRIBUTES: list[tuple[ModuleType, str, Any]] = []


def patch_tiktoken(*, compare: Iterable[str] = ()) -> None:
    """Makes libraries that import tiktoken use bytemill; `unpatch_tiktoken` undoes it.

    Call it before importing those libraries. `import tiktoken` then gives bytemill, whether tiktoken is
    installed or not. Modules that have imported tiktoken before get bytemill's functions too, but not where
    they have copied one (`from tiktoken import get_encoding`) or hold an encoding already.

    If tiktoken has been imported, sample texts are compared first, with each encoding that it has loaded.

    Args:
        compare: Names of encodings to compare as well. tiktoken loads them, for which it may need the
            network.

    Raises:
        ValueError: tiktoken gives other token IDs for a sample, or does not know an encoding in `compare`.
            Nothing is patched then.
        ImportError: `compare` names encodings, and tiktoken is not installed.
        TypeError: `compare` is a single string.

    Complexity:
        That of encoding the samples. A second call undoes the first, and compares again.
    """
    names = list(several("compare", compare))
    with LOCK:
        # What is compared must be tiktoken's own.
        unpatch_tiktoken()
        if names or sys.modules.get("tiktoken"):
            check(names)
        # A module that must not be imported is `None` there.
        known: Mapping[str, ModuleType | None] = sys.modules
        imported = {name: known.get(name) for name in MODULES}
        for name, module in imported.items():
            ours = import_module(MODULES[name])
            for attribute in NAMES:
                if module is not None and hasattr(module, attribute) and hasattr(ours, attribute):
                    ATTRIBUTES.append((module, attribute, getattr(module, attribute)))
                    setattr(module, attribute, getattr(ours, attribute))
            REPLACED[name] = module
            sys.modules[name] = ours


def unpatch_tiktoken() -> None:
    """Undoes `patch_tiktoken`; without that, it does nothing.

    Libraries that were imported in between keep bytemill's functions where they have copied them.
    """
    with LOCK:
        for module, attribute, value in ATTRIBUTES:
            setattr(module, attribute, value)
        ATTRIBUTES.clear()
        for name, original in REPLACED.items():
            if original is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = original
        REPLACED.clear()


def check(names: list[str]) -> None:
    """Compares the token IDs of samples with tiktoken's, for encodings that it has loaded and some others.

    Raises:
        ValueError: Some differ.
    """
    from bytemill.registry import get_encoding

    registry = import_module("tiktoken.registry")
    for name in dict.fromkeys([*registry.ENCODINGS, *names]):
        encoding = registry.get_encoding(name)
        for text in SAMPLES:
            expected = encoding.encode(text, disallowed_special=())
            if get_encoding(name).encode(text, disallowed_special=()) != expected:
                raise ValueError(
                    f"tiktoken's encoding {name!r} gives other token IDs than bytemill's for {text!r}: "
                    "its vocabulary differs, so tiktoken was not replaced"
                )
