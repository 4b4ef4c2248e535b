"""Reading files: decompression, lines, fields of JSON lines."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from bytemill._optional import import_optional
from bytemill._suggestions import alternatives
from bytemill.documents.recognition import HOW_TO_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from typing_extensions import Buffer

__all__ = ["decompressed", "json_texts", "line_blocks", "read_full", "skip"]

# Bytes of a compressed file that are read at a time: they may become some hundred times as many.
COMPRESSED_BYTES = 1 << 15

# Bytes that are decompressed at a time to reach an offset.
SKIPPED_BYTES = 1 << 20


# --- Bytes ---


@contextmanager
def decompressed(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Opens a reader of a file's contents, which decompresses them if the name says so.

    Raises:
        ValueError: The compressed data are damaged or truncated; the message names the file.
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
        damaged = (EOFError, import_optional("zstandard", ".zst files").ZstdError)
        stream = io.BufferedReader(ZstandardFile(file), 1 << 17)
    else:
        yield file
        return
    with stream:
        try:
            yield stream
        except damaged as error:
            raise ValueError(f"{name}: the compressed data are damaged or break off: {error}") from error


class ZstandardFile(io.RawIOBase):
    """The contents of a file that `zstd` wrote, frame after frame.

    zstandard's own reader silently accepts truncated input.
    """

    def __init__(self, file: IO[bytes]) -> None:
        """Takes the compressed file, which stays open."""
        self._decompressor = import_optional("zstandard", ".zst files").ZstdDecompressor()
        self._file = file
        self._chunks = self._decompressed()
        self._chunk = memoryview(b"")

    def _decompressed(self) -> Iterator[bytes]:
        frame = None
        while data := self._file.read(COMPRESSED_BYTES):
            while data:
                frame = frame or self._decompressor.decompressobj()
                yield frame.decompress(data)
                data = frame.unused_data
                if frame.eof:
                    frame = None
        if frame is not None:
            raise EOFError("the last frame is not whole")

    def readable(self) -> bool:
        """Returns true."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Reads as many bytes as are decompressed, at least one but at the end."""
        target = memoryview(buffer).cast("B")
        while not self._chunk:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._chunk = memoryview(chunk)
        size = min(len(target), len(self._chunk))
        target[:size] = self._chunk[:size]
        self._chunk = self._chunk[size:]
        return size


def read_full(file: IO[bytes], size: int) -> bytes:
    """Reads `size` bytes, fewer only at the end: a single `read` of an unbuffered file may return fewer."""
    data = file.read(size)
    if len(data) in (0, size):
        return data
    chunks = [data]
    left = size - len(data)
    while left > 0 and (data := file.read(left)):
        chunks.append(data)
        left -= len(data)
    return b"".join(chunks)


def skip(file: IO[bytes], size: int) -> None:
    """Reads past the first bytes of a file that was just opened."""
    if file.seekable():
        file.seek(size)
        return
    while size > 0 and (data := file.read(min(size, SKIPPED_BYTES))):
        size -= len(data)


def line_blocks(file: IO[bytes], size: int, most: int | None = None) -> Iterator[bytes]:
    """Reads whole lines, `size` bytes of them and the rest of the last line at a time.

    Args:
        file: The file, at the start of a line.
        size: The size of a block.
        most: Where to stop: so many bytes of whole lines; `None` for the end of the file.
    """
    while block := file.read(size if most is None else min(size, most)):
        if not block.endswith(b"\n"):
            block += file.readline()
        yield block
        if most is not None:
            most -= len(block)


# --- JSON lines ---


def json_texts(
    lines: Iterable[bytes], name: str, fields: Sequence[str], *, first_line: int = 1
) -> Iterator[str]:
    """Yields of each line the first of some fields that it has. Blank lines and `null` are no documents.

    This is the definition; `_core.json_fields` is the fast way to the same texts.

    Args:
        lines: Lines of JSON, an object each.
        name: The name of the file, for messages.
        fields: The names of the fields.
        first_line: The number of the first line, for messages.

    Raises:
        ValueError: A line is no such object, or the field holds something else; the message names file and
            line.
    """
    import json

    for number, line in enumerate(lines, start=first_line):
        if line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{name}, line {number}: expected a JSON object: {error}") from error
        field = next((each for each in fields if each in record), None) if isinstance(record, dict) else None
        if field is None:
            found = (
                f"the fields {', '.join(record)}; {HOW_TO_NAME}"
                if isinstance(record, dict)
                else type(record).__name__
            )
            raise ValueError(
                f"{name}, line {number}: expected an object with the field "
                f"{alternatives(map(repr, fields))}, got {found}"
            )
        text = record[field]
        if text is None:
            continue
        if not isinstance(text, str):
            raise ValueError(  # noqa: TRY004 - the file is wrong, not an argument
                f"{name}, line {number}: expected a string in {field!r}, got {type(text).__name__}"
            )
        yield text
