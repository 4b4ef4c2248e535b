"""The arguments of training, checked before any text is read."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from bytemill._arguments import check_type, integer
from bytemill.core import Encoding
from bytemill.definition import ID_LIMIT
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

# The names of reserved tokens.
RESERVED = re.compile(r"<\|reserved_(0|[1-9][0-9]{0,18})\|>")


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
        checked = cls(
            merges, special_ids, start, tie_break, min_frequency, max_token_length, pad_vocab_to or 1
        )
        checked.check_padding()
        return checked

    def check_padding(self) -> None:
        """Raises `ValueError` if a reserved token would have the name of another one, or too large an ID."""
        if self.multiple == 1:
            return
        # There may be fewer merges than wanted.
        first, end = self.padding(0).start, self.padding(self.merges).stop
        for token in self.special_ids:
            named = RESERVED.fullmatch(token)
            if named is not None and first <= int(named[1]) < end:
                raise ValueError(
                    f"expected no special token {token!r}, which is the name of a token that pad_vocab_to "
                    "may add: choose another name"
                )
        highest = max((token_id or 0 for token_id in self.special_ids.values()), default=0)
        if highest and end > ID_LIMIT:
            raise ValueError(
                f"expected IDs of special tokens that pad_vocab_to can follow with IDs below {ID_LIMIT}, got "
                f"{highest}"
            )

    @property
    def next_id(self) -> int:
        """The ID of the first merge that is learned."""
        return BYTES if self.initial is None else self.initial.next_id

    def given_special_ids(self, learned: int) -> dict[str, int]:
        """Returns the IDs of the special tokens after `learned` merges."""
        next_id = self.next_id + learned
        return {
            token: next_id + i if token_id is None else token_id
            for i, (token, token_id) in enumerate(self.special_ids.items())
        }

    def padding(self, learned: int) -> range:
        """Returns the IDs of reserved tokens after `learned` merges."""
        size = max([self.next_id + learned - 1, *self.given_special_ids(learned).values()]) + 1
        return range(size, -(-size // self.multiple) * self.multiple)

    def all_special_ids(self, learned: int) -> dict[str, int]:
        """Returns the IDs of all special tokens after `learned` merges, including reserved ones."""
        reserved = {f"<|reserved_{token_id}|>": token_id for token_id in self.padding(learned)}
        return self.given_special_ids(learned) | reserved


def check_special_ids(special_tokens: SpecialTokens) -> dict[str, int | None]:
    """Returns special tokens in order, with the IDs that were chosen; same errors as `train`."""
    if not isinstance(special_tokens, Mapping):
        return dict.fromkeys(check_special_tokens(special_tokens))
    check_special_tokens(special_tokens)
    ids = {
        token: integer(f"the ID of the special token {token!r}", token_id)
        for token, token_id in special_tokens.items()
    }
    for token, token_id in ids.items():
        if not 0 <= token_id < ID_LIMIT:
            raise ValueError(
                f"expected an ID of the special token {token!r} from 0 to {ID_LIMIT - 1}, got {token_id}"
            )
    if len(set(ids.values())) < len(ids):
        raise ValueError(f"two special tokens have the same id: {ids}")
    return {**ids}


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
