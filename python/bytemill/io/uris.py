"""Files by name, where a name is a path or the URI of an object: "s3://bucket/corpus/a.jsonl", "gs://x".

Packages of `fsspec` know the stores, and take credentials and endpoints from where their users keep them: the
environment, `~/.aws`, or the files and variables of `fsspec` itself.
"""

from __future__ import annotations

import errno
import io
import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bytemill._messages import import_optional

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Buffer

__all__ = [
    "FILE_SUFFIXES",
    "cached_file",
    "download_hint",
    "example_of",
    "file_system",
    "identity",
    "is_model",
    "is_uri",
    "listed",
    "named_uri",
    "open_input",
    "without_scheme",
]

# Two letters at least: "C:" is a drive.
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
LOCAL = "file://"

HIDDEN = re.compile(r"/\.")

# Errors that callers tell from others.
NUMBERS = {
    FileNotFoundError: errno.ENOENT,
    FileExistsError: errno.EEXIST,
    PermissionError: errno.EACCES,
}

# Bytes that one request reads at least, and that reading copies at a time.
READ_AHEAD = 1 << 23
BUFFER = 1 << 17


def is_uri(name: object) -> bool:
    """Returns whether a name is a URI of an object; not a path, also one behind "file://"."""
    return isinstance(name, str) and SCHEME.match(name) is not None and not name.startswith(LOCAL)


def without_scheme(name: str | os.PathLike[str]) -> str:
    """Returns the path of a URI of this machine, any other name as it is."""
    return os.fspath(name).removeprefix(LOCAL)


def file_system(uri: str) -> tuple[Any, str]:
    """Returns the file system of a URI, of `fsspec`, and the path in it.

    Raises:
        ImportError: `fsspec`, or its package for this scheme, is not installed.
        ValueError: There is no such scheme.
    """
    fsspec = import_optional("fsspec", "files on object stores")
    try:
        # What a listing has said may have changed since.
        system, path = fsspec.core.url_to_fs(uri, use_listings_cache=False)
    except ImportError as error:
        raise ImportError(f"{uri}: {error}") from error
    return system, path


@contextmanager
def named_uri(uri: str) -> Iterator[None]:
    """Converts the errors of a store to `OSError`, or a subclass if known, with the URI."""
    try:
        yield
    except Exception as error:
        known = next((number for kind, number in NUMBERS.items() if isinstance(error, kind)), errno.EIO)
        # Of what is missing, some packages name only the path.
        said = str(error) if known in {errno.EIO, errno.EACCES} else os.strerror(known)
        number, reason = getattr(error, "errno", None) or known, getattr(error, "strerror", None) or said
        raise OSError(number, reason or type(error).__name__, uri) from error


def open_input(name: str) -> IO[bytes]:
    """Opens a file for reading.

    Raises:
        OSError: It cannot be opened.
        ImportError, ValueError: Same as `file_system`.
    """
    if not is_uri(name):
        return Path(name).open("rb")
    system, path = file_system(name)
    with named_uri(name):
        return io.BufferedReader(ObjectReader(system.open(path, "rb", block_size=READ_AHEAD), name), BUFFER)


class ObjectReader(io.RawIOBase):
    """An object that is read, with errors that have its URI."""

    def __init__(self, file: IO[bytes], uri: str) -> None:
        """Takes the file of `fsspec`."""
        self._file = file
        self._uri = uri

    def readable(self) -> bool:
        """Returns true."""
        return True

    def seekable(self) -> bool:
        """Returns true."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves to a place, and returns it."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Returns the place of the next byte."""
        return self._file.tell()

    def readinto(self, buffer: Buffer, /) -> int:
        """Reads as many bytes as the buffer has, fewer at the end."""
        target = memoryview(buffer).cast("B")
        with named_uri(self._uri):
            data = self._file.read(len(target))
        target[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        super().close()


def identity(name: str) -> tuple[int, int | str]:
    """Returns the size of a file and the time of its last change in nanoseconds, or its ETag on a store.

    A store that has no ETags has the time of the last change as text.

    Raises:
        OSError: There is no such file, or it cannot be looked up.
        ImportError, ValueError: Same as `file_system`.
    """
    if not is_uri(name):
        status = Path(name).stat()
        return status.st_size, status.st_mtime_ns
    system, path = file_system(name)
    with named_uri(name):
        return described(system, path, system.info(path))


def listed(uri: str) -> dict[str, tuple[int, int | str]]:
    """Returns the files that a URI means: itself, matches of a glob, or all below a folder.

    As in folders of this machine, hidden files and folders are left out.

    Returns:
        The `identity` of each file by its URI, sorted.

    Raises:
        OSError: There is none, or the store cannot be read.
        ImportError: Same as `file_system`.

    Complexity:
        Some requests for each thousand files, where the store lists ETags.
    """
    system, path = file_system(uri)
    with named_uri(uri):
        if any(mark in path for mark in "*?["):
            found = system.glob(path, detail=True)
        else:
            facts = info_or_none(system, path)
            found = {path: facts} if facts is not None and facts["type"] == "file" else below(system, path)
        files = {
            system.unstrip_protocol(name): described(system, name, facts)
            for name, facts in sorted(found.items())
            if facts["type"] == "file"
        }
    if not files:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", uri)
    return files


def info_or_none(system: Any, path: str) -> dict[str, Any] | None:  # noqa: ANN401 - fsspec is optional
    """Returns the store's information about a path; `None` if there is nothing."""
    try:
        # Unlike `isfile`, this fails where the store does.
        facts: dict[str, Any] = system.info(path)
    except FileNotFoundError:
        return None
    return facts


def below(system: Any, path: str) -> dict[str, dict[str, Any]]:  # noqa: ANN401 - as above
    """Returns the files below a path, without hidden ones, and the store's information about them."""
    start = len(path.rstrip("/"))
    found = system.find(path, detail=True)
    return {name: facts for name, facts in found.items() if not HIDDEN.search(name[start:])}


def described(system: Any, path: str, facts: dict[str, Any]) -> tuple[int, int | str]:  # noqa: ANN401 - as above
    """Returns the size and the version of an object."""
    version = facts.get("ETag") or facts.get("etag") or system.modified(path)
    return int(facts["size"]), str(version).strip('"')


# Tokenizers of models of the Hugging Face Hub that are in its local cache. The network is never used.

# A model as the Hub names it: OWNER/NAME. Its library raises an error for other names.
MODEL = re.compile(
    r"(?!.*(--|\.\.))[A-Za-z0-9]([\w.-]{0,94}\w)?/[A-Za-z0-9]([\w.-]{0,94}\w)?(?<!\.git)", re.ASCII
)

# Names with these suffixes are those of files, whether the files exist or not.
FILE_SUFFIXES = frozenset({".bpe", ".bytemill", ".gguf", ".json", ".model", ".tiktoken", ".txt"})

# A model of each family whose name people type for its tokenizer.
EXAMPLES = {
    "llama": "meta-llama/Llama-3.1-8B",
    "qwen": "Qwen/Qwen3-8B",
    "deepseek": "deepseek-ai/DeepSeek-V3",
    "mistral": "mistralai/Mistral-Nemo-Base-2407",
    "gemma": "google/gemma-3-4b-it",
    "phi": "microsoft/phi-4",
}


def is_model(name: str) -> bool:
    """Returns whether a text has the form of a model's name on the Hub, and not that of a file's."""
    return MODEL.fullmatch(name) is not None and Path(name).suffix.lower() not in FILE_SUFFIXES


def cached_file(model: str, names: Sequence[str]) -> Path | None:
    """Returns the first of some files of a model that is in the cache.

    `None` if there is none, or `huggingface_hub`, which knows where the cache is, is not installed.
    """
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    for name in names:
        found = try_to_load_from_cache(model, name)
        if isinstance(found, str):
            return Path(found)
    return None


def download_hint(model: str) -> str:
    """Returns how to download the tokenizer of a model."""
    return (
        f"bytemill downloads nothing: run `hf download {model} tokenizer.json`, which comes with "
        f"`pip install huggingface_hub`, and use the name {model!r} again"
    )


def example_of(name: str) -> str | None:
    """Returns a model of the family that a name such as "llama3" means; `None` where it means none."""
    lower = name.lower()
    return next((model for family, model in EXAMPLES.items() if lower.startswith(family)), None)
