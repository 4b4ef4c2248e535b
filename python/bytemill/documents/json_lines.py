r"""The strings in a field of JSON lines.

The compiled core parses the lines, in blocks of any size: objects of any depth, numbers of any length.
Extensions of the standard that Python's `json` writes and reads are accepted too: `NaN`, `Infinity`, names
with half a surrogate pair, and a byte order mark before a line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bytemill._backend import json_fields
from bytemill._messages import alternatives, named
from bytemill.documents.sources import HOW_TO_NAME, ITEMS_AS_LINES, OBJECTS_AS_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = ["few_json_texts", "json_texts", "line_error"]

# A byte order mark, a string, or a number that is none in the standard.
LENIENT = re.compile(rb'^\xef\xbb\xbf|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|-?Infinity|NaN', re.MULTILINE)

# Escapes in a string; the group is half a surrogate pair without its other half.
HEX = rb"[0-9a-fA-F]"
ESCAPES = re.compile(
    rb"\\u[dD][89abAB]%(hex)b{2}\\u[dD][c-fC-F]%(hex)b{2}|(\\u[dD][89a-fA-F]%(hex)b{2})|\\." % {b"hex": HEX}
)

# What the core says of a line: its number in the block, and the reason.
SAID = re.compile(r"line (\d+): (.*)", re.DOTALL)

# Names of values by their first byte, except for numbers.
KINDS = {b"[": "an array", b'"': "a string", b"n": "null", b"t": "true", b"f": "false"}


def json_texts(block: bytes, fields: Sequence[str], num_threads: int) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Returns the string of each line in the first of some fields that the line has.

    Lines of whitespace, and those with `null` in the field, are not documents.

    Args:
        block: Lines of JSON, an object each.
        fields: The names of the fields.
        num_threads: The maximum number of threads.

    Returns:
        The strings as UTF-8, one after the other, and where they start and end.

    Raises:
        ValueError: A line is not such an object, or the field holds something else; see `line_error`.
    """
    try:
        return json_fields(block, fields, num_threads)
    except ValueError:
        strict = LENIENT.sub(in_the_standard, block)
        if strict == block:
            raise
    return json_fields(strict, fields, num_threads)


def in_the_standard(found: re.Match[bytes]) -> bytes:
    """Returns for what `LENIENT` finds something as long that every reader of JSON takes."""
    part = found[0]
    if part.startswith(b'"'):
        if b"\\u" not in part:
            return part
        return ESCAPES.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], part)
    # Blanks around the number keep it apart from what it must not touch.
    return (b"" if part.startswith(b"\xef") else b" 0 ").ljust(len(part))


def few_json_texts(block: bytes, fields: Sequence[str]) -> list[str] | None:
    """Returns what `json_texts` does, by Python's `json`; `None` if that refuses anything, for any reason.

    The arrays of `json_texts` need NumPy, whose import takes as long as all else in a command that reads a
    small file.
    """
    import json

    texts = []
    for line in block.split(b"\n"):
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line.decode())
            text = next(record[field] for field in fields if field in record)
        except (ValueError, RecursionError, TypeError, StopIteration):
            return None
        if text is None:
            continue
        if not isinstance(text, str):
            return None
        texts.append(text)
    return texts


def line_error(
    error: ValueError, block: bytes, name: str, lines_before: int, fields: Sequence[str]
) -> ValueError:
    """Returns the error of `json_texts` with the name of the file, the line, and what there is instead."""
    said = SAID.fullmatch(str(error))
    if said is None:
        return error
    number, reason = int(said[1]), said[2]
    line = block.split(b"\n", number)[number - 1].lstrip(b"\xef\xbb\xbf \t\r")
    if reason.startswith("expected an object with"):
        reason = f"expected an object with the field {alternatives(map(repr, fields))}{fields_in(line)}"
    elif ": invalid type: " in reason:
        reason = f"expected a JSON object, got {KINDS.get(line[:1], 'a number')}"
        if line.startswith(b"["):
            reason += f"; {ITEMS_AS_LINES}"
    elif ": EOF " in reason and block.count(b"\n") >= number:
        reason += f"; {OBJECTS_AS_LINES}"
    return ValueError(f"{name}, line {lines_before + number}: {reason}")


def fields_in(line: bytes) -> str:
    """Returns what a message says about the fields of an object; nothing where Python cannot read it."""
    import json

    try:
        record = json.loads(line.decode(), parse_int=str)
    except (ValueError, RecursionError):
        return ""
    return f", got the fields {named(record)}; {HOW_TO_NAME}" if record else ", got no field"
