"""The arguments of training, checked before any text is read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from bytemill._arguments import check_type, integer
from bytemill.core import Encoding
from bytemill.patterns import described_pattern, resolve_pattern
from bytemill.training.counts import check_special_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.training.counts import PieceCounts

__all__ = ["DEFAULT_PATTERN", "InitialVocabulary", "SpecialTokens", "TieBreak", "TrainingOptions"]

TieBreak: TypeAlias = Literal["smallest_pair", "huggingface", "greatest_bytes", "first_seen"]

# Special tokens, in the order of their ids, or with their ids.
SpecialTokens: TypeAlias = Iterable[str] | Mapping[str, int]

BYTES = 256

# Vocabularies are padded to multiples of 64 or so. Each reserved token takes memory.
MOST_PADDING = 1 << 20


class Sentinel(str):
    """The default of an argument, distinguished by identity from an equal string that the caller gave."""

    __slots__ = ()


DEFAULT_PATTERN = Sentinel("o200k")


class InitialVocabulary(NamedTuple):
    """A vocabulary to start from, as the core takes it: tokens are numbered without gaps.

    Attributes:
        tokens: The bytes of every token, the 256 byte tokens first.
        ids: The ID of each.
        merges: The numbers of the two parts of every token but the byte tokens.
    """

    tokens: list[bytes]
    ids: list[int]
    merges: list[tuple[int, int]]

    @classmethod
    def bytes_only(cls) -> InitialVocabulary:
        """Returns the byte tokens in the order of their values."""
        return cls([bytes([byte]) for byte in range(BYTES)], list(range(BYTES)), [])

    @classmethod
    def of(cls, encoding: Encoding) -> InitialVocabulary:
        """Returns the mergeable tokens of an encoding; same errors as `train`."""
        encoding._merging_bytes("vocabularies that training continues")  # noqa: SLF001 - of this library
        ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name
        tokens = sorted(ranks, key=ranks.__getitem__)
        if any(len(token) != 1 for token in tokens[:BYTES]):
            raise ValueError(
                f"expected an encoding whose first {BYTES} token IDs are those of the bytes, got {encoding!r}"
            )
        ids = [ranks[token] for token in tokens]
        number = {token_id: i for i, token_id in enumerate(ids)}
        merges = [(number[left], number[right]) for left, right in encoding.merges()]
        return cls(tokens, ids, merges)

    @property
    def byte_tokens(self) -> list[bytes]:
        """The byte tokens in the order of their IDs."""
        return self.tokens[:BYTES]

    @property
    def next_id(self) -> int:
        """The ID of the first merge that is learned."""
        return self.ids[-1] + 1

    def extended(self, learned: Sequence[tuple[int, int]]) -> dict[bytes, int]:
        """Returns the ranks of all tokens, those of learned merges included."""
        tokens = list(self.tokens)
        for left, right in learned:
            tokens.append(tokens[left] + tokens[right])
        return dict(zip(tokens, [*self.ids, *range(self.next_id, self.next_id + len(learned))], strict=True))


class TrainingOptions(NamedTuple):
    """The options for learning merges and for the resulting vocabulary.

    Attributes:
        merges: The number of merges wanted.
        special_ids: The special tokens in order, each with the ID that was chosen for it, if one was.
        initial: The vocabulary to start from; `None` for the bytes.
        tie_break: Same as in `train`.
        min_frequency: Same as in `train`.
        max_token_length: Same as in `train`.
        multiple: The size of the vocabulary is a multiple of this.
    """

    merges: int
    special_ids: dict[str, int | None]
    initial: InitialVocabulary | None
    tie_break: TieBreak
    min_frequency: int
    max_token_length: int | None
    multiple: int

    @classmethod
    def checked(  # noqa: PLR0913 - those of `train`
        cls,
        vocab_size: int,
        *,
        special_tokens: SpecialTokens = (),
        tie_break: TieBreak = "smallest_pair",
        min_frequency: int = 0,
        max_token_length: int | None = None,
        initial: Encoding | None = None,
        pad_vocab_to: int | None = None,
    ) -> TrainingOptions:
        """Checks arguments; same errors as `train`."""
        vocab_size = integer("vocab_size", vocab_size)
        # No count, length or number of tokens is larger than what the core takes.
        min_frequency = min(integer("min_frequency", min_frequency), sys.maxsize)
        if max_token_length is not None:
            max_token_length = min(integer("max_token_length", max_token_length), sys.maxsize)
        if pad_vocab_to is not None:
            pad_vocab_to = integer("pad_vocab_to", pad_vocab_to)
        special_ids = check_special_ids(special_tokens)
        if initial is not None:
            check_type("initial", initial, Encoding)
        start = None if initial is None else InitialVocabulary.of(initial)
        next_id = BYTES if start is None else start.next_id
        merges = vocab_size - len(special_ids) - next_id
        if merges < 0:
            raise ValueError(
                f"expected a vocab_size of at least {vocab_size - merges}, for {next_id} tokens to start "
                f"with and {len(special_ids)} special tokens, got {vocab_size}"
            )
        if tie_break not in get_args(TieBreak):
            raise ValueError(
                f"expected tie_break to be one of {', '.join(get_args(TieBreak))}, got {tie_break!r}"
            )
        if min_frequency < 0:
            raise ValueError(f"expected min_frequency to be 0 or more, got {min_frequency}")
        if max_token_length is not None and max_token_length < 1:
            raise ValueError(f"expected max_token_length to be 1 or more, got {max_token_length}")
        lowest = min((token_id for token_id in special_ids.values() if token_id is not None), default=None)
        if lowest is not None and lowest < next_id + merges:
            raise ValueError(
                f"expected IDs of special tokens from {next_id + merges} on, after those of the merges, "
                f"got {lowest}"
            )
        if pad_vocab_to is not None and not 1 <= pad_vocab_to <= MOST_PADDING:
            raise ValueError(f"expected pad_vocab_to to be from 1 to {MOST_PADDING}, got {pad_vocab_to}")
        merges = min(merges, sys.maxsize)
        return cls(merges, special_ids, start, tie_break, min_frequency, max_token_length, pad_vocab_to or 1)

    @property
    def next_id(self) -> int:
        """The ID of the first merge that is learned."""
        return BYTES if self.initial is None else self.initial.next_id

    def all_special_ids(self, learned: int) -> dict[str, int]:
        """Returns the IDs of all special tokens after `learned` merges, including reserved ones."""
        next_id = self.next_id + learned
        ids = {
            token: next_id + i if token_id is None else token_id
            for i, (token, token_id) in enumerate(self.special_ids.items())
        }
        size = max([next_id - 1, *ids.values()]) + 1
        padded = -(-size // self.multiple) * self.multiple
        return ids | {f"<|reserved_{token_id}|>": token_id for token_id in range(size, padded)}


def check_special_ids(special_tokens: SpecialTokens) -> dict[str, int | None]:
    """Returns special tokens in order, with the IDs that were chosen; same errors as `train`."""
    if not isinstance(special_tokens, Mapping):
        return dict.fromkeys(check_special_tokens(special_tokens))
    check_special_tokens(special_tokens)
    if len(set(special_tokens.values())) < len(special_tokens):
        raise ValueError(f"two special tokens have the same id: {dict(special_tokens)}")
    return dict(special_tokens)


def check_counts(counts: PieceCounts, pattern: str | None, special_tokens: Iterable[str]) -> None:
    """Checks that counts fit the other arguments; same errors as `train`."""
    if pattern is not DEFAULT_PATTERN and resolve_pattern(pattern) != counts.pattern:
        raise ValueError(
            f"the counts come from {described_pattern(counts.pattern)}, not "
            f"{described_pattern(resolve_pattern(pattern))}"
        )
    uncut = sorted(set(special_tokens).difference(counts.special_tokens))
    if uncut:
        raise ValueError(
            f"the special tokens {uncut} were not left out when the pieces were counted: name them in "
            "count_pieces too"
        )
