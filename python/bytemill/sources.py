"""Where documents come from: anything iterable, and files, read in batches that fit into memory.

A file's name says what it is: JSON lines (`.jsonl`, `.ndjson`), Parquet (`.parquet`) or else text, and with
`.gz` or `.zst` after that, compressed. A text file is one document, unless its lines are to be. A `Stream` is
a file that is open already.

One document may be larger than memory. It is then handed out in parts, cut only where the pieces of the parts
are the pieces of the whole, see `last_cut`.
"""

from __future__ import annotations

import errno
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeGuard

from bytemill.files import COMPRESSIONS, decompressed, json_texts, parquet_texts
from bytemill.patterns import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Batch", "Batches", "Document", "Source", "Stream", "items_of", "kind_of", "last_cut", "opened"]


class Stream(NamedTuple):
    """An open file; it is not closed.

    Attributes:
        file: What to read from.
        name: The name that says what it is, also in messages.
    """

    file: IO[bytes]
    name: str


Document: TypeAlias = str | bytes
Source: TypeAlias = str | os.PathLike[str] | Iterable[Document | os.PathLike[str] | Stream]

# A batch is full with so many bytes or documents. Text files are read in blocks of which several fill one, so
# that threads can share them, and seldom wait for each other.
BATCH_BYTES = 1 << 22
BATCH_DOCUMENTS = 1 << 16
# The same for texts that are in memory anyway.
THERE_BYTES = 1 << 26
THERE_DOCUMENTS = 1 << 20
BLOCK_BYTES = 1 << 20

# How far before the end of a block it may be cut.
CUT_WINDOW = 1 << 16

# What may follow a letter and is no letter, mark or apostrophe in any version of Unicode.
AFTER_LETTER = frozenset([*map(chr, range(128)), *"　、。，．！？：；「」『』（）"]) - frozenset(  # noqa: RUF001 - of CJK text
    "'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})


class Batch(NamedTuple):
    """Some documents, or parts of one.

    Attributes:
        texts: What to split into pieces, each on its own.
        ends: For each of them, whether a document ends with it.
        size: How large they are: bytes of UTF-8, or characters of a `str`.
    """

    texts: list[Document]
    ends: list[bool]
    size: int

    @property
    def documents(self) -> int:
        """How many documents end here."""
        return sum(self.ends)


class Batches:
    """The documents of a source in batches.

    Attributes:
        field: The field of JSON lines, or column of Parquet, that holds the text.
        lines: Whether each line of a text file is a document, its line break included.
        pattern: The pattern that will split the texts, or `None` for none.
        special_tokens: What cuts texts before that.
    """

    def __init__(
        self, *, field: str, lines: bool, pattern: str | None, special_tokens: Iterable[str]
    ) -> None:
        """Takes the attributes."""
        self.field = field
        self.lines = lines
        self.pattern = pattern
        self.special_tokens = [token.encode() for token in special_tokens]
        # The published spellings are of the native families, for which `last_cut` is right.
        self._cuts_after_letters = pattern in PATTERNS.values()

    def of(self, source: Source) -> Iterator[Batch]:
        """Reads a source.

        Args:
            source: A path; or an iterable whose items are documents or, if they are `os.PathLike` or
                `Stream`, files.

        Yields:
            Batches of at most 4 MiB and 65,536 texts, but for the last text of each; of lists and tuples,
            whose texts are in memory anyway, 64 MiB and 1,048,576. A single text is larger only if a
            document is, and cannot be cut.

        Raises:
            TypeError: The source or an item is none of these.
            ValueError: A list of strings that all name files: `Path` objects tell them from documents. Or
                a file is not what its name says, or has no such field; the message names file and place. Or
                it has changed while it was read.
            OSError: A file cannot be read.
            ImportError: Parquet needs `pyarrow`, and `.zst` needs `zstandard`, which is not installed.
        """
        items = items_of(source)
        if self.are_there(source):
            yield from slices(source)
            return
        texts: list[Document] = []
        ends: list[bool] = []
        size = 0
        for text, is_end in self._texts(items):
            texts.append(text)
            ends.append(is_end)
            size += len(text)
            if size >= BATCH_BYTES or len(texts) >= BATCH_DOCUMENTS:
                yield Batch(texts, ends, size)
                texts, ends, size = [], [], 0
        if texts:
            yield Batch(texts, ends, size)

    @staticmethod
    def are_there(source: object) -> TypeGuard[Sequence[Document]]:
        """Tells whether a source is documents that are all in memory."""
        return isinstance(source, (list, tuple)) and all(
            issubclass(kind, (str, bytes)) for kind in set(map(type, source))
        )

    def _texts(self, items: Iterable[object]) -> Iterator[tuple[Document, bool]]:
        """Gives documents whole or in parts, and with each whether a document ends there."""
        for item in items:
            if isinstance(item, (str, bytes)):
                yield item, True
            elif isinstance(item, Stream):
                yield from self._read(item)
            elif isinstance(item, os.PathLike):
                with opened(item) as stream:
                    yield from self._read(stream)
            else:
                message = f"expected documents as str or bytes, or paths, got {type(item).__name__}"
                raise TypeError(message)

    def _read(self, stream: Stream) -> Iterator[tuple[Document, bool]]:
        name = stream.name
        kind = kind_of(name)
        if kind == "parquet":
            yield from ((text, True) for text in parquet_texts(stream.file, name, self.field))
            return
        with decompressed(stream.file, name) as file:
            if kind == "json lines":
                yield from ((text, True) for text in json_texts(file, name, self.field))
            elif self.lines:
                yield from ((line, True) for line in file)
            else:
                yield from self._parts(file)

    def _parts(self, file: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
        """Reads one document in parts of about a block."""
        pending: list[bytes] = []
        # The end of what is pending, as much of it as a cut near the beginning of the next block may need.
        margin = 2 * max(map(len, self.special_tokens), default=0) + 4
        tail = b""
        while block := file.read(BLOCK_BYTES):
            seen = tail + block
            cut = last_cut(seen, self.special_tokens, after_letters=self._cuts_after_letters)
            pending.append(block)
            if cut is not None:
                whole = b"".join(pending)
                cut += len(whole) - len(seen)
                yield whole[:cut], False
                pending = [whole[cut:]]
                seen = pending[0]
            tail = seen[-margin:]
        rest = b"".join(pending)
        if rest:
            yield rest, True


def slices(documents: Sequence[Document]) -> Iterator[Batch]:
    """Gives documents that are in memory, in batches of `THERE_BYTES` and `THERE_DOCUMENTS`.

    Threads wait for the first, so no loop in Python goes over the documents: that took a hundredth of the
    time of counting them.
    """
    for first in range(0, len(documents), THERE_DOCUMENTS):
        texts = list(documents[first : first + THERE_DOCUMENTS])
        sizes = list(accumulate(map(len, texts)))
        start = before = 0
        while start < len(texts):
            end = min(bisect_left(sizes, before + THERE_BYTES, start) + 1, len(texts))
            size = sizes[end - 1] - before
            yield Batch(texts[start:end], [True] * (end - start), size)
            start, before = end, before + size


@contextmanager
def opened(path: os.PathLike[str]) -> Iterator[Stream]:
    """Opens a file that will be read to its end.

    Raises:
        ValueError: It is another one than at the beginning, by its size or the time of its last change.
        OSError: It cannot be opened.
    """
    with Path(path).open("rb") as file:
        before = os.fstat(file.fileno())
        yield Stream(file, os.fspath(path))
        after = os.fstat(file.fileno())
    if S_ISREG(before.st_mode) and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        message = (
            f"{os.fspath(path)}: the file has changed while it was read, from {before.st_size} bytes to "
            f"{after.st_size}: give a copy that nobody writes to"
        )
        raise ValueError(message)


def kind_of(name: str) -> Literal["text", "json lines", "parquet"]:
    """Tells what the name of a file says it is.

    Raises:
        ValueError: It says that a Parquet file is compressed as a whole.
    """
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else None
    last = suffixes[-1] if suffixes else ""
    if last == ".parquet" and compression is not None:
        message = f"{name}: Parquet files are compressed inside, not as a whole: unpack it first"
        raise ValueError(message)
    return "parquet" if last == ".parquet" else "json lines" if last in LINE_SUFFIXES else "text"


def last_cut(block: bytes, special_tokens: Sequence[bytes], *, after_letters: bool) -> int | None:
    """Finds a place where a text can be cut so that the pieces of its parts are the pieces of the whole.

    Such are the beginnings of special tokens, whatever the pattern; and for the patterns of `PATTERNS` the
    places after a letter and before what is no letter, mark or apostrophe, as `src/split/cuts.rs` proves.
    Both only where no special token lies across.

    Args:
        block: A part of the text, which goes on after it.
        special_tokens: The special tokens, as UTF-8.
        after_letters: Whether the pattern is one of those.

    Returns:
        The last such place that is found within 64 KiB of the end and is not the beginning, or `None`.

    Complexity:
        O(1) usually; at most linear in 64 KiB, times the number of special tokens.
    """
    longest = max(map(len, special_tokens), default=0)
    # What lies across other places may not be whole in this block.
    first, end = max(longest, 1), len(block) - longest
    window = max(end - CUT_WINDOW, 0)

    def is_free(place: int) -> bool:
        return place >= first and not any(
            block.find(token, max(place - len(token) + 1, 0), place + len(token) - 1) >= 0
            for token in special_tokens
        )

    beginnings = (block.rfind(token, window, end) for token in special_tokens)
    best = max(filter(is_free, beginnings), default=None)
    if after_letters:
        for place in letter_ends(block, window, end):
            if best is not None and place <= best:
                break
            if is_free(place):
                return place
    return best


def letter_ends(block: bytes, start: int, end: int) -> Iterator[int]:
    """Gives the places after a letter and before a character of `AFTER_LETTER`, the last one first."""
    # Whatever is cut off at the start, or is not UTF-8, is no letter and keeps its length.
    text = block[start:end].decode("utf-8", errors="surrogateescape")
    place = end
    following = ""
    for character in reversed(text):
        if following in AFTER_LETTER and character.isalpha():
            yield place
        place -= len(character.encode("utf-8", errors="surrogateescape"))
        following = character


def items_of(source: object) -> Iterable[object]:
    """Gives the documents and files of a source; errors as `Batches.of`."""
    if isinstance(source, str) and not is_file(source):
        message = "no such file; a text is given as [text]"
        raise FileNotFoundError(errno.ENOENT, message, source[:100])
    if isinstance(source, (str, os.PathLike)):
        return [Path(source)]
    if isinstance(source, (bytes, bytearray)) or not isinstance(source, Iterable):
        message = (
            "expected an iterable of documents, a path or paths, "
            f"got {type(source).__name__}; a single document is given as [document]"
        )
        raise TypeError(message)
    if isinstance(source, (list, tuple)) and source and all(map(is_file, source)):
        message = (
            "strings are documents, but all of these are names of files: "
            "for their contents give pathlib.Path objects, for the names themselves an iterator"
        )
        raise ValueError(message)
    return source


def is_file(name: object) -> bool:
    """Tells whether this is a string, and the name of a file or folder that exists."""
    # A `Path` would take a long document apart first.
    return isinstance(name, str) and os.path.exists(name)  # noqa: PTH110
