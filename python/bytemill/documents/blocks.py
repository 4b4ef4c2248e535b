"""Files in blocks: the bytes of documents, and the offsets at which each starts and ends.

The documents of a block depend only on the file and on its `Position`: reading from there gives the same
blocks as reading from the beginning. So interrupted work can resume at any block.

Lines are cut after line breaks. A file that is one document is cut only where the pieces of the parts are
those of the document, see `_backend.last_cut`.
"""

from __future__ import annotations

import io
import sys
from bisect import bisect_left
from itertools import accumulate, pairwise
from typing import IO, TYPE_CHECKING, NamedTuple, TypeAlias, TypeGuard

from bytemill._backend import (
    build_splitter,
    find_invalid_utf8,
    last_cut,
    line_breaks,
    line_offsets,
)
from bytemill._messages import import_optional
from bytemill.documents.json_lines import few_json_texts, json_texts, line_error
from bytemill.documents.parquet import column_batches, first_invalid
from bytemill.documents.readers import decompressed, line_blocks, read_full, skip
from bytemill.documents.sources import DEFAULT_FIELDS, check_start, items_of, kind_of, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer

    from bytemill.documents.sources import Reading, Stream

    Offsets: TypeAlias = list[int] | npt.NDArray[np.int64]
    from bytemill.documents.sources import Document, Source

__all__ = [
    "Batch",
    "BatchReader",
    "Block",
    "FileReader",
    "Position",
    "SmallDocument",
    "is_in_memory",
    "joined",
    "last_cut",
    "utf8",
]

# How far before its end a block of a long document may be cut.
CUT_WINDOW = 1 << 16

# Importing NumPy takes longer than going without it through a block of fewer bytes.
WORTH_NUMPY = 1 << 16

HINT = "convert the file, or replace such bytes with U+FFFD (--errors replace, errors='replace')"


class Position(NamedTuple):
    """Where a block starts.

    Attributes:
        item: Number of files and documents of the source before the one it is in.
        offset: Bytes of that file before it, decompressed; rows for Parquet.
        line: Line breaks before it, for messages.
        inside: Whether it continues a document.
    """

    item: int = 0
    offset: int = 0
    line: int = 0
    inside: bool = False

    def after(self, size: int, lines: int) -> Position:
        """Returns the position `size` bytes and `lines` lines later."""
        return self._replace(offset=self.offset + size, line=self.line + lines)


class Block(NamedTuple):
    """Some documents of a file, or a part of one.

    Attributes:
        name: The name of the file or document, for messages; of the first, if they are several.
        start: Where it starts. If that is inside a document, the only text continues it.
        data: The texts, one after the other; UTF-8, unless other bytes are kept.
        offsets: Where the texts start and end in the data, shape (texts + 1,).
        ends: Whether the last text is the end of a document.
        size: Bytes of the file that were read for it.
        items: Of documents that were joined, the `Position.item` of each.
    """

    name: str
    start: Position
    data: Buffer
    offsets: Offsets
    ends: bool
    size: int
    items: Sequence[int] = ()

    def texts(self) -> list[bytes]:
        """Returns each text."""
        offsets: list[int] = self.offsets if isinstance(self.offsets, list) else self.offsets.tolist()
        if isinstance(self.data, bytes):
            return [self.data[start:end] for start, end in pairwise(offsets)]
        data = memoryview(self.data)
        return [bytes(data[start:end]) for start, end in pairwise(offsets)]


class SmallDocument(NamedTuple):
    """A document that is smaller than a block; several may be joined to one.

    Attributes:
        name: The name of the file or document, for messages.
        start: Where it starts.
        text: The document; UTF-8, unless other bytes are kept.
        size: Bytes of the file that were read for it.
    """

    name: str
    start: Position
    text: bytes
    size: int


class FileReader:
    """Reads files in blocks."""

    def __init__(  # noqa: PLR0913 - all but the first have names
        self,
        reading: Reading,
        *,
        pattern: str | None,
        special_tokens: Iterable[str],
        whole: Iterable[str] = (),
        block_bytes: int,
        num_threads: int = 1,
    ) -> None:
        """Creates a reader.

        Args:
            reading: How files are read, and documents as `bytes`.
            pattern: The pattern that will split the texts; `None` for none.
            special_tokens: Strings that will cut texts before that, or must not occur.
            whole: Other strings that must not be cut.
            block_bytes: The size of a block, at least, except for the last one of a file.
            num_threads: The maximum number of threads.
        """
        self._has_field = reading.field is not None
        self._fields = reading.field or DEFAULT_FIELDS
        self._lines = reading.lines
        self._invalid = reading.errors
        self._special_tokens = [token.encode() for token in special_tokens]
        self._whole = [string.encode() for string in whole]
        self._splitter = None if pattern is None else build_splitter(pattern)
        self._block_bytes = block_bytes
        self._num_threads = num_threads

    def read(self, stream: Stream, start: Position) -> Iterator[Block | SmallDocument]:
        """Reads a file.

        Args:
            stream: The file.
            start: Where to start: the beginning of the file or of its range, or the start of a block.

        Raises:
            ValueError: Its contents do not match its name, are not UTF-8, or lack the field; the message
                names the file and, if there are lines, the line.
            OSError: It cannot be read.
            ImportError: Parquet needs `pyarrow`, and `.zst` needs `zstandard`, which is not installed.
        """
        before = stream.start
        for block in self._contents(stream, start):
            # For compressed files too, this is a size in bytes of the file.
            now = stream.file.tell() if stream.file.seekable() else before + block.size
            yield block._replace(size=now - before)
            before = now

    def checked(self, data: bytes, end: int, name: str, start: Position) -> bytes:
        """Returns the data if all before `end` is UTF-8 or may stay; else its repaired beginning up to `end`.

        Raises:
            ValueError: There are other bytes before `end`, and these are an error.
        """
        if self._invalid == "keep":
            return data
        invalid = find_invalid_utf8(data)
        if invalid is None or invalid >= end:
            return data
        if self._invalid == "replace":
            return replaced(data[:end])
        line = start.line + line_breaks(memoryview(data)[:invalid]) + 1
        raise ValueError(f"{name}, line {line}: expected UTF-8, got the byte {data[invalid]:#04x}; {HINT}")

    def _contents(self, stream: Stream, start: Position) -> Iterator[Block | SmallDocument]:
        kind = kind_of(stream.name, has_field=self._has_field)
        if kind == "parquet":
            yield from self._parquet(stream, start)
            return
        with decompressed(stream.file, stream.name) as file:
            if start.offset:
                skip(file, start.offset)
            most = None if stream.end is None else stream.end - start.offset
            if kind == "json lines":
                yield from self._json(line_blocks(file, self._block_bytes, most), stream.named, start)
            elif self._lines:
                yield from self._text_lines(line_blocks(file, self._block_bytes, most), stream.named, start)
            else:
                yield from self._document(file, stream.name, start)

    # --- Lines ---

    def _json(self, blocks: Iterable[bytes], name: str, start: Position) -> Iterator[Block]:
        for block in blocks:
            if not start.offset:
                check_start(block, name, has_field=self._has_field)
            yield Block(name, start, *self._strings(block, name, start), ends=True, size=len(block))
            start = start.after(len(block), line_breaks(block))

    def _strings(self, block: bytes, name: str, start: Position) -> tuple[bytes, Offsets]:
        """Returns the strings of a block of JSON lines, and where they start and end."""
        few = None if self._uses_numpy(block) else few_json_texts(block, self._fields)
        if few is not None:
            return joined([utf8(text) for text in few])
        try:
            return json_texts(block, self._fields, self._num_threads)
        except ValueError as error:
            checked = self.checked(block, len(block), name, start)
            if checked is not block:
                return self._strings(checked, name, start)
            raise line_error(error, block, name, start.line, self._fields) from None

    def _text_lines(self, blocks: Iterable[bytes], name: str, start: Position) -> Iterator[Block]:
        for block in blocks:
            if not start.offset:
                check_start(block, name, is_text=True)
            data = self.checked(block, len(block), name, start)
            offsets = line_offsets(data) if self._uses_numpy(data) else joined(list(io.BytesIO(data)))[1]
            yield Block(name, start, data, offsets, ends=True, size=len(block))
            start = start.after(len(block), len(offsets) - 1)

    def _uses_numpy(self, block: bytes) -> bool:
        """Returns whether the core, whose offsets are NumPy's arrays, takes less time for a block."""
        return self._invalid == "replace" or len(block) >= WORTH_NUMPY or "numpy" in sys.modules

    # --- A single document ---

    def _document(self, file: IO[bytes], name: str, start: Position) -> Iterator[Block | SmallDocument]:
        for block, cut in self._cut_blocks(file):
            if not start.offset:
                check_start(block, name, is_text=True)
            data = self.checked(block, cut, name, start)
            is_last = cut == len(block)
            if is_last and not start.offset:
                # An empty file is no document.
                if block:
                    yield SmallDocument(name, start, data, len(block))
                return
            # What replaces invalid bytes has another length.
            end = cut if data is block else len(data)
            yield Block(name, start, data, [0, end], ends=is_last, size=cut)
            # Lines are for the messages of `checked`.
            lines = 0 if self._invalid == "keep" else line_breaks(memoryview(block)[:cut])
            start = start.after(cut, lines)._replace(inside=True)

    def _cut_blocks(self, file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
        """Reads blocks, each with the offset of its cut, where the next one starts. The last is whole."""
        # The end of what was searched, as far as a cut near the start of the next block depends on it.
        margin = 2 * max(map(len, self._special_tokens + self._whole), default=0) + 4
        size = self._block_bytes
        rest = b""
        while True:
            # Full blocks, also where the rest is longer than one.
            wanted = size - len(rest) % size
            data = read_full(file, wanted)
            read = [rest + data]
            searched = read[0]
            cut = None
            while len(data) == wanted:
                cut = last_cut(searched, self._special_tokens, self._whole, self._splitter, CUT_WINDOW)
                if cut is not None:
                    break
                wanted = size
                data = read_full(file, wanted)
                read.append(data)
                searched = searched[-margin:] + data
            block = read[0] if len(read) == 1 else b"".join(read)
            if cut is None:
                yield block, len(block)
                return
            cut += len(block) - len(searched)
            yield block, cut
            rest = block[cut:]

    # --- Parquet ---

    def _parquet(self, stream: Stream, start: Position) -> Iterator[Block]:
        np = import_optional("numpy", "Parquet files")
        batches = column_batches(
            stream.file,
            stream.name,
            self._fields,
            batch_bytes=self._block_bytes,
            first_row=start.offset,
            end_row=stream.end,
        )
        for row, batch in batches:
            texts = batch.drop_null()
            if not texts:
                continue
            _, bounds, data = texts.buffers()
            offsets = np.frombuffer(bounds, np.int64)[texts.offset : texts.offset + len(texts) + 1]
            # There is no buffer if all texts are empty.
            data = data or b""
            wrong = None if self._invalid == "keep" else first_invalid(data, offsets)
            if wrong is not None:
                if self._invalid == "strict":
                    first = np.flatnonzero(batch.is_valid())[wrong]
                    text = texts[wrong].as_py()
                    raise ValueError(
                        f"{stream.name}, row {row + first}: expected UTF-8, got the byte "
                        f"{text[find_invalid_utf8(text)]:#04x}; {HINT}"
                    )
                data, offsets = joined([replaced(text) for text in texts.to_pylist()])
            yield Block(stream.name, start._replace(offset=row), data, offsets, ends=True, size=batch.nbytes)


def joined(texts: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """Returns texts joined, and where they start and end."""
    return b"".join(texts), [0, *accumulate(map(len, texts))]


def utf8(text: str) -> bytes:
    """Encodes a text; pairs of surrogates become their character, lone ones U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        from bytemill.splitting import repair_surrogates

        return repair_surrogates(text).encode()


def replaced(data: bytes) -> bytes:
    """Returns data with U+FFFD in place of what is not UTF-8."""
    return data.decode(errors="replace").encode()


# Sources in batches: lists of documents, or parts of long ones, that fit into memory.

# A batch is full with so many bytes or documents. Files are read in blocks of which several fill a batch, so
# that its texts can be shared among threads.
BATCH_BYTES = 1 << 22
BATCH_DOCUMENTS = 1 << 16
BLOCK_BYTES = 1 << 20
# The same for documents that are in memory anyway.
IN_MEMORY_BYTES = 1 << 26
IN_MEMORY_DOCUMENTS = 1 << 20


class Batch(NamedTuple):
    """Some documents, or parts of one.

    Attributes:
        texts: What to split into pieces, each on its own.
        ends: For each text, whether a document ends with it.
        size: The sum of their lengths: bytes, or characters for `str`.
        read: Bytes of files that were read for it.
    """

    texts: list[Document]
    ends: list[bool]
    size: int
    read: int

    @property
    def documents(self) -> int:
        """Number of documents that end in the batch."""
        return sum(self.ends)


class BatchReader:
    """Reads sources in batches."""

    def __init__(
        self,
        reading: Reading,
        *,
        pattern: str | None,
        special_tokens: Iterable[str],
        whole: Iterable[str] = (),
    ) -> None:
        """Creates a reader.

        Args:
            reading: Same as in `FileReader`.
            pattern: The pattern that will split the texts; `None` for none.
            special_tokens: Strings that will cut texts before that.
            whole: Other strings that must not be cut.
        """
        self._files = FileReader(
            reading,
            pattern=pattern,
            special_tokens=special_tokens,
            whole=whole,
            block_bytes=BLOCK_BYTES,
        )

    def read(self, source: Source) -> Iterator[Batch]:
        """Reads a source.

        Args:
            source: A path; or an iterable whose items are documents or, if they are `os.PathLike`,
                `Stream` or `FileRange`, files.

        Yields:
            Batches of at most 4 MiB and 65,536 texts, except for the last text of each; 64 MiB and 1,048,576
            texts of lists and tuples, whose texts are in memory anyway. A text is larger only if a document
            is and cannot be cut.

        Raises:
            TypeError: The source or an item is none of these.
            ValueError: The source is a list of strings that all name files; or the contents of a file do not
                match its name, are not UTF-8, lack the field, or changed while they were read.
            OSError: A file cannot be read.
            ImportError: Parquet needs `pyarrow`, and `.zst` needs `zstandard`, which is not installed.
        """
        items = items_of(source)
        if is_in_memory(source):
            first = 0
            for batch in slices(source):
                yield batch._replace(texts=self._checked(batch.texts, first))
                first += len(batch.texts)
            return
        texts: list[Document] = []
        ends: list[bool] = []
        size = read = 0
        for text, is_end, its_read in self._texts(items):
            texts.append(text)
            ends.append(is_end)
            size += len(text)
            read += its_read
            if size >= BATCH_BYTES or len(texts) >= BATCH_DOCUMENTS:
                yield Batch(texts, ends, size, read)
                texts, ends, size, read = [], [], 0, 0
        if texts:
            yield Batch(texts, ends, size, read)

    def _texts(self, items: Iterable[object]) -> Iterator[tuple[Document, bool, int]]:
        """Yields texts, whether a document ends there, and bytes of files that were read for each."""
        for number, item in enumerate(items):
            if isinstance(item, (str, bytes)):
                yield self._checked([item], number)[0], True, 0
                continue
            with opened(item) as stream:
                for block in self._files.read(stream, Position(offset=stream.start)):
                    if isinstance(block, SmallDocument):
                        yield block.text, True, block.size
                        continue
                    texts = block.texts()
                    for text in texts[:-1]:
                        yield text, True, 0
                    for text in texts[-1:]:
                        yield text, block.ends, block.size

    def _checked(self, texts: list[Document], first: int) -> list[Document]:
        """Returns documents whose bytes are UTF-8 or may stay; `first` is the number of the first one.

        Raises:
            ValueError: One is not UTF-8, and that is an error.
        """
        if not any(issubclass(kind, bytes) for kind in set(map(type, texts))):
            return texts
        return [
            self._files.checked(text, len(text), f"document {number}", Position())
            if isinstance(text, bytes)
            else text
            for number, text in enumerate(texts, start=first)
        ]


def is_in_memory(source: object) -> TypeGuard[Sequence[Document]]:
    """Returns whether a source is a sequence of documents, without any file."""
    return isinstance(source, (list, tuple)) and all(
        issubclass(kind, (str, bytes)) for kind in set(map(type, source))
    )


def slices(documents: Sequence[Document]) -> Iterator[Batch]:
    """Yields documents that are in memory, in batches of `IN_MEMORY_BYTES` and `IN_MEMORY_DOCUMENTS`.

    There is no Python loop over the documents, because threads wait for the first batch: it took a hundredth
    of the time of counting them.
    """
    for first in range(0, len(documents), IN_MEMORY_DOCUMENTS):
        texts = list(documents[first : first + IN_MEMORY_DOCUMENTS])
        sizes = list(accumulate(map(len, texts)))
        start = before = 0
        while start < len(texts):
            end = min(bisect_left(sizes, before + IN_MEMORY_BYTES, start) + 1, len(texts))
            size = sizes[end - 1] - before
            yield Batch(texts[start:end], [True] * (end - start), size, 0)
            start, before = end, before + size
