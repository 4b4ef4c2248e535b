"""Byte-level BPE with exactly tiktoken's ids, through tiktoken's interface, offline.

    >>> import bytemill
    >>> encoding = bytemill.get_encoding("o200k_base")
    >>> encoding.encode("hello world")
    [24912, 2375]
    >>> encoding.decode([24912, 2375])
    'hello world'

Special tokens in a text are an error unless the caller says what they mean:

    >>> encoding.encode("<|endoftext|>", allowed_special="all")
    [199999]
    >>> encoding.encode_ordinary("<|endoftext|>")
    [27, 91, 419, 1440, 919, 91, 29]

`import bytemill as tiktoken` is all that a program written for tiktoken has to change.
"""

from bytemill.bulk import Ragged
from bytemill.core import Encoding, __version__
from bytemill.errors import (
    DisallowedSpecialTokenError,
    InternalError,
    PatternError,
    UnknownEncodingError,
    UnknownTokenError,
    VocabularyError,
)
from bytemill.model import encoding_for_model, encoding_name_for_model
from bytemill.piece_counts import PieceCounts
from bytemill.registry import get_encoding, list_encoding_names
from bytemill.training import count_pieces, train

__all__ = [
    "DisallowedSpecialTokenError",
    "Encoding",
    "InternalError",
    "PatternError",
    "PieceCounts",
    "Ragged",
    "UnknownEncodingError",
    "UnknownTokenError",
    "VocabularyError",
    "__version__",
    "count_pieces",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
    "train",
]
