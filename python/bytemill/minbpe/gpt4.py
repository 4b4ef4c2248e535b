"""GPT-4's tokenizer, and how the merges of such vocabularies are recovered."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from bytemill.builtin import BUILTIN_ENCODINGS
from bytemill.errors import VocabularyError
from bytemill.formats.merge_list import merges_of
from bytemill.formats.minbpe_model import Pair, format_vocab
from bytemill.io.atomic import write_atomically
from bytemill.minbpe._compiled import encoding_of
from bytemill.minbpe.base import BYTES
from bytemill.minbpe.regex import GPT4_SPLIT_PATTERN, RegexTokenizer
from bytemill.registry import get_encoding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytemill.core import Encoding

__all__ = ["GPT4_SPECIAL_TOKENS", "GPT4_SPLIT_PATTERN", "GPT4Tokenizer", "recover_merges"]

GPT4_SPECIAL_TOKENS = BUILTIN_ENCODINGS["cl100k_base"].special_tokens


def recover_merges(mergeable_ranks: Mapping[bytes, int]) -> dict[Pair, int]:
    """Recovers the merges of a vocabulary of ranks, such as tiktoken's.

    Args:
        mergeable_ranks: The rank of each token, which is also its ID.

    Returns:
        The ID that each pair of IDs becomes, in the order of the merges.

    Raises:
        VocabularyError: The vocabulary, or one of its tokens, cannot be made by merges.
    """
    ranks = dict(mergeable_ranks)
    pairs, whole = merges_of(ranks)
    if whole:
        raise VocabularyError(f"{whole[0]!r} cannot be made by any merges")
    merges = [(ranks[token], (ranks[left], ranks[right])) for token, (left, right) in pairs.items()]
    return {pair: token_id for token_id, pair in sorted(merges)}


class GPT4Tokenizer(RegexTokenizer):
    """GPT-4's vocabulary, cl100k_base, which cannot be trained or saved.

    Attributes:
        byte_shuffle: The ID of each byte's token, which is not the byte itself as in trained tokenizers.
        inverse_byte_shuffle: The byte of each of these IDs.
    """

    def __init__(self) -> None:
        """Initialises the tokenizer from the built-in vocabulary."""
        encoding = get_encoding("cl100k_base")
        merges = {pair: BYTES + i for i, pair in enumerate(encoding.merges())}
        self._set(merges, encoding.definition.splitting, dict(encoding.definition.special_tokens))
        self.byte_shuffle = {byte: encoding.encode_single_token(bytes([byte])) for byte in range(BYTES)}
        self.inverse_byte_shuffle = {token_id: byte for byte, token_id in self.byte_shuffle.items()}

    def _build_vocab(self) -> dict[int, bytes]:
        ranks = get_encoding("cl100k_base").definition.ranks
        tokens = {token_id: token for token, token_id in ranks.items()}
        return tokens | {token_id: text.encode() for text, token_id in self.special_tokens.items()}

    @cached_property
    def _encoding(self) -> Encoding:
        encoding = get_encoding("cl100k_base")
        if self.special_tokens == encoding.definition.special_tokens:
            return encoding
        return encoding_of(type(self).__name__, self.pattern, encoding.definition.ranks, self.special_tokens)

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> NoReturn:  # noqa: FBT001, FBT002
        """Raises `NotImplementedError`: the tokenizer is trained already."""
        raise NotImplementedError

    def save(self, file_prefix: str | os.PathLike[str]) -> NoReturn:
        """Raises `NotImplementedError`: the format cannot store the order of the bytes."""
        raise NotImplementedError("GPT4Tokenizer cannot be saved.")

    def load(self, model_file: str | os.PathLike[str]) -> NoReturn:
        """Raises `NotImplementedError`."""
        raise NotImplementedError("GPT4Tokenizer cannot be loaded.")

    def save_vocab(self, vocab_file: str | os.PathLike[str]) -> None:
        """Writes the vocabulary for people; `AssertionError` if the name does not end in `.vocab`."""
        name = os.fspath(vocab_file)
        if not name.endswith(".vocab"):
            raise AssertionError(name)
        write_atomically(name, format_vocab(self.vocab, self.merges))
