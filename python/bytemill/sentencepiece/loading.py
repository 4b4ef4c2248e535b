"""Where models come from, and what is said if they cannot be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bytemill.errors import VocabularyError
    from bytemill.sentencepiece.engine import Engine

__all__ = ["WithModel", "model_bytes", "read_file", "refusal", "unreadable"]


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
        RuntimeError: It cannot be read.
        TypeError: `path` is no path.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: str | os.PathLike[str], error: OSError) -> RuntimeError:
    """Returns the error for a file that cannot be read, as SentencePiece has it."""
    code = "NOT_FOUND" if isinstance(error, FileNotFoundError) else "UNKNOWN"
    return RuntimeError(f'{code}: "{os.fspath(path)}": {error.strerror}')


def model_bytes(model: Any) -> bytes:
    """Returns the bytes of a model, which may be a message; `TypeError` if it is something else."""
    data = model.SerializeToString() if hasattr(model, "SerializeToString") else model
    if not isinstance(data, bytes):
        raise TypeError(f"expected a model as bytes or as a message, not {data!r:.40}")
    return data


def refusal(error: VocabularyError) -> RuntimeError:
    """Returns the error for a model that cannot be used, as SentencePiece has it."""
    return RuntimeError(f"INTERNAL: {error}")
