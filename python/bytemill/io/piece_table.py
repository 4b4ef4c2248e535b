"""Files of piece counts, Parquet or Arrow IPC: a column `piece` (binary) and a column `count` (uint64).

The rows are in the order in which the pieces first occurred. The metadata say under the key `bytemill`, as
JSON, which pattern and special tokens they come from.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from bytemill._optional import import_optional
from bytemill.io.atomic import create, replacing

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import numpy.typing as npt

__all__ = ["Chunk", "Description", "read_table", "write_table"]

PARQUET_SUFFIX = ".parquet"
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
KEY = b"bytemill"
VERSION = 1

# How many rows are read at a time.
ROWS = 1 << 16

PURPOSE = "files of piece counts"

# Some pieces, and how often each occurs.
Chunk: TypeAlias = "tuple[list[bytes], npt.NDArray[np.uint64]]"


class Description(TypedDict):
    """What the pieces come from; see `bytemill.PieceCounts`."""

    pattern: str | None
    special_tokens: list[str]


def write_table(
    path: str | os.PathLike[str],
    columns: tuple[bytes, npt.NDArray[np.int64], npt.NDArray[np.uint64]],
    description: Description,
) -> None:
    """Writes a file, which readers see whole or not at all.

    Args:
        path: Its name, which tells the format.
        columns: All pieces joined; where each starts and the last ends, of shape (pieces + 1,); how often
            each occurs, of shape (pieces,).
        description: What they come from.

    Raises:
        ValueError: The name ends in none of the known ways.
        OSError: The file cannot be written; nothing is left behind.
        ImportError: `pyarrow` is not installed.
    """
    name = os.fspath(path)
    if not name.lower().endswith((PARQUET_SUFFIX, *ARROW_SUFFIXES)):
        known = ", ".join([PARQUET_SUFFIX, *ARROW_SUFFIXES])
        message = f"cannot tell the format of {name!r}: expected a name that ends in one of {known}"
        raise ValueError(message)
    arrow = import_optional("pyarrow", PURPOSE)
    data, offsets, counts = columns
    buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(data)]
    pieces = arrow.LargeBinaryArray.from_buffers(arrow.large_binary(), len(counts), buffers)
    schema = arrow.schema(
        [("piece", arrow.large_binary()), ("count", arrow.uint64())],
        metadata={KEY: json.dumps({"version": VERSION, **description}).encode()},
    )
    table = arrow.Table.from_arrays([pieces, arrow.array(counts, arrow.uint64())], schema=schema)
    with replacing(path) as temporary, create(temporary) as file:
        if name.lower().endswith(PARQUET_SUFFIX):
            parquet = import_optional("pyarrow.parquet", PURPOSE)
            writer = parquet.ParquetWriter(file, table.schema, compression="zstd")
        else:
            writer = arrow.ipc.new_file(file, table.schema)
        with writer:
            # In parts, between which Ctrl-C comes through.
            for batch in table.to_batches(max_chunksize=ROWS):
                writer.write_batch(batch)


@contextmanager
def read_table(path: str | os.PathLike[str]) -> Iterator[tuple[Description, Iterator[Chunk]]]:
    """Opens a file that `write_table` wrote, or something else with the same columns and metadata.

    Yields:
        The description, and the pieces in chunks.

    Raises:
        ValueError: It is no such file.
        OSError: The file cannot be read.
        ImportError: `pyarrow` is not installed.
    """
    arrow = import_optional("pyarrow", PURPOSE)
    parquet = import_optional("pyarrow.parquet", PURPOSE)
    name = os.fspath(path)
    try:
        # Not mapped: a mapped file that another process cuts short ends this one.
        with arrow.OSFile(name) as source:
            magic = source.read(4)
            source.seek(0)
            if magic == b"PAR1":
                file = parquet.ParquetFile(source)
                schema, batches = file.schema_arrow, file.iter_batches(batch_size=ROWS)
            else:
                reader = arrow.ipc.open_file(source)
                schema, batches = reader.schema, map(reader.get_batch, range(reader.num_record_batches))
            yield described(schema, name), map(chunk, batches)
    except (arrow.ArrowException, OSError) as error:
        # Errors of the system have a number; without, it is Arrow that finds the file too short.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        message = f"{name}: expected counts in Parquet or Arrow IPC format: {error}"
        raise ValueError(message) from error


def described(schema: Any, name: str) -> Description:  # noqa: ANN401 - pyarrow is optional
    """Reads the metadata of a file; `ValueError` if they are not there."""
    metadata = (schema.metadata or {}).get(KEY)
    if metadata is None or not {"piece", "count"} <= set(schema.names):
        message = (
            f"{name}: expected the columns piece and count, and in the metadata under the key bytemill the "
            "pattern that the pieces come from; pieces counted elsewhere are given to "
            "PieceCounts(pieces, pattern=...)"
        )
        raise ValueError(message)
    try:
        fields = json.loads(metadata)
        version, pattern, special_tokens = (fields[key] for key in ("version", *Description.__annotations__))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        message = f"{name}: expected metadata that say what the pieces come from, got {metadata[:100]!r}"
        raise ValueError(message) from error
    if version != VERSION:
        message = f"{name}: expected version {VERSION} of the format, got {version}"
        raise ValueError(message)
    texts = isinstance(special_tokens, list) and all(isinstance(token, str) for token in special_tokens)
    if not isinstance(pattern, str | None) or not texts:
        message = (
            f"{name}: expected a pattern or null and a list of special tokens in the metadata, got "
            f"{pattern!r} and {special_tokens!r}"
        )
        raise ValueError(message)
    return Description(pattern=pattern, special_tokens=special_tokens)


def chunk(batch: Any) -> Chunk:  # noqa: ANN401 - pyarrow is optional
    """Takes a batch of rows apart."""
    arrow = import_optional("pyarrow", PURPOSE)
    # A damaged file may have offsets that lead out of it: Arrow looks at them only if it is told to.
    batch.validate(full=True)
    pieces, counts = batch.column("piece"), batch.column("count")
    if pieces.null_count or counts.null_count:
        message = "there is a piece or a count missing"
        raise arrow.ArrowInvalid(message)
    counts = counts.cast(arrow.uint64())
    return pieces.cast(arrow.large_binary()).to_pylist(), counts.to_numpy(zero_copy_only=False)
