"""Encodings of the library tiktoken, as objects in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill._optional import import_optional
from bytemill.definition import Definition
from bytemill.formats.verification import Encode, check_ids, check_prefixes

if TYPE_CHECKING:
    import tiktoken

__all__ = ["definition_of", "to_tiktoken"]


def definition_of(encoding: tiktoken.Encoding) -> Definition:
    """Returns the definition of an encoding of tiktoken; `TypeError` if it is not one."""
    try:
        return Definition(
            encoding.name,
            encoding._pat_str,  # noqa: SLF001 - there is no public name
            dict(encoding._mergeable_ranks),  # noqa: SLF001 - as above
            dict(encoding._special_tokens),  # noqa: SLF001 - as above
        )
    except AttributeError as error:
        raise TypeError(f"expected an encoding of tiktoken, got {type(encoding).__name__}") from error


def to_tiktoken(definition: Definition, encode: Encode) -> tiktoken.Encoding:
    """Builds the same encoding in tiktoken, checked with sample texts.

    Args:
        definition: The definition.
        encode: Encodes by it.

    Raises:
        ImportError: `tiktoken` is not installed.
        VocabularyError: tiktoken would give different token IDs.
    """
    library = import_optional("tiktoken", "encodings of tiktoken")
    definition.merging_bytes("encodings of tiktoken")
    check_prefixes(definition)
    encoding: tiktoken.Encoding = library.Encoding(
        definition.name,
        pat_str=definition.splitting,
        mergeable_ranks=dict(definition.ranks),
        special_tokens=dict(definition.special_tokens),
    )
    check_ids(definition, encode, lambda text: encoding.encode(text, allowed_special="all"), "tiktoken")
    return encoding
