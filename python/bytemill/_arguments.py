"""Checks of arguments: wrong types and values raise errors with what was expected and what was given."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer

__all__ = [
    "Field",
    "InvalidUtf8",
    "Reading",
    "byte_limit",
    "bytes_of",
    "check_no_bytes",
    "check_type",
    "integer",
    "integer_type",
    "is_table",
    "known_ids",
    "not_a_table",
    "parse_bytes",
    "parse_tokens",
    "repeatable",
    "several",
    "thread_count",
    "token_limit",
]

# Numbers of tokens are told in powers of 1,000, as in "32k tokens", sizes of memory in powers of 1,024.
TOKEN_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "B": 10**9, "T": 10**12}
BYTE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

# A number, perhaps with decimals, and a unit.
SIZE = re.compile(r"([0-9][0-9_]{0,30})(?:\.([0-9]{1,20}))?\s*([A-Z]?)", re.IGNORECASE)

# The processor time that a control group may take, in each period, in microseconds.
CONTROL_GROUP = "/sys/fs/cgroup/cpu.max"

HOW_TO_NAME_TOKENS = "`encode_single_token` gives the id of a token, `eot_token` that of the end of a text"


def repeatable(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns options with lists in place of iterators, which can be read once only."""
    return {name: list(value) if isinstance(value, Iterator) else value for name, value in options.items()}


def check_type(name: str, value: object, kind: type, hint: str = "") -> None:
    """Raises `TypeError` for an argument of another type.

    Args:
        name: The name of the argument.
        value: Its value.
        kind: The class that it must be an instance of.
        hint: How to call correctly.
    """
    if not isinstance(value, kind):
        more = f"; {hint}" if hint else ""
        raise TypeError(f"{name} must be of the type {kind.__name__}, not {type(value).__name__}{more}")


def integer(name: str, value: SupportsIndex) -> int:
    """Returns the integer in the argument called `name`; `TypeError` if it is none."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r:.40}") from None


def several(name: str, texts: Iterable[str]) -> Iterable[str]:
    """Returns the iterable of texts in the argument called `name`.

    Raises:
        TypeError: It is a single text, whose characters would be the texts; or a table, or a mapping of
            columns, whose names would be.
    """
    if isinstance(texts, (str, bytes, bytearray)):
        raise TypeError(
            f"{name} must be an iterable of texts, not {type(texts).__name__}: "
            "a single text is given as [text]"
        )
    # As `datasets` has batches. The keys of others, such as of `dict.fromkeys`, are texts.
    first = next(iter(texts.values()), None) if isinstance(texts, Mapping) else None
    if hasattr(first, "__len__") and not isinstance(first, (str, bytes)):
        raise TypeError(
            f"{name} must be an iterable of texts, not a mapping of columns ({type(texts).__name__}): pass "
            "the column with the texts, such as batch['text'], or list(mapping) for the keys"
        )
    return not_a_table(name, texts)


def not_a_table(name: str, texts: Iterable[str]) -> Iterable[str]:
    """Returns the iterable in the argument called `name`; `TypeError` if it is a table."""
    if is_table(texts):
        raise TypeError(
            f"{name} must be an iterable of texts, not a table ({type(texts).__name__}): pass the column "
            "with the texts, such as table['text']"
        )
    return texts


def is_table(value: object) -> bool:
    """Returns whether this is a data frame or the like, whose iterator is over its columns."""
    # Asked of the type: to list the columns of a lazy frame is work.
    kind = type(value)
    return hasattr(kind, "columns") or hasattr(kind, "column_names")


def thread_count(num_threads: int | None, *, as_in_tiktoken: bool = False) -> int:
    """Returns a number of threads.

    `None`, which tiktoken takes too, stands for all processors that this process may use, see
    `available_processors`. In a process that `multiprocessing` has started, as for PyTorch and `datasets`,
    it stands for one: other such processes use the other processors.

    Raises:
        TypeError: It is not an integer.
        ValueError: The number is not positive. For methods of tiktoken the message is its own.
    """
    if num_threads is None:
        return 1 if is_worker() else available_processors()
    threads = integer("num_threads", num_threads)
    if threads <= 0:
        raise ValueError(
            "max_workers must be greater than 0"
            if as_in_tiktoken
            else f"num_threads must be 1 or more, or None for all processors, not {threads}"
        )
    # The core starts no more threads than there is work for.
    return min(threads, sys.maxsize)


def available_processors() -> int:
    """Returns the number of processors that are for this process.

    That is `OMP_NUM_THREADS` where it is set, as Ray sets it for its tasks and many schedulers of clusters
    for theirs; otherwise the processors that the process may run on, and no more than the quota of its
    control group, as containers have one.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = control_group_quota(CONTROL_GROUP)
    return processors if quota is None else min(processors, math.ceil(quota))


@lru_cache(maxsize=1)
def control_group_quota(path: str) -> float | None:
    """Returns how many processors a control group (version 2) leaves to this process; `None` for no limit.

    The file is read once: reading it took ten times as long as encoding a short batch.
    """
    from pathlib import Path

    try:
        # With or without a name space of its own, a container sees its group there.
        quota, period = Path(path).read_text(encoding="ascii").split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def is_worker() -> bool:
    """Returns whether `multiprocessing`, or `multiprocess` for `datasets`, started this process."""
    # A process that was started by one of them has imported it: there is nothing to import.
    modules = (sys.modules.get(f"{package}.process") for package in ("multiprocessing", "multiprocess"))
    return any(module.parent_process() is not None for module in modules if module)


def token_limit(name: str, number: SupportsIndex, least: int) -> int:
    """Returns the number of tokens in the argument called `name`, no larger than the core takes.

    Raises:
        TypeError: It is not an integer.
        ValueError: It is below `least`.
    """
    try:
        tokens = index(number)
    except TypeError:
        raise TypeError(f"{name} must be a number of tokens as an integer, not {number!r}") from None
    if tokens < least:
        raise ValueError(f"{name} must be a number of tokens, {least} or more, got {tokens}")
    return min(tokens, sys.maxsize)


def parse_tokens(text: str) -> int:
    """Parses a number of tokens such as 32000, 32k, 1.5M or 10B.

    Raises:
        ValueError: It is none.
    """
    return parse_size(text, text, TOKEN_UNITS, "a number of tokens such as 1000000 or 100M")


def parse_bytes(text: str) -> int:
    """Parses a number of bytes such as 1000000, 512M, 2GB or 2GiB: units are powers of 1,024.

    Raises:
        ValueError: It is none.
    """
    without_b = re.sub(r"(?:(?<=[0-9KMGT ])B|(?<=[KMGT])iB)$", "", text, flags=re.IGNORECASE)
    return parse_size(without_b, text, BYTE_UNITS, "a number of bytes such as 512M or 2G")


def parse_size(text: str, given: str, units: Mapping[str, int], expected: str) -> int:
    """Parses a whole number with one of some units; `ValueError` says what was expected and given."""
    found = SIZE.fullmatch(text.strip())
    if found is not None and found[3].upper() in units:
        decimals = found[2] or ""
        scale: int = 10 ** len(decimals)
        number = int(found[1].replace("_", "") + decimals) * units[found[3].upper()]
        if number % scale == 0:
            return number // scale
    raise ValueError(f"expected {expected}, got {given!r:.60}")


def byte_limit(name: str, value: SupportsIndex | str) -> int:
    """Returns the number of bytes in the argument called `name`, no larger than the core takes.

    Raises:
        TypeError: It is neither an integer nor a string.
        ValueError: It is a string and no size.
    """
    if isinstance(value, str):
        try:
            return min(parse_bytes(value), sys.maxsize)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    try:
        return min(index(value), sys.maxsize)
    except TypeError:
        raise TypeError(
            f"{name} must be a number of bytes as an integer or a string such as '2G', not {value!r:.40}"
        ) from None


def bytes_of(name: str, data: Buffer) -> bytes:
    """Returns the bytes of the buffer in the argument called `name`.

    Raises:
        TypeError: It is no buffer, or its items are larger than a byte, as those of an array of integers.
    """
    with memoryview(data) as view:
        if view.itemsize != 1:
            raise TypeError(
                f"{name} must be bytes or a buffer of them, not {type(data).__name__} with items of "
                f"{view.itemsize} bytes"
            )
        return view.tobytes()


def check_no_bytes(name: str, tokens: object) -> None:
    """Raises `TypeError` for bytes in the argument called `name`: they are iterable, and would be IDs."""
    if isinstance(tokens, (bytes, bytearray, memoryview)):
        raise TypeError(
            f"{name} must be a token id, the text of a token as str, or a sequence of them, not "
            f"{type(tokens).__name__}; {HOW_TO_NAME_TOKENS}"
        )


def known_ids(name: str, tokens: int | Sequence[int] | None, is_token: Callable[[int], bool]) -> list[int]:
    """Returns the ids in the argument called `name`: none, one or several.

    Raises:
        TypeError: They are not integers.
        ValueError: `is_token` does not know one.
    """
    if tokens is None:
        return []
    check_no_bytes(name, tokens)
    try:
        ids = list(map(index, tokens if isinstance(tokens, Iterable) else [tokens]))
    except TypeError:
        raise TypeError(
            f"{name} must be a token id or a sequence of them, not {tokens!r}; {HOW_TO_NAME_TOKENS}"
        ) from None
    for token in ids:
        if not is_token(token):
            raise ValueError(
                f"{name} has the id {token}, which is not a token of this encoding; {HOW_TO_NAME_TOKENS}"
            )
    return ids


def integer_type(dtype: npt.DTypeLike, highest: int) -> np.dtype[Any]:
    """Returns the NumPy type `dtype`; `ValueError` if it cannot hold ids up to `highest`."""
    import numpy as np

    kind = np.dtype(dtype)
    if kind.kind not in "iu" or np.iinfo(kind).max < highest:
        raise ValueError(
            f"dtype {kind} cannot hold token IDs up to {highest}: expected an integer type that can, such as "
            f"{np.min_scalar_type(highest)}"
        )
    return kind


# How documents are read, for all functions that read them.

# The fields of JSON lines, or columns of Parquet, that hold text: the first that a line or file has; `None`
# for the default, which says nothing of files whose names do not.
Field: TypeAlias = str | Sequence[str] | None

# Bytes that are not UTF-8 are an error, become U+FFFD, or stay.
InvalidUtf8: TypeAlias = Literal["strict", "replace", "keep"]


class Reading(NamedTuple):
    """How the documents of files are read.

    Attributes:
        field: The fields of JSON lines or columns of Parquet, of which the first that a line or file has is
            used; `None` for "text". If they are given, what is not Parquet is JSON lines.
        lines: Whether each line of a text is a document, its line break included.
        errors: Whether bytes that are not UTF-8 are an error, become U+FFFD or stay.
    """

    field: tuple[str, ...] | None = None
    lines: bool = False
    errors: InvalidUtf8 = "strict"

    @classmethod
    def checked(
        cls, field: Field, lines: object, errors: InvalidUtf8, known: Sequence[str] = get_args(InvalidUtf8)
    ) -> Reading:
        """Returns how documents are read by these arguments of functions for everybody.

        Args:
            field: The name of a field, or several.
            lines: Whether each line of a text is a document.
            errors: How to handle bytes that are not UTF-8.
            known: What `errors` may be.

        Raises:
            TypeError: The name of a field is not a string.
            ValueError: There is no name; `errors` is unknown; or a field is given and `lines` is true,
                although no file is then read as text.
        """
        if errors not in known:
            raise ValueError(f"errors must be one of {', '.join(known)}, not {errors!r}")
        fields = fields_of(field)
        if fields is not None and lines:
            raise ValueError(
                "lines are those of text, and with a field all files are JSON lines or Parquet: pass either "
                "--lines (lines=True) or --field (field=)"
            )
        return cls(fields, bool(lines), errors)


def fields_of(field: Field) -> tuple[str, ...] | None:
    """Returns the names of fields that were given; `None` if none were.

    Raises:
        TypeError: A name is not a string.
        ValueError: There is no name.
    """
    if field is None:
        return None
    names = (field,) if isinstance(field, str) else tuple(field)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"field must be a name or several, not {type(name).__name__}")
    if not names:
        raise ValueError("field must be a name or several, or None for 'text', got no name")
    return names
