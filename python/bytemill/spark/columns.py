"""Counting and encoding a column of a data frame of Spark."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bytemill._arguments import check_type
from bytemill._messages import import_optional
from bytemill.jobs.columns import ColumnCounter, ColumnEncoder, Run
from bytemill.special import NO_TOKENS
from bytemill.training.options import DEFAULT_PATTERN

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from bytemill._calls import Tokens
    from bytemill.core import Encoding
    from bytemill.special import AllowedSpecial, DisallowedSpecial
    from bytemill.training.counts import PieceCounts

__all__ = ["count_pieces", "encode"]

TEXT_TYPES = frozenset({"binary", "char", "string", "varchar"})


def count_pieces(
    frame: Any,  # noqa: ANN401 - pyspark is optional
    column: str,
    pattern: str | None = DEFAULT_PATTERN,
    *,
    to: str | os.PathLike[str],
    special_tokens: Iterable[str] = (),
) -> PieceCounts:
    """Counts the pieces of a column of a data frame.

    Each task counts its partition into a sorted file, and this process adds up the files, without a shuffle.

    Args:
        frame: A `pyspark.sql.DataFrame`.
        column: The column that holds the text: strings or bytes. Nulls are skipped.
        pattern: As in `bytemill.count_pieces`.
        to: A folder that all executors and this process share. It holds the files until the call ends.
        special_tokens: As in `bytemill.count_pieces`.

    Returns:
        The counts, those of one process, but sorted: `bytemill.train` takes them, with any tie rule but
        "first_seen".

    Raises:
        TypeError: An argument or the column is of a wrong type.
        ValueError: An argument has no meaning, or the frame has no such column.
        PatternError: The pattern does not compile or can match the empty string.
        OSError: The folder cannot be made, or a temporary file not written.
        ImportError: `pyarrow` is not installed.
        Exception: What Spark raises if a task fails.

    Complexity:
        As `bytemill.count_pieces`, divided by the tasks. Adding up n rows of k files takes O(n log k), in
        this process.
    """
    check_column(frame, column)
    counter = ColumnCounter(to, column, pattern, special_tokens)
    try:
        runs = frame.select(column).mapInArrow(partial(count, counter), "name string, total long")
        return counter.merged(Run(row.name, row.total) for row in runs.collect())
    finally:
        counter.remove()


def encode(  # noqa: PLR0913 - all but the first three have names
    frame: Any,  # noqa: ANN401 - pyspark is optional
    column: str,
    encoding: Encoding | str,
    *,
    into: str = "input_ids",
    prepend: Tokens = None,
    append: Tokens = None,
    add_special_tokens: bool = False,
    allowed_special: AllowedSpecial = NO_TOKENS,
    disallowed_special: DisallowedSpecial = (),
) -> Any:  # noqa: ANN401 - as above
    """Encodes a column of a data frame, when that is computed.

    Args:
        frame: A `pyspark.sql.DataFrame`.
        column: The column that holds the text: strings or bytes. Nulls become nulls.
        encoding: The encoding, or its name. Workers rebuild it once for each process, and compare its
            SHA-256.
        into: The column of ids, of type array<int>; one of that name is replaced.
        prepend: Ids, or texts of single tokens, to put before each text.
        append: The same, to put after each text.
        add_special_tokens: As in `Encoding.encode_batch_to_numpy`.
        allowed_special: As in `Encoding.encode`.
        disallowed_special: As in `Encoding.encode`, but by default nothing is an error.

    Returns:
        Another data frame, which is not yet computed.

    Raises:
        TypeError: An argument or the column is of a wrong type.
        ValueError: An argument has no meaning, or the frame has no such column.
        ImportError: PySpark or `pyarrow` is not installed.

    Complexity:
        As `Encoding.encode_arrow`, and two copies of all columns, between Spark and Python. A frame that is
        computed twice is encoded twice.
    """
    types = import_optional("pyspark.sql.types", "data frames of Spark")
    check_column(frame, column)
    encoder = ColumnEncoder(
        encoding,
        column,
        into=into,
        prepend=prepend,
        append=append,
        add_special_tokens=add_special_tokens,
        allowed_special=allowed_special,
        disallowed_special=disallowed_special,
    )
    ids = types.StructField(into, types.ArrayType(types.IntegerType()))
    fields = [ids if field.name == into else field for field in frame.schema.fields]
    schema = types.StructType(fields if into in frame.columns else [*fields, ids])
    return frame.mapInArrow(partial(encode_batches, encoder), schema)


def check_column(frame: Any, column: str) -> None:  # noqa: ANN401 - as above
    """Raises unless a frame has a column of text.

    Raises:
        TypeError: It is not a data frame of Spark, the name is not a string, or the column has another type.
        ValueError: There is no such column.
    """
    if not hasattr(frame, "mapInArrow"):
        raise TypeError(f"frame must be a pyspark.sql.DataFrame, not {type(frame).__name__}")
    check_type("column", column, str)
    if column not in frame.columns:
        raise ValueError(f"expected a column {column!r}, got a frame with {', '.join(frame.columns)}")
    kind = frame.schema[column].dataType
    if kind.typeName() not in TEXT_TYPES:
        raise TypeError(f"expected a column of strings or bytes, got {column!r} of {kind.simpleString()}")


def count(counter: ColumnCounter, batches: Iterable[Any]) -> Iterator[Any]:
    """Counts the record batches of a partition, in a process of Spark."""
    arrow = import_optional("pyarrow", "data frames of Spark")
    run = counter.count(batches)
    yield arrow.RecordBatch.from_pydict({"name": [run.name], "total": [run.total]})


def encode_batches(encoder: ColumnEncoder, batches: Iterable[Any]) -> Iterator[Any]:
    """Encodes the record batches of a partition, in a process of Spark."""
    arrow = import_optional("pyarrow", "data frames of Spark")
    for batch in batches:
        encoded = encoder(batch)
        at = encoded.schema.get_field_index(encoder.into)
        # Spark has no unsigned integers.
        ids = encoded.column(at).cast(arrow.list_(arrow.int32()))
        yield encoded.set_column(at, encoder.into, ids)
