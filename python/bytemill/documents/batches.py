"""Sources in batches: lists of documents, or parts of long ones, that fit into memory."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from bytemill.documents.blocks import FileReader, Position, SmallDocument
from bytemill.documents.sources import items_of, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bytemill.documents.blocks import InvalidUtf8
    from bytemill.documents.sources import Document, Field, Source

__all__ = ["Batch", "BatchReader", "is_in_memory"]

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
        *,
        field: Field,
        lines: bool,
        errors: InvalidUtf8,
        pattern: str | None,
        special_tokens: Iterable[str],
    ) -> None:
        """Creates a reader.

        Args:
            field: Same as in `FileReader`.
            lines: Same as in `FileReader`.
            errors: How to handle invalid UTF-8, also in documents as `bytes`.
            pattern: The pattern that will split the texts; `None` for none.
            special_tokens: Strings that will cut texts before that.
        """
        self._files = FileReader(
            field=field,
            lines=lines,
            invalid=errors,
            pattern=pattern,
            special_tokens=special_tokens,
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
