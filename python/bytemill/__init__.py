"""A fast, exact tokenizer library: tiktoken's API, and the token IDs of BPE, WordPiece and Unigram, offline.

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

from typing import TYPE_CHECKING

from bytemill.core import Encoding, __version__, set_process_cache_limit
from bytemill.definition import Definition
from bytemill.errors import (
    DisallowedSpecialTokenError,
    InternalError,
    PatternError,
    UnknownEncodingError,
    UnknownTokenError,
    VocabularyError,
)
from bytemill.model import encoding_for_model, encoding_name_for_model
from bytemill.registry import get_encoding, list_encoding_names
from bytemill.results import Candidate, EncodedWithOffsets, PieceExplanation, Ragged, Truncated
from bytemill.sessions import PrefixCache, PrefixCacheStats, Session, StreamEncoder, Update
from bytemill.streaming import StreamDecoder

if TYPE_CHECKING:
    from bytemill.patching import patch_tiktoken, unpatch_tiktoken
    from bytemill.training import PieceCounts, count_pieces, train

__all__ = [
    "Candidate",
    "Definition",
    "DisallowedSpecialTokenError",
    "EncodedWithOffsets",
    "Encoding",
    "InternalError",
    "PatternError",
    "PieceCounts",
    "PieceExplanation",
    "PrefixCache",
    "PrefixCacheStats",
    "Ragged",
    "Session",
    "StreamDecoder",
    "StreamEncoder",
    "Truncated",
    "UnknownEncodingError",
    "UnknownTokenError",
    "Update",
    "VocabularyError",
    "__version__",
    "count_pieces",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "list_encoding_names",
    "patch_tiktoken",
    "set_process_cache_limit",
    "train",
    "unpatch_tiktoken",
]


# Imported on first use: most programs only encode.
SUBMODULES = frozenset(
    {
        "chat",
        "hf",
        "inspection",
        "jobs",
        "minbpe",
        "playground",
        "ray",
        "reference",
        "reference_sentencepiece",
        "sentencepiece",
        "serve",
        "shards",
        "spark",
        "training",
    }
)


# The modules of functions that most programs do not call.
MODULE_OF = {
    "PieceCounts": "training",
    "count_pieces": "training",
    "patch_tiktoken": "patching",
    "train": "training",
    "unpatch_tiktoken": "patching",
}


def __getattr__(name: str) -> object:
    """Imports a submodule, or the module of a function, on first use."""
    from importlib import import_module

    if name in MODULE_OF:
        return getattr(import_module(f"bytemill.{MODULE_OF[name]}"), name)
    if name in SUBMODULES:
        return import_module(f"bytemill.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *SUBMODULES})
