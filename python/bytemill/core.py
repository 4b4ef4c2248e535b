"""`Encoding`: a pattern, a vocabulary and special tokens under one name, with tiktoken's whole interface.

The class is thin. Text, ids and bytes cross into the compiled core once for each document or batch; what is
decided here is what becomes of special tokens (`special`), which splitter a pattern gets (`splitting`), and
what a pickle holds.
"""

from __future__ import annotations

import sys
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NoReturn

from bytemill._core import TIER, UNICODE_VERSION, CoreBPE, __version__
from bytemill._core import Splitter as CoreSplitter
from bytemill.ambiguity import warn_of_ambiguity
from bytemill.bulk import BulkEncoder, refuse_strings
from bytemill.decoding import Decoder, thread_count
from bytemill.errors import UnsupportedPatternError
from bytemill.special import (
    ALL,
    NO_TOKENS,
    AllowedSpecial,
    DisallowedSpecial,
    raise_disallowed,
    resolve_for_core,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from bytemill.splitting import Splitter

__all__ = ["TIER", "UNICODE_VERSION", "Encoding", "__version__"]


class Encoding(BulkEncoder, Decoder):
    """Turns text into token ids and back.

    An encoding never changes: threads may share it, and it goes on working in forked processes. The GIL is
    released while the core works. Encoding takes time linear in the text for the splitting of the built-in
    patterns, and O(n log n) for each piece of n bytes; decoding is linear in what comes out.

    Text that the pattern does not match is dropped without notice, as in tiktoken; the built-in patterns
    match everything. Surrogate pairs in a string become the character they stand for, lone surrogates U+FFFD.

    Attributes:
        name: What the encoding is called; encodings with different special tokens should have different
            names.
        max_token_value: The highest token id.
    """

    name: str
    max_token_value: int

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        """Builds an encoding from its parts.

        Args:
            name: The name of the encoding.
            pat_str: The regular expression whose matches are the pieces; merges never cross a piece.
            mergeable_ranks: Each token's rank, which is also its id: of all possible merges the one that
                makes the token of lowest rank comes first. All 256 single bytes must be there.
            special_tokens: Each special token's id. Of several that match in one place the longest is taken;
                of several with one id the first is what that decodes to.
            explicit_n_vocab: If given and not 0, the number of tokens, which must have ids without a gap.

        Raises:
            AssertionError: The number of tokens or the highest id does not agree with `explicit_n_vocab`.
            VocabularyError: A single byte is missing, a rank occurs twice or is too large, or a token is
                empty.
            PatternError: The pattern does not compile or can match the empty string.

        Warns:
            UserWarning: A special token is the beginning of another, or has the id of a mergeable token.
        """
        if explicit_n_vocab and (
            len(mergeable_ranks) + len(special_tokens) != explicit_n_vocab
            or highest_id(mergeable_ranks, special_tokens) != explicit_n_vocab - 1
        ):
            raise AssertionError
        self._build(name, pat_str, mergeable_ranks, special_tokens)
        warn_of_ambiguity(mergeable_ranks, special_tokens)

    def _build(
        self, name: str, pat_str: str, mergeable_ranks: dict[bytes, int], special_tokens: dict[str, int]
    ) -> None:
        core = build_core(mergeable_ranks, special_tokens, pat_str)
        self._mergeable_ranks = mergeable_ranks
        self._assemble(name, pat_str, special_tokens, highest_id(mergeable_ranks, special_tokens), core)

    @classmethod
    def _builtin(
        cls, name: str, *, vocabulary: str, pat_str: str, special_tokens: dict[str, int], max_token_value: int
    ) -> Encoding:
        """Builds a published encoding around the vocabulary of that name in the compiled core."""
        encoding = cls.__new__(cls)
        core = CoreBPE.builtin(vocabulary, special_tokens, pat_str)
        encoding._assemble(name, pat_str, special_tokens, max_token_value, core)  # noqa: SLF001 - of this class
        return encoding

    def _assemble(
        self, name: str, pat_str: str, special_tokens: dict[str, int], max_token_value: int, core: CoreBPE
    ) -> None:
        self.name = name
        self.max_token_value = max_token_value
        self._pat_str = pat_str
        self._special_tokens = special_tokens
        self._special_token_values = set(special_tokens.values())
        self._core_bpe = core

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    # --- Encoding ---

    def encode_ordinary(self, text: str) -> list[int]:
        """Encodes text in which special tokens mean nothing: they are ordinary text.

        Raises:
            TypeError: `text` is not a string.
            PatternError: The engine of a custom pattern gives up on this text.
        """
        return self._core_bpe.encode_ordinary(text)

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> list[int]:
        """Encodes text, with a rule for special tokens that occur in it.

        Special tokens steer a model, so text from outside must not bring its own by accident: unless the
        caller says otherwise, meeting one is an error.

        Args:
            text: Any string.
            allowed_special: The special tokens that become their ids, as a set; "all" for all of them.
            disallowed_special: Strings whose occurrence is an error, special tokens or not; "all" for every
                special token that is not allowed. With `()`, special tokens that are not allowed are ordinary
                text.

        Returns:
            The token ids.

        Raises:
            DisallowedSpecialTokenError: A disallowed string occurs in the text.
            TypeError: `text` is not a string, or `allowed_special` neither a set nor "all".
            PatternError: The engine of a custom pattern gives up on this text.
        """
        if allowed_special is NO_TOKENS and disallowed_special is ALL:
            # The usual call.
            return self._core_bpe.encode(text, NO_TOKENS, None)
        allowed, disallowed = resolve_for_core(self.special_tokens_set, allowed_special, disallowed_special)
        refuse_strings(self._core_bpe, [text], self.special_tokens_set, allowed, disallowed)
        return self._core_bpe.encode(text, allowed, disallowed)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> npt.NDArray[np.uint32]:
        """Encodes text to a read-only array of shape (tokens,) and dtype uint32; otherwise as `encode`."""
        allowed, disallowed = resolve_for_core(self.special_tokens_set, allowed_special, disallowed_special)
        refuse_strings(self._core_bpe, [text], self.special_tokens_set, allowed, disallowed)
        return self._core_bpe.encode_to_numpy(text, allowed, disallowed)

    def encode_ordinary_batch(self, text: Iterable[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encodes many texts in parallel, as `encode_ordinary` does one.

        Args:
            text: The texts. A single string counts as the texts of its characters.
            num_threads: How many threads may work.

        Returns:
            The token ids of each text, in the order of the texts.

        Raises:
            ValueError: `num_threads` is not positive.
            TypeError, PatternError: As `encode_ordinary`, for the first text that fails.
        """
        threads = thread_count(num_threads)
        return self._core_bpe.encode_ordinary_batch(list(text), threads)

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int = 8,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> list[list[int]]:
        """Encodes many texts in parallel, as `encode` does one.

        Args:
            text: The texts. A single string counts as the texts of its characters.
            num_threads: How many threads may work.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`.

        Returns:
            The token ids of each text, in the order of the texts.

        Raises:
            ValueError: `num_threads` is not positive.
            DisallowedSpecialTokenError, TypeError, PatternError: As `encode`, for the first text that fails.
        """
        allowed, disallowed = resolve_for_core(self.special_tokens_set, allowed_special, disallowed_special)
        threads = thread_count(num_threads)
        texts = list(text)
        refuse_strings(self._core_bpe, texts, self.special_tokens_set, allowed, disallowed)
        return self._core_bpe.encode_batch(texts, allowed, disallowed, threads)

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> tuple[list[int], list[list[int]]]:
        """Encodes text that may go on; arguments and errors as `encode`.

        Returns:
            The ids that any continuation keeps, which stand for a beginning of the text, and the ways in
            which the rest may turn out, in no particular order: the former followed by any of the latter
            decode to something that begins with the text.
        """
        allowed, disallowed = resolve_for_core(self.special_tokens_set, allowed_special, disallowed_special)
        refuse_strings(self._core_bpe, [text], self.special_tokens_set, allowed, disallowed)
        return self._core_bpe.encode_with_unstable(text, allowed, disallowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Gives the id of a token, mergeable or special.

        Raises:
            UnknownTokenError: There is no such token.
            UnicodeEncodeError: The text contains a surrogate.
        """
        return self._core_bpe.encode_single_token(utf8(text_or_bytes))

    # --- The vocabulary ---

    def memory_usage(self) -> int:
        """Tells how many bytes the vocabulary takes with what was learned from the texts so far.

        Pieces of texts are remembered with their ids, in tables that outlive the call; there are as many
        tables as calls ever ran at once, each limited as `set_cache_limit` says.
        """
        return self._core_bpe.memory_usage()

    def clear_cache(self) -> None:
        """Forgets what was learned from texts, and frees its memory. Ids stay the same."""
        self._core_bpe.clear_cache()

    def set_cache_limit(self, bytes_per_thread: int) -> None:
        """Sets how much may be remembered of texts, and forgets what was so far. Ids stay the same.

        Args:
            bytes_per_thread: What each thread that encodes at the same time may use, in bytes; 64 MiB unless
                set. Some kilobytes are used in any case. Copies of this object share the limit.

        Raises:
            ValueError: `bytes_per_thread` is negative.
        """
        if bytes_per_thread < 0:
            message = f"expected a number of bytes, 0 or more, got {bytes_per_thread}"
            raise ValueError(message)
        self._core_bpe.set_cache_limit(min(bytes_per_thread, sys.maxsize))

    def token_byte_values(self) -> list[bytes]:
        """Gives the bytes of all mergeable tokens, sorted."""
        return self._core_bpe.token_byte_values()

    def merges(self) -> list[tuple[int, int]]:
        """Gives the two tokens that each mergeable token of more than one byte is made of, in rank order.

        Raises:
            VocabularyError: A token is not made of exactly two others of lower rank.
        """
        return self._core_bpe.merges()

    def vocab(self) -> dict[int, bytes]:
        """Gives the bytes of every token, special ones as UTF-8, in the order of the ids."""
        tokens = {token_id: token for token, token_id in self._mergeable_ranks.items()}
        for text, token_id in self._special_tokens.items():
            tokens.setdefault(token_id, text.encode())
        return dict(sorted(tokens.items()))

    def with_vocab_size(self, vocab_size: int, *, name: str | None = None) -> Encoding:
        """Makes an encoding of the first merges only: what training to that size would have given.

        Args:
            vocab_size: The number of ids: of the mergeable tokens that are kept, and of the special tokens,
                which follow them in the order of their ids.
            name: The name of the encoding; if not given, that of this one followed by the size.

        Raises:
            ValueError: This encoding has fewer ids, or so few do not hold the bytes and the special tokens.
        """
        special_ids = sorted(self._special_token_values)
        kept = vocab_size - len(special_ids)
        ranks = {token: rank for token, rank in self._mergeable_ranks.items() if rank < kept}
        if len(ranks) != kept or sum(len(token) == 1 for token in ranks) < 256:  # noqa: PLR2004 - byte tokens
            message = (
                f"expected a vocab_size from {256 + len(special_ids)} to {self.n_vocab}, "
                f"below any gap in the ids of mergeable tokens, got {vocab_size}"
            )
            raise ValueError(message)
        new_id = {token_id: kept + i for i, token_id in enumerate(special_ids)}
        return Encoding(
            f"{self.name}_{vocab_size}" if name is None else name,
            pat_str=self._pat_str,
            mergeable_ranks=ranks,
            special_tokens={text: new_id[token_id] for text, token_id in self._special_tokens.items()},
        )

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`; `KeyError` if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Tells whether an id is that of a special token; `AssertionError` if it is not an `int`."""
        if not isinstance(token, int):
            raise AssertionError  # noqa: TRY004 - as in tiktoken
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """The highest token id plus one: more than there are tokens if ids leave gaps."""
        return self.max_token_value + 1

    # --- Names that are private in tiktoken and used all the same ---

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        # Built-in encodings make it when asked: the dictionary takes longer than everything else about them.
        return self._core_bpe.mergeable_ranks()

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Encodes one piece: merges only, no splitting and no special tokens."""
        return self._core_bpe.encode_single_piece(utf8(text_or_bytes))

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Encodes as `encode_ordinary`, with the splitting done in Python."""
        from bytemill.splitting import Splitter, repair_surrogates

        repaired = repair_surrogates(text)
        pieces = Splitter(self._pat_str).split(repaired)
        return self._core_bpe.encode_pieces([piece.encode() for piece in pieces])

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Encodes bytes, which need not be UTF-8, as `encode_bytes` does."""
        return self._core_bpe._encode_bytes(text)  # noqa: SLF001 - tiktoken's name

    # --- Pickling and copying ---

    def __getstate__(self) -> object:
        """Gives the name of a registered encoding, or else the parts, sorted: equals pickle equally."""
        from bytemill import registry

        if registry.ENCODINGS.get(self.name) is self:
            return self.name
        return {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": dict(sorted(self._mergeable_ranks.items(), key=itemgetter(1))),
            "special_tokens": dict(sorted(self._special_tokens.items(), key=itemgetter(1))),
        }

    def __setstate__(self, state: str | dict[str, Any]) -> None:
        """Takes what `__getstate__` gave, here or in tiktoken."""
        from bytemill import registry

        if isinstance(state, str):
            self.__dict__.update(registry.get_encoding(state).__dict__)
        else:
            self._build(**state)

    def __copy__(self) -> Encoding:
        """Makes another object around the same tables."""
        copy = self.__class__.__new__(self.__class__)
        copy.__dict__.update(self.__dict__)
        return copy

    def __deepcopy__(self, memo: dict[int, object]) -> Encoding:
        """Makes another object around the same tables, which never change."""
        return self.__copy__()


def build_core(mergeable_ranks: dict[bytes, int], special_tokens: dict[str, int], pattern: str) -> CoreBPE:
    """Builds the core, with a splitter in Python if the core does not take the pattern."""
    try:
        return CoreBPE(mergeable_ranks, special_tokens, pattern)
    except UnsupportedPatternError as refusal:
        return CoreBPE(mergeable_ranks, special_tokens, pattern, python_splitter(pattern, refusal))


def build_splitter(pattern: str) -> CoreSplitter:
    """Builds the core's splitter, around one in Python if the core does not take the pattern."""
    try:
        return CoreSplitter(pattern)
    except UnsupportedPatternError as refusal:
        return CoreSplitter(pattern, python_splitter(pattern, refusal))


def python_splitter(pattern: str, refusal: UnsupportedPatternError) -> Splitter:
    """Builds a splitter in Python; if that does not take the pattern either, raises the core's `refusal`."""
    # Only here: the regular expressions take longer to import than all of this package.
    from bytemill.splitting import Splitter

    try:
        return Splitter(pattern)
    except UnsupportedPatternError:
        raise refusal from None


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raises the error for the disallowed `token`, found who knows where; the name is tiktoken's."""
    raise_disallowed(token, -1)


def highest_id(mergeable_ranks: dict[bytes, int], special_tokens: dict[str, int]) -> int:
    """Gives the highest id of all tokens."""
    return max(max(mergeable_ranks.values(), default=0), max(special_tokens.values(), default=0))


def utf8(text_or_bytes: str | bytes) -> bytes:
    """Gives text as UTF-8, and bytes as they are."""
    return text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
