"""The part of an encoding for columns of Apache Arrow: PyArrow, Polars, pandas, DuckDB and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bytemill.decoding import thread_count
from bytemill.special import NO_TOKENS, AllowedSpecial, DisallowedSpecial, resolve_for_core

if TYPE_CHECKING:
    from bytemill._core import CoreBPE, EncodedColumn  # noqa: TID251 - their types only

__all__ = ["ArrowArray", "ArrowEncoder", "ArrowStream"]


class ArrowArray(Protocol):
    """An array of Arrow: a PyArrow array, for example."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Several arrays of Arrow: a chunked array of PyArrow, or a series of Polars or pandas, for example."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowEncoder:
    """What `Encoding` inherits. In its method special tokens are ordinary text unless they are allowed."""

    _core_bpe: CoreBPE
    _special_tokens: dict[str, int]

    def encode_arrow(
        self,
        column: ArrowArray | ArrowStream,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
        num_threads: int | None = None,
    ) -> EncodedColumn:
        """Encodes a column of texts in parallel, where it lies, without Python objects for them.

        Any library that speaks Arrow's PyCapsule interface can read the result, as often as it likes and
        without a copy: `pyarrow.array(ids)`, `polars.Series(ids)`, `pandas.Series.from_arrow(ids)`. Its
        memory is freed when the last that reads it lets go.

        A column in several chunks is read to its end before the first is encoded, and becomes one array. Of a
        table that does not fit into memory, pass the column of one batch after the other.

        Args:
            column: A column of type string, large_string or string_view, or of binary, large_binary or
                binary_view, whose bytes are encoded as `encode_bytes` does it; slices and chunks of one, too.
                Anything with `__arrow_c_array__` or `__arrow_c_stream__` will do.
            allowed_special: As in `encode`. In bytes that are not UTF-8, special tokens are found before the
                first offending byte only.
            disallowed_special: As in `encode`, but by default nothing is an error.
            num_threads: How many threads may work; all processors if not given, one in a process that
                `multiprocessing` has started.

        Returns:
            A column as long as `column`, null where that is null: of type list<uint32>, or large_list<uint32>
            if there are 2**31 ids or more.

        Raises:
            TypeError: `column` is no column of text. Dictionaries (categories) are to be cast first.
            ValueError: `num_threads` is not positive, or the column breaks the interface's rules.
            DisallowedSpecialTokenError, PatternError: As `encode`, for the first text that fails.
            OSError: The column's owner cannot read it.

        Complexity:
            That of `encode` for each text, divided by the threads. In memory are 16 bytes a text, and the ids
            twice, 4 bytes each, while those of several threads are put together.
        """
        special_tokens = self._special_tokens.keys()
        allowed, disallowed = resolve_for_core(special_tokens, allowed_special, disallowed_special)
        return self._core_bpe.encode_arrow(column, allowed, disallowed, thread_count(num_threads))
