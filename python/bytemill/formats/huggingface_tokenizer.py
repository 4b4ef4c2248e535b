"""Hugging Face's `tokenizer.json` as a whole, and tokenizers that are objects of its libraries.

`bytemill._core` reads the file. Where merging by rank gives the same ids, `huggingface` makes an ordinary
definition of it, which can be written in every format; any other file is its own definition.
"""

from __future__ import annotations

import os
from typing import Protocol, TypeAlias

from bytemill._backend import read_tokenizer_json
from bytemill.definition import Definition, Template
from bytemill.errors import VocabularyError
from bytemill.formats.huggingface import parse_tokenizer
from bytemill.formats.json_file import parse_json

__all__ = ["HuggingFaceTokenizer", "definition_of", "looks_like_tokenizer", "serialized"]


class BackendTokenizer(Protocol):
    """A `tokenizers.Tokenizer`."""

    def to_str(self) -> str: ...


class TransformersTokenizer(Protocol):
    """A tokenizer of `transformers` that is made of one."""

    @property
    def backend_tokenizer(self) -> BackendTokenizer: ...


HuggingFaceTokenizer: TypeAlias = BackendTokenizer | TransformersTokenizer


def serialized(tokenizer: str | os.PathLike[str] | HuggingFaceTokenizer) -> tuple[bytes, str] | None:
    """Returns the file that a tokenizer would be saved as, and its name; `None` for a path.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(tokenizer, (str, os.PathLike)):
        return None
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    to_str = getattr(backend, "to_str", None)
    if to_str is None:
        raise TypeError(
            "expected a path, a tokenizers.Tokenizer or a fast tokenizer of transformers, "
            f"got {type(tokenizer).__qualname__}"
        )
    name = getattr(tokenizer, "name_or_path", "") or "tokenizer"
    return to_str().encode(), str(name)


def looks_like_tokenizer(contents: bytes) -> bool:
    """Whether a file in JSON has the entries of a `tokenizer.json`."""
    return b'"model"' in contents and b'"added_tokens"' in contents


def definition_of(contents: bytes, name: str, source: str) -> Definition:
    """Returns the definition of a `tokenizer.json`.

    Args:
        contents: The bytes of the file.
        name: The name of the definition.
        source: Where it comes from, for messages.

    Raises:
        VocabularyError: It is malformed, or something in it is not supported; the message has file, path and
            reason.
    """
    try:
        special_tokens, prefix, suffix, may_have_ranks = read_tokenizer_json(contents)
    except VocabularyError as error:
        raise VocabularyError(f"Error parsing {source}: {error}") from None
    if may_have_ranks:
        try:
            return parse_tokenizer(parse_json(contents, source), name)
        except VocabularyError:
            # Its merges are in another order than its ids, for example.
            pass
    template = Template(tuple(prefix), tuple(suffix)) if prefix or suffix else None
    return Definition(name, "", {}, special_tokens, template, tokenizer=contents)
