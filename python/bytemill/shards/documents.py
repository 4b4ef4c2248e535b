"""Documents in blocks of some megabytes: UTF-8, one after the other, without a Python object for each.

A block knows its `Place`, and which documents it holds depends on nothing but that: reading that starts there
gives the same blocks as reading that came there. So ids can be made again from any place.

Lines are cut after line breaks. A file that is one document is cut where no piece changes, see
`bytemill.sources.last_cut`. Documents that are smaller than a block are gathered.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from bytemill._core import find_invalid_utf8, json_fields, line_breaks, line_offsets
from bytemill.files import decompressed, imported, json_texts, parquet_batches
from bytemill.patterns import PATTERNS
from bytemill.sources import Stream, items_of, kind_of, last_cut, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt
    from typing_extensions import Buffer


__all__ = ["Block", "Blocks", "Errors", "Place", "SourceFile"]

# What a block has at least, but for the last one of a file. English JSON lines on two threads: 4 MiB are 12 %
# slower, for threads wait for each other at the end of each block; 16 MiB 15 %, for they leave the caches.
BLOCK_BYTES = 1 << 23

# One thread parses JSON for so many that encode, which takes about nine times as long. To parse on both of
# two threads took them from the encoding of the block before: 0.67 instead of 0.91 of its speed.
ENCODING_THREADS = 4

# Bytes that are read at a time to come to a place in a file that is compressed.
SKIPPED_BYTES = 1 << 20

Errors: TypeAlias = Literal["strict", "replace"]


class Place(NamedTuple):
    """Where a block begins.

    Attributes:
        item: How many files and documents of the source come before the one it is in.
        position: How many bytes of that file come before, decompressed; how many rows of Parquet.
        line: How many lines come before, for messages.
        inside: Whether a document is continued there.
    """

    item: int = 0
    position: int = 0
    line: int = 0
    inside: bool = False


class Block(NamedTuple):
    """Some documents, or a part of one.

    Attributes:
        name: What messages call the file, or the document, that it is of or begins with.
        place: Where it begins. If that is inside a document, the only text is the rest of it, or more of it.
        data: The texts, one after the other, in UTF-8.
        offsets: Where they start and end in the data, shape (texts + 1,), dtype int64.
        ends: Whether the last text is the end of a document.
        size: How many bytes of the file were read for it.
    """

    name: str
    place: Place
    data: Buffer
    offsets: npt.NDArray[np.int64]
    ends: bool
    size: int


class Small(NamedTuple):
    """A whole document that is smaller than a block."""

    name: str
    place: Place
    text: bytes
    size: int


class SourceFile(NamedTuple):
    """A file that was read, as it was then.

    Attributes:
        item: How many files and documents of the source come before it.
        path: Its path, as it was given.
        size: Its size in bytes.
        mtime_ns: When it was last modified, in nanoseconds since 1970.
    """

    item: int
    path: str
    size: int
    mtime_ns: int


class Blocks:
    """Reads sources in blocks.

    Attributes:
        files: The files of the sources that reading has come to, so far.
    """

    def __init__(  # noqa: PLR0913 - all have names
        self,
        *,
        field: str,
        lines: bool,
        errors: Errors,
        pattern: str,
        special_tokens: Iterable[str],
        num_threads: int,
    ) -> None:
        """Takes how to read.

        Args:
            field: The field of JSON lines, or column of Parquet, that holds the text.
            lines: Whether each line of a text is a document, its line break included.
            errors: Whether bytes that are not UTF-8 are an error ("strict") or become U+FFFD ("replace").
            pattern: The pattern that will split the texts.
            special_tokens: What will cut texts before that, or must not occur.
            num_threads: How many threads encode meanwhile; a part of these parse JSON.
        """
        self.files: list[SourceFile] = []
        self._expected: Sequence[SourceFile] = ()
        self._field = field
        self._lines = lines
        self._errors = errors
        self._special_tokens = [token.encode() for token in special_tokens]
        self._cuts_after_letters = pattern in PATTERNS.values()
        self._parsing_threads = max(1, num_threads // ENCODING_THREADS)

    def of(self, source: object, start: Place) -> Iterator[Block]:
        """Reads a source from a place on.

        Args:
            source: As in `write_shards`.
            start: Where to start: `Place()`, or the place of a block.

        Raises:
            TypeError, ValueError, OSError, ImportError: As `write_shards`.
        """
        small: list[Small] = []
        size = 0
        for unit in self._units(source, start):
            if isinstance(unit, Small):
                small.append(unit)
                size += len(unit.text)
            if small and (isinstance(unit, Block) or size >= BLOCK_BYTES):
                yield gathered(small)
                small, size = [], 0
            if isinstance(unit, Block):
                yield unit
        if small:
            yield gathered(small)

    def _units(self, source: object, start: Place) -> Iterator[Block | Small]:
        """Gives blocks, and documents smaller than a block."""
        for number, item in self._visited(source):
            if number < start.item:
                continue
            place = start if number == start.item else Place(number)
            if isinstance(item, (str, bytes)):
                name = f"document {number}"
                text = utf8(item) if isinstance(item, str) else self._checked(item, len(item), name, place)
                yield Small(name, place, text, len(text))
            elif isinstance(item, Stream):
                yield from self._read(item, place)
            elif isinstance(item, os.PathLike):
                with opened(item) as stream:
                    yield from self._read(stream, place)
            else:
                message = f"expected documents as str or bytes, or paths, got {type(item).__name__}"
                raise TypeError(message)

    def _visited(self, source: object) -> Iterator[tuple[int, object]]:
        """Gives the items of a source with their numbers, and notes files."""
        for number, item in enumerate(items_of(source)):
            if isinstance(item, os.PathLike):
                facts = Path(item).stat()
                file = SourceFile(number, os.fspath(item), facts.st_size, facts.st_mtime_ns)
                if len(self.files) < len(self._expected) and file != self._expected[len(self.files)]:
                    message = (
                        f"{file.path}: the source has changed since shards were written from it: expected "
                        f"{self._expected[len(self.files)]}, got {file}; write to another folder"
                    )
                    raise ValueError(message)
                self.files.append(file)
            yield number, item

    def expect(self, files: Sequence[SourceFile]) -> None:
        """Takes what the first files of the source have been, and must be: `ValueError` if they are not."""
        self._expected = files

    def expect_no_more(self, source: object) -> None:
        """Goes through a source that has been read to the end: its files must be those expected."""
        for _ in self._visited(source):
            pass
        if len(self.files) != len(self._expected):
            message = (
                f"all is written, from {len(self._expected)} files, but the source has {len(self.files)}: "
                "write to another folder"
            )
            raise ValueError(message)

    def _read(self, stream: Stream, place: Place) -> Iterator[Block | Small]:
        before = 0
        for unit in self._of_stream(stream, place):
            # Of compressed files, too, it is the bytes of the file that tell how far it is.
            now = stream.file.tell() if stream.file.seekable() else before + unit.size
            yield unit._replace(size=now - before)
            before = now

    def _of_stream(self, stream: Stream, place: Place) -> Iterator[Block | Small]:
        kind = kind_of(stream.name)
        if kind == "parquet":
            yield from self._parquet(stream, place)
            return
        with decompressed(stream.file, stream.name) as file:
            if place.position and file.seekable():
                file.seek(place.position)
            elif place.position:
                skip(file, place.position)
            if kind == "json lines":
                yield from self._json(file, stream.name, place)
            elif self._lines:
                yield from self._text_lines(file, stream.name, place)
            else:
                yield from self._parts(file, stream.name, place)

    def _json(self, file: IO[bytes], name: str, place: Place) -> Iterator[Block]:
        for block in line_blocks(file):
            yield Block(name, place, *self._fields(block, name, place), ends=True, size=len(block))
            place = after(place, len(block), line_breaks(block))

    def _fields(self, block: bytes, name: str, place: Place) -> tuple[bytes, npt.NDArray[np.int64]]:
        """Gives the strings of a block of JSON lines, and where they start and end."""
        try:
            return json_fields(block, self._field, self._parsing_threads)
        except ValueError:
            if self._errors == "replace" and find_invalid_utf8(block) is not None:
                return self._fields(replaced(block), name, place)
        # The definition tells what is wrong, unless it can read the lines: it knows `NaN`.
        texts = json_texts(io.BytesIO(block), name, self._field, first_line=place.line + 1)
        return joined([utf8(text) for text in texts])

    def _text_lines(self, file: IO[bytes], name: str, place: Place) -> Iterator[Block]:
        for block in line_blocks(file):
            data = self._checked(block, len(block), name, place)
            offsets = line_offsets(data)
            yield Block(name, place, data, offsets, ends=True, size=len(block))
            place = after(place, len(block), len(offsets) - 1)

    def _parts(self, file: IO[bytes], name: str, place: Place) -> Iterator[Block | Small]:
        """Reads one document."""
        for block, cut in self._cut_blocks(file):
            data = self._checked(block, cut, name, place)
            end = cut if data is block else len(data)
            is_last = cut == len(block)
            if is_last and not place.position:
                # An empty file is no document.
                if block:
                    yield Small(name, place, data, len(block))
                return
            yield Block(name, place, data, np.array([0, end], np.int64), ends=is_last, size=cut)
            place = after(place, cut, line_breaks(memoryview(block)[:cut]))._replace(inside=True)

    def _cut_blocks(self, file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
        """Reads one document in blocks, each with the place where it is cut; the last one is not."""
        # What lies across a cut near the beginning of a block.
        margin = 2 * max(map(len, self._special_tokens), default=0) + 4
        rest = b""
        while True:
            wanted = BLOCK_BYTES - len(rest)
            block = file.read(wanted)
            pending = [rest + block]
            seen = pending[0]
            cut = None
            while len(block) == wanted:
                cut = last_cut(seen, self._special_tokens, after_letters=self._cuts_after_letters)
                if cut is not None:
                    break
                wanted = BLOCK_BYTES
                block = file.read(wanted)
                pending.append(block)
                seen = seen[-margin:] + block
            whole = pending[0] if len(pending) == 1 else b"".join(pending)
            if cut is None:
                yield whole, len(whole)
                return
            cut += len(whole) - len(seen)
            yield whole, cut
            rest = whole[cut:]

    def _parquet(self, stream: Stream, place: Place) -> Iterator[Block]:
        arrow = imported("pyarrow", "Parquet files")
        batches = parquet_batches(
            stream.file, stream.name, self._field, batch_bytes=BLOCK_BYTES, first_row=place.position
        )
        for row, batch in batches:
            texts = batch.drop_null()
            if not texts:
                continue
            try:
                # It checks that bytes are UTF-8.
                texts = texts.cast(arrow.large_string())
            except arrow.ArrowInvalid as error:
                if self._errors == "strict":
                    last = row + len(batch) - 1
                    message = f"{stream.name}, rows {row} to {last}: expected UTF-8: {error}"
                    raise ValueError(message) from error
                texts = arrow.array(
                    [replaced(text).decode() for text in texts.to_pylist()], arrow.large_string()
                )
            _, offsets, data = texts.buffers()
            offsets = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
            yield Block(
                stream.name, place._replace(position=row), data or b"", offsets, ends=True, size=batch.nbytes
            )

    def _checked(self, data: bytes, end: int, name: str, place: Place) -> bytes:
        """Gives the data if all before `end` is UTF-8; else what that becomes, without what follows."""
        invalid = find_invalid_utf8(data)
        if invalid is None or invalid >= end:
            return data
        if self._errors == "replace":
            return replaced(data[:end])
        line = place.line + line_breaks(memoryview(data)[:invalid]) + 1
        message = (
            f"{name}, line {line}: expected UTF-8, got the byte {data[invalid]:#04x}; convert the file, or "
            "have such bytes replaced by U+FFFD (--errors replace, errors='replace')"
        )
        raise ValueError(message)


def line_blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Reads whole lines."""
    while block := file.read(BLOCK_BYTES):
        yield block if block.endswith(b"\n") else block + file.readline()


def skip(file: IO[bytes], size: int) -> None:
    """Reads past the first bytes of a file that cannot be told where to go."""
    while size > 0 and (block := file.read(min(size, SKIPPED_BYTES))):
        size -= len(block)


def after(place: Place, size: int, lines: int) -> Place:
    """Gives the place after so much of a file."""
    return place._replace(position=place.position + size, line=place.line + lines)


def gathered(small: list[Small]) -> Block:
    """Makes a block of small documents."""
    data, offsets = joined([each.text for each in small])
    size = sum(each.size for each in small)
    return Block(small[0].name, small[0].place, data, offsets, ends=True, size=size)


def joined(texts: Sequence[bytes]) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Puts texts one after the other, and tells where they start and end."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return b"".join(texts), offsets


def utf8(text: str) -> bytes:
    """Encodes a text, surrogates repaired."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        from bytemill.splitting import repair_surrogates

        return repair_surrogates(text).encode()


def replaced(data: bytes | str) -> bytes:
    """Gives data with U+FFFD for what is not UTF-8."""
    return data.encode() if isinstance(data, str) else data.decode(errors="replace").encode()
