"""The Arrow C interfaces by `ctypes`, to inspect exports and to build imports that no library produces."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import Any

__all__ = ["Array", "FailingColumn", "Schema", "struct_in"]


class Schema(ctypes.Structure):
    """Schema of a column."""


class Array(ctypes.Structure):
    """Values of a column."""


class Stream(ctypes.Structure):
    """Stream of arrays."""


Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(Schema))),
    ("dictionary", c_void_p),
    ("release", CFUNCTYPE(None, POINTER(Schema))),
    ("private_data", c_void_p),
]
Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(Array))),
    ("dictionary", c_void_p),
    ("release", CFUNCTYPE(None, POINTER(Array))),
    ("private_data", c_void_p),
]
GetSchema = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Schema))
GetNext = CFUNCTYPE(c_int, POINTER(Stream), POINTER(Array))
GetLastError = CFUNCTYPE(c_void_p, POINTER(Stream))
Release = CFUNCTYPE(None, POINTER(Stream))
Stream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", GetLastError),
    ("release", Release),
    ("private_data", c_void_p),
]

pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype = c_void_p
pointer_in.argtypes = [ctypes.py_object, c_char_p]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]


def struct_in(capsule: Any, kind: type[Any], name: bytes) -> Any:
    """Returns the struct in a capsule, without copying it."""
    return kind.from_address(pointer_in(capsule, name))


class FailingColumn:
    """A column of strings whose producer fails to read it."""

    def __init__(self, error: int, message: bytes | None) -> None:
        """Creates a stream whose `get_next` returns the error number `error`."""
        self.released = 0
        self._text = ctypes.c_char_p(message)

        def get_schema(_: Any, schema: Any) -> int:
            schema.contents.format = b"u"
            schema.contents.release = self._schema_release
            return 0

        def release(stream: Any) -> None:
            self.released += 1
            stream.contents.release = Release()

        def release_schema(schema: Any) -> None:
            schema.contents.release = CFUNCTYPE(None, POINTER(Schema))()

        address = ctypes.cast(self._text, c_void_p).value
        self._schema_release = CFUNCTYPE(None, POINTER(Schema))(release_schema)
        self._functions = (
            GetSchema(get_schema),
            GetNext(lambda _stream, _place: error),
            GetLastError(lambda _: address),
            Release(release),
        )
        self._stream = Stream(*self._functions)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Returns the stream, which can be read once."""
        return new_capsule(ctypes.addressof(self._stream), b"arrow_array_stream", None)
