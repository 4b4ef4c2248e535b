"""Reading files: decompression and lines."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from bytemill._messages import import_optional

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

__all__ = ["decompressed", "line_blocks", "read_full", "skip"]

# Bytes of a compressed file that are read at a time: they may become some hundred times as many.
COMPRESSED_BYTES = 1 << 15

# Bytes that are decompressed at a time to reach an offset.
SKIPPED_BYTES = 1 << 20


# --- Bytes ---


@contextmanager
def decompressed(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Opens a reader of a file's contents, which decompresses them if the name says so.

    Raises:
        ValueError: The compressed data are damaged or truncated, other bytes follow them, or they need more
            memory than the format allows; the message names the file.
        MemoryError: There is not as much memory as they need.
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
            begun = suffix != ".zst" and stream.tell() > 0
            raise decompression_error(name, error, begun=begun) from error


def decompression_error(name: str, error: Exception, *, begun: bool) -> Exception:
    """Returns the error for a file that cannot be decompressed, where `begun` says whether some of it was."""
    reason = str(error)
    if "not enough memory" in reason:
        return MemoryError(f"{name}: there is not enough memory to decompress it: {reason}")
    if "too much memory" in reason:
        return ValueError(
            f"{name}: to decompress it takes a window of more than 2 GiB, the most there is: {reason}"
        )
    if begun and reason.startswith("Not a gzipped file"):
        return ValueError(
            f"{name}: other bytes follow the compressed data: `gzip -dc FILE` writes what is before them"
        )
    return ValueError(f"{name}: the compressed data are damaged or truncated: {reason}")


class ZstandardFile(io.RawIOBase):
    """The contents of a file that `zstd` wrote, frame after frame.

    zstandard's own reader silently accepts truncated input.
    """

    def __init__(self, file: IO[bytes]) -> None:
        """Takes the compressed file, which stays open."""
        zstandard = import_optional("zstandard", ".zst files")
        # By default windows of more than 128 MiB, as `zstd --long=28` makes them, are refused.
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=1 << zstandard.WINDOWLOG_MAX)
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
        most: The number of bytes of whole lines to read; `None` for all of the file.
    """
    while block := file.read(size if most is None else min(size, most)):
        if not block.endswith(b"\n"):
            block += file.readline()
        yield block
        if most is not None:
            most -= len(block)
