"""The functions of byte pair encoding, and the class that tokenizers are derived from.

>>> IDs = [97, 97, 97, 98, 97, 97]
>>> stats = get_stats(IDs)
>>> stats
{(97, 97): 3, (97, 98): 1, (98, 97): 1}
>>> merge(IDs, max(stats, key=stats.get), 256)
[256, 97, 98, 256]
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bytemill import reference
from bytemill._arguments import check_type
from bytemill.formats.minbpe_model import (
    Model,
    Pair,
    escape_controls,
    format_model,
    format_vocab,
    parse_model,
    rendered,
)
from bytemill.io.atomic import write_all

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Tokenizer", "get_stats", "merge", "render_token", "replace_control_characters"]

BYTES = 256


def get_stats(ids: Sequence[int], counts: dict[Pair, int] | None = None) -> dict[Pair, int]:
    """Counts the pairs of adjacent IDs: [1, 2, 3, 1, 2] has (1, 2) twice, (2, 3) and (3, 1) once.

    Args:
        ids: Token IDs.
        counts: Earlier counts, to which these are added in place.

    Returns:
        The count of each pair, in the order of first occurrence.
    """
    if counts is not None:
        check_type("counts", counts, dict)
    return reference.count_pairs(ids, counts)


def merge(ids: Sequence[int], pair: Pair, idx: int) -> list[int]:
    """Replaces a pair by a new ID, from left to right: [1, 2, 3, 1, 2] with (1, 2) -> 4 becomes [4, 3, 4].

    Args:
        ids: Token IDs.
        pair: The two IDs to replace.
        idx: The new ID.
    """
    return reference.merge(ids, pair, idx)


def replace_control_characters(s: str) -> str:
    r"""Replaces control characters and unassigned ones by escapes such as `\u000a`."""
    return escape_controls(s)


def render_token(t: bytes) -> str:
    """Renders a token for people: invalid UTF-8 as U+FFFD, control characters as escapes."""
    check_type("t", t, bytes)
    return rendered(t)


class Tokenizer:
    """The base of all tokenizers: their attributes and files. Subclasses train, encode and decode.

    Attributes:
        merges: The new ID of each pair, in the order of the merges.
        pattern: The regular expression that splits text; empty for none.
        special_tokens: The ID of each special token.
        vocab: The bytes of each token, special tokens last.
    """

    def __init__(self) -> None:
        """Initialises a tokenizer without merges: each byte is a token."""
        self._set({}, "", {})

    def _set(self, merges: dict[Pair, int], pattern: str, special_tokens: dict[str, int]) -> None:
        self.merges = merges
        self.pattern = pattern
        self.special_tokens = special_tokens
        self.vocab = self._build_vocab()

    def _build_vocab(self) -> dict[int, bytes]:
        """Returns the bytes of each token, from the merges and the special tokens."""
        tokens = {byte: bytes([byte]) for byte in range(BYTES)}
        for (left, right), new_id in self.merges.items():
            tokens[new_id] = tokens[left] + tokens[right]
        return tokens | {token_id: text.encode() for text, token_id in self.special_tokens.items()}

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:  # noqa: FBT001, FBT002 - as there
        """Raises `NotImplementedError`; subclasses learn a vocabulary."""
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        """Raises `NotImplementedError`; subclasses encode a text."""
        raise NotImplementedError

    def decode(self, ids: Sequence[int]) -> str:
        """Raises `NotImplementedError`; subclasses decode IDs."""
        raise NotImplementedError

    def save(self, file_prefix: str | os.PathLike[str]) -> None:
        """Writes `file_prefix`.model and `file_prefix`.vocab, see `bytemill.formats.minbpe_model`.

        Raises:
            ValueError: The format cannot store the pattern or a special token.
            OSError: A file cannot be written.
        """
        model = format_model(Model(self.pattern, self.special_tokens, self.merges))
        prefix, vocab = os.fspath(file_prefix), format_vocab(self.vocab, self.merges)
        write_all([(f"{prefix}.model", model), (f"{prefix}.vocab", vocab)])

    def load(self, model_file: str | os.PathLike[str]) -> None:
        """Reads a `.model` file.

        Raises:
            AssertionError: The name does not end in `.model`.
            VocabularyError: The file is malformed; the message has the file, the line and the reason.
            OSError: The file cannot be read.
        """
        name = os.fspath(model_file)
        if not name.endswith(".model"):
            raise AssertionError(name)
        model = parse_model(Path(name).read_bytes(), name)
        self._set(model.merges, model.pattern, model.special_tokens)
