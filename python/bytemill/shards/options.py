"""The arguments of `write_shards`, checked and resolved."""

from __future__ import annotations

from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypeAlias, get_args

from bytemill._arguments import check_type, integer_type
from bytemill._calls import ids_of
from bytemill._messages import import_optional
from bytemill.core import Encoding, __version__
from bytemill.shards.manifest import Provenance
from bytemill.shards.token_files import FORMATS, ParquetFile, TokenFile
from bytemill.special import NO_TOKENS, resolve_for_core

if TYPE_CHECKING:
    import numpy.typing as npt

    from bytemill._calls import Tokens
    from bytemill.documents.sources import Reading
    from bytemill.special import AllowedSpecial, DisallowedSpecial

__all__ = [
    "ERRORS",
    "SHARD_TOKENS",
    "Errors",
    "Format",
    "checked_shard_tokens",
    "described",
    "format_named",
]

Format: TypeAlias = Literal["bin", "npy", "megatron", "parquet"]

# Bytes that are not UTF-8 are an error, or become U+FFFD.
Errors: TypeAlias = Literal["strict", "replace"]
ERRORS = get_args(Errors)

SHARD_TOKENS = 100_000_000


def described(  # noqa: PLR0913 - all but the first two have names
    encoding: Encoding,
    reading: Reading,
    *,
    format: str = "bin",  # noqa: A002 - nothing else is meant
    shard_tokens: int | None = SHARD_TOKENS,
    prepend: Tokens = None,
    append: Tokens = None,
    dtype: npt.DTypeLike | None = None,
    allowed_special: AllowedSpecial = NO_TOKENS,
    disallowed_special: DisallowedSpecial = (),
    name: str,
) -> Provenance:
    """Returns the record of a run that has not started; arguments and errors as `write_shards`."""
    kind = format_named(format)
    check_options(errors=reading.errors, name=name)
    stored = stored_type(kind, dtype, encoding)
    # The function for everybody is one call further up.
    before = ids_of("prepend", prepend, encoding, stacklevel=4)
    after = ids_of("append", append, encoding, stacklevel=4)
    special = encoding.special_tokens_set
    allowed, disallowed = resolve_for_core(special, allowed_special, disallowed_special)
    if disallowed is None:
        disallowed = NO_TOKENS if allowed is None else special - allowed
    for text in disallowed:
        check_type("what is disallowed", text, str)
    return Provenance(
        bytemill=__version__,
        encoding={
            "name": encoding.name,
            "sha256": encoding.sha256,
            "n_vocab": encoding.n_vocab,
        },
        options={
            "format": format,
            "dtype": stored,
            "shard_tokens": checked_shard_tokens(shard_tokens),
            "prepend": before,
            "append": after,
            "allowed_special": "all" if allowed is None else sorted(allowed & special),
            "disallowed_special": sorted(disallowed),
            "field": None if reading.field is None else list(reading.field),
            "lines": reading.lines,
            "errors": reading.errors,
            "name": name,
        },
    )


def format_named(name: str) -> type[TokenFile]:
    """Returns the format of that name."""
    if name not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {name!r}")
    if FORMATS[name] is ParquetFile:
        # A missing package is an error now, not when the first shard is opened.
        import_optional("pyarrow.parquet", "Parquet files")
    return FORMATS[name]


def check_options(*, errors: str, name: str) -> None:
    """Raises `ValueError` for options without a meaning."""
    if errors not in ERRORS:
        raise ValueError(f"errors must be one of {', '.join(ERRORS)}, not {errors!r}")
    if not name or name != Path(name).name:
        raise ValueError(f"name must be the beginning of the names of files, not {name!r}")


def checked_shard_tokens(shard_tokens: SupportsIndex | None) -> int | None:
    """Returns the size of a shard as a plain integer; an array of one number would change in arithmetic.

    Raises:
        TypeError: It is not an integer.
        ValueError: No shard has this size.
    """
    if shard_tokens is None:
        return None
    if (tokens := index(shard_tokens)) < 1:
        raise ValueError(f"shard_tokens must be positive, or None for a single shard, not {shard_tokens}")
    return tokens


def stored_type(kind: type[TokenFile], dtype: npt.DTypeLike | None, encoding: Encoding) -> str:
    """Returns the name of the type in which ids are stored."""
    if dtype is None:
        return kind.usual_dtype(encoding.n_vocab)
    name = integer_type(dtype, encoding.max_token_value).name
    if name not in kind.dtypes:
        raise ValueError(f"dtype must be one of {', '.join(kind.dtypes)} in this format, not {name}")
    return name
