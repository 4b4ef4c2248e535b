"""Files of text: compressed ones, JSON lines, Parquet."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Buffer

__all__ = ["COMPRESSIONS", "decompressed", "imported", "json_texts", "parquet_batches", "parquet_texts"]

COMPRESSIONS = (".gz", ".zst")

# How much of a compressed file is read at a time: it may become some hundred times as much.
COMPRESSED_BYTES = 1 << 15

# The most rows of a Parquet file that are read at a time.
BATCH_ROWS = 1 << 16

# How Arrow calls what may hold text.
TEXT_TYPES = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")


@contextmanager
def decompressed(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Gives what to read an open file by, decompressed if its name says so.

    Raises:
        ValueError: The compressed data are damaged or break off; the message names the file.
        OSError: The file cannot be read.
        ImportError: `zstandard` is not installed.
    """
    suffix = name.lower()[-4:]
    damaged: tuple[type[Exception], ...]
    if suffix.endswith(".gz"):
        import gzip
        import zlib

        damaged = (EOFError, zlib.error, gzip.BadGzipFile)
        stream: IO[bytes] = io.BufferedReader(gzip.GzipFile(fileobj=file, mode="rb"))
    elif suffix == ".zst":
        damaged = (EOFError, imported("zstandard", ".zst files").ZstdError)
        stream = io.BufferedReader(ZstandardFile(file), 1 << 17)
    else:
        yield file
        return
    with stream:
        try:
            yield stream
        except damaged as error:
            message = f"{name}: the compressed data are damaged or break off: {error}"
            raise ValueError(message) from error


class ZstandardFile(io.RawIOBase):
    """A file that `zstd` wrote, frame after frame.

    The package's own reader takes a file that breaks off for a whole one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        """Takes the open file, which stays open."""
        self._frames = imported("zstandard", ".zst files").ZstdDecompressor()
        self._file = file
        self._blocks = self._decompressed()
        self._block = memoryview(b"")

    def _decompressed(self) -> Iterator[bytes]:
        frame = None
        while data := self._file.read(COMPRESSED_BYTES):
            while data:
                frame = frame or self._frames.decompressobj()
                yield frame.decompress(data)
                data = frame.unused_data
                if frame.eof:
                    frame = None
        if frame is not None:
            message = "the last frame is not whole"
            raise EOFError(message)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Reads as many bytes as there are at once."""
        target = memoryview(buffer).cast("B")
        while not self._block:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._block = memoryview(block)
        size = min(len(target), len(self._block))
        target[:size] = self._block[:size]
        self._block = self._block[size:]
        return size


def json_texts(lines: Iterable[bytes], name: str, field: str, *, first_line: int = 1) -> Iterator[str]:
    """Gives a field of each line; empty lines and `null` are no documents."""
    import json

    for number, line in enumerate(lines, start=first_line):
        if line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            message = f"{name}, line {number}: expected a JSON object: {error}"
            raise ValueError(message) from error
        if not isinstance(record, dict) or field not in record:
            found = f"the fields {', '.join(record)}" if isinstance(record, dict) else type(record).__name__
            message = f"{name}, line {number}: expected an object with the field {field!r}, got {found}"
            raise ValueError(message)
        text = record[field]
        if text is None:
            continue
        if not isinstance(text, str):
            message = f"{name}, line {number}: expected a string in {field!r}, got {type(text).__name__}"
            raise ValueError(message)  # noqa: TRY004 - it is the file that is wrong, not an argument
        yield text


def parquet_texts(file: IO[bytes], name: str, column: str) -> Iterator[str | bytes]:
    """Gives a column of strings or bytes; nulls are no documents."""
    for _, texts in parquet_batches(file, name, column, batch_bytes=1 << 20):
        yield from texts.drop_null().to_pylist()


def parquet_batches(
    file: IO[bytes], name: str, column: str, *, batch_bytes: int, first_row: int = 0
) -> Iterator[tuple[int, Any]]:
    """Reads a column of strings or bytes.

    Args:
        file: The file.
        name: What messages call it.
        column: The name of the column.
        batch_bytes: How large a batch shall be, about. Which rows are in one depends on the file and on this.
        first_row: The first row of a batch, to begin with that one.

    Yields:
        The row with which a batch begins, and the batch as an Arrow array, with nulls.

    Raises:
        ValueError: It is no Parquet file, or has no such column; the message names the file.
        OSError: The file cannot be read.
        ImportError: `pyarrow` is not installed.
    """
    parquet = imported("pyarrow.parquet", "Parquet files")
    arrow = imported("pyarrow", "Parquet files")
    try:
        table = parquet.ParquetFile(file)
    except arrow.ArrowInvalid as error:
        message = f"{name}: {error}"
        raise ValueError(message) from error
    with table:
        schema = table.schema_arrow
        if column not in schema.names:
            message = f"{name}: expected a column {column!r}, got {', '.join(schema.names)}"
            raise ValueError(message)
        kind = schema.field(column).type
        values = kind.value_type if arrow.types.is_dictionary(kind) else kind
        if not any(getattr(arrow.types, f"is_{name}", not_a_type)(values) for name in TEXT_TYPES):
            message = f"{name}: expected strings or bytes in the column {column!r}, got {kind}"
            raise ValueError(message)
        row = 0
        for group in range(table.num_row_groups):
            facts = table.metadata.row_group(group)
            if row + facts.num_rows <= first_row:
                row += facts.num_rows
                continue
            # Decompressed, as the file has it, for all columns.
            rows = facts.num_rows * batch_bytes // max(facts.total_byte_size, 1)
            for batch in table.iter_batches(
                batch_size=min(max(rows, 1), BATCH_ROWS), row_groups=[group], columns=[column]
            ):
                texts = batch.column(0)
                if row >= first_row:
                    yield row, texts.dictionary_decode() if texts.type != values else texts
                row += len(texts)


def not_a_type(_: object) -> bool:
    """Says no, for a kind of type that the version of Arrow does not know."""
    return False


def imported(module: str, what: str) -> Any:  # noqa: ANN401 - optional packages, not all with types
    """Imports an optional package; `ImportError` says what it is for."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        message = f"{what} need the package {package}: install it with `pip install {package}`"
        raise ImportError(message) from error
