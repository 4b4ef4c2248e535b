"""Values that are wrong for almost any argument, for calling public functions with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

import bytemill

__all__ = ["WRONG"]


class Hostile:
    """Raises in every protocol for numbers, strings and sequences."""

    def _fail(self, *_: object, **__: object) -> Any:
        message = "hostile"
        raise ValueError(message)

    __index__ = __int__ = __float__ = __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = _fail
    __eq__ = __hash__ = __lt__ = __call__ = __fspath__ = __array__ = keys = items = _fail
    __arrow_c_array__ = __arrow_c_stream__ = _fail


class Lying(Sequence[int]):
    """A sequence whose length exceeds memory."""

    def __len__(self) -> int:
        return 2**60

    def __getitem__(self, index: Any) -> Any:
        if index > 1:
            raise IndexError
        return 1


class Huge:
    """An object with an `__index__` that is far too large."""

    def __index__(self) -> int:
        return 2**200


class Text(str):
    """A subclass of `str`."""

    __slots__ = ("more",)


def nested() -> list[object]:
    """Returns a list that contains itself."""
    outer: list[object] = []
    outer.append(outer)
    return outer


# Created for each call, as a call may exhaust them.
WRONG: dict[str, Callable[[], object]] = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "2**31": lambda: 2**31,
    "2**32 - 1": lambda: 2**32 - 1,
    "2**40": lambda: 2**40,
    "2**63 - 1": lambda: 2**63 - 1,
    "2**64 - 1": lambda: 2**64 - 1,
    "2**100": lambda: 2**100,
    "-2**100": lambda: -(2**100),
    "an index beyond all": Huge,
    "a float": lambda: 1.5,
    "not a number": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "a complex number": lambda: 1j,
    "an integer of NumPy": lambda: np.int64(-7),
    "a float of NumPy": lambda: np.float32(3),
    "empty text": lambda: "",
    "text": lambda: "some text",
    "a lone surrogate": lambda: "a\ud800",
    "NUL": lambda: "\0",
    "text of a class": lambda: Text("text"),
    "no bytes": lambda: b"",
    "bytes": lambda: b"\xff\x00",
    "a bytearray": lambda: bytearray(b"ab"),
    "bytes with gaps": lambda: memoryview(b"abcd")[::2],
    "an empty list": list,
    "a list of None": lambda: [None],
    "a list of integers": lambda: [1, -1, 2**70],
    "a list of texts": lambda: ["a", "\udfff"],
    "a list of bytes": lambda: [b"a", b""],
    "a list of floats": lambda: [0.5, float("nan")],
    "a list of lists": lambda: [[1], ["a"]],
    "a list in itself": nested,
    "a sequence that lies": Lying,
    "pairs": lambda: [(b"a", -1), (1, 2, 3)],
    "an empty tuple": tuple,
    "an empty dict": dict,
    "ids by text": lambda: {"a": 2**40},
    "texts by id": lambda: {1: "a"},
    "nothing by bytes": lambda: {b"a": None},
    "floats by surrogate": lambda: {"\ud800": 1.5},
    "an empty set": set,
    "a set of integers": lambda: {1},
    "a set of texts": lambda: {"\ud800", ""},
    "an iterator": lambda: iter([object()]),
    "an iterator that fails": lambda: map(Hostile(), [1]),
    "a range": lambda: range(2**40, 2**40 + 3),
    "an object": object,
    "a class": lambda: int,
    "a function": lambda: len,
    "a module": lambda: os,
    "hostile": Hostile,
    "an array of floats": lambda: np.array([0.5, np.nan]),
    "rows": lambda: np.zeros((2, 2), np.uint32),
    "an array of objects": lambda: np.array([None, "a"], dtype=object),
    "an array of no dimension": lambda: np.array(3),
    "an array in the other byte order": lambda: np.array([1, 2], ">u4"),
    "an array of dates": lambda: np.array(["2000-01-01"], "M8[s]"),
    "a column of numbers": lambda: pa.array([1, None]),
    "an encoding": lambda: bytemill.get_encoding("gpt2"),
    "counts": lambda: bytemill.PieceCounts({b"a": 1}),
    "an exception": lambda: ValueError("a"),
}
