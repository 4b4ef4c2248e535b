"""Recognition of a file's kind by its contents, where its name says something else."""

from __future__ import annotations

import re
import warnings

__all__ = ["HOW_TO_NAME", "MAGIC", "PARQUET_MAGIC", "check_start"]

# Ends messages about a field or column that is not there.
HOW_TO_NAME = "--field (field=) names what holds the text, several times if files differ"

# The first bytes of compressed files, which no text in UTF-8 starts with.
MAGIC = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
PARQUET_MAGIC = b"PAR1"
# A text may start with the first four, but in Parquet files a page follows.
PARQUET_START = PARQUET_MAGIC + b"\x15"

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ARRAY_OF_OBJECTS = re.compile(rb"\s*\[\s*\{\s*\"")


def check_start(start: bytes, name: str, *, is_text: bool = False, has_field: bool = False) -> None:
    """Compares the start of a file's contents with what it is read as.

    Args:
        start: The start, decompressed if the name says that it is compressed.
        name: The name of the file, for messages.
        is_text: Whether it is read as text, otherwise as JSON lines.
        has_field: Whether that is because a field was named.

    Raises:
        ValueError: It is a compressed file or Parquet; or it is to be JSON lines because a field was named,
            and is none.

    Warns:
        UserWarning: It is read as text, and looks like JSON lines.
    """
    for suffix, magic in {**MAGIC, ".parquet": PARQUET_START}.items():
        if start.startswith(magic):
            raise ValueError(
                f"{name}: expected {'text' if is_text else 'JSON lines'}, got the contents of a {suffix} "
                f"file: give it a name that ends in {suffix}"
            )
    start = start.removeprefix(BYTE_ORDER_MARK)
    is_array = ARRAY_OF_OBJECTS.match(start) is not None
    how = "with --field NAME (field=NAME) the strings in a field are read"
    as_lines = "`jq -c '.[]'` writes the objects of an array as lines"
    if is_text and is_array:
        warn(f"{name}: a JSON array is read as text; {as_lines}, and {how}")
    elif is_text and looks_like_json_lines(start):
        warn(f"{name}: JSON lines are read as text; {how}")
    elif has_field and start.strip() and not start.lstrip().startswith(b"{"):
        more = f"; {as_lines}" if is_array else ", and text is read without it"
        raise ValueError(
            f"{name}: expected JSON lines, got a file that begins with {start[:20]!r}: with --field (field=) "
            f"all files but Parquet are JSON lines{more}"
        )


def warn(message: str) -> None:
    """Warns. Where the files were named is not known here."""
    warnings.warn(message, UserWarning, stacklevel=3)


def looks_like_json_lines(start: bytes) -> bool:
    """Returns whether the first line is an object, and more than that: has a text, or another one follows."""
    first, _, rest = start.lstrip().partition(b"\n")
    if not first.startswith(b"{"):
        return False
    # Imported late, as most text is none.
    import json

    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(record.get("text"), str) or rest[:100].lstrip().startswith(b"{")
