"""Sources of documents, kinds of files by name, opening files."""

from __future__ import annotations

import errno
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import IO, Literal, NamedTuple, TypeAlias

from bytemill._arguments import Field, InvalidUtf8, Reading, is_table
from bytemill._messages import import_optional, named
from bytemill.io.uris import identity, is_uri, listed, open_input, without_scheme

__all__ = [
    "COMPRESSIONS",
    "DEFAULT_FIELDS",
    "HOW_TO_NAME",
    "ITEMS_AS_LINES",
    "MAGIC",
    "OBJECTS_AS_LINES",
    "PARQUET_MAGIC",
    "Document",
    "Field",
    "FileRange",
    "InvalidUtf8",
    "Kind",
    "ObjectPath",
    "Reading",
    "Source",
    "Stream",
    "check_apart",
    "check_documents",
    "check_files",
    "check_package",
    "check_start",
    "files_in",
    "items_of",
    "kind_of",
    "objects_of",
    "opened",
]

COMPRESSIONS = (".gz", ".zst")
JSON_LINES = frozenset({".jsonl", ".ndjson"})
DEFAULT_FIELDS = ("text",)

# Modules of optional packages that read files, by suffix, and what needs them.
MODULES = {".parquet": ("pyarrow.parquet", "Parquet files"), ".zst": ("zstandard", ".zst files")}


# What looks like the name of a file, though no document of one word would: its suffix is that of texts.
NAME = re.compile(
    r"\S*\w\.(?:txt|text|md|rst|csv|tsv|html?|xml|json|jsonl|ndjson|parquet)(?:\.gz|\.zst)?", re.IGNORECASE
)
LONGEST_NAME = 4096


class Stream(NamedTuple):
    """An open file. Reading does not close it.

    Attributes:
        file: The file, open for reading bytes.
        name: Its name, whose suffixes determine its kind; also used in messages.
        start: Where to start, at the beginning of a line: bytes of the file, or rows of Parquet at the
            beginning of a row group.
        end: Where to stop, likewise; `None` for the end of the file. Not for compressed files, nor for those
            that are one document.
    """

    file: IO[bytes]
    name: str
    start: int = 0
    end: int | None = None

    @property
    def named(self) -> str:
        """The name for messages, which count lines from the start."""
        return f"{self.name}, from {self.start} on" if self.start else self.name


class FileRange(NamedTuple):
    """A part of a file, or all of it; see `Stream`. The path may be the URI of an object."""

    path: str
    start: int = 0
    end: int | None = None


class ObjectPath(os.PathLike[str]):
    """A file on an object store: unlike in a `Path`, the slashes of its URI stay."""

    def __init__(self, uri: str) -> None:
        """Takes the URI."""
        self.uri = uri

    def __fspath__(self) -> str:
        return self.uri

    def __repr__(self) -> str:
        return f"ObjectPath({self.uri!r})"


Document: TypeAlias = str | bytes
Source: TypeAlias = str | os.PathLike[str] | Iterable[Document | os.PathLike[str] | Stream | FileRange]


Kind: TypeAlias = Literal["text", "json lines", "parquet"]


def items_of(source: object) -> Iterable[object]:
    """Returns the documents and files of a source; those in a folder for the folder.

    A source that is the URI of an object store means a file, those below a folder, or matches of a glob.

    Raises:
        TypeError: It is not a source, for example a mapping or a table.
        ValueError: It is a list of strings that all name files or look like it: pass `Path` objects for
            files.
        FileNotFoundError: It is a string and there is no such file.
    """
    if isinstance(source, str):
        if is_uri(source):
            return objects_of(source)
        source = without_scheme(source)
    if isinstance(source, str) and not is_file(source):
        raise FileNotFoundError(errno.ENOENT, "no such file; pass a single text as [text]", source[:100])
    if isinstance(source, (str, os.PathLike)):
        return with_files_in_folders([Path(source)])
    check_documents(source)
    if isinstance(source, (bytes, bytearray)) or not isinstance(source, Iterable):
        raise TypeError(
            "expected an iterable of documents, a path or paths, "
            f"got {type(source).__name__}; pass a single document as [document]"
        )
    if (
        isinstance(source, (list, tuple))
        and source
        and all(is_file(each) or is_name(each) or is_uri(each) for each in source)
    ):
        if all(map(is_uri, source)):
            raise ValueError(
                f"strings are documents, but all of these are URIs ({source[0]!r}): for the contents of "
                "several objects pass one URI, of a folder or with wildcards"
            )
        missing = next((each for each in source if not is_file(each)), None)
        so = "are names of files" if missing is None else f"look like names of files ({missing!r} is missing)"
        raise ValueError(
            f"strings are documents, but all of these {so}: "
            "for their contents pass pathlib.Path objects, for the names themselves an iterator"
        )
    return with_files_in_folders(source)


def check_documents(source: object) -> None:
    """Raises `TypeError` for a mapping or a table: iterators of these are over keys, columns or rows."""
    name = type(source).__name__
    if isinstance(source, Mapping):
        raise TypeError(
            f"expected documents, got a mapping ({name}) with the keys "
            f"{named([str(key) for key in source])}: pass the documents of one, such as source['train']"
        )
    if is_table(source):
        raise TypeError(
            f"expected documents, got a table ({name}): pass the column with the texts, such as "
            "source['text']"
        )


def objects_of(uri: str) -> list[ObjectPath]:
    """Returns the files that a URI means, see `bytemill.io.uris.listed`.

    Raises:
        OSError: There is none, or the store cannot be read.
        ImportError: The store needs a package that is not installed.
    """
    return list(map(ObjectPath, listed(uri)))


def with_files_in_folders(items: Iterable[object]) -> Iterator[object]:
    """Yields items, and instead of folders their files."""
    for item in items:
        if isinstance(item, os.PathLike) and Path(item).is_dir():
            yield from files_in(item)
        else:
            yield item


def files_in(folder: str | os.PathLike[str]) -> list[Path]:
    """Returns the files in a folder and in those below, sorted; hidden files and folders are left out.

    Raises:
        ValueError: There is no file.
        OSError: A folder cannot be read.
    """

    def fail(error: OSError) -> None:
        raise error

    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(parent, name) for name in names if not name.startswith(".")]
    files = sorted(path for path in found if path.is_file())
    if not files:
        raise ValueError(f"{os.fspath(folder)}: the folder holds no files")
    return files


def check_files(source: object, *, outputs: str | os.PathLike[str] | None = None) -> None:
    """Raises the errors of reading the listed files at once, instead of after hours.

    Args:
        source: Same as in `items_of`. Only paths, and lists of them, are known before they are read.
        outputs: The folder that will be written to, if there is one; it need not exist.

    Raises:
        TypeError: It is a mapping or a table.
        ValueError: A folder of it has the outputs, which would be read too.
        OSError: A file is missing.
        ImportError: A file needs a package that is not installed.
    """
    check_documents(source)
    if isinstance(source, str):
        name = without_scheme(source)
        source = objects_of(name) if is_uri(name) else Path(name) if is_file(name) else source
    items = source if isinstance(source, (list, tuple)) else [source]
    if outputs is not None:
        check_apart(items, outputs)
    for item in with_files_in_folders(items):
        if not isinstance(item, os.PathLike):
            continue
        identity(os.fspath(item))
        check_package(os.fspath(item))


def check_apart(items: Iterable[object], outputs: str | os.PathLike[str]) -> None:
    """Raises `ValueError` if a folder among the items of a source has the folder of the outputs."""
    place = Path(outputs).resolve()
    for item in items:
        if not isinstance(item, os.PathLike) or not Path(item).is_dir():
            continue
        folder = Path(item).resolve()
        # Hidden files and folders are not read.
        if place.is_relative_to(folder) and not any(
            name.startswith(".") for name in place.relative_to(folder).parts
        ):
            raise ValueError(
                f"{os.fspath(outputs)}: expected a folder for outputs outside of the source "
                f"{os.fspath(item)}, whose files are all read: give another one"
            )


def check_package(name: str) -> None:
    """Raises `ImportError` if a file needs a package that is not installed."""
    suffix = Path(name).suffix.lower()
    if suffix in MODULES:
        import_optional(*MODULES[suffix])


def is_file(name: object) -> bool:
    """Returns whether this is a string that names an existing file or folder."""
    # `Path` would parse a long document first.
    return isinstance(name, str) and os.path.exists(name)  # noqa: PTH110


def is_name(text: object) -> bool:
    """Returns whether this is a string that looks like the name of a file of text, though there is none."""
    return isinstance(text, str) and len(text) <= LONGEST_NAME and NAME.fullmatch(text) is not None


@contextmanager
def opened(item: object) -> Iterator[Stream]:
    """Opens an item of a source that is a file, and expects it to be read to its end.

    Args:
        item: A path, a `FileRange`, or a `Stream`, which stays open.

    Raises:
        TypeError: It is neither.
        ValueError: The file has changed since it was opened, by its size or the time of its last change.
        OSError: The file cannot be opened.
    """
    if isinstance(item, Stream):
        yield item
        return
    if isinstance(item, os.PathLike):
        item = FileRange(os.fspath(item))
    if not isinstance(item, FileRange):
        raise TypeError(
            f"expected documents as str or bytes, or paths, got {type(item).__name__}{remedy_for(item)}"
        )
    with open_input(item.path) as file:
        before = state_of(file, item.path)
        yield Stream(file, *item)
        after = state_of(file, item.path)
    if before != after:
        raise ValueError(
            f"{item.path}: the file has changed while it was read, from {before[0]} bytes to {after[0]}: "
            "pass a copy that no process writes to"
        )


def remedy_for(item: object) -> str:
    """Returns the end of the message about an item that is not a document, but near one."""
    if isinstance(item, (bytearray, memoryview)):
        return "; pass bytes(document)"
    if isinstance(item, Mapping):
        return "; for records pass their texts, such as dataset['text'] or record['text']"
    if item is None or isinstance(item, float):
        return "; leave out what is missing"
    # A scalar of Arrow.
    return "; for an Arrow array pass array.to_pylist()" if hasattr(item, "as_py") else ""


def state_of(file: IO[bytes], name: str) -> tuple[int, int | str]:
    """Returns the size of an open file, and its version; nothing for a pipe or the like."""
    if is_uri(name):
        return identity(name)
    status = os.fstat(file.fileno())
    return (status.st_size, status.st_mtime_ns) if S_ISREG(status.st_mode) else (0, 0)


def kind_of(name: str, *, has_field: bool) -> Kind:
    """Returns the kind of a file.

    Args:
        name: Its name.
        has_field: Whether a field was named: then it is JSON lines unless it is Parquet.

    Raises:
        ValueError: The name says that a Parquet file is compressed as a whole.
    """
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    is_compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    if is_compressed:
        suffixes.pop()
    last = suffixes[-1] if suffixes else ""
    if last == ".parquet" and is_compressed:
        raise ValueError(f"{name}: Parquet files are compressed inside, not as a whole: unpack it first")
    return "parquet" if last == ".parquet" else "json lines" if has_field or last in JSON_LINES else "text"


# Recognition of a file's kind by its contents, if they do not match its name.

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
