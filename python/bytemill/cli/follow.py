"""`bytemill count --follow`: the number of tokens of a text that grows."""

from __future__ import annotations

import codecs
import json
import os
import shlex
from io import BufferedReader
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from time import sleep
from typing import TYPE_CHECKING

import click

from bytemill.cli.options import special_rule
from bytemill.cli.output import input_bytes
from bytemill.cli.reading import INTERVAL, STANDARD_INPUT, input_name, named_special

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytemill.core import Encoding

__all__ = ["follow"]

# Bytes that are read at once.
CHUNK = 1 << 20


def follow(  # noqa: PLR0913 - the options of the command
    name: str, encoding: Encoding, *, special: str, errors: str, limit: int | None, as_json: bool
) -> int:
    """Prints the number of tokens of a file whenever it has grown.

    Args:
        name: The file, of which no end is known; or `-` for standard input, which ends.
        encoding: The encoding.
        special: The rule for special tokens.
        errors: How bytes that are not UTF-8 are handled.
        limit: A number of tokens to end at, when there are more.
        as_json: Whether to print a JSON object for each number.

    Returns:
        The number of tokens when standard input ended, or the limit was exceeded.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not UTF-8, or a pipe with a name.
        DisallowedSpecialTokenError: It has a special token, which the rule says is an error.
    """
    session = encoding.session(**special_rule(special))
    decoder = codecs.getincrementaldecoder("utf-8")(errors)
    size, printed = 0, None
    is_input = name == STANDARD_INPUT
    parts = from_standard_input() if is_input else from_file(Path(name))
    for part in parts:
        if part is None:
            click.echo(f"bytemill: {input_name(name)} was made shorter: counted from its start", err=True)
            decoder.reset()
            session.update("")
            size = 0
            continue
        try:
            text = decoder.decode(part, final=is_input and not part)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{input_name(name)} is not UTF-8: {error.reason} about byte {size:,}; use --errors replace"
            ) from None
        with named_special(input_name(name)):
            session.append(text)
        size += len(part)
        # Behind a full chunk more follows at once.
        if len(part) < CHUNK and session.count != printed:
            printed = session.count
            record = {"encoding": encoding.name, "tokens": printed, "bytes": size}
            click.echo(json.dumps(record) if as_json else printed)
        if limit is not None and session.count > limit:
            break
    return session.count


def from_standard_input() -> Iterator[bytes]:
    """Yields what comes from standard input; nothing, once, at its end."""
    file = input_bytes()
    while True:
        part = file.read1(CHUNK) if isinstance(file, BufferedReader) else file.read(CHUNK)
        yield part
        if not part:
            return


def from_file(path: Path) -> Iterator[bytes | None]:
    """Yields what a file has, and then what it gets, without end; `None` where it has become shorter.

    Raises:
        ValueError: It is a pipe or the like, which has no size.
        OSError: It cannot be read.
    """
    # Before it is opened, which waits until a process writes to a pipe.
    mode = path.stat().st_mode
    if not S_ISREG(mode) and not S_ISDIR(mode):
        raise ValueError(
            f"{path}: expected a file that grows, got a pipe or a device: pass it as standard input, as in "
            f"bytemill count --follow < {shlex.quote(str(path))}"
        )
    with path.open("rb") as file:
        while True:
            part = file.read(CHUNK)
            yield part
            if part:
                continue
            if os.fstat(file.fileno()).st_size < file.tell():
                file.seek(0)
                yield None
                continue
            sleep(INTERVAL)
