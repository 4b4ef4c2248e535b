"""Token ids in files: decimal numbers, JSON lines, NumPy arrays and raw numbers.

Only the first two keep the ends of documents: each document is a line.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias, cast

import click

from bytemill.cli.reading import input_name
from bytemill.documents.sources import COMPRESSIONS
from bytemill.formats.npy import HEADER_BYTES, header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bytemill.core import Encoding
    from bytemill.results import Ragged

    Writer: TypeAlias = Callable[[Ragged, Sequence[bool]], None]
    Block: TypeAlias = tuple[Sequence[int], bool]
    from collections.abc import Sequence

__all__ = [
    "SEPARATORS",
    "TokenId",
    "TokenIds",
    "format_option",
    "format_or_suffix",
    "id_arguments",
    "id_blocks",
    "id_type",
    "id_type_option",
    "is_id",
    "parse_ids",
    "writer",
]

FORMATS = ("ids", "jsonl", "npy", "bin")
FIELD = "ids"

# Bytes of a line, and ids, that are read at a time.
LINE_BYTES = 1 << 20
BLOCK_IDS = 1 << 18

# The argument `id_format`.
format_option = click.option(
    "--format",
    "id_format",
    type=click.Choice(FORMATS),
    help="The format of the IDs [default: by the suffix of the file, else ids].",
)

# The argument `dtype`.
id_type_option = click.option(
    "--dtype",
    type=click.Choice(["uint16", "uint32"]),
    help="The integer type in npy and bin [default: the smaller one that holds every ID].",
)


def format_or_suffix(id_format: str | None, name: str | None) -> str:
    """Returns the chosen format, or else that of the suffix of the file."""
    path = Path((name or "").lower())
    suffix = (path.with_suffix("") if path.suffix in COMPRESSIONS else path).suffix.removeprefix(".")
    return id_format or (suffix if suffix in FORMATS else FORMATS[0])


def id_type(dtype: str | None, encoding: Encoding) -> str:
    """Returns the little-endian NumPy type of ids in files."""
    if dtype is None:
        dtype = "uint16" if encoding.max_token_value < 1 << 16 else "uint32"
    return {"uint16": "<u2", "uint32": "<u4"}[dtype]


# --- Writing ---
@contextmanager
def writer(kind: str, file: IO[bytes], number: str) -> Iterator[Writer]:
    """Opens a writer of ids to an open file. `number` is the type of the numbers in arrays.

    Raises:
        UsageError: The header of an array cannot be written, because the file is a pipe, or is appended to.
    """
    if kind == "npy":
        if not file.seekable():
            raise click.UsageError("npy cannot be written to a pipe: pass --output FILE, or use --format bin")
        if is_appended_to(file):
            raise click.UsageError(
                "npy cannot be appended to a file, whose header has the number of IDs: write it with > or "
                "--output FILE, or use --format bin"
            )
        start = file.tell()
        file.write(header(number, 0))
        yield array_writer(file)
        size = file.tell() - start - HEADER_BYTES
        file.seek(start)
        file.write(header(number, size // int(number[-1])))
        file.seek(0, 2)
    elif kind == "bin":
        yield array_writer(file)
    elif kind == "jsonl":
        yield line_writer(file, f'{{"{FIELD}": [', ", ", "]}\n")
    else:
        yield line_writer(file, "", " ", "\n")


def is_appended_to(file: IO[bytes]) -> bool:
    """Returns whether all that is written goes to the end of a file, as after `>>` in a shell."""
    try:
        # Not on Windows, whose shells seek to the end instead.
        import fcntl

        return fcntl.fcntl(file.fileno(), fcntl.F_GETFL) & os.O_APPEND != 0
    except (ImportError, OSError):
        return False


def array_writer(file: IO[bytes]) -> Writer:
    """Returns a writer of the numbers as they are in memory."""

    def write(ragged: Ragged, ends: Sequence[bool]) -> None:  # noqa: ARG001 - arrays have no ends of documents
        file.write(ragged.ids.data)

    return write


def line_writer(file: IO[bytes], begin: str, separator: str, end: str) -> Writer:
    """Returns a writer of each document as a line."""
    before = begin

    def write(ragged: Ragged, ends: Sequence[bool]) -> None:
        nonlocal before
        for ids, is_end in zip(ragged.rows(), ends, strict=True):
            numbers = separator.join(map(str, ids.tolist()))
            if numbers:
                file.write(f"{before}{numbers}".encode())
                before = separator
            if is_end:
                # A document without ids has not begun its line.
                file.write(end.encode() if before == separator else f"{begin}{end}".encode())
                before = begin

    return write


# --- Reading ---
def id_blocks(name: str, file: IO[bytes], kind: str, number: str) -> Iterator[Block]:
    """Reads the ids of an open file, block by block.

    Raises:
        ValueError: It is not of this format; the message names the file and, where there are lines, the line.
    """
    shown = input_name(name)
    if kind == "npy":
        return array_blocks(shown, file)
    if kind == "bin":
        return number_blocks(shown, file, number)
    if kind == "jsonl":
        return json_blocks(shown, file)
    return decimal_blocks(shown, file)


def array_blocks(name: str, file: IO[bytes]) -> Iterator[Block]:
    """Reads a `.npy` file."""
    from numpy.lib import format as npy

    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    # Not mapped: if another process truncates a mapped file, reading it kills this process.
    try:
        shape, _, dtype = readers[npy.read_magic(file)](file)
    except (ValueError, EOFError, KeyError) as error:
        raise ValueError(f"{name}: expected an array of token IDs in NumPy's format: {error}") from error
    if len(shape) != 1 or dtype.kind not in "iu":
        raise ValueError(
            f"{name}: expected an array of integers of one dimension, got {dtype} of shape {shape}"
        )
    count = 0
    for ids, is_end in number_blocks(name, file, dtype.str):
        count += len(ids)
        yield ids, is_end
    if count != shape[0]:
        raise ValueError(f"{name}: expected {shape[0]} IDs, as its header says, got {count}")


def number_blocks(name: str, file: IO[bytes], number: str) -> Iterator[Block]:
    """Reads raw numbers."""
    import numpy as np

    width = np.dtype(number).itemsize
    data = file.read(BLOCK_IDS * width)
    while data:
        following = file.read(BLOCK_IDS * width)
        if len(data) % width:
            raise ValueError(
                f"{name}: expected numbers of {width} bytes each, but {len(data) % width} are left over"
            )
        yield cast("Sequence[int]", np.frombuffer(data, number)), not following
        data = following


def json_blocks(name: str, file: IO[bytes]) -> Iterator[Block]:
    """Reads JSON lines."""
    for number, line in enumerate(file, start=1):
        if line.isspace():
            continue
        try:
            ids = json.loads(line)[FIELD]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise ValueError(
                f"{name}, line {number}: expected a JSON object with the field {FIELD}: {error}"
            ) from error
        if not isinstance(ids, list) or not all(type(token) is int for token in ids):
            raise ValueError(
                f"{name}, line {number}: expected a list of integers in {FIELD}, got {ids!r:.60}"
            )
        yield ids, True


def decimal_blocks(name: str, file: IO[bytes]) -> Iterator[Block]:
    """Reads decimal numbers; lines may be longer than memory."""
    line = 1
    # The end of the line so far, which is a number that may continue.
    rest = b""
    is_end = True
    while data := file.readline(LINE_BYTES):
        data = rest + data.translate(SEPARATORS)
        is_end = data.endswith(b"\n")
        cut = len(data) if is_end else data.rfind(b" ") + 1
        data, rest = data[:cut], data[cut:]
        yield ids_of_line(name, line, data), is_end
        line += is_end
    if not is_end:
        yield ids_of_line(name, line, rest), True


def ids_of_line(name: str, line: int, data: bytes) -> list[int]:
    """Returns the ids in a line, or in a part of one; errors as `id_blocks`."""
    try:
        return parse_ids(data.split())
    except ValueError as error:
        raise ValueError(f"{name}, line {line}: {error}") from None


# Token ids as text: decimal digits of ASCII, in options, arguments and files.

# Separators of decimal numbers, those that Python prints for a list included.
SEPARATORS = bytes.maketrans(b",[]\t\r", b"     ")


def parse_ids(words: Sequence[bytes]) -> list[int]:
    """Parses ids.

    Raises:
        ValueError: A word is none. Python's `int` would also take signs, underscores and other digits.
    """
    wrong = next((word for word in words if not word.isdigit()), None)
    if wrong is None:
        try:
            return list(map(int, words))
        except ValueError:
            # Of more digits than `int` takes.
            wrong = max(words, key=len)
    shown = wrong.decode(errors="backslashreplace")
    raise ValueError(f"expected token IDs as decimal numbers, got {shown!r:.60}")


def id_arguments(arguments: Sequence[str]) -> list[int] | None:
    """Returns the ids in arguments such as `24912 2375` or `"[24912, 2375]"`; `None` if they are not ids.

    The name of a file that exists is not an id.
    """
    if any(map(os.path.exists, arguments)):
        return None
    try:
        return parse_ids(os.fsencode(" ".join(arguments)).translate(SEPARATORS).split()) or None
    except ValueError:
        return None


def is_id(text: str) -> bool:
    """Returns whether a text is an id, not that there is such a token."""
    return os.fsencode(text).isdigit()


class TokenId(click.ParamType):  # type: ignore[type-arg]
    """The type of an option that is an id."""

    name = "id"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the id; fails if it is none."""
        try:
            return value if isinstance(value, int) else parse_ids([os.fsencode(str(value))])[0]
        except ValueError as error:
            self.fail(str(error), param, ctx)


class TokenIds(click.ParamType):  # type: ignore[type-arg]
    """The type of an option that is a range of ids, such as 256-300; its value is the first and the last."""

    name = "ids"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Returns the first and the last id; fails if it is not a range."""
        first, dash, last = str(value).partition("-")
        try:
            found = parse_ids([os.fsencode(first), os.fsencode(last if dash else first)])
        except ValueError as error:
            self.fail(f"{error}; a range is written 256-300", param, ctx)
        if found[0] > found[1]:
            self.fail(f"expected the lower id first, got {value}", param, ctx)
        return found[0], found[1]
