"""Checks of arguments, with the errors of SentencePiece."""

from __future__ import annotations

import errno
import operator
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from bytemill.io.atomic import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.errors import VocabularyError

__all__ = [
    "RETURN_TYPES",
    "ThreadPool",
    "check_documents",
    "checked_ids",
    "checked_text",
    "convert_to_flatbuffer",
    "file_error",
    "is_sequence",
    "model_bytes",
    "path_of",
    "read_file",
    "refusal",
    "resolved_return_type",
    "set_data_dir",
    "set_min_log_level",
    "set_nbest_timeout",
    "set_random_generator_seed",
    "thread_count",
    "write_file",
]

RETURN_TYPES = (int, str, bytes, "proto", "serialized_proto", "numpy", "offset_mapping")

MAX_THREADS = 1024

NO_IDS = "Input must be an integer buffer, list of integers, or a sequence of integers."


def resolved_return_type(return_type: object, out_type: object, default: object) -> object:
    """Returns the type of results that was asked for by one of two names.

    Raises:
        ValueError: Both names are used, or there is no such type.
    """
    if return_type is not None and out_type is not None:
        raise ValueError("Cannot specify both out_type and return_type. Use return_type instead.")
    wanted = next((kind for kind in (out_type, return_type) if kind is not None), default)
    if wanted == "immutable_proto":
        raise ValueError(
            "immutable_proto is deprecated and no longer supported. Use return_type='proto' instead."
        )
    if wanted not in RETURN_TYPES:
        raise ValueError(f"Invalid return_type: {wanted}. Must be one of {RETURN_TYPES}")
    return wanted


def thread_count(num_threads: object, thread_pool: ThreadPool | None = None) -> int:
    """Returns a number of threads; a negative number stands for all processors.

    Raises:
        TypeError: It is not a number, or `thread_pool` is none.
    """
    if thread_pool is not None:
        # Also one of SentencePiece itself.
        if not callable(getattr(thread_pool, "num_threads", None)):
            raise TypeError(f"thread_pool must be of the type ThreadPool, not {type(thread_pool).__name__}")
        return thread_pool.num_threads()
    if not isinstance(num_threads, int):
        raise TypeError("num_threads must be int")
    return max(1, min(num_threads if num_threads >= 0 else os.cpu_count() or 1, MAX_THREADS))


def checked_text(text: object) -> str | bytes:
    """Returns a text; `TypeError` if it is something else."""
    if isinstance(text, (str, bytes)):
        return text
    raise TypeError("Input must be str or bytes")


def check_documents(texts: list[Any]) -> None:
    """Raises `TypeError` if something in a list is not text."""
    if not all(isinstance(text, (str, bytes)) for text in texts):
        raise TypeError("List elements must be str or bytes")


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    """Returns whether a value is several values, as opposed to a number or a text."""
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def checked_ids(ids: object) -> list[int]:
    """Returns IDs as a list.

    Raises:
        TypeError: They are not whole numbers.
    """
    dtype = getattr(ids, "dtype", None)
    if dtype is not None:
        if dtype.kind not in "iu":
            raise TypeError("Buffer must be of integer type")
        if getattr(ids, "ndim", 1) != 1:
            raise TypeError("Buffer must be 1-dimensional")
        return ids.tolist()  # type: ignore[attr-defined, no-any-return]
    if not is_sequence(ids) or isinstance(ids, dict):
        raise TypeError(NO_IDS)
    try:
        found = list(map(operator.index, ids))
    except TypeError:
        raise TypeError(NO_IDS) from None
    if found and not -(2**31) <= min(found) <= max(found) < 2**31:
        raise TypeError(NO_IDS)
    return found


# Functions of the module: threads, random numbers and log messages.
class ThreadPool:
    """A number of threads, which methods take as `thread_pool`. They start and end with each call."""

    def __init__(self, num_threads: int) -> None:
        """Sets the number of threads; a negative number means all processors."""
        self._num_threads = thread_count(num_threads)

    def num_threads(self) -> int:
        """Returns the number of threads."""
        return self._num_threads


def set_random_generator_seed(seed: int) -> None:
    """Does nothing: nothing is random; the option `seed` of training determines which sentences are kept."""
    if not isinstance(seed, int):
        raise TypeError(f"expected the seed to be an int, not {seed!r:.40}")


def set_min_log_level(level: int) -> None:
    """Does nothing: nothing is logged."""
    if not isinstance(level, int):
        raise TypeError(f"expected the level to be an int, not {level!r:.40}")


def set_nbest_timeout(seconds: int) -> None:
    """Does nothing: a BPE model has one way to encode a text."""
    if not isinstance(seconds, int):
        raise TypeError(f"expected the seconds to be an int, not {seconds!r:.40}")


def set_data_dir(data_dir: str) -> NoReturn:
    """Raises `NotImplementedError`: the named normalization rules are built in."""
    raise NotImplementedError(
        f"set_data_dir is not supported, got {data_dir!r:.40}: named rules are a part of this library; "
        "pass others as a file with normalization_rule_tsv, or as a SentencePieceNormalizer"
    )


def convert_to_flatbuffer(*_arguments: Any, **_options: Any) -> NoReturn:
    """Raises `NotImplementedError`: only SentencePiece's own Lite library reads such files."""
    raise NotImplementedError(
        "convert_to_flatbuffer is not supported: use the package sentencepiece to write .spm.fb files"
    )


# Files of models, and the errors if they cannot be read or written.

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


def read_file(path: str | bytes | os.PathLike[str]) -> bytes:
    """Returns the bytes of a file.

    Raises:
        RuntimeError: It cannot be read; see `file_error`.
        TypeError: `path` is not a path.
    """
    path = path_of(path)
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise file_error(path, error) from error


def path_of(path: str | bytes | os.PathLike[str]) -> str:
    """Returns the path of a file, which SentencePiece takes as bytes too; `TypeError` if it is none."""
    return os.fsdecode(path)


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
