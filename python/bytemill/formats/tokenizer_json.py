"""Hugging Face's `tokenizer.json` as it is read, and tokenizers that are objects of its libraries.

`bytemill._core` reads the file. Where merging by rank gives the same IDs, its definition is an ordinary one,
which can be written in every format (see `huggingface`); any other file is its own definition.
"""

from __future__ import annotations

import os
from typing import Protocol, TypeAlias

from bytemill._backend import read_tokenizer_json
from bytemill.definition import Definition, Loaded, Template
from bytemill.errors import VocabularyError
from bytemill.formats.json_file import brief

__all__ = ["HuggingFaceTokenizer", "load", "looks_like_tokenizer", "serialized"]


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
    """Returns whether a file in JSON has the entries of a `tokenizer.json`."""
    return b'"model"' in contents and b'"added_tokens"' in contents


def load(
    contents: bytes, name: str, source: str, *, is_live: bool = False, keeps_ids: bool = False
) -> Loaded:
    """Returns the definition of a `tokenizer.json`, with its core.

    Args:
        contents: The bytes of the file.
        name: The name of the definition.
        source: Where it comes from, for messages.
        is_live: Whether a tokenizer in use would be saved as this file; then its IDs must not change by that.
        keeps_ids: Whether added tokens have the IDs that the file says. A file that is read numbers them
            anew, so the definition does not determine these IDs.

    Raises:
        VocabularyError: It is malformed, or something in it is not supported; the message has file, path and
            reason.
    """
    try:
        core, special_tokens, prefix, suffix, pattern = read_tokenizer_json(
            contents, is_live=is_live, keeps_ids=keeps_ids
        )
    except VocabularyError as error:
        raise VocabularyError(f"Error parsing {source}: {brief(str(error))}") from None
    template = Template.of(prefix, suffix, special_tokens)
    if pattern is not None:
        return Loaded(Definition(name, pattern, {}, special_tokens, template), core)
    return Loaded(Definition(name, "", {}, special_tokens, template, tokenizer=contents), core)
