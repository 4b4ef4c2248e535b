"""Recognition of a file's kind by its contents, if they do not match its name."""

from __future__ import annotations

import re
import warnings

__all__ = ["HOW_TO_NAME", "ITEMS_AS_LINES", "MAGIC", "OBJECTS_AS_LINES", "PARQUET_MAGIC", "check_start"]

# Ends messages about a field or column that is not there.
HOW_TO_NAME = "--field (field=) names what holds the text, several times if files differ"

# End messages about JSON that is not in lines.
ITEMS_AS_LINES = "`jq -c '.[]'` writes the objects of an array as lines"
OBJECTS_AS_LINES = "`jq -c .` writes objects of several lines as one line each"

# The first bytes of compressed files, which no text in UTF-8 starts with.
MAGIC = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
PARQUET_MAGIC = b"PAR1"

# The first bytes of what is not read, and what decompresses or extracts it.
OTHERS = {
    b"BZh": (".bz2", "`bzip2 -dk FILE` decompresses it"),
    b"\xfd7zXZ\x00": (".xz", "`xz -dk FILE` decompresses it"),
    b"\x04\x22\x4d\x18": (".lz4", "`lz4 -dk FILE` decompresses it"),
    b"\x1f\x9d": (".Z", "`gzip -dk FILE` decompresses it"),
    b"PK\x03\x04": (".zip", "`unzip FILE` extracts the files in it"),
    b"7z\xbc\xaf\x27\x1c": (".7z", "`7z x FILE` extracts the files in it"),
    b"Rar!\x1a\x07": (".rar", "`unrar x FILE` extracts the files in it"),
}
# What follows in a file of bzip2, whose first bytes a text may have.
BZIP2_BLOCK = b"1AY&SY"
# Where files of tar have their mark, behind a name that zeros fill.
TAR_MARK, TAR_OFFSET = b"ustar", 257

# A text may start with the first four, but in Parquet files a page follows.
PARQUET_START = PARQUET_MAGIC + b"\x15"

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ARRAY_OF_OBJECTS = re.compile(rb"\s*\[\s*\{\s*\"")


def check_start(start: bytes, name: str, *, is_text: bool = False, has_field: bool = False) -> None:
    """Compares the start of a file's contents with its kind.

    Args:
        start: The start, decompressed if the name says that it is compressed.
        name: The name of the file, for messages.
        is_text: Whether it is read as text, otherwise as JSON lines.
        has_field: Whether that is because a field was named.

    Raises:
        ValueError: It is a compressed file, an archive or Parquet; or a field was named, and it is not JSON
            Lines.

    Warns:
        UserWarning: It is read as text, but looks like JSON Lines.
    """
    for suffix, magic in {**MAGIC, ".parquet": PARQUET_START}.items():
        if start.startswith(magic):
            raise ValueError(
                f"{name}: expected {'text' if is_text else 'JSON lines'}, got the contents of a {suffix} "
                f"file: give it a name that ends in {suffix}"
            )
    found = unreadable_kind(start)
    if found is not None:
        suffix, remedy = found
        raise ValueError(f"{name}: the contents of a {suffix} file are not read: {remedy}")
    start = start.removeprefix(BYTE_ORDER_MARK)
    is_array = ARRAY_OF_OBJECTS.match(start) is not None
    how = "with --field NAME (field=NAME) the strings in a field are read"
    if is_text and is_array:
        warn(f"{name}: a JSON array is read as text; {ITEMS_AS_LINES}, and {how}")
    elif is_text and looks_like_json_lines(start):
        warn(f"{name}: JSON lines are read as text; {how}")
    elif has_field and start.strip() and not start.lstrip().startswith(b"{"):
        more = f"; {ITEMS_AS_LINES}" if is_array else ", and text is read without it"
        raise ValueError(
            f"{name}: expected JSON lines, got a file that begins with {start[:20]!r}: with --field (field=) "
            f"all files but Parquet are JSON lines{more}"
        )


def unreadable_kind(start: bytes) -> tuple[str, str] | None:
    """Returns the suffix of an unreadable file's contents, and what to do about it."""
    for magic, kind in OTHERS.items():
        if start.startswith(magic) and (magic != b"BZh" or start[4:10] == BZIP2_BLOCK):
            return kind
    if start[TAR_OFFSET:].startswith(TAR_MARK) and b"\0" in start[:TAR_OFFSET]:
        return ".tar", "`tar -xf FILE` extracts the files in it"
    return None


def warn(message: str) -> None:
    """Emits the warning."""
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
