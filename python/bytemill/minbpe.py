"""minbpe's tokenizers on the fast core: the classes, methods, files and merges of the teaching project.

    >>> from bytemill.minbpe import BasicTokenizer
    >>> tokenizer = BasicTokenizer()
    >>> tokenizer.train("aaabdaaabac", 256 + 3)
    >>> tokenizer.encode("aaabdaaabac")
    [258, 100, 258, 97, 99]

Tokens 0 to 255 are the bytes, and merge i makes token 256 + i. Of the pairs that occur equally often, the one
whose first occurrence in the current text comes first is merged.

minbpe's files can be loaded here, and the files that are written here can be loaded there.
"""

from __future__ import annotations

import os
from collections.abc import Set as AbstractSet
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

from bytemill.core import Encoding
from bytemill.formats.minbpe_model import Model, Pair, format_model, format_vocab, parse_model
from bytemill.io.atomic import write_all, write_atomically
from bytemill.patterns import MINBPE_GPT4_PATTERN, WHOLE_TEXT_PATTERN
from bytemill.reference import ranks_of_merges
from bytemill.registry import get_encoding
from bytemill.training import count_pieces
from bytemill.training.learning import learn_merges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["BasicTokenizer", "GPT4Tokenizer", "RegexTokenizer", "Tokenizer"]

Allowed: TypeAlias = Literal["all", "none", "none_raise"] | AbstractSet[str]

BYTES = 256


class Tokenizer:
    """The base of all tokenizers.

    Attributes:
        merges: The new id of each pair, in the order of the merges.
        pattern: The regular expression that splits text; empty for none.
        special_tokens: The id of each special token.
    """

    def __init__(self) -> None:
        """Initialises a tokenizer without merges: each byte is a token."""
        self._set({}, "", {})

    def _set(self, merges: dict[Pair, int], pattern: str, special_tokens: dict[str, int]) -> None:
        self.merges = merges
        self.pattern = pattern
        self.special_tokens = special_tokens
        for cached in ("vocab", "_encoding"):
            self.__dict__.pop(cached, None)

    @cached_property
    def _encoding(self) -> Encoding:
        return Encoding(
            type(self).__name__,
            pat_str=self.pattern or WHOLE_TEXT_PATTERN,
            mergeable_ranks=ranks_of_merges(self.merges),
            special_tokens=self.special_tokens,
        )

    @cached_property
    def vocab(self) -> dict[int, bytes]:
        """The bytes of each token, special tokens last."""
        tokens = {token_id: token for token, token_id in self._encoding.definition.ranks.items()}
        return tokens | {token_id: text.encode() for text, token_id in self.special_tokens.items()}

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:  # noqa: FBT001, FBT002 - as there
        """Learns `vocab_size - 256` merges from a text, which replace earlier ones.

        Args:
            text: Any string.
            vocab_size: The number of tokens, without special tokens.
            verbose: Whether to print each merge.

        Raises:
            ValueError: The text has too few pairs.
            AssertionError: `vocab_size` is below 256.
        """
        if vocab_size < BYTES:
            raise AssertionError(vocab_size)
        counts = count_pieces([text], self.pattern or None, progress=False)
        learned = learn_merges(counts, vocab_size - BYTES, tie_break="first_seen").pairs()
        if len(learned) < vocab_size - BYTES:
            raise ValueError(
                f"the text has no pairs left after {len(learned)} merges of {vocab_size - BYTES}"
            )
        self._set({pair: BYTES + i for i, pair in enumerate(learned)}, self.pattern, self.special_tokens)
        if verbose:
            for i, ((left, right), new_id) in enumerate(self.merges.items(), start=1):
                print(f"merge {i}/{len(learned)}: {left}, {right} -> {new_id} ({self.vocab[new_id]!r})")  # noqa: T201

    def encode(self, text: str) -> list[int]:
        """Encodes a text."""
        return self._encoding.encode_ordinary(text)

    def decode(self, ids: Sequence[int]) -> str:
        """Decodes ids to text; bytes that are not UTF-8 become U+FFFD.

        Raises:
            ValueError: An id belongs to no token.
        """
        try:
            return self._encoding.decode(ids)
        except (KeyError, OverflowError) as error:
            raise ValueError(f"invalid token id: {error.args[0]}") from error

    def save(self, file_prefix: str | os.PathLike[str]) -> None:
        """Writes `file_prefix`.model and `file_prefix`.vocab, see `bytemill.formats.minbpe_model`.

        Raises:
            ValueError: The format cannot hold the pattern or a special token.
            OSError: A file cannot be written.
        """
        model = format_model(Model(self.pattern, self.special_tokens, self.merges))
        prefix, vocab = os.fspath(file_prefix), format_vocab(self.vocab, self.merges)
        write_all({f"{prefix}.model": model, f"{prefix}.vocab": vocab})

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


class BasicTokenizer(Tokenizer):
    """Without splitting: merges may join anything, and there are no special tokens."""


class RegexTokenizer(Tokenizer):
    """With splitting by a pattern, and with special tokens."""

    def __init__(self, pattern: str | None = None) -> None:
        """Initialises a tokenizer with a pattern; GPT-4's if none is given.

        Raises:
            PatternError: On first use: the pattern does not compile or can match the empty string.
        """
        self._set({}, MINBPE_GPT4_PATTERN if pattern is None else pattern, {})

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        """Sets the special tokens, each with its id, which replace earlier ones."""
        self._set(self.merges, self.pattern, dict(special_tokens))

    def encode_ordinary(self, text: str) -> list[int]:
        """Encodes a text in which special tokens are ordinary text."""
        return self._encoding.encode_ordinary(text)

    def encode(self, text: str, allowed_special: Allowed = "none_raise") -> list[int]:
        """Encodes a text.

        Args:
            text: Any string.
            allowed_special: The special tokens that become their ids: "all", "none", a set of them, or
                "none_raise": none, and a special token in the text is an error.

        Raises:
            AssertionError: A special token is in the text, and `allowed_special` is "none_raise".
            ValueError: `allowed_special` is none of these.
        """
        if isinstance(allowed_special, (set, frozenset)):
            return self._encoding.encode(text, allowed_special=allowed_special, disallowed_special=())
        if allowed_special == "all":
            return self._encoding.encode(text, allowed_special="all")
        if allowed_special == "none_raise":
            found = [token for token in self.special_tokens if token in text]
            if found:
                raise AssertionError(found)
        elif allowed_special != "none":
            raise ValueError(f"allowed_special={allowed_special} not understood")
        return self.encode_ordinary(text)


class GPT4Tokenizer(RegexTokenizer):
    """GPT-4's vocabulary, cl100k_base, which cannot be trained or saved.

    Attributes:
        byte_shuffle: The id of each byte's token, which is not the byte itself as in trained tokenizers.
    """

    def __init__(self) -> None:
        """Initialises the tokenizer from the built-in vocabulary."""
        encoding = get_encoding("cl100k_base")
        merges = {pair: BYTES + i for i, pair in enumerate(encoding.merges())}
        self._set(merges, encoding.definition.splitting, dict(encoding.definition.special_tokens))
        self.byte_shuffle = {byte: encoding.encode_single_token(bytes([byte])) for byte in range(BYTES)}

    @cached_property
    def _encoding(self) -> Encoding:
        encoding = get_encoding("cl100k_base")
        if self.special_tokens == encoding.definition.special_tokens:
            return encoding
        return Encoding(
            type(self).__name__,
            pat_str=self.pattern,
            mergeable_ranks=encoding.definition.ranks,
            special_tokens=self.special_tokens,
        )

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> NoReturn:  # noqa: FBT001, FBT002
        """Raises `NotImplementedError`: the tokenizer is trained already."""
        raise NotImplementedError

    def save(self, file_prefix: str | os.PathLike[str]) -> NoReturn:
        """Raises `NotImplementedError`: the format cannot hold the order of the bytes."""
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
