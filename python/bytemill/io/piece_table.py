"""Files of piece counts, Parquet or Arrow IPC: a column `piece` (binary) and a column `count` (uint64).

The metadata have under the key `bytemill`, as JSON, the pattern and the special tokens of the counts, and
whether the rows are sorted by piece; otherwise they are in the order in which the pieces first occurred.
Parquet has the beginnings of the first pieces of its row groups under `bytemill_first_pieces`, so that a
range of a sorted file is found: Parquet's own statistics leave out long pieces.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from bytemill._messages import import_optional
from bytemill.io.atomic import check_writable, create, replacing
from bytemill.io.uris import is_uri, open_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt

    # The bytes of some pieces; the offsets at which each starts and the last ends, shape (pieces + 1,); the
    # count of each, shape (pieces,).
    Columns: TypeAlias = tuple[bytes, npt.NDArray[np.int64], npt.NDArray[np.uint64]]

__all__ = [
    "ROWS",
    "Chunk",
    "Description",
    "check_table",
    "chunk",
    "described",
    "first_pieces",
    "has_counts",
    "is_counts",
    "most_open",
    "read_table",
    "table_of",
    "table_writer",
]

PARQUET_SUFFIX = ".parquet"
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
KEY = b"bytemill"
FIRST_PIECES = b"bytemill_first_pieces"
FIRST_BYTES = 64
VERSION = 1

# The number of rows that are read or written at a time.
ROWS = 1 << 16

PURPOSE = "files of piece counts"

# Files that are read at once; systems allow some thousand for each process, all files together.
MOST_OPEN = 256
# What a process may open besides: libraries, and what it writes.
OTHER_FILES = 32

# Some pieces as an Arrow array of `large_binary`, and the count of each.
Chunk: TypeAlias = "tuple[Any, npt.NDArray[np.uint64]]"


class Description(TypedDict):
    """The origin of counts; see `bytemill.PieceCounts`."""

    pattern: str | None
    special_tokens: list[str]
    is_sorted: bool


def most_open() -> int:
    """Returns how many files may be read at once: fewer where the system allows the process few more."""
    try:
        import resource
    except ImportError:  # Windows
        return MOST_OPEN
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return MOST_OPEN
    # Workers of an engine have many connections.
    opened = sum(1 for _ in Path("/dev/fd").iterdir())
    return max(2, min(MOST_OPEN, limit - opened - OTHER_FILES))


def schema_of(description: Description) -> Any:  # noqa: ANN401 - pyarrow is optional
    """Returns the `pyarrow.Schema` of a table of counts, with its metadata."""
    arrow = import_optional("pyarrow", PURPOSE)
    columns = [("piece", arrow.large_binary()), ("count", arrow.uint64())]
    return arrow.schema(columns, metadata={KEY: json.dumps({"version": VERSION, **description}).encode()})


def table_of(columns: Columns, description: Description) -> Any:  # noqa: ANN401 - pyarrow is optional
    """Returns counts as a `pyarrow.Table`, whose memory is that of the columns.

    Raises:
        ImportError: `pyarrow` is not installed.
    """
    arrow = import_optional("pyarrow", PURPOSE)
    data, offsets, counts = columns
    buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(data)]
    pieces = arrow.LargeBinaryArray.from_buffers(arrow.large_binary(), len(counts), buffers)
    arrays = [pieces, arrow.array(counts, arrow.uint64())]
    return arrow.Table.from_arrays(arrays, schema=schema_of(description))


def check_table(path: str | os.PathLike[str]) -> None:
    """Raises now what writing a file of counts would raise after long work.

    Raises:
        ValueError: The name has no known suffix.
        OSError: The file cannot be written.
        ImportError: `pyarrow` is not installed.
    """
    name = os.fspath(path)
    if not name.lower().endswith((PARQUET_SUFFIX, *ARROW_SUFFIXES)):
        known = ", ".join([PARQUET_SUFFIX, *ARROW_SUFFIXES])
        raise ValueError(f"cannot tell the format of {name!r}: expected a name that ends in one of {known}")
    check_writable(path)
    import_optional("pyarrow", PURPOSE)


@contextmanager
def table_writer(path: str | os.PathLike[str], description: Description) -> Iterator[Callable[[Any], None]]:
    """Writes a file atomically: readers see the old file or the complete new one.

    Args:
        path: Its name, whose suffix is the format.
        description: The origin of the counts.

    Yields:
        A function that appends a table.

    Raises:
        ValueError: The name has no known suffix.
        OSError: The file cannot be written; nothing is left behind.
        ImportError: `pyarrow` is not installed.
    """
    check_table(path)
    name = os.fspath(path)
    arrow = import_optional("pyarrow", PURPOSE)
    schema = schema_of(description)
    with replacing(path) as temporary, create(temporary) as file:
        is_parquet = name.lower().endswith(PARQUET_SUFFIX)
        if is_parquet:
            parquet = import_optional("pyarrow.parquet", PURPOSE)
            # Parts of a file are read, whose hash is that of the whole.
            writer = parquet.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True)
        else:
            writer = arrow.ipc.new_file(file, schema)
        firsts: list[str] = []
        with writer:

            def write(table: Any) -> None:  # noqa: ANN401 - as above
                # In batches, so that Ctrl-C can interrupt between two.
                for batch in table.to_batches(max_chunksize=ROWS):
                    writer.write_batch(batch)
                    firsts.append(batch.column("piece")[0].as_py()[:FIRST_BYTES].hex())

            yield write
            if is_parquet and firsts:
                writer.add_key_value_metadata({FIRST_PIECES: json.dumps(firsts)})


@contextmanager
def read_table(
    path: str | os.PathLike[str], first: bytes = b"", end: bytes | None = None
) -> Iterator[tuple[Description, Iterator[Chunk]]]:
    """Opens a file of `table_writer`, or another one with the same columns and metadata.

    Args:
        path: Its name, or its URI.
        first: Where to begin in a sorted file: at the first piece that is not less.
        end: Where to end: before the first piece that is not less; `None` for the end of the file.

    Yields:
        The description, and the pieces in chunks.

    Raises:
        ValueError: It is not such a file.
        OSError: The file cannot be read.
        ImportError: `pyarrow` is not installed.
    """
    arrow = import_optional("pyarrow", PURPOSE)
    parquet = import_optional("pyarrow.parquet", PURPOSE)
    name = os.fspath(path)
    with ExitStack() as stack:
        with readable(name):
            # Not mapped: if another process truncates a mapped file, this process dies.
            source = arrow.PythonFile(open_input(name)) if is_uri(name) else arrow.OSFile(os.fsencode(name))
            stack.enter_context(source)
            magic = source.read(4)
            source.seek(0)
            if magic == b"PAR1":
                file = parquet.ParquetFile(source, page_checksum_verification=True)
                groups = groups_of(file, name, first, end)
                schema, batches = file.schema_arrow, file.iter_batches(batch_size=ROWS, row_groups=groups)
            else:
                reader = arrow.ipc.open_file(source)
                schema, batches = reader.schema, map(reader.get_batch, range(reader.num_record_batches))
        yield described(schema, name), chunks_between(iter(batches), name, first, end)


def is_counts(path: str | os.PathLike[str]) -> bool:
    """Returns whether a file has counts, by its metadata; false for files that Arrow does not read.

    Raises:
        OSError: The file cannot be read.
    """
    name = os.fspath(path)
    if not name.lower().endswith((PARQUET_SUFFIX, *ARROW_SUFFIXES)):
        return False
    try:
        with read_table(name):
            return True
    except (ImportError, ValueError):
        return False


def has_counts(schema: Any) -> bool:  # noqa: ANN401 - as above
    """Returns whether a table has counts, by its metadata."""
    return KEY in (schema.metadata or {})


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Converts the errors of Arrow for damaged files to `ValueError`, with the file's name."""
    arrow = import_optional("pyarrow", PURPOSE)
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        # System errors have a number; without one, Arrow reports that the file is too short.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name}: expected counts in Parquet or Arrow IPC format: {error}") from error


def chunks_between(batches: Iterator[Any], name: str, first: bytes, end: bytes | None) -> Iterator[Chunk]:
    """Yields the rows of batches with pieces from `first` on and before `end`; errors name the file."""
    while True:
        with readable(name):
            batch = next(batches, None)
            if batch is None:
                return
            rows = rows_between(chunk(batch), first, end)
        yield rows


def first_pieces(path: str | os.PathLike[str]) -> list[bytes]:
    """Returns the first piece of each row group of a Parquet file, at most 64 bytes of it.

    Raises:
        ValueError: It is not such a file.
        OSError: The file cannot be read.
        ImportError: `pyarrow` is not installed.
    """
    parquet = import_optional("pyarrow.parquet", PURPOSE)
    with open_input(os.fspath(path)) as source:
        return stored_first_pieces(parquet.ParquetFile(source), os.fspath(path))


def stored_first_pieces(file: Any, name: str) -> list[bytes]:  # noqa: ANN401 - as above
    """Returns the beginnings of the first pieces of row groups; none if the file does not have them."""
    stored = (file.metadata.metadata or {}).get(FIRST_PIECES)
    try:
        pieces = [] if stored is None else list(map(bytes.fromhex, json.loads(stored)))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{name}: expected pieces in the metadata {FIRST_PIECES.decode()}, got {stored!r:.100}"
        ) from error
    return pieces if len(pieces) == file.num_row_groups else []


def groups_of(file: Any, name: str, first: bytes, end: bytes | None) -> range:  # noqa: ANN401 - as above
    """Returns the row groups of a file that may have pieces from `first` on and before `end`."""
    pieces = stored_first_pieces(file, name)
    if not pieces:
        return range(file.num_row_groups)
    # A beginning that is less than another one stands for a lesser piece; equal ones say nothing.
    start = max(bisect_left(pieces, first[:FIRST_BYTES]) - 1, 0)
    return range(start, len(pieces) if end is None else bisect_left(pieces, end))


def rows_between(rows: Chunk, first: bytes, end: bytes | None) -> Chunk:
    """Returns the rows of a sorted chunk with pieces from `first` on and before `end`."""
    pieces, counts = rows
    start = bisect_left(pieces, first, key=bytes_of) if first else 0
    stop = len(pieces) if end is None else bisect_left(pieces, end, start, key=bytes_of)
    return pieces.slice(start, stop - start), counts[start:stop]


def bytes_of(piece: Any) -> bytes:  # noqa: ANN401 - pyarrow is optional
    """Returns a scalar of Arrow as bytes."""
    value: bytes = piece.as_py()
    return value


def described(schema: Any, name: str) -> Description:  # noqa: ANN401 - pyarrow is optional
    """Parses the metadata of a table of counts; `ValueError` if they are missing or malformed."""
    metadata = (schema.metadata or {}).get(KEY)
    if metadata is None or not {"piece", "count"} <= set(schema.names):
        raise ValueError(
            f"{name}: expected the columns piece and count, and in the metadata under the key bytemill the "
            "pattern that the pieces come from; pieces counted elsewhere are given to "
            "PieceCounts(pieces, pattern=...)"
        )
    try:
        fields = json.loads(metadata)
        version, pattern, special_tokens = (fields[key] for key in ("version", "pattern", "special_tokens"))
        is_sorted = fields.get("is_sorted", False)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(
            f"{name}: expected metadata that say what the pieces come from, got {metadata[:100]!r}"
        ) from error
    if version != VERSION:
        raise ValueError(f"{name}: expected version {VERSION} of the format, got {version}")
    texts = isinstance(special_tokens, list) and all(isinstance(token, str) for token in special_tokens)
    if not isinstance(pattern, str | None) or not texts or not isinstance(is_sorted, bool):
        raise ValueError(
            f"{name}: expected a pattern or null and a list of special tokens in the metadata, and whether "
            f"pieces are sorted, got {pattern!r:.100}, {special_tokens!r:.100} and {is_sorted!r:.100}"
        )
    if "" in special_tokens or len(set(special_tokens)) < len(special_tokens):
        raise ValueError(
            f"{name}: expected different special tokens in the metadata, none of them empty, "
            f"got {special_tokens!r:.100}"
        )
    return Description(pattern=pattern, special_tokens=special_tokens, is_sorted=is_sorted)


def chunk(batch: Any) -> Chunk:  # noqa: ANN401 - pyarrow is optional
    """Returns the pieces and counts of a batch of rows."""
    arrow = import_optional("pyarrow", PURPOSE)
    # A damaged file may have offsets outside its data, which Arrow checks only here.
    batch.validate(full=True)
    pieces, counts = batch.column("piece"), batch.column("count")
    if pieces.null_count or counts.null_count:
        raise arrow.ArrowInvalid("there is a piece or a count missing")
    counts = counts.cast(arrow.uint64())
    return pieces.cast(arrow.large_binary()), counts.to_numpy(zero_copy_only=False)
