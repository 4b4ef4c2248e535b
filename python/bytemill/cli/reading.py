"""The input of commands: files or standard input, as sources or as texts, and its progress."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import ExitStack, contextmanager, nullcontext
from io import BufferedReader
from pathlib import Path
from stat import S_ISREG
from string import whitespace
from time import monotonic
from typing import IO, TYPE_CHECKING, NamedTuple

import click

from bytemill._arguments import Reading
from bytemill.cli.output import input_bytes, is_terminal
from bytemill.errors import DisallowedSpecialTokenError
from bytemill.io.uris import is_uri
from bytemill.progress import show_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from typing_extensions import Self

    from bytemill.core import Encoding
    from bytemill.documents import Stream

__all__ = [
    "STANDARD_INPUT",
    "Meter",
    "TextBatch",
    "documents",
    "input_name",
    "named_special",
    "opened",
    "source_of",
    "text_batches",
    "text_hint",
]

STANDARD_INPUT = "-"

# Seconds of work before progress is shown, and between two updates.
FIRST = 1.0
INTERVAL = 0.2


AS_USUAL = Reading()

# What to type instead where a text was given for the name of a file, by the name of the command.
HINTS = {
    "count": "to count a text itself: echo TEXT | bytemill count, or bytemill inspect TEXT",
    "encode": "to encode a text itself: echo TEXT | bytemill encode, or bytemill inspect TEXT",
    "truncate": "to cut a text itself: echo TEXT | bytemill truncate -n N",
    "split": "to split a text itself: echo TEXT | bytemill split -n N",
    "decode": "to decode IDs themselves: bytemill decode 24912 2375",
}


class TextBatch(NamedTuple):
    """Some documents of a file, or parts of one.

    Attributes:
        file: The name of the file.
        texts: The texts.
        ends: For each text, whether a document ends with it.
        size: Their size in bytes of UTF-8.
    """

    file: str
    texts: list[str]
    ends: list[bool]
    size: int


def documents(
    files: Sequence[str], reading: Reading = AS_USUAL, *, meter: Meter | None = None
) -> Iterator[str]:
    """Yields the documents of files, each a whole one.

    Args:
        files: Paths; `-` is standard input. See `bytemill.documents` for the kinds of files.
        reading: How to read them.
        meter: Shows progress, if the files are some of many; if not given, one for these files.

    Raises:
        ValueError: A file is not what its name says, or is not UTF-8; the message names it.
        OSError: A file cannot be read.
        ImportError: A file needs a package that is not installed.
    """
    for batch in text_batches(files, reading, meter=meter):
        yield from batch.texts


def text_batches(
    files: Sequence[str],
    reading: Reading = AS_USUAL,
    *,
    encoding: Encoding | None = None,
    special: str = "text",
    meter: Meter | None = None,
) -> Iterator[TextBatch]:
    """Yields the texts of files, and shows progress.

    Args:
        files: As in `documents`.
        reading: As in `documents`.
        encoding: If given, large documents come in parts whose ids together are those of the document.
        special: How the encoding treats special tokens, as `--special` says it.
        meter: As in `documents`.

    Raises:
        ValueError, OSError, ImportError: As in `documents`.
    """
    # Imported late: it takes longer than counting a short text.
    from bytemill.documents import Stream
    from bytemill.documents.blocks import BatchReader

    if encoding is None:
        reader = BatchReader(reading, pattern=None, special_tokens=())
    else:
        # `None` stands for all.
        special_tokens, whole = encoding._core_bpe.dividing(  # noqa: SLF001 - of this library
            None if special == "allow" else frozenset(), None if special == "error" else frozenset()
        )
        reader = BatchReader(
            reading,
            pattern=encoding._pattern,  # noqa: SLF001 - of this library
            special_tokens=special_tokens,
            whole=whole,
        )
    with Meter(files) if meter is None else nullcontext(meter) as shown:
        for name in files:
            with opened(name) as file:
                for batch in reader.read([Stream(file, input_name(name))]):
                    shown.add(name, batch.read, batch.size)
                    yield TextBatch(name, list(map(decoded, batch.texts)), batch.ends, batch.size)


def decoded(text: str | bytes) -> str:
    """Returns a text of a file, whose bytes are UTF-8, as a string."""
    return text if isinstance(text, str) else text.decode()


def input_name(name: str) -> str:
    """Returns the name of a file for messages."""
    return "standard input" if name == STANDARD_INPUT else name


@contextmanager
def named_special(where: str) -> Iterator[None]:
    """Raises `ValueError` for a special token in the body under `--special error`, and says where."""
    try:
        yield
    except DisallowedSpecialTokenError as error:
        raise ValueError(
            f"{where}: the text contains the special token {error.token!r}: --special text treats it as "
            "ordinary text, --special allow as a special token"
        ) from None


@contextmanager
def source_of(files: Sequence[str]) -> Iterator[list[os.PathLike[str] | Stream]]:
    """Opens what `bytemill.documents` reads for names and URIs of files, `-` among them."""
    from bytemill.documents import Stream
    from bytemill.documents.sources import objects_of

    with ExitStack() as stack:
        found: list[os.PathLike[str] | Stream] = []
        for name in files:
            if is_uri(name):
                found += objects_of(name)
            elif name == STANDARD_INPUT:
                file = stack.enter_context(opened(STANDARD_INPUT))
                found.append(Stream(file, input_name(STANDARD_INPUT)))
            else:
                found.append(Path(name))
        yield found


@contextmanager
def opened(name: str) -> Iterator[IO[bytes]]:
    """Opens a file for reading bytes, or standard input, which stays open."""
    if name != STANDARD_INPUT:
        try:
            stored = open(name, "rb")  # noqa: PTH123, SIM115 - a string, perhaps of /dev/fd; closed below
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ENAMETOOLONG}:
                error.strerror = f"{error.strerror}{text_hint(name)}"
                error.filename = f"{name:.200}"
            raise
        with stored:
            yield stored
        return
    if is_terminal(sys.stdin):
        sys.stderr.write("reading what you type; end it with Ctrl-D on a line of its own\n")
    with standard_input() as file:
        yield file


def text_hint(name: str) -> str:
    """Returns what to add to the message that a file does not exist, if its name may be meant as a text."""
    context = click.get_current_context(silent=True)
    hint = "" if context is None else HINTS.get(context.info_name or "", "")
    return f"; {hint}" if hint and (set(whitespace) & {*name} or not Path(name).suffix) else ""


@contextmanager
def standard_input() -> Iterator[IO[bytes]]:
    """Opens standard input, decompressed if it is compressed: it has no name to say so.

    No text in UTF-8 starts as compressed files do.

    Raises:
        OSError: It is closed.
        ValueError: The compressed data are damaged; or it is a Parquet file, which is read from its end.
        ImportError: As `decompressed`.
    """
    from bytemill.documents.readers import decompressed
    from bytemill.documents.sources import MAGIC, PARQUET_MAGIC

    stdin = input_bytes()
    start = stdin.peek(4)[:4] if isinstance(stdin, BufferedReader) else b""
    if start == PARQUET_MAGIC:
        raise ValueError(
            "standard input is a Parquet file, which cannot be read from a pipe: give the name of the file"
        )
    suffix = next((suffix for suffix, magic in MAGIC.items() if start.startswith(magic)), "")
    with decompressed(stdin, f"standard input{suffix}") as file:
        yield file


class Meter:
    """Shows on stderr, if that is a terminal, how fast files are read and how much time is left."""

    def __init__(self, files: Sequence[str], *, size: int | None = None, prints: bool = False) -> None:
        """Takes the files that will be read.

        Args:
            files: Their names.
            size: Their bytes, if they are known.
            prints: Whether results are printed to stdout meanwhile. If that is a terminal too, nothing is
                shown.
        """
        self._shown = is_terminal(sys.stderr) and not (prints and is_terminal(sys.stdout))
        sizes = [file_size(name) for name in files] if self._shown and size is None else []
        self._total = None if None in sizes else size or sum(filter(None, sizes))
        self._read = self._text = 0
        self._start = monotonic()
        self._next = self._start + FIRST

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown and self._next > self._start + FIRST:
            show_line("")

    def add(self, label: str, read: int, text: int) -> None:
        """Adds bytes of files that were read, and of the text in them, and shows how many they are by now."""
        self.at(label, self._read + read, text=self._text + text)

    def at(self, label: str, read: int, *, text: int, tokens: int = 0) -> None:
        """Shows the bytes of files that have been read, those of the text in them, and the tokens made."""
        self._read, self._text = read, text
        self.say(label, lambda seconds: progress(label, read, text, tokens, seconds, self._total))

    def begin(self, label: str) -> None:
        """Shows at once what begins and may take long."""
        if self._shown:
            self._next = max(monotonic(), self._start + FIRST) + INTERVAL
            show_line(label)

    def say(self, label: str, line: Callable[[float], str] | None = None) -> None:
        """Shows a label, or the line that a function makes of the seconds since the start."""
        if self._shown and monotonic() >= self._next:
            seconds = monotonic() - self._start
            self._next = self._start + seconds + INTERVAL
            show_line(label if line is None else line(seconds))


def file_size(name: str) -> int | None:
    """Returns the size of a file in bytes; `None` if it is not a regular file, or does not exist."""
    try:
        status = os.stat(name)  # noqa: PTH116 - as `open`
    except OSError:
        return None
    return status.st_size if S_ISREG(status.st_mode) else None


def progress(  # noqa: PLR0913, PLR0917 - what a line has
    label: str, read: int, text: int, tokens: int, seconds: float, total: int | None
) -> str:
    """Returns a readable line: text and its rate and, if the total is known, the time left.

    Args:
        label: How the line begins.
        read: Bytes of files that were read, which tell the time left.
        text: Bytes of text in them: more, if they are compressed.
        tokens: Tokens that were made; 0 where none are.
        seconds: The seconds for all that.
        total: Bytes of all files.
    """
    seconds = max(seconds, 1e-9)
    line = f"{label}: {text / 1e6:,.0f} MB of text, {text / seconds / 1e6:,.0f} MB/s"
    if tokens:
        line = f"{line}, {tokens / seconds / 1e6:,.1f} M tokens/s"
    if not total or not read:
        return line
    return f"{line}, {100 * read / total:.0f}%, {max(total - read, 0) * seconds / read:,.0f} s left"
