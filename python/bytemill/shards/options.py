"""The arguments of `write_shards`, checked and resolved."""

from __future__ import annotations

import warnings
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from bytemill._arguments import integer_type, known_ids
from bytemill._optional import import_optional
from bytemill.shards.token_files import FORMATS, ParquetFile, TokenFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from bytemill.core import Encoding

__all__ = [
    "Errors",
    "Format",
    "Tokens",
    "check_options",
    "format_named",
    "ids_of",
    "mark_of",
    "stored_type",
]

Format: TypeAlias = Literal["bin", "npy", "megatron", "parquet"]

# What becomes of bytes that are not UTF-8: an error, or U+FFFD.
Errors: TypeAlias = Literal["strict", "replace"]

# Token ids, or texts of single tokens.
Tokens: TypeAlias = "int | str | Sequence[int | str] | None"


END_OF_TEXT = "<|endoftext|>"


def format_named(name: str) -> type[TokenFile]:
    """Returns the format of that name."""
    if name not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {name!r}")
    if FORMATS[name] is ParquetFile:
        # A missing package is an error now, not when the first shard is opened.
        import_optional("pyarrow.parquet", "Parquet files")
    return FORMATS[name]


def check_options(shard_tokens: int | None, *, errors: str, name: str) -> None:
    """Raises `ValueError` for options without a meaning."""
    if shard_tokens is not None and index(shard_tokens) < 1:
        raise ValueError(f"shard_tokens must be positive, or None for a single shard, not {shard_tokens}")
    if errors not in get_args(Errors):
        raise ValueError(f"errors must be one of {', '.join(get_args(Errors))}, not {errors!r}")
    if not name or name != Path(name).name:
        raise ValueError(f"name must be the beginning of the names of files, not {name!r}")


def stored_type(kind: type[TokenFile], dtype: npt.DTypeLike | None, encoding: Encoding) -> str:
    """Returns the name of the type in which ids are stored."""
    if dtype is None:
        return kind.usual_dtype(encoding.n_vocab)
    name = integer_type(dtype, encoding.max_token_value).name
    if name not in kind.dtypes:
        raise ValueError(f"dtype must be one of {', '.join(kind.dtypes)} in this format, not {name}")
    return name


def ids_of(what: str, tokens: Tokens, encoding: Encoding) -> list[int]:
    """Returns the ids of the argument called `what`.

    Raises:
        TypeError, ValueError: As `write_shards`.

    Warns:
        UserWarning: A text is a word rather than a mark, such as "eos" for "<|endoftext|>".
    """
    if tokens is None:
        return []
    given = [tokens] if isinstance(tokens, (int, str)) else list(tokens)
    ids: list[int] = []
    for token in given:
        if isinstance(token, str):
            try:
                ids.append(encoding.encode_single_token(token))
            except KeyError:
                mark = mark_of(encoding)
                such = "" if mark is None else f", such as {mark!r}"
                raise ValueError(
                    f"{what} has the text {token!r}, which is no token of {encoding.name!r}: expected "
                    f"one{such}, or an id"
                ) from None
            if token.isalpha() and token not in encoding.special_tokens_set:
                warnings.warn(
                    f"{what} has {token!r}, which is an ordinary token of {encoding.name!r} (id {ids[-1]}) "
                    f"and occurs in texts too: {special_marks(encoding)}",
                    UserWarning,
                    stacklevel=3,
                )
        else:
            ids.append(token)
    return known_ids(what, ids, encoding._core_bpe.is_token)  # noqa: SLF001 - of this package


def mark_of(encoding: Encoding) -> str | None:
    """Returns the text of a special token to put between documents, the end of text if there is one."""
    if END_OF_TEXT in encoding.special_tokens_set:
        return END_OF_TEXT
    return min(encoding.special_tokens_set, key=encoding.encode_single_token, default=None)


def special_marks(encoding: Encoding) -> str:
    """Returns what to say of the special tokens of an encoding."""
    mark = mark_of(encoding)
    return "it has no special tokens" if mark is None else f"a special token of it is {mark!r}"
