"""The vocabulary in a GGUF file: of models of the kind `llama`, it is a SentencePiece model.

The file has pieces, scores, types and the treatment of spaces, under other names than SentencePiece's own
file. A file of another kind does not contain everything that determines token IDs: the pattern, for example,
is in the program that runs the model. Such a file raises an error that names its kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from bytemill._backend import SentencePieceModel
from bytemill._messages import import_optional
from bytemill.errors import VocabularyError
from bytemill.formats import sentencepiece_model
from bytemill.formats.sentencepiece_model import BPE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bytemill.definition import Definition

__all__ = ["MAGIC", "PREFIX", "definition_of", "is_gguf", "read_entries"]

# What a file begins with.
MAGIC = b"GGUF"

# What the names of the entries begin with that are read here.
PREFIX = "tokenizer.ggml."

# What the other kinds are.
KINDS = {
    "gpt2": "merges of bytes; its tokenizer.json also has the pattern",
    "bert": "WordPiece",
    "t5": "a SentencePiece model of type Unigram",
    "rwkv": "a greedy search for the longest token",
    "plamo2": "a SentencePiece model of type Unigram",
    "none": "no vocabulary",
    "no_vocab": "no vocabulary",
}

BYTE = 6


def definition_of(entries: Mapping[str, Any], name: str, source: str) -> Definition:
    """Returns the definition of a model.

    Args:
        entries: The entries of the file that begin with `PREFIX`, without that.
        name: The name of the definition.
        source: Where it comes from, for messages.

    Raises:
        VocabularyError: It is of another kind, or damaged; the message has file and reason.
    """

    def refuse(reason: str) -> NoReturn:
        raise VocabularyError(f"{source}: {reason}")

    kind = entries.get("model")
    if kind != "llama":
        what = f" ({KINDS[kind]})" if kind in KINDS else ""
        refuse(f"{PREFIX}model: expected 'llama', a SentencePiece model, got {kind!r}{what}")
    columns: list[list[Any]] = []
    for column in ("tokens", "scores", "token_type"):
        values = entries.get(column)
        if not isinstance(values, list):
            refuse(f"{PREFIX}{column}: expected a list, got {values!r}")
        columns.append(values)
    tokens, scores, kinds = columns
    if not len(tokens) == len(scores) == len(kinds):
        refuse(f"{PREFIX}tokens, scores and token_type: expected lists of one length")
    options: dict[str, Any] = {"model_type": BPE, "byte_fallback": BYTE in kinds}
    for option, entry in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding")):
        token_id = entries.get(f"{entry}_token_id")
        if token_id is not None:
            options[f"{option}_id"] = token_id
    rules = {
        "name": "identity",
        "precompiled_charsmap": bytes(entries.get("precompiled_charsmap", b"")),
        "add_dummy_prefix": entries.get("add_space_prefix", True),
        "remove_extra_whitespaces": entries.get("remove_extra_whitespaces", False),
        "escape_whitespaces": True,
    }
    try:
        pieces = list(zip(tokens, scores, kinds, strict=True))
        contents = SentencePieceModel.build(pieces, options, rules).serialize()
    except (ValueError, TypeError) as error:
        refuse(str(error))
    return sentencepiece_model.definition_of(contents, name, source)


# The entries of a GGUF file about its vocabulary, read by the package `gguf`.


def is_gguf(file: Path) -> bool:
    """Returns whether a file is one of GGUF, by its first bytes; it may be larger than memory."""
    with file.open("rb") as start:
        return start.read(len(MAGIC)) == MAGIC


def read_entries(file: Path) -> dict[str, Any]:
    """Returns the entries that begin with `PREFIX`, without that.

    Raises:
        ImportError: `gguf` is not installed.
        VocabularyError: The file is damaged.
    """
    gguf = import_optional("gguf", "GGUF files")
    try:
        # The file is mapped: weights are not read.
        fields = gguf.GGUFReader(file).fields
        return {
            name.removeprefix(PREFIX): field.contents()
            for name, field in fields.items()
            if name.startswith(PREFIX)
        }
    except (ValueError, KeyError, IndexError, OverflowError) as error:
        raise VocabularyError(f"{file}: expected a GGUF file, and it is damaged: {error}") from error
