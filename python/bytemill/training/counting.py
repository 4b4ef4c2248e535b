"""From documents to counts of their pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill._arguments import thread_count
from bytemill.documents.blocks import BatchReader, is_in_memory
from bytemill.documents.sources import Reading, check_files
from bytemill.progress import Reporter, Show
from bytemill.training.counts import PieceCounts
from bytemill.training.options import DEFAULT_PATTERN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bytemill.documents import Document, Source
    from bytemill.documents.blocks import Batch
    from bytemill.documents.sources import Field, InvalidUtf8

__all__ = ["add_source", "count_pieces"]


def count_pieces(  # noqa: PLR0913 - all but the first have names
    source: Source,
    pattern: str | None = DEFAULT_PATTERN,
    *,
    special_tokens: Iterable[str] = (),
    num_threads: int | None = None,
    field: Field = None,
    lines: bool = False,
    errors: InvalidUtf8 = "strict",
    progress: Show = True,
) -> PieceCounts:
    """Splits documents into pieces and counts how often each piece occurs.

    Args:
        source: An iterable of documents (`str` or `bytes`) and of files (`os.PathLike`); the path of a file
            or a folder; or the URI of objects on a store, such as "s3://corpus/*.jsonl". See
            `bytemill.documents` for the kinds of files.
        pattern: How documents are split into pieces: a name of `bytemill.patterns.PATTERNS` such as "gpt2",
            "cl100k", "o200k" or "llama3", any regular expression, or `None`: each document is one piece.
        special_tokens: Strings at which documents are cut before that; they are not part of any piece.
        num_threads: The maximum number of threads; if not given, all processors, or one in a process started
            by `multiprocessing`.
        field: The field of JSON Lines, or the column of Parquet, with the text; or a list of names, of which
            the first that a line or file has is used. `None` means "text". If given, all files except Parquet
            are read as JSON Lines, whatever their names.
        lines: Whether each line of a text file, including its line break, is a document, instead of the whole
            file.
        errors: How to handle invalid UTF-8: "strict" raises, "replace" replaces it with U+FFFD, "keep" keeps
            it in text files and in documents as `bytes`, for training on non-text data; only `encode_bytes`
            can produce such tokens.
        progress: `True` for a bar on stderr if that is a terminal, `False` for nothing, or a function that
            is called with a `Progress`, a few times a second and at the end.

    Returns:
        The counts.

    Raises:
        TypeError: `source`, a document or another argument is of a wrong type.
        ValueError: An argument is invalid, the contents of a file do not match its name, or a text is not
            UTF-8.
        PatternError: The pattern does not compile, can match the empty string, or fails on a document.
        OSError: A file cannot be read.
        ImportError: A file needs a package that is not installed: `pyarrow` for Parquet, `zstandard`.

    Complexity:
        Linear in the text for the patterns of `PATTERNS`, divided by the threads. Memory for the different
        pieces and some 8 MiB of text. A file is read in parts, unless it is a single document without special
        tokens, and the pattern belongs to none of the native families.
    """
    threads = thread_count(num_threads)
    reading = Reading.checked(field, lines, errors)
    counts = PieceCounts(pattern=pattern, special_tokens=special_tokens)
    with Reporter(progress) as reporter:
        add_source(
            counts,
            source,
            reading,
            num_threads=threads,
            report=lambda batch: reporter.counted(batch.documents, batch.size),
        )
        reporter.finish()
    return counts


def add_source(
    counts: PieceCounts,
    source: Source,
    reading: Reading,
    *,
    num_threads: int,
    report: Callable[[Batch], object],
) -> None:
    """Counts the pieces of a source.

    Args:
        counts: Where they are added.
        source: Same as in `count_pieces`.
        reading: How files are read.
        num_threads: The maximum number of threads.
        report: Called after each batch.

    Raises:
        Exception: Same as `count_pieces`.
    """
    check_files(source)
    reader = BatchReader(reading, pattern=counts.pattern, special_tokens=counts.special_tokens)

    def texts() -> Iterator[list[Document]]:
        for batch in reader.read(source):
            yield batch.texts
            report(batch)

    counts._add_batches(  # noqa: SLF001 - of this package
        texts(), num_threads=num_threads, prefetch=not is_in_memory(source)
    )
