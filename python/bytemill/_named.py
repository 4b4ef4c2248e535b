"""Encodings as arguments: an `Encoding`, or the name of one."""

from __future__ import annotations

from bytemill._arguments import check_type
from bytemill.core import Encoding
from bytemill.errors import UnknownEncodingError
from bytemill.model import encoding_for_model
from bytemill.registry import get_encoding

__all__ = ["encoding_of"]


def encoding_of(encoding: Encoding | str, name: str = "encoding") -> Encoding:
    """Returns the encoding that an argument gives.

    Args:
        encoding: An encoding; the name of one, such as "gpt2"; or of a model: of OpenAI, such as "gpt-4o", or
            of the Hugging Face Hub, such as "Qwen/Qwen3-8B", whose file is in the Hub's cache.
        name: The name of the argument, for messages.

    Raises:
        TypeError: It is none of these.
        UnknownEncodingError: No encoding and no model has that name.
        FileNotFoundError: The model of the Hub is not in the cache; the message says how to download it.
        ValueError: Its file is not supported.
    """
    if not isinstance(encoding, str):
        check_type(name, encoding, Encoding, "pass an Encoding, or a name such as 'gpt2'")
        return encoding
    try:
        return get_encoding(encoding)
    except UnknownEncodingError:
        try:
            return encoding_for_model(encoding)
        except KeyError:
            pass
        from bytemill.io.uris import is_model

        if not is_model(encoding):
            raise
    return Encoding.from_file(encoding)
