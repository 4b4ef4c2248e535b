"""Open models' files `tokenizer.json`, made small: a row for each family.

The components are those of the published files. Vocabularies have what is peculiar to the real ones: bytes
that are missing, merges out of the order of ids, strings that no text becomes, and the like.
"""

from __future__ import annotations

import functools
import json
import tempfile
import warnings
from pathlib import Path

from bytemill import Encoding
from support.open_models.byte_level import BYTE_LEVEL_MODELS
from support.open_models.chains import CHAIN_MODELS
from support.open_models.peculiar import PECULIAR
from support.open_models.pieces import PIECE_MODELS
from support.open_models.scores import SCORE_MODELS
from support.open_models.words import WORD_MODELS

__all__ = [
    "BYTE_LEVEL_MODELS",
    "CHAIN_MODELS",
    "LOADED",
    "PECULIAR",
    "PIECE_MODELS",
    "REFUSED",
    "ROWS",
    "SCORE_MODELS",
    "WORD_MODELS",
    "encoding_of",
    "file_of",
]

ROWS = BYTE_LEVEL_MODELS | CHAIN_MODELS | PIECE_MODELS | WORD_MODELS | SCORE_MODELS | PECULIAR

# The rows that are refused: a step behind ByteLevel, and a pattern that matches the empty string.
REFUSED = ["falcon", "superbpe"]

# The rows that load, which the tests hold to.
LOADED = [name for name in ROWS if name not in REFUSED]


@functools.cache
def file_of(name: str) -> bytes:
    """Returns the `tokenizer.json` of a row."""
    return json.dumps(ROWS[name].contents(), ensure_ascii=False).encode()


@functools.cache
def encoding_of(name: str) -> Encoding:
    """Returns the encoding of a row."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # Of what its post-processor adds.
        warnings.simplefilter("ignore")
        path = Path(folder, "tokenizer.json")
        path.write_bytes(file_of(name))
        return Encoding.from_file(path)
