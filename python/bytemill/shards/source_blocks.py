"""The blocks of a source, from any position on, and the files that it had when shards were written."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from bytemill.documents.blocks import Block, FileReader, Position, SmallDocument, joined, utf8
from bytemill.documents.sources import items_of, opened
from bytemill.io.uris import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from typing_extensions import Self

    from bytemill.documents.sources import Reading

__all__ = ["BackgroundWriter", "SourceBlocks", "SourceFile"]

# The size of a block, at least, except for the last one of a file. English JSON lines on two threads: 4 MiB
# are 12 % slower, for threads wait for each other at the end of each block; 16 MiB 15 %, for they leave the
# caches.
BLOCK_BYTES = 1 << 23

# One thread parses JSON for this many that encode, which takes about nine times as long. Parsing on both of
# two threads took them from the encoding of the block before: 0.67 instead of 0.91 of its speed.
ENCODING_THREADS = 4


class SourceFile(NamedTuple):
    """A file as it was when it was read.

    Attributes:
        item: Number of files and documents of the source before it.
        path: Its path, as given.
        size: Its size in bytes.
        mtime_ns: The time of its last modification, in nanoseconds since 1970; of an object on a store its
            ETag, or the time as text.
    """

    item: int
    path: str
    size: int
    mtime_ns: int | str


class SourceBlocks:
    """Reads a source in blocks, and notes its files.

    Attributes:
        files: The files of the source that reading has come to so far.
    """

    def __init__(
        self,
        reading: Reading,
        *,
        pattern: str | None,
        special_tokens: Iterable[str],
        whole: Iterable[str],
        num_threads: int,
    ) -> None:
        """Takes how to read.

        Args:
            reading: How files are read.
            pattern: The pattern that will split the texts; `None` for none.
            special_tokens: Strings that will cut texts before that, or must not occur.
            whole: Other strings that must not be cut.
            num_threads: How many threads encode meanwhile; some of them parse JSON.
        """
        self.files: list[SourceFile] = []
        self._expected: Sequence[SourceFile] = ()
        self._record: Path | None = None
        self._trust = False
        self._reader = FileReader(
            reading,
            pattern=pattern,
            special_tokens=special_tokens,
            whole=whole,
            block_bytes=BLOCK_BYTES,
            num_threads=max(1, num_threads // ENCODING_THREADS),
        )

    def read(self, source: object, start: Position) -> Iterator[Block]:
        """Reads a source, one block ahead in a thread. Documents that are smaller than a block are joined.

        Iterators of the caller are advanced in its own thread, which they may be bound to, as cursors of
        `sqlite3` are. Of their items only large files are read ahead.

        Args:
            source: As in `write_shards`; also parts of files, as `FileRange`.
            start: Where to start: `Position()`, or where a block starts.

        Raises:
            TypeError, ValueError, OSError, ImportError: As `write_shards`.
        """
        if isinstance(source, (str, os.PathLike, list, tuple)):
            return prefetch_iter(self._blocks(source, start, files_ahead=False))
        return self._blocks(source, start, files_ahead=True)

    def _blocks(self, source: object, start: Position, *, files_ahead: bool) -> Iterator[Block]:
        """Reads a source in this thread, or its large files one block ahead in another."""
        small: list[SmallDocument] = []
        size = 0
        for block in self._contents(source, start, files_ahead=files_ahead):
            if isinstance(block, SmallDocument):
                small.append(block)
                size += len(block.text)
            if small and (isinstance(block, Block) or size >= BLOCK_BYTES):
                yield block_of(small)
                small, size = [], 0
            if isinstance(block, Block):
                yield block
        if small:
            yield block_of(small)

    def expect(self, files: Sequence[SourceFile], record: Path, *, trust: bool) -> None:
        """Makes reading raise `ValueError` if the first files of the source are others, or one is the record.

        Args:
            files: The files.
            record: The record of the run. It is in the source if that is an iterator, of which only this
                tells, and a folder of it has the outputs.
            trust: Whether files of the same name and size are these, whatever folder they are in and whenever
                they were modified.
        """
        self._expected = files
        self._record = record
        self._trust = trust

    def expect_no_more(self, source: object) -> None:
        """Checks that a source that was read to its end has the expected files and no others.

        Raises:
            ValueError: It has not.
        """
        for _ in self._numbered_items(source):
            pass
        if len(self.files) != len(self._expected):
            raise ValueError(
                f"all is written, from {count_of(self._expected)}, but the source has "
                f"{count_of(self.files)}: write to another folder"
            )

    def _contents(
        self, source: object, start: Position, *, files_ahead: bool
    ) -> Iterator[Block | SmallDocument]:
        for number, item in self._numbered_items(source):
            if number < start.item:
                continue
            position = start if number == start.item else Position(number)
            if isinstance(item, (str, bytes)):
                name = f"document {number}"
                data = utf8(item) if isinstance(item, str) else item
                text = self._reader.checked(data, len(data), name, position)
                yield SmallDocument(name, position, text, len(text))
            else:
                # To start a thread for each of many small files takes longer than to read them.
                is_large = not isinstance(item, os.PathLike) or self.files[-1].size >= BLOCK_BYTES
                with opened(item) as stream:
                    if position == Position(number):
                        position = position._replace(offset=stream.start)
                    blocks = self._reader.read(stream, position)
                    yield from prefetch_iter(blocks) if files_ahead and is_large else blocks

    def _numbered_items(self, source: object) -> Iterator[tuple[int, object]]:
        """Yields the items of a source with their numbers, and notes the files among them."""
        for number, item in enumerate(items_of(source)):
            if isinstance(item, os.PathLike):
                file = SourceFile(number, os.fspath(item), *identity(os.fspath(item)))
                check_no_output(file, self._record)
                if len(self.files) < len(self._expected):
                    check_unchanged(file, self._expected[len(self.files)], trust=self._trust)
                self.files.append(file)
            yield number, item


def check_no_output(file: SourceFile, record: Path | None) -> None:
    """Raises `ValueError` if a file is the record of the run that reads it."""
    path = Path(file.path)
    if record is not None and path.name == record.name and path.resolve() == record.resolve():
        raise ValueError(
            f"{record.parent}: expected a folder for outputs outside of the source, got the source with "
            f"{file.path} in it: give another one"
        )


def check_unchanged(file: SourceFile, before: SourceFile, *, trust: bool) -> None:
    """Raises `ValueError` if a file is not the one that shards were written from.

    Its contents are not compared: that would take reading and hashing all of them in the first run.

    Args:
        file: The file as it is.
        before: The file as it was.
        trust: As in `SourceBlocks.expect`.
    """
    if file == before:
        return
    said = f"{file.path}: the source has changed since shards were written from it: "
    if (file.item, Path(file.path).name) != (before.item, Path(before.path).name):
        raise ValueError(
            f"{said}{ordinal(before.item)} was {before.path}, and {ordinal(file.item)} is {file.path}: give "
            "the same files in the same order, or write to another folder"
        )
    if file.size != before.size:
        raise ValueError(
            f"{said}it had {before.size} bytes, and has {file.size}: give the file as it was, or write to "
            "another folder"
        )
    if not trust:
        changed = [] if file.path == before.path else [f"it was {before.path}"]
        if file.mtime_ns != before.mtime_ns:
            changed.append(f"it was modified at {time_of(before)}, and now at {time_of(file)}")
        raise ValueError(
            f"{said}{', and '.join(changed)}; its size is the same. If its contents are too, resume with "
            "--trust-sources (trust_sources=True), else write to another folder"
        )


def ordinal(item: int) -> str:
    """Returns what to call an item of a source."""
    return f"item {item + 1} of the source"


def time_of(file: SourceFile) -> str:
    """Returns the time of the last modification of a file for a message; of an object, its version."""
    if isinstance(file.mtime_ns, str):
        return f"version {file.mtime_ns}"
    seconds, rest = divmod(file.mtime_ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M:%S}.{rest:09d} UTC"


def count_of(files: Sequence[SourceFile]) -> str:
    """Returns how many files these are, in words."""
    return "1 file" if len(files) == 1 else f"{len(files)} files"


def block_of(documents: Sequence[SmallDocument]) -> Block:
    """Joins documents to a block."""
    data, offsets = joined([document.text for document in documents])
    size = sum(document.size for document in documents)
    items = [document.start.item for document in documents]
    return Block(documents[0].name, documents[0].start, data, offsets, ends=True, size=size, items=items)


# Reading and writing in background threads while ids are made.

Item = TypeVar("Item")
Result = TypeVar("Result")


class OneThread:
    """A thread that makes calls, one after the other; where the system refuses it, they are made at once."""

    def __init__(self, name: str) -> None:
        """Takes the name of the thread, which the first call starts."""
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(1, name)

    def submit(self, function: Callable[..., Result], *arguments: object) -> Future[Result]:
        """Returns the future of a call."""
        if self._pool is not None:
            try:
                return self._pool.submit(function, *arguments)
            except RuntimeError:
                # The call is pending all the same, for a thread that does not come.
                self.end()
                self._pool = None
        done: Future[Result] = Future()
        try:
            done.set_result(function(*arguments))
        except BaseException as error:  # noqa: BLE001 - `Future.result` raises it
            done.set_exception(error)
        return done

    def end(self) -> None:
        """Waits for the call that runs; those that have not begun are not made."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def prefetch_iter(items: Iterator[Item]) -> Iterator[Item]:
    """Yields the items, and has a thread produce the next one meanwhile.

    An exception of the iterator is raised when the item that it stands for is due.
    """
    end = object()
    thread = OneThread("bytemill-read")
    try:
        following: Future[Item | object] = thread.submit(next, items, end)
        while (item := following.result()) is not end:
            following = thread.submit(next, items, end)
            yield item  # type: ignore[misc] # it is not the end
    finally:
        thread.end()


class BackgroundWriter:
    """Calls functions in a thread, one after the other, in the order in which they were submitted.

    An exception is raised from a later `submit`, or at the end of the `with` block; calls that were submitted
    after the one that failed are not made.
    """

    # Pending calls keep their ids in memory.
    MAX_PENDING = 2

    def __init__(self) -> None:
        """Starts the thread."""
        self._thread = OneThread("bytemill-write")
        self._pending: deque[Future[object]] = deque()
        self._has_failed = False

    def submit(self, function: Callable[..., object], *arguments: object) -> None:
        """Submits a call; blocks while `MAX_PENDING` others are pending."""
        while len(self._pending) >= self.MAX_PENDING:
            self._pending.popleft().result()
        self._pending.append(self._thread.submit(self._call, function, arguments))

    def _call(self, function: Callable[..., object], arguments: Iterable[object]) -> None:
        if self._has_failed:
            return
        try:
            function(*arguments)
        except BaseException:
            self._has_failed = True
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            while self._pending and kind is None:
                self._pending.popleft().result()
        finally:
            self._thread.end()
