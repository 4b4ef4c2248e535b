"""The types of columns that `Encoding.encode_arrow` takes."""

from __future__ import annotations

from typing import Protocol

__all__ = ["ArrowArray", "ArrowStream"]


class ArrowArray(Protocol):
    """An array of Arrow: a PyArrow array, for example."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Several arrays of Arrow: a chunked array of PyArrow, or a series of Polars or pandas, for example."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
