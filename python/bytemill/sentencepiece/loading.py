"""Files of models, and the errors if they cannot be read or written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytemill.io.atomic import write_atomically

if TYPE_CHECKING:
    from bytemill.errors import VocabularyError
    from bytemill.sentencepiece.engine import Engine

__all__ = ["WithModel", "file_error", "model_bytes", "read_file", "refusal", "write_file"]

# The codes that SentencePiece gives the system's errors about files, by the library Abseil; others are
# UNKNOWN.
CODES = {
    "EACCES": "PERMISSION_DENIED",
    "EBUSY": "FAILED_PRECONDITION",
    "EDQUOT": "RESOURCE_EXHAUSTED",
    "EFBIG": "OUT_OF_RANGE",
    "EINVAL": "INVALID_ARGUMENT",
    "EISDIR": "FAILED_PRECONDITION",
    "EMFILE": "RESOURCE_EXHAUSTED",
    "ENAMETOOLONG": "INVALID_ARGUMENT",
    "ENFILE": "RESOURCE_EXHAUSTED",
    "ENODEV": "NOT_FOUND",
    "ENOENT": "NOT_FOUND",
    "ENOMEM": "RESOURCE_EXHAUSTED",
    "ENOSPC": "RESOURCE_EXHAUSTED",
    "ENOTDIR": "FAILED_PRECONDITION",
    "ENXIO": "NOT_FOUND",
    "EPERM": "PERMISSION_DENIED",
    "EROFS": "PERMISSION_DENIED",
    "ESTALE": "ABORTED",
    "ETXTBSY": "FAILED_PRECONDITION",
}


class WithModel:
    """Something that may have a model."""

    _engine: Engine | None
    _return_type: object
    _num_threads: int

    def _loaded(self) -> Engine:
        """Returns the model; `RuntimeError` without one."""
        if self._engine is None:
            raise RuntimeError("INTERNAL: Model is not initialized.")
        return self._engine


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Returns the bytes of a file.

    Raises:
        RuntimeError: It cannot be read; see `file_error`.
        TypeError: `path` is not a path.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise file_error(path, error) from error


def write_file(path: str, contents: bytes) -> None:
    """Writes a file; `RuntimeError` if it cannot be written, see `file_error`."""
    try:
        write_atomically(path, contents)
    except OSError as error:
        raise file_error(path, error) from error


def file_error(path: str | os.PathLike[str], error: OSError) -> RuntimeError | ValueError:
    """Returns SentencePiece's error for a file that cannot be read or written."""
    code = CODES.get(errno.errorcode.get(error.errno or 0, ""), "UNKNOWN")
    kind = ValueError if code == "INVALID_ARGUMENT" else RuntimeError
    # Not `strerror`, in which this library may say more.
    return kind(f'{code}: "{os.fspath(path)}": {os.strerror(error.errno or 0)}')


def model_bytes(model: Any) -> bytes:
    """Returns the bytes of a model, which may be a message; `TypeError` if it is something else."""
    data = model.SerializeToString() if hasattr(model, "SerializeToString") else model
    if not isinstance(data, bytes):
        raise TypeError(f"expected a model as bytes or as a message, not {data!r:.40}")
    return data


def refusal(error: VocabularyError) -> RuntimeError:
    """Returns SentencePiece's error for a model that cannot be used."""
    return RuntimeError(f"INTERNAL: {error}")
