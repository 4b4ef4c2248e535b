"""`PieceCounts`: pieces with their counts, and the pattern they come from; the input of training.

Counts of different texts add up, in one process or in many: they can be pickled, and saved to files that
other tools read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from bytemill import _backend
from bytemill._arguments import check_type, thread_count
from bytemill._backend import build_splitter
from bytemill.patterns import resolve_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from bytemill.documents import Document
    from bytemill.io.piece_table import Chunk, Description
    from bytemill.results import ArrowArray, ArrowStream

__all__ = ["PieceCounts", "check_special_tokens"]

# Pieces that become Python objects at a time.
ROWS = 1 << 16


class PieceCounts:
    """Pieces, as bytes, and how often each occurs.

    Iterating yields (piece, count) in the order in which the pieces first occurred; `len` is the number of
    distinct pieces. Counts of the same pattern and special tokens can be added; `+` returns new counts.
    Threads may share counts: a call waits for those of others. Where a call runs a progress callback, or a
    signal handler, these get `RuntimeError` if they use the same counts.

    Attributes:
        pattern: The regular expression that the pieces are matches of; `None` if every text is one piece.
        special_tokens: The strings at which the texts are cut; they are not part of any piece.
        is_sorted: Whether pieces come from sorted files. Then the order in which they first occurred is
            unknown, and `save` writes them in the order of their bytes.
    """

    def __init__(
        self,
        pieces: Mapping[bytes, int] | Iterable[tuple[bytes, int]] = (),
        *,
        pattern: str | None = "o200k",
        special_tokens: Iterable[str] = (),
    ) -> None:
        """Creates counts: empty, or of pieces counted elsewhere.

        Args:
            pieces: Pieces with their counts; counts of equal pieces are added up.
            pattern: The pattern that split them: a name of `bytemill.patterns.PATTERNS`, any regular
                expression, or `None`.
            special_tokens: The strings at which the texts are cut before that.

        Raises:
            ValueError: The pattern is unknown, or a special token is empty or given twice.
            PatternError: The pattern does not compile or can match the empty string.
            OverflowError: A count is negative, or all pieces together occur 2**64 times or more.
            TypeError: A piece is not `bytes`, or a count is not an integer.
        """
        self.pattern = resolve_pattern(pattern)
        self.special_tokens = check_special_tokens(special_tokens)
        self._splitter = None if self.pattern is None else build_splitter(self.pattern)
        self.is_sorted = False
        self._core = _backend.PieceCounts()
        items = pieces.items() if isinstance(pieces, Mapping) else pieces
        for rows in in_chunks(items):
            self._core.add_pieces([piece for piece, _ in rows], [count for _, count in rows])

    def __repr__(self) -> str:
        return f"<PieceCounts of {len(self):,} pieces>"

    def __len__(self) -> int:
        return len(self._core)

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        return iter(self._core.items())

    def total(self) -> int:
        """Returns the sum of all counts."""
        return self._core.total()

    def most_common(self, n: int | None = None) -> list[tuple[bytes, int]]:
        """Returns the `n` most frequent pieces, or all; equally frequent ones in order of occurrence."""
        return self._core.most_common(len(self) if n is None else max(n, 0))

    def memory_usage(self) -> int:
        """Returns the memory of the tables in bytes, without tables in files."""
        return self._core.memory()

    # --- Adding ---

    def add(self, texts: Sequence[Document], *, num_threads: int = 1) -> None:
        """Splits texts and counts their pieces.

        Args:
            texts: Documents as `str` or `bytes`.
            num_threads: The maximum number of threads.

        Raises:
            TypeError: A text is neither, or `texts` is a single text.
            PatternError: The engine of a custom pattern gives up on a text.
            OverflowError: All pieces together occur 2**64 times or more.
            KeyboardInterrupt: All counts from before this call are kept, and some or none of this call.
        """
        if isinstance(texts, (str, bytes)):
            raise TypeError(f"expected several texts, got one {type(texts).__name__}: pass it in a list")
        self._add_batches([list(texts)], num_threads=num_threads, prefetch=False)

    def add_arrow(self, column: ArrowArray | ArrowStream, *, num_threads: int = 1) -> None:
        """Splits the texts of an Arrow column and counts their pieces, without a Python object for each.

        Args:
            column: Strings or bytes, as for `Encoding.encode_arrow`. Nulls are skipped; in bytes, invalid
                UTF-8 becomes a separate piece.
            num_threads: The maximum number of threads.

        Raises:
            TypeError: It is not such a column.
            PatternError, OverflowError, KeyboardInterrupt: Same as `add`.
        """
        self._core.add_texts(column, self._splitter, list(self.special_tokens), thread_count(num_threads))

    def _add_batches(self, batches: Iterable[list[Document]], *, num_threads: int, prefetch: bool) -> None:
        """Adds lists of texts, as `add`.

        Args:
            batches: The lists.
            num_threads: The maximum number of threads.
            prefetch: Whether to produce the next list while one is counted, where there are several threads.
        """
        self._core.add(iter(batches), self._splitter, list(self.special_tokens), num_threads, prefetch)

    def merge(self, other: PieceCounts) -> None:
        """Adds the counts of `other` to these, as if its texts came after these.

        Raises:
            TypeError: `other` is not a `PieceCounts`.
            ValueError: They come from another pattern or other special tokens.
            OverflowError: All pieces together occur 2**64 times or more.
            OSError: Counts of sorted files cannot be merged: the disk is full; some of `other` is added then.
            KeyboardInterrupt: Some of `other` may be added, and the rest not.
        """
        check_type("other", other, PieceCounts)
        for what, ours, theirs in (
            ("patterns", self.pattern, other.pattern),
            ("special tokens", sorted(self.special_tokens), sorted(other.special_tokens)),
        ):
            if ours != theirs:
                raise ValueError(
                    f"cannot add counts of different {what}, with which the same text is split differently: "
                    f"{ours!r} and {theirs!r}"
                )
        self._core.merge(other._core)
        self.is_sorted |= other.is_sorted

    def __add__(self, other: PieceCounts) -> PieceCounts:
        if not isinstance(other, PieceCounts):
            return NotImplemented
        added = self._empty()
        added.merge(self)
        added.merge(other)
        return added

    def __iadd__(self, other: PieceCounts) -> Self:
        if not isinstance(other, PieceCounts):
            return NotImplemented
        self.merge(other)
        return self

    def _empty(self) -> PieceCounts:
        return PieceCounts(pattern=self.pattern, special_tokens=self.special_tokens)

    # --- Files and other processes ---

    def to_arrow(self) -> Any:  # noqa: ANN401 - pyarrow is optional
        """Returns a `pyarrow.Table` of the pieces, in the order in which they first occurred.

        Its columns are `piece` (large_binary) and `count` (uint64); its metadata describe the origin of the
        pieces.

        Raises:
            ImportError: `pyarrow` is not installed.
        """
        from bytemill.io.piece_table import table_of

        return table_of(self._core.columns(), self._description())

    @classmethod
    def from_arrow(cls, table: Any) -> PieceCounts:  # noqa: ANN401
        """Returns the counts in a table of `to_arrow`, or in several concatenated ones.

        Args:
            table: A `pyarrow.Table` or `RecordBatch`.

        Raises:
            TypeError: It is neither.
            ValueError: It has other columns, nulls, or no metadata that say which pattern its pieces come
                from.
            OverflowError: All pieces together occur 2**64 times or more.
            ImportError: `pyarrow` is not installed.
        """
        from bytemill._messages import import_optional
        from bytemill.io.piece_table import chunk, described

        arrow = import_optional("pyarrow", "tables of piece counts")
        if not isinstance(table, (arrow.Table, arrow.RecordBatch)):
            raise TypeError(f"table must be a pyarrow.Table or RecordBatch, not {type(table).__name__}")
        batches = [table] if isinstance(table, arrow.RecordBatch) else table.to_batches()
        try:
            chunks = [chunk(batch) for batch in batches]
        except (arrow.ArrowException, KeyError) as error:
            raise ValueError(f"expected a table of piece counts: {error}") from error
        return cls._restored(described(table.schema, "the table"), chunks)

    def save(self, path: str | os.PathLike[str], *, sort: bool = False) -> None:
        """Writes the counts to a file, see `bytemill.io.piece_table`.

        Args:
            path: A name that ends in `.parquet`, or in `.arrow`, `.feather` or `.ipc` for Arrow's IPC format.
            sort: Whether to sort the pieces by their bytes, for `merge_files`, instead of by first
                occurrence, as is done anyway if that is unknown.

        Raises:
            ValueError: The name ends in something else.
            OSError: The file cannot be written; nothing is left behind.
            ImportError: `pyarrow` is not installed.
        """
        from bytemill.io.piece_table import ROWS, table_of, table_writer

        description = self._description()
        # Pieces that were added since are behind those of sorted files.
        if not (sort or self.is_sorted):
            with table_writer(path, description) as write:
                write(table_of(self._core.columns(), description))
            return
        description["is_sorted"] = True
        with table_writer(path, description) as write:
            self._core.write_sorted(lambda *columns: write(table_of(columns, description)), ROWS)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PieceCounts:
        """Reads a file that `save` wrote.

        Raises:
            ValueError: The file has another format, is damaged, or does not say which pattern its pieces come
                from.
            OSError: The file cannot be read.
            ImportError: `pyarrow` is not installed.
        """
        from bytemill.io.piece_table import read_table

        with read_table(path) as (description, chunks):
            try:
                return cls._restored(description, chunks)
            except OverflowError as error:
                raise ValueError(
                    f"{os.fspath(path)}: expected counts whose sum is below 2**64: {error}"
                ) from error

    @classmethod
    def merge_files(cls, paths: Iterable[str | os.PathLike[str]]) -> PieceCounts:
        """Returns the sum of the counts in sorted files, which other processes or machines have written.

        The files are merged into a temporary file; the table of all pieces is never in memory as a whole, not
        even when a vocabulary is learned from the counts. The result does not depend on the distribution of
        the text to the files, or on their order.

        Args:
            paths: Files that `save(path, sort=True)` wrote, of the same pattern and special tokens; at least
                one.

        Raises:
            ValueError: There is no file; a file has another format, is not sorted, is damaged, or has
                another pattern or special tokens than the first.
            OverflowError: All pieces together occur 2**64 times or more.
            OSError: A file cannot be read, or the temporary file not written.
            ImportError: `pyarrow` is not installed.

        Complexity:
            O(n log k) for n rows in k files; memory for 65,536 rows of each file.
        """
        if isinstance(paths, (str, bytes, os.PathLike)):
            raise TypeError(f"expected several paths, got one {type(paths).__name__}: pass it in a list")
        names = [os.fspath(path) for path in paths]
        if not names:
            raise ValueError("expected files of sorted counts, got none")
        return cls._merged(names, len(names))

    @classmethod
    def _merged(
        cls, names: Sequence[str], most_open: int, first: bytes = b"", end: bytes | None = None
    ) -> PieceCounts:
        """Returns the sum of a range of sorted files, as `merge_files`.

        Args:
            names: Their names or URIs, at least one.
            most_open: How many of them may be open at once. If there are more, the pieces are not sorted
                until they are saved so.
            first: Same as in `read_table`.
            end: Same as in `read_table`.

        Raises:
            Exception: Same as `merge_files`.
        """
        from contextlib import ExitStack

        from bytemill.io.piece_table import read_table

        counts: PieceCounts | None = None
        for start in range(0, len(names), most_open):
            with ExitStack() as stack:
                sources = []
                for name in names[start : start + most_open]:
                    description, chunks = stack.enter_context(read_table(name, first, end))
                    if counts is None:  # empty counts are false
                        counts = cls._described(description)
                    counts._check_sorted(description, name, names[0])  # noqa: SLF001 - of its own class
                    sources.append(chunks)
                assert counts is not None, "there is a file"
                counts._core.add_sorted(sources)  # noqa: SLF001 - as above
        assert counts is not None, "there is a file"
        return counts

    @classmethod
    def _of_parts(cls, names: Sequence[str]) -> PieceCounts:
        """Returns the counts of files that are parts of a sorted one, in order; one is open at a time.

        Args:
            names: Their names or URIs, at least one.

        Raises:
            Exception: Same as `merge_files`; or the pieces of a part do not come after those of the one
                before.
        """
        from bytemill.io.piece_table import read_table

        with read_table(names[0]) as (description, _):
            counts = cls._described(description)

        def all_chunks() -> Iterator[Chunk]:
            for name in names:
                with read_table(name) as (description, chunks):
                    counts._check_sorted(description, name, names[0])  # noqa: SLF001 - of its own class
                    yield from chunks

        counts._core.add_sorted([all_chunks()])  # noqa: SLF001 - as above
        return counts

    def _check_sorted(self, description: Description, name: str, first: str) -> None:
        """Raises `ValueError` unless a file is sorted, and of the same pattern and special tokens."""
        if not description["is_sorted"]:
            raise ValueError(f"{name}: expected sorted counts: write them with save(path, sort=True)")
        if origin(description) != origin(self._description()):
            raise ValueError(
                f"{name}: expected counts of the same pattern and special tokens as {first}, "
                f"{origin(self._description())}, got {origin(description)}"
            )

    def _description(self) -> Description:
        return {
            "pattern": self.pattern,
            "special_tokens": list(self.special_tokens),
            "is_sorted": self.is_sorted,
        }

    @classmethod
    def _restored(cls, description: Description, chunks: Iterable[Chunk]) -> PieceCounts:
        counts = cls._described(description)
        for pieces, occurrences in chunks:
            counts._core.add_pieces(pieces, occurrences)  # noqa: SLF001 - of its own class
        return counts

    @classmethod
    def _described(cls, description: Description) -> PieceCounts:
        counts = cls(
            pattern=description["pattern"],
            special_tokens=description["special_tokens"],
        )
        counts.is_sorted = description["is_sorted"]
        return counts

    def __reduce__(self) -> tuple[Any, ...]:
        return (restored, (self._description(), *self._core.columns()))


def origin(description: Description) -> tuple[str | None, list[str]]:
    """Returns what the pieces of counts depend on, beside the text."""
    return description["pattern"], sorted(description["special_tokens"])


def restored(
    description: Description, data: bytes, offsets: npt.NDArray[np.int64], counts: npt.NDArray[np.uint64]
) -> PieceCounts:
    """Rebuilds the counts of a pickle."""
    restored_counts = PieceCounts._described(description)  # noqa: SLF001 - used for pickling only
    restored_counts._core.add_pieces((data, offsets), counts)  # noqa: SLF001
    return restored_counts


def check_special_tokens(special_tokens: Iterable[object]) -> tuple[str, ...]:
    """Returns special tokens as a tuple, in their order.

    Raises:
        TypeError: It is a single string, or one of them is not a string.
        ValueError: One is empty, given twice or not to be encoded in UTF-8.
    """
    if isinstance(special_tokens, (str, bytes)):
        raise TypeError(f"expected several special tokens, got {special_tokens!r}: pass it in a list")
    tokens: list[str] = []
    for token in special_tokens:
        if not isinstance(token, str):
            raise TypeError(f"expected special tokens as str, got {type(token).__name__}")
        try:
            token.encode()
        except UnicodeEncodeError:
            raise ValueError(f"expected special tokens that UTF-8 can encode, got {token!r:.80}") from None
        tokens.append(token)
    if "" in tokens or len(set(tokens)) < len(tokens):
        raise ValueError(f"expected different special tokens, none of them empty, got {tokens}")
    return tuple(tokens)


def in_chunks(items: Iterable[tuple[bytes, int]]) -> Iterator[list[tuple[bytes, int]]]:
    """Yields items in lists of at most `ROWS`."""
    iterator = iter(items)
    while rows := list(islice(iterator, ROWS)):
        yield rows
