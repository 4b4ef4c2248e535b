"""Byte pair encoding for learners: the reference, which prints each merge.

Interface and results are those of tiktoken's module of the same name. It is private in name only: read
`bytemill.reference` beside it.

    >>> from bytemill._educational import SimpleBytePairEncoding
    >>> encoding = SimpleBytePairEncoding.from_tiktoken("cl100k_base")
    >>> encoding.encode("hello world", visualise="simple")
    [15339, 1917]

`train_simple_encoding` learns from the text of this very file, which says hello world often enough for hello
to become a token and world another.
"""

# ruff: noqa: T201 - printing is what this module is for

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bytemill import reference
from bytemill.patterns import GPT2_PATTERN
from bytemill.splitting import Splitter

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "SimpleBytePairEncoding",
    "bpe_encode",
    "bpe_train",
    "train_simple_encoding",
    "visualise_tokens",
]

# Background colours of the 256-colour terminal palette, in the order in which they are used.
COLOURS = (167, 179, 185, 77, 80, 68, 134)
RESET = "\x1b[0m"


class HasVocabulary(Protocol):
    """An encoding of this library or of tiktoken."""

    @property
    def _pat_str(self) -> str: ...
    @property
    def _mergeable_ranks(self) -> dict[bytes, int]: ...


class SimpleBytePairEncoding:
    """A pattern and a vocabulary without special tokens, which prints how it encodes.

    Attributes:
        pat_str: The pattern that splits text into pieces.
        mergeable_ranks: Token bytes to rank, which is also the id.
    """

    def __init__(self, *, pat_str: str, mergeable_ranks: dict[bytes, int]) -> None:
        self.pat_str = pat_str
        self.mergeable_ranks = mergeable_ranks
        self._splitter = Splitter(pat_str)
        self._token_bytes = {rank: token for token, rank in mergeable_ranks.items()}

    def encode(self, text: str, visualise: str | None = "colour") -> list[int]:
        """Encodes a text, and prints how the parts of each piece merge.

        Args:
            text: Any string, such as "hello world".
            visualise: "colour" or "color" for coloured parts, "simple" for a list of them, `None` for none.
        """
        ids = []
        for piece in reference.split(text, self._splitter):
            ids += bpe_encode(self.mergeable_ranks, piece, visualise=visualise)
        return ids

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Joins the bytes of tokens; `KeyError` for an id that belongs to no token."""
        return b"".join(self.decode_tokens_bytes(tokens))

    def decode(self, tokens: Sequence[int]) -> str:
        """Decodes tokens to text; bytes that are not UTF-8 become U+FFFD."""
        return self.decode_bytes(tokens).decode(errors="replace")

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Returns the bytes of each token: [b"hello", b" world"] for "hello world"."""
        return [self._token_bytes[token] for token in tokens]

    @staticmethod
    def train(training_data: str, vocab_size: int, pat_str: str) -> SimpleBytePairEncoding:
        """Learns a vocabulary from a text, and prints every merge; see `bpe_train`."""
        ranks = bpe_train(training_data, vocab_size, pat_str)
        return SimpleBytePairEncoding(pat_str=pat_str, mergeable_ranks=ranks)

    @staticmethod
    def from_tiktoken(encoding: str | HasVocabulary) -> SimpleBytePairEncoding:
        """Makes one with the pattern and vocabulary of an encoding, given by name or as an object."""
        if isinstance(encoding, str):
            # Only here, so that the rest works without the compiled module.
            from bytemill.registry import get_encoding

            encoding = get_encoding(encoding)
        # One of this library may be a SentencePiece model, which `bytemill.inspection.show_merges` shows.
        if refusal := getattr(encoding, "_merging_bytes", None):
            refusal("lessons")
        # The names of both libraries: tiktoken has no public ones.
        pattern, ranks = encoding._pat_str, encoding._mergeable_ranks  # noqa: SLF001
        return SimpleBytePairEncoding(pat_str=pattern, mergeable_ranks=ranks)


def bpe_encode(
    mergeable_ranks: dict[bytes, int],
    input: bytes,  # noqa: A002 - tiktoken's name for it
    visualise: str | None = "colour",
) -> list[int]:
    """Encodes one piece, and prints its parts before the first merge and after each.

    Merges only: a token that no merges make is not found, even if the whole piece is that token.

    Args:
        mergeable_ranks: Token bytes to rank.
        input: The piece.
        visualise: As in `SimpleBytePairEncoding.encode`.
    """
    parts: list[bytes] = []
    for parts in reference.merge_steps(input, mergeable_ranks):
        if visualise in ("colour", "color"):
            visualise_tokens(parts)
        elif visualise == "simple":
            print(parts)
    if visualise:
        print()
    return [mergeable_ranks[part] for part in parts]


def bpe_train(data: str, vocab_size: int, pat_str: str, visualise: str | None = "colour") -> dict[bytes, int]:
    """Learns a vocabulary, and prints each merge and the words after it.

    Args:
        data: The text to learn from.
        vocab_size: The number of tokens, the 256 bytes included.
        pat_str: The pattern that splits the text into words.
        visualise: As in `SimpleBytePairEncoding.encode`.

    Returns:
        Token bytes to rank.

    Raises:
        ValueError: `vocab_size` is below 256, or the text has too few pairs for it.
    """
    words = [(list(piece), 1) for piece in reference.split(data, Splitter(pat_str))]
    tokens = list(reference.BYTE_TOKENS)
    for (left, right), merged in reference.train_steps(words, vocab_size):
        tokens.append(tokens[left] + tokens[right])
        if not visualise:
            continue
        print(f"Most frequent pair: {tokens[left]!r} + {tokens[right]!r}")
        print(f"It becomes token number {len(tokens)}, {tokens[-1]!r}")
        if visualise in ("colour", "color"):
            print("The first fifty words of the text are now:")
            visualise_tokens([tokens[token] for ids, _ in merged[:50] for token in ids])
        elif visualise == "simple":
            print("The first twenty words of the text are now:")
            for ids, _ in merged[:20]:
                print([tokens[token] for token in ids])
        print("\n")
    if len(tokens) < vocab_size:
        raise ValueError(f"the text has no pairs left after {len(tokens)} tokens of {vocab_size}")
    return {token: rank for rank, token in enumerate(tokens)}


def visualise_tokens(token_values: Sequence[bytes]) -> None:
    """Prints tokens in one line, adjacent ones on different background colours.

    The part of a character that a token holds is shown as U+FFFD.
    """
    line = ""
    column = 0
    previous = None
    # The colour follows from the column, so that tokens keep theirs when others merge before them.
    for token in token_values:
        text = token.decode(errors="replace")
        colour = COLOURS[column % len(COLOURS)]
        if colour == previous:
            colour = COLOURS[(column + 1) % len(COLOURS)]
        line += f"\x1b[48;5;{colour}m{text}"
        column += len(text)
        previous = colour
    print(line + RESET)


def train_simple_encoding() -> SimpleBytePairEncoding:
    """Trains on the text of this file and shows how the result encodes "hello world"."""
    text = Path(__file__).read_text(encoding="utf-8")
    encoding = SimpleBytePairEncoding.train(text, vocab_size=600, pat_str=GPT2_PATTERN)
    print("The merges that encode 'hello world':")
    encoding.encode("hello world")
    return encoding
