"""Run the same call on both libraries and compare the outcomes."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from support.toys import BYTE_RANKS

__all__ = ["EOT", "Call", "Library", "decodes", "encodes", "outcome", "sort"]

EOT = "<|endoftext|>"


@dataclass(frozen=True)
class Library:
    """One of the two libraries, with the parts that the table rows need."""

    module: ModuleType
    encoding: Any

    def load(self) -> Any:
        """Returns a fresh copy of the library's `load` module; tiktoken's has no network access."""
        spec = importlib.util.find_spec(f"{self.module.__name__}.load")
        assert spec is not None
        assert spec.loader is not None
        copy = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(copy)
        return copy

    def custom(self, **parts: Any) -> Any:
        whole: dict[str, Any] = {
            "name": "custom",
            "pat_str": r"\w+|\W+",
            "mergeable_ranks": BYTE_RANKS | {b"ab": 256},
            "special_tokens": {EOT: 300},
        }
        return self.module.Encoding(**whole | parts)


Call: TypeAlias = Callable[[Library], object]


def outcome(call: Call, library: Library) -> object:
    """Returns the result of a call or what it raises, including panics, which are not `Exception`s."""
    try:
        result = call(library)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - to be compared
        return error
    return result.tolist() if isinstance(result, np.ndarray) else result


def encodes(text: Any, **special: Any) -> dict[str, Call]:
    """Returns the methods that encode one text."""
    return {
        "encode": lambda library: library.encoding.encode(text, **special),
        "encode_to_numpy": lambda library: library.encoding.encode_to_numpy(text, **special),
        "encode_with_unstable": lambda library: sort(library.encoding.encode_with_unstable(text, **special)),
        "encode_batch": lambda library: library.encoding.encode_batch([text], **special),
    }


def sort(unstable: tuple[list[int], list[list[int]]]) -> tuple[list[int], list[list[int]]]:
    return unstable[0], sorted(unstable[1])


def decodes(tokens: Any) -> dict[str, Call]:
    """Returns the methods that decode a sequence of ids."""
    return {
        "decode": lambda library: library.encoding.decode(tokens),
        "decode_bytes": lambda library: library.encoding.decode_bytes(tokens),
        "decode_batch": lambda library: library.encoding.decode_batch([tokens]),
        "decode_bytes_batch": lambda library: library.encoding.decode_bytes_batch([tokens]),
    }
