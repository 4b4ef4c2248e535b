"""`Encoding`: a pattern, a vocabulary and special tokens under one name, with tiktoken's whole interface.

The class is thin. Text, ids and bytes cross into the compiled core once for each document or batch; what is
decided here is what becomes of special tokens (`special`), and what a pickle holds.
"""

from __future__ import annotations

import sys
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NoReturn

from bytemill._core import TIER, UNICODE_VERSION, CoreBPE, LearnedMerges, __version__
from bytemill.ambiguity import warn_of_ambiguity
from bytemill.arrow import ArrowEncoder
from bytemill.bulk import BulkEncoder
from bytemill.compiled import build_core
from bytemill.cutting import Cutter
from bytemill.decoding import Decoder, thread_count
from bytemill.iteration import IteratingEncoder
from bytemill.offsets import OffsetEncoder
from bytemill.special import (
    ALL,
    NO_TOKENS,
    AllowedSpecial,
    DisallowedSpecial,
    raise_disallowed,
    resolve_for_core,
)
from bytemill.storage import Storage
from bytemill.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

__all__ = ["TIER", "UNICODE_VERSION", "Encoding", "__version__"]


class Encoding(
    BulkEncoder, IteratingEncoder, ArrowEncoder, OffsetEncoder, Cutter, Decoder, Vocabulary, Storage
):
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
    def _trained(
        cls,
        name: str,
        *,
        pat_str: str,
        learned: LearnedMerges,
        special_tokens: dict[str, int],
        max_token_value: int,
    ) -> Encoding:
        """Builds an encoding of merges that were learned from the bytes on; warns as the constructor."""
        core = build_core(learned, special_tokens, pat_str)
        encoding = cls._around(
            name, pat_str=pat_str, special_tokens=special_tokens, max_token_value=max_token_value, core=core
        )
        # Their ids come after those of the merges.
        warn_of_ambiguity({}, special_tokens)
        return encoding

    @classmethod
    def _builtin(
        cls, name: str, *, vocabulary: str, pat_str: str, special_tokens: dict[str, int], max_token_value: int
    ) -> Encoding:
        """Builds a published encoding around the vocabulary of that name in the compiled core."""
        core = CoreBPE.builtin(vocabulary, special_tokens, pat_str)
        return cls._around(
            name, pat_str=pat_str, special_tokens=special_tokens, max_token_value=max_token_value, core=core
        )

    @classmethod
    def _around(
        cls, name: str, *, pat_str: str, special_tokens: dict[str, int], max_token_value: int, core: CoreBPE
    ) -> Encoding:
        """Builds an encoding around a core that was made of the same parts."""
        encoding = cls.__new__(cls)
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
        return self._core_bpe.encode_with_unstable(text, allowed, disallowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Gives the id of a token, mergeable or special.

        Raises:
            UnknownTokenError: There is no such token.
            UnicodeEncodeError: The text contains a surrogate.
        """
        return self._core_bpe.encode_single_token(utf8(text_or_bytes))

    # --- Memory ---

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

    # --- Names that are private in tiktoken and used all the same ---

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

        registered = registry.ENCODINGS.get(self.name)
        # What was unpickled or copied is another object, and still the encoding of that name.
        if registered is not None and registered._core_bpe is self._core_bpe:  # noqa: SLF001 - of this class
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


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raises the error for the disallowed `token`, found who knows where; the name is tiktoken's."""
    raise_disallowed(token, -1)


def highest_id(mergeable_ranks: dict[bytes, int], special_tokens: dict[str, int]) -> int:
    """Gives the highest id of all tokens."""
    return max(max(mergeable_ranks.values(), default=0), max(special_tokens.values(), default=0))


def utf8(text_or_bytes: str | bytes) -> bytes:
    """Gives text as UTF-8, and bytes as they are."""
    return text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
