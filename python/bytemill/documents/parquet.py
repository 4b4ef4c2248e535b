"""Reading columns of Parquet files."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import accumulate
from typing import IO, TYPE_CHECKING, Any

from bytemill._backend import find_invalid_utf8
from bytemill._messages import alternatives, import_optional, named, printable, shortened
from bytemill.documents.sources import HOW_TO_NAME
from bytemill.io.piece_table import has_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer

__all__ = ["column_batches", "first_invalid", "group_starts"]

# The most rows that are read at a time.
BATCH_ROWS = 1 << 16

# Arrow's names of the types that may hold text.
TEXT_TYPES = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")

# What the first byte of a character is not.
CONTINUATION_MASK, CONTINUATION = 0xC0, 0x80


def column_batches(  # noqa: PLR0913 - most have names
    file: IO[bytes],
    name: str,
    columns: Sequence[str],
    *,
    batch_bytes: int,
    first_row: int = 0,
    end_row: int | None = None,
) -> Iterator[tuple[int, Any]]:
    """Reads a column of strings or bytes: the first of some names that the file has.

    Args:
        file: The file.
        name: Its name, for messages.
        columns: The names of the columns.
        batch_bytes: The size of a batch, about. Which rows are in one depends on the file and on this.
        first_row: The first row of a batch, to start with that one.
        end_row: The first row of a row group, to stop before it; `None` for the end of the file.

    Yields:
        The number of the batch's first row, and the batch as an Arrow array of `large_binary`, nulls
        included. Its bytes need not be UTF-8, whatever the type of the column.

    Raises:
        ValueError: It is not a Parquet file, is damaged, or has no such column; the message names the file.
        OSError: The file cannot be read.
        ImportError: `pyarrow` is not installed.
    """
    parquet = import_optional("pyarrow.parquet", "Parquet files")
    arrow = import_optional("pyarrow", "Parquet files")
    with errors_named(name):
        table = parquet.ParquetFile(file)
    with table:
        with errors_named(name):
            schema = table.schema_arrow
        column = text_column(schema, name, columns)
        batches = stored_batches(table, column, arrow.large_binary(), batch_bytes, first_row, end_row)
        while True:
            with errors_named(name):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch


@contextmanager
def errors_named(name: str) -> Iterator[None]:
    """Converts the errors of Arrow for damaged files to `ValueError`, with the file's name."""
    arrow = import_optional("pyarrow", "Parquet files")
    try:
        yield
    except MemoryError:
        raise
    except (arrow.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            # The system's, not Arrow's.
            raise
        raise ValueError(f"{name}: not a Parquet file, or a damaged one: {printable(str(error))}") from error


def text_column(schema: Any, name: str, columns: Sequence[str]) -> str:  # noqa: ANN401 - Arrow has no types
    """Returns the name of the column to read.

    Raises:
        ValueError: There is no such column, several, or one of another type.
    """
    arrow = import_optional("pyarrow", "Parquet files")
    if has_counts(schema):
        raise ValueError(
            f"{name}: expected documents, got counts of pieces: `bytemill train FILE` and "
            "train(PieceCounts.load(file), ...) learn from them"
        )
    column = next((each for each in columns if each in schema.names), None)
    if column is None:
        raise ValueError(
            f"{name}: expected a column {alternatives(map(repr, columns))}, got {named(schema.names)}; "
            f"{HOW_TO_NAME}"
        )
    if schema.names.count(column) > 1:
        raise ValueError(
            f"{name}: expected one column {column!r}, got {schema.names.count(column)} of that name: rename "
            "them, or name another column"
        )
    kind = schema.field(column).type
    values = kind.value_type if arrow.types.is_dictionary(kind) else kind
    # Older versions of Arrow do not know all of these types.
    tests = [getattr(arrow.types, f"is_{text_type}", None) for text_type in TEXT_TYPES]
    if not any(test(values) for test in tests if test is not None):
        raise ValueError(
            f"{name}: expected strings or bytes in the column {column!r}, got {shortened(str(kind))}"
        )
    return column


def group_starts(file: IO[bytes], name: str) -> list[tuple[int, int]]:
    """Returns the number of the first row and the size in bytes of each row group.

    Raises:
        ValueError: It is not a Parquet file, or is damaged; the message names the file.
        OSError: The file cannot be read.
        ImportError: `pyarrow` is not installed.
    """
    parquet = import_optional("pyarrow.parquet", "Parquet files")
    with errors_named(name), parquet.ParquetFile(file) as table:
        groups = [table.metadata.row_group(group) for group in range(table.num_row_groups)]
        rows = accumulate((group.num_rows for group in groups), initial=0)
        sizes = (
            sum(group.column(at).total_compressed_size for at in range(group.num_columns)) for group in groups
        )
        return list(zip(rows, sizes, strict=False))


def stored_batches(  # noqa: PLR0913, PLR0917 - used once
    table: Any,  # noqa: ANN401 - as above
    column: str,
    stored: Any,  # noqa: ANN401
    batch_bytes: int,
    first_row: int,
    end_row: int | None,
) -> Iterator[tuple[int, Any]]:
    """Yields what `column_batches` does, as arrays of the type `stored`, with Arrow's own errors."""
    row = 0
    for group in range(table.num_row_groups):
        if row == end_row:
            return
        metadata = table.metadata.row_group(group)
        if row + metadata.num_rows <= first_row:
            row += metadata.num_rows
            continue
        # The size is that of all columns, decompressed.
        rows = metadata.num_rows * batch_bytes // max(metadata.total_byte_size, 1)
        for batch in table.iter_batches(
            batch_size=min(max(rows, 1), BATCH_ROWS), row_groups=[group], columns=[column]
        ):
            # A name with dots is that of a field inside of another column, too.
            texts = batch.column(batch.schema.names.index(column))
            if row >= first_row:
                if hasattr(texts, "dictionary_decode"):
                    texts = texts.dictionary_decode()
                # Other types lack functions, such as dropping nulls.
                yield row, texts.cast(stored)
            row += len(texts)


def first_invalid(data: Buffer, offsets: npt.NDArray[np.int64]) -> int | None:
    """Returns the number of the first text that is not UTF-8.

    Args:
        data: The texts, one after the other.
        offsets: Where they start and end there, shape (texts + 1,).
    """
    numpy = import_optional("numpy", "Parquet files")
    start, end = int(offsets[0]), int(offsets[-1])
    if start == end:
        return None
    contents = memoryview(data)
    if find_invalid_utf8(contents[start:end]) is None:
        # Then only a text that ends inside of a character is none.
        inner = offsets[(offsets > start) & (offsets < end)]
        if not ((numpy.frombuffer(data, numpy.uint8)[inner] & CONTINUATION_MASK) == CONTINUATION).any():
            return None
    bounds = offsets.tolist()
    return next(
        number
        for number in range(len(bounds) - 1)
        if find_invalid_utf8(contents[bounds[number] : bounds[number + 1]]) is not None
    )
