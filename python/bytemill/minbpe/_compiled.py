"""Training, encoding and decoding by the compiled core, which the tokenizers share."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from bytemill._calls import warn_of_shared_ids
from bytemill.core import Encoding
from bytemill.definition import Definition
from bytemill.errors import VocabularyError
from bytemill.formats.minbpe_model import Model, definition_of
from bytemill.minbpe.base import BYTES, Tokenizer
from bytemill.patterns import WHOLE_TEXT_PATTERN
from bytemill.reference import BYTE_TOKENS, ReferenceEncoding, merge, ranks_of_merges
from bytemill.training import count_pieces
from bytemill.training.learning import learn_merges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bytemill.formats.minbpe_model import Pair

__all__ = ["CompiledTokenizer"]


def ranks_of(merges: Mapping[Pair, int]) -> dict[bytes, int] | None:
    """Returns the ranks that give the same token IDs as merges; `None` if there are none.

    The core merges by the bytes of a pair, minbpe by its IDs.
    """
    numbers = range(BYTES, BYTES + len(merges))
    if [*merges.values()] != [*numbers]:
        return None
    if any(not 0 <= part < number for pair, number in zip(merges, numbers, strict=True) for part in pair):
        return None
    try:
        return definition_of(Model("", {}, {**merges}), "minbpe", "merges").ranks
    except VocabularyError:
        return None


def encoding_of(
    name: str, pattern: str | None, ranks: dict[bytes, int], special_tokens: dict[str, int]
) -> Encoding:
    """Builds an encoding without the warning of the constructor that the longest special token wins.

    `RegexTokenizer` allows it those tokens only that minbpe finds.
    """
    warn_of_shared_ids(ranks, special_tokens, stacklevel=4)
    return Encoding._of(Definition(name, pattern or WHOLE_TEXT_PATTERN, ranks, special_tokens))  # noqa: SLF001 - of this library


class MergingEncoding(ReferenceEncoding):
    """Merges by the IDs of pairs as minbpe does, in plain Python: for merges that no ranks stand for."""

    def __init__(
        self, merges: Mapping[Pair, int], special_tokens: Mapping[str, int], pattern: str | None
    ) -> None:
        """Initialises an encoding; its arguments are the attributes of a tokenizer."""
        super().__init__(ranks_of_merges([]), special_tokens, pattern)
        self._merges = {**merges}
        tokens = dict(enumerate(BYTE_TOKENS))
        for (left, right), new_id in merges.items():
            # A pair of tokens that no merge before it makes has no bytes, but is merged where it occurs.
            if left in tokens and right in tokens:
                tokens[new_id] = tokens[left] + tokens[right]
        self._token_bytes |= tokens

    def encode_piece(self, piece: bytes) -> list[int]:
        """Encodes one piece by the merge with the lowest ID, again and again."""
        ids = list(piece)
        while pairs := [pair for pair in pairwise(ids) if pair in self._merges]:
            pair = min(pairs, key=self._merges.__getitem__)
            ids = merge(ids, pair, self._merges[pair])
        return ids


class CompiledTokenizer(Tokenizer):
    """A tokenizer on the compiled core.

    You can assign attributes, but do not change their dictionaries: the core has its own copies. Merges that
    the core cannot follow exactly, such as two that make the same bytes, are followed in plain Python,
    slowly.
    """

    def __setattr__(self, name: str, value: object) -> None:
        """Sets an attribute; the core is built again from those that it depends on."""
        super().__setattr__(name, value)
        if name in {"merges", "pattern", "special_tokens"}:
            self.__dict__.pop("_encoding", None)
            self.__dict__.pop("_hidden", None)

    @property
    def _splitting(self) -> str | None:
        """The pattern that splits text, if any."""
        return self.pattern or None

    @cached_property
    def _encoding(self) -> Encoding | MergingEncoding:
        ranks = ranks_of(self.merges)
        if ranks is None:
            return MergingEncoding(self.merges, self.special_tokens, self._splitting)
        return encoding_of(type(self).__name__, self._splitting, ranks, self.special_tokens)

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:  # noqa: FBT001, FBT002 - as there
        """Learns `vocab_size - 256` merges from a text, which replace earlier ones.

        Args:
            text: Any string.
            vocab_size: The number of tokens, without special tokens.
            verbose: Whether to print each merge, and how often its pair occurred.

        Raises:
            ValueError: The text has too few pairs.
            AssertionError: `vocab_size` is below 256.
        """
        if vocab_size < BYTES:
            raise AssertionError(vocab_size)
        wanted = vocab_size - BYTES
        counts = count_pieces([text], self._splitting, progress=False)
        learned = learn_merges(counts, wanted, tie_break="first_seen")
        merges = {pair: BYTES + i for i, pair in enumerate(learned.pairs())}
        if verbose:
            tokens = list(ranks_of_merges(merges))
            for i, ((pair, new_id), count) in enumerate(
                zip(merges.items(), learned.counts(), strict=True), start=1
            ):
                print(f"merge {i}/{wanted}: {pair} -> {new_id} ({tokens[new_id]!r}) had {count} occurrences")  # noqa: T201
        if len(learned) < wanted:
            raise ValueError(f"the text has no pairs left after {len(learned)} merges of {wanted}")
        self._set(merges, self.pattern, self.special_tokens)

    def encode(self, text: str) -> list[int]:
        """Encodes a text."""
        return self._encoding.encode_ordinary(text)

    def decode(self, ids: Sequence[int]) -> str:
        """Decodes token IDs to text; invalid UTF-8 becomes U+FFFD.

        Raises:
            ValueError: An ID is not that of a token.
        """
        try:
            return self._encoding.decode(ids)
        except (KeyError, OverflowError) as error:
            raise ValueError(f"invalid token id: {error.args[0]}") from error
