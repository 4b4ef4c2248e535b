"""What commands read: files or standard input in batches, whole documents, and the progress of that."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from io import BufferedReader
from stat import S_ISREG
from time import monotonic
from typing import IO, TYPE_CHECKING, NamedTuple

from bytemill.progress import show_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from bytemill.core import Encoding
    from bytemill.sources import Batch

__all__ = [
    "DEFAULT_FIELD",
    "STANDARD_INPUT",
    "Meter",
    "TextBatch",
    "documents",
    "opened",
    "raw_batches",
    "standard_input",
    "text_batches",
]

STANDARD_INPUT = "-"
DEFAULT_FIELD = "text"

# How files of these kinds begin.
MAGIC = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
PARQUET = b"PAR1"

# Seconds of work before progress is shown, and between two times.
FIRST = 1.0
INTERVAL = 0.2


class TextBatch(NamedTuple):
    """Some documents of a file, or parts of one.

    Attributes:
        file: The name of the file.
        texts: The texts.
        ends: For each of them, whether a document ends with it.
        size: How large they are, in bytes of UTF-8.
    """

    file: str
    texts: list[str]
    ends: list[bool]
    size: int


def documents(
    files: Sequence[str], *, field: str | None = None, lines: bool = False, meter: Meter | None = None
) -> Iterator[str]:
    """Gives the documents of files, each a whole one.

    Args:
        files: Paths; `-` is standard input. See `bytemill.sources` for the kinds of files.
        field: The field of JSON lines or column of Parquet, "text" if not given. If it is, standard input is
            JSON lines, otherwise text.
        lines: Whether each line of a text is a document, its line break included.
        meter: What shows progress, where the files are some of many; if not given, one for these.

    Raises:
        ValueError: A file is not what its name says, or is not UTF-8; the message names it.
        OSError: A file cannot be read.
        ImportError: A file needs a package that is not installed.
    """
    for batch in text_batches(files, field=field, lines=lines, meter=meter):
        yield from batch.texts


def text_batches(  # noqa: PLR0913 - all but the files have names
    files: Sequence[str],
    *,
    field: str | None = None,
    lines: bool = False,
    encoding: Encoding | None = None,
    special_tokens: Sequence[str] = (),
    meter: Meter | None = None,
) -> Iterator[TextBatch]:
    """Gives the texts of files, and shows how far that is.

    Args:
        files: As in `documents`.
        field: As in `documents`.
        lines: As in `documents`.
        encoding: If given, large documents come in parts whose ids are together those of the whole.
        special_tokens: What counts as a token of its own there, so that no part may end inside it.
        meter: As in `documents`.

    Raises:
        ValueError, OSError, ImportError: As in `documents`.
    """
    pattern = None if encoding is None else encoding._pat_str  # noqa: SLF001 - tiktoken's name
    place: Place | None = None
    for name, batch in raw_batches(
        files, field=field, lines=lines, pattern=pattern, special_tokens=special_tokens, meter=meter
    ):
        if place is None or place.name != name:
            place = Place(name)
        texts = place.decoded(batch)
        yield TextBatch(name, texts, batch.ends, place.size)


def raw_batches(  # noqa: PLR0913 - all but the files have names
    files: Sequence[str],
    *,
    field: str | None,
    lines: bool,
    pattern: str | None,
    special_tokens: Sequence[str],
    meter: Meter | None = None,
) -> Iterator[tuple[str, Batch]]:
    """Gives batches as `bytemill.sources` does, with the name of the file; otherwise as `text_batches`."""
    # Only here: it takes longer to import than a short text to count.
    from bytemill.sources import Batches, Stream

    batches = Batches(
        field=field or DEFAULT_FIELD, lines=lines, pattern=pattern, special_tokens=special_tokens
    )
    with Meter(files) if meter is None else nullcontext(meter) as shown:
        for name in files:
            with opened(name) as file:
                read = 0
                for batch in batches.of([Stream(file, input_name(name, field))]):
                    read = file.tell() if file.seekable() else read + batch.size
                    shown.at(name, read)
                    yield name, batch
                shown.finished(file_size(name) or read)


def input_name(name: str, field: str | None = None) -> str:
    """The name that tells what a file is: that of standard input does not."""
    if name != STANDARD_INPUT:
        return name
    return "standard input" if field is None else "standard input.jsonl"


@contextmanager
def opened(name: str) -> Iterator[IO[bytes]]:
    """Opens a file to read bytes from, or gives standard input, which stays open."""
    if name != STANDARD_INPUT:
        with open(name, "rb") as file:  # noqa: PTH123 - a string, perhaps of /dev/fd
            yield file
        return
    if sys.stdin.isatty():
        sys.stderr.write("reading what you type; end it with Ctrl-D on a line of its own\n")
    with standard_input() as file:
        yield file


@contextmanager
def standard_input() -> Iterator[IO[bytes]]:
    """Gives standard input, decompressed if it is compressed: it has no name to say so.

    No text in UTF-8 begins as compressed files do.

    Raises:
        ValueError: The compressed data are damaged; or it is a Parquet file, which is read from its end.
        ImportError: As `decompressed`.
    """
    from bytemill.files import decompressed

    stdin = sys.stdin.buffer
    start = stdin.peek(4)[:4] if isinstance(stdin, BufferedReader) else b""
    if start == PARQUET:
        message = (
            "standard input is a Parquet file, which cannot be read from a pipe: give the name of the file"
        )
        raise ValueError(message)
    suffix = next((suffix for suffix, magic in MAGIC.items() if start.startswith(magic)), "")
    with decompressed(stdin, f"standard input{suffix}") as file:
        yield file


class Place:
    """How far a file has been decoded."""

    def __init__(self, name: str) -> None:
        """Starts at the beginning of the file of this name."""
        self.name = name
        self._document = 1
        self._offset = 0
        self.size = 0

    def decoded(self, batch: Batch) -> list[str]:
        """Gives the texts of a batch as strings and sets `size`; `ValueError` if they are not UTF-8."""
        self.size = 0
        texts = []
        for text, ends in zip(batch.texts, batch.ends, strict=True):
            size = (
                len(text) if isinstance(text, bytes) or text.isascii() else len(text.encode(errors="replace"))
            )
            texts.append(text if isinstance(text, str) else self._decoded(text))
            self.size += size
            self._offset = 0 if ends else self._offset + size
            self._document += ends
        return texts

    def _decoded(self, text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError as error:
            name = "standard input" if self.name == STANDARD_INPUT else self.name
            message = (
                f"{name}, document {self._document}: expected text in UTF-8, got the byte "
                f"{text[error.start]:#04x} at {self._offset + error.start}"
            )
            raise ValueError(message) from error


class Meter:
    """Shows on stderr, if that is a terminal, how fast files are read and how long it will still take."""

    def __init__(self, files: Sequence[str], *, prints: bool = False) -> None:
        """Takes the files that will be read.

        Args:
            files: Their names.
            prints: Whether results go to stdout meanwhile. If that is a terminal too, nothing is shown.
        """
        self._shown = sys.stderr.isatty() and not (prints and sys.stdout.isatty())
        sizes = [file_size(name) for name in files] if self._shown else []
        self._total = None if None in sizes else sum(filter(None, sizes))
        self._done = 0
        self._start = monotonic()
        self._next = self._start + FIRST

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown and self._next > self._start + FIRST:
            show_line("")

    def at(self, name: str, read: int) -> None:
        """Shows that so many bytes of a file have been read."""
        if self._shown and monotonic() >= self._next:
            seconds = monotonic() - self._start
            self._next = self._start + seconds + INTERVAL
            show_line(progress(name, self._done + read, seconds, self._total))

    def finished(self, read: int) -> None:
        """Tells that a file of so many bytes has been read."""
        self._done += read


def file_size(name: str) -> int | None:
    """The size of a file in bytes; `None` of what is no plain file, or does not exist."""
    try:
        status = os.stat(name)  # noqa: PTH116 - as `open`
    except OSError:
        return None
    return status.st_size if S_ISREG(status.st_mode) else None


def progress(name: str, read: int, seconds: float, total: int | None) -> str:
    """A line for people: bytes read, how fast and, if it is known how many there are, for how long still."""
    rate = read / max(seconds, 1e-9)
    line = f"{name}: {read / 1e6:,.0f} MB read, {rate / 1e6:,.0f} MB/s"
    if not total or not rate:
        return line
    return f"{line}, {100 * read / total:.0f}%, {max(total - read, 0) / rate:,.0f} s left"
