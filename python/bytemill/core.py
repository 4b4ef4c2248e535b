"""`Encoding`: a tokenizer, with tiktoken's complete interface.

Its methods are thin: text, token IDs and bytes cross into the compiled core once for each document or batch.
"""

from __future__ import annotations

import sys
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, SupportsIndex

from bytemill._arguments import (
    bytes_of,
    check_type,
    integer,
    integer_type,
    known_ids,
    not_a_table,
    several,
    thread_count,
    token_limit,
)
from bytemill._backend import (
    TIER,
    UNICODE_VERSION,
    CoreBPE,
    LearnedMerges,
    __version__,
    build_core,
)
from bytemill._backend import set_process_cache_limit as set_core_limit
from bytemill._calls import (
    batches,
    copied_rows,
    extended,
    first_characters,
    ids_of,
    last_characters,
    string_indices,
    warn_of_ambiguity,
)
from bytemill.definition import Definition, core_of
from bytemill.errors import PatternError, VocabularyError
from bytemill.results import Candidate, EncodedWithOffsets, PieceExplanation, Ragged, Truncated, rows_of
from bytemill.sessions import PrefixCache, Session, StreamEncoder, core_of_cache
from bytemill.source import RANKS, source_of, tokens_bytes
from bytemill.special import (
    ALL,
    NO_TOKENS,
    AllowedSpecial,
    DisallowedSpecial,
    Tokens,
    kept,
    raise_disallowed,
    resolve_for_core,
)

if TYPE_CHECKING:
    import os
    import re
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt
    import tiktoken
    from typing_extensions import Buffer, Self

    from bytemill._backend import EncodedColumn
    from bytemill._calls import Tokens as TokensAround
    from bytemill.definition import Loaded, Template
    from bytemill.formats.tokenizer_json import HuggingFaceTokenizer
    from bytemill.results import ArrowArray, ArrowStream
    from bytemill.source import Source
    from bytemill.streaming import StreamDecoder

__all__ = ["TIER", "UNICODE_VERSION", "Encoding", "__version__", "set_process_cache_limit"]

# The most texts that are counted by token at once.
TEXTS_AT_ONCE = 1 << 14


class Encoding:
    """A tokenizer: turns text into token IDs and back.

    An encoding is immutable: threads may share it, and it works in forked processes. The GIL is released
    while the core works. Encoding takes time linear in the text for the splitting of the built-in patterns,
    and O(n log n) for each piece of n bytes; decoding is linear in its output.

    Text that the pattern does not match is dropped silently, same as in tiktoken; the built-in patterns match
    everything. A surrogate pair in a string becomes its character, a lone surrogate becomes U+FFFD.

    Attributes:
        name: The name of the encoding; encodings with different special tokens should have different names.
        max_token_value: The highest token ID.
    """

    name: str
    max_token_value: int

    # Finds a registered encoding by its name, for unpickling. The registry, which builds encodings, sets it.
    _find_registered: ClassVar[Callable[[str], Encoding]]

    # The name under which the registry has this encoding, and its copies; `None` for others.
    _registered_as: str | None = None

    # Part of the definition, and nothing that this class applies.
    _template: Template | None = None

    # What says how text becomes its ids: ranks, unless it is set to something else.
    _source: Source = RANKS

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
            mergeable_ranks: The rank of each token, which is also its ID: the merge that makes the token of
                lowest rank comes first. All 256 single bytes are required.
            special_tokens: The ID of each special token. If several match at the same position, the longest
                wins; if several have the same ID, it decodes to the first.
            explicit_n_vocab: If given and not 0, the number of tokens, which must have IDs without a gap.

        Raises:
            AssertionError: The number of tokens or the highest ID does not agree with `explicit_n_vocab`.
            VocabularyError: A single byte is missing, a rank occurs twice or is too large, or a token is
                empty.
            PatternError: The pattern does not compile or can match the empty string.

        Warns:
            UserWarning: A special token is the beginning of another, or has the ID of a mergeable token.
        """
        # Copies: the caller may change theirs, for an encoding with more tokens.
        definition = Definition(name, pat_str, {**mergeable_ranks}, {**special_tokens})
        if explicit_n_vocab and (
            len(mergeable_ranks) + len(special_tokens) != explicit_n_vocab
            or definition.max_id != explicit_n_vocab - 1
        ):
            raise AssertionError
        self._build(definition)
        warn_of_ambiguity(mergeable_ranks, special_tokens)

    @classmethod
    def from_definition(cls, definition: Definition) -> Self:
        """Builds the encoding of a definition.

        Raises:
            TypeError, VocabularyError, PatternError: Same as the constructor.

        Warns:
            UserWarning: Same as the constructor.
        """
        check_type("definition", definition, Definition)
        encoding = cls._of(definition)
        if definition.tokenizer is None:
            warn_of_ambiguity(definition.ranks, definition.special_tokens)
        return encoding

    @classmethod
    def from_tiktoken(cls, encoding: tiktoken.Encoding) -> Self:
        """Builds the same encoding as a `tiktoken.Encoding`.

        Raises:
            TypeError: `encoding` is not a `tiktoken.Encoding`.

        Warns:
            UserWarning: Same as the constructor.
        """
        from bytemill.formats.tiktoken_ranks import definition_of

        definition = definition_of(encoding)
        warn_of_ambiguity(definition.ranks, definition.special_tokens)
        return cls._of(definition)

    @classmethod
    def _of(cls, definition: Definition, core: CoreBPE | None = None) -> Self:
        """Builds the encoding of a definition without warnings, or takes its core."""
        encoding = cls.__new__(cls)
        encoding._build(definition, core)  # noqa: SLF001 - of this class
        return encoding

    def _build(self, definition: Definition, core: CoreBPE | None = None) -> None:
        if core is None:
            core = core_of(definition)
            if definition.ranks:
                self._mergeable_ranks = definition.ranks
        self._source = source_of(definition)
        self._template = definition.template
        special_tokens = definition.special_tokens
        max_token_value = max([core.max_id(), *special_tokens.values()])
        self._assemble(core, definition.name, definition.splitting, special_tokens, max_token_value)

    def _assemble(
        self, core: CoreBPE, name: str, pat_str: str, special_tokens: dict[str, int], max_token_value: int
    ) -> None:
        self.name = name
        self.max_token_value = max_token_value
        self._pat_str = pat_str
        self._special_tokens = special_tokens
        self._special_token_values = set(special_tokens.values())
        self._core_bpe = core

    @classmethod
    def _around(
        cls, core: CoreBPE, *, name: str, pat_str: str, special_tokens: dict[str, int], max_token_value: int
    ) -> Self:
        """Builds an encoding around a core of the same pattern and tokens."""
        encoding = cls.__new__(cls)
        encoding._assemble(core, name, pat_str, special_tokens, max_token_value)  # noqa: SLF001 - as above
        return encoding

    @classmethod
    def _trained(
        cls,
        name: str,
        *,
        pat_str: str,
        learned: LearnedMerges,
        special_tokens: dict[str, int],
        max_token_value: int,
    ) -> Self:
        """Builds an encoding of merges learned starting from the bytes; warns as the constructor."""
        core = build_core(learned, special_tokens, pat_str)
        # The ids of special tokens come after those of the merges.
        warn_of_ambiguity({}, special_tokens)
        return cls._around(
            core, name=name, pat_str=pat_str, special_tokens=special_tokens, max_token_value=max_token_value
        )

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}, {self.n_vocab} tokens>"

    # --- Encoding text to lists ---

    def encode_ordinary(self, text: str) -> list[int]:
        """Encodes text, with special tokens as ordinary text.

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
        cache: PrefixCache | None = None,
    ) -> list[int]:
        """Encodes text.

        Special tokens control a model, so untrusted text must not contain any by accident: by default, a
        special token in the text is an error.

        Args:
            text: Any string.
            allowed_special: The special tokens to encode as single tokens, as a set; "all" for all of them.
            disallowed_special: Strings whose occurrence is an error, special tokens or not; "all" for every
                special token that is not allowed. With `()`, special tokens that are not allowed are ordinary
                text.
            cache: A cache of the token IDs that texts begin with.

        Returns:
            The token IDs.

        Raises:
            DisallowedSpecialTokenError: A disallowed string occurs in the text.
            TypeError: `text` is not a string, or `allowed_special` neither a set nor "all".
            PatternError: The engine of a custom pattern gives up on this text.
        """
        if allowed_special is NO_TOKENS and disallowed_special is ALL and cache is None:
            # The usual call.
            return self._core_bpe.encode(text, NO_TOKENS, None)
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        return self._core_bpe.encode(text, allowed, disallowed, core_of_cache(cache))

    def encode_ordinary_batch(self, text: Iterable[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encodes many texts in parallel, same as `encode_ordinary` for one.

        Args:
            text: The texts. A single string is treated as a sequence of characters, same as in tiktoken.
            num_threads: The maximum number of threads.

        Returns:
            The token IDs of each text, in the order of the texts.

        Raises:
            ValueError: `num_threads` is not positive.
            TypeError, PatternError: Same as `encode_ordinary`, for the first text that fails.
        """
        threads = thread_count(num_threads, as_in_tiktoken=True)
        return self._core_bpe.encode_ordinary_batch(list(not_a_table("text", text)), threads)

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int = 8,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> list[list[int]]:
        """Encodes many texts in parallel, same as `encode` for one.

        Args:
            text: The texts. A single string is treated as a sequence of characters, same as in tiktoken.
            num_threads: The maximum number of threads.
            allowed_special: Same as in `encode`.
            disallowed_special: Same as in `encode`.

        Returns:
            The token IDs of each text, in the order of the texts.

        Raises:
            ValueError: `num_threads` is not positive.
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `encode`, for the first text that
                fails.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        threads = thread_count(num_threads, as_in_tiktoken=True)
        texts = list(not_a_table("text", text))
        return self._core_bpe.encode_batch(texts, allowed, disallowed, threads)

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> tuple[list[int], list[list[int]]]:
        """Encodes text that may be continued; same arguments and errors as `encode`.

        Returns:
            The token IDs that stay the same for any continuation, and the possible encodings of the rest of
            the text, in no particular order. The former followed by any of the latter decode to a text that
            begins with `text`; with a SentencePiece model, with the normalized text.

        Raises:
            VocabularyError: It is a `tokenizer.json` of a BPE model that does not merge by rank.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        if "tokenizer" in self._source.fields:
            self._merging_bytes("texts that may be continued")
        special = (allowed, disallowed)
        unstable = self._source.encode_with_unstable
        return unstable(self._core_bpe, text, special, self._special_token_values)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Returns the ID of a token, mergeable or special.

        Raises:
            UnknownTokenError: There is no such token.
            UnicodeEncodeError: The text contains a surrogate.
        """
        return self._core_bpe.encode_single_token(utf8(text_or_bytes))

    def encode_bytes(self, data: Buffer) -> list[int]:
        """Encodes UTF-8 bytes without creating a `str`; otherwise same as `encode_ordinary`.

        Invalid UTF-8 is encoded too: everything from the first invalid byte on, and the piece before it, is
        treated as one piece.

        Args:
            data: `bytes` or another contiguous buffer of bytes: `bytearray`, `memoryview`, `mmap`, a NumPy
                array of uint8. Anything not backed by `bytes` is copied first, because it may change during
                the call. A mapped file that is truncated during the call raises `SIGBUS`, same as everywhere.

        Raises:
            TypeError: `data` is not such a buffer.
            PatternError: The engine of a custom pattern gives up on this text.
        """
        return self._core_bpe.encode_bytes(data)

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """Encodes one piece: merges only, no splitting and no special tokens; tiktoken's name."""
        return self._core_bpe.encode_single_piece(utf8(text_or_bytes))

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """Encodes as `encode_ordinary`, with the splitting done in Python; tiktoken's name."""
        if not self._has_ranks:
            return self.encode_ordinary(text)
        from bytemill.splitting import Splitter, repair_surrogates

        pieces = Splitter(self._pat_str).split(repair_surrogates(text))
        return self._core_bpe.encode_pieces([piece.encode() for piece in pieces])

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Encodes bytes, which need not be UTF-8, as `encode_bytes` does; tiktoken's name."""
        return self._core_bpe._encode_bytes(text)  # noqa: SLF001 - tiktoken's name

    def _resolve(self, allowed: AllowedSpecial, disallowed: DisallowedSpecial) -> tuple[Tokens, Tokens]:
        return resolve_for_core(self._special_tokens.keys(), allowed, disallowed)

    # --- Encoding to arrays: without a Python object for each token ---

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
        cache: PrefixCache | None = None,
    ) -> npt.NDArray[np.uint32]:
        """Same as `encode`, but returns a read-only array of shape (tokens,) and dtype uint32."""
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        return self._core_bpe.encode_to_numpy(text, allowed, disallowed, core_of_cache(cache))

    def encode_ordinary_to_numpy(self, text: str, *, num_threads: int | None = 1) -> npt.NDArray[np.uint32]:
        """Same as `encode_ordinary`, but returns an array of shape (tokens,) and dtype uint32.

        Args:
            text: Any string.
            num_threads: The maximum number of threads, if the text can be cut without changing its token IDs.

        Raises:
            ValueError: `num_threads` is not positive.
            TypeError, PatternError: Same as `encode_ordinary`.
        """
        return self._core_bpe.encode_ordinary_to_numpy(text, thread_count(num_threads))

    def encode_batch_to_numpy(  # noqa: PLR0913 - all but the texts have names
        self,
        texts: Iterable[str],
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
        prepend: TokensAround = None,
        append: TokensAround = None,
        add_special_tokens: bool = False,
        dtype: npt.DTypeLike | None = None,
        num_threads: int | None = None,
    ) -> Ragged:
        """Encodes many texts in parallel into one array, which the caller may write to.

        Args:
            texts: The texts; pass a single text as `[text]`.
            allowed_special: Same as in `encode`.
            disallowed_special: Same as in `encode`, but by default nothing is an error.
            prepend: Tokens to put before those of each text: an ID, the text of a single token such as
                "<|endoftext|>", or several of them.
            append: Tokens to put after those of each text, given in the same way.
            add_special_tokens: Whether to add the tokens that the tokenizer's own library adds to each text
                (`definition.template`), inside `prepend` and `append`.
            dtype: The integer type of the IDs; uint32 if not given. uint16 holds vocabularies below 65,536.
            num_threads: The maximum number of threads; if not given, all processors, or one in a process
                started by `multiprocessing`.

        Returns:
            The token IDs of all texts, and the offsets at which those of each text start and end.

        Raises:
            ValueError: `num_threads` is not positive, `dtype` is not an integer type for all token IDs up to
                `max_token_value`, or `prepend`, `append` or the template has an ID that is not a token of
                this encoding.
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `encode`, for the first text that
                fails.

        Complexity:
            That of `encode` for each text, divided by the threads. While the IDs of several threads are put
            together, they are in memory twice, 4 bytes each.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        threads = thread_count(num_threads)
        kind = None if dtype is None else integer_type(dtype, self.max_token_value)
        before = ids_of("prepend", prepend, self)
        after = ids_of("append", append, self)
        if add_special_tokens:
            prefix, suffix = self._template_ids()
            before, after = before + prefix, suffix + after
        texts = list(several("texts", texts))
        name = "uint32" if kind is None else kind.name
        ids, offsets = self._core_bpe.encode_batch_to_numpy(
            texts, allowed, disallowed, before, after, name, threads
        )
        # `dtype` may have the other byte order.
        return Ragged(ids if kind is None else ids.astype(kind, copy=False), offsets)

    def _template_ids(self) -> tuple[list[int], list[int]]:
        """Returns the IDs that `add_special_tokens` puts before and after those of each text."""
        if self._template is None:
            return [], []
        prefix, suffix = (
            [self.encode_single_token(token) if isinstance(token, str) else token for token in tokens]
            for tokens in self._template
        )
        is_token = self._core_bpe.is_token
        return known_ids("template.prefix", prefix, is_token), known_ids("template.suffix", suffix, is_token)

    def encode_iter(
        self,
        texts: Iterable[str],
        *,
        batch_size: int = 1024,
        num_threads: int | None = None,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
    ) -> Iterator[npt.NDArray[np.uint32]]:
        """Encodes texts that need not fit in memory, a batch at a time in parallel.

        Args:
            texts: The texts; pass a single text as `[text]`. A generator is read one batch at a time, when
                the first result of the batch is requested.
            batch_size: The number of texts in a batch; fewer if they have more than 16 million characters
                together.
            num_threads: The maximum number of threads; all processors if not given.
            allowed_special: Same as in `encode`.
            disallowed_special: Same as in `encode`, but by default nothing is an error.

        Returns:
            An iterator over the token IDs of each text, in the order of the texts: arrays of shape (tokens,)
            and dtype uint32, each writable and with its own memory.

        Raises:
            ValueError: `batch_size` or `num_threads` is not positive.
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `encode`, raised when the first
                result of the batch with the failing text is requested.

        Complexity:
            That of `encode` for each text, divided by the threads. Memory for the texts of a batch and twice
            their IDs.
        """
        allowed, disallowed = self._resolve(*kept(allowed_special, disallowed_special))
        threads = thread_count(num_threads)
        source = iter(several("texts", texts))
        batch_size = integer("batch_size", batch_size)
        if batch_size < 1:
            raise ValueError(f"expected a batch_size of 1 or more, got {batch_size}")

        def encoded(batch: list[str]) -> Iterator[npt.NDArray[np.uint32]]:
            core = self._core_bpe
            return copied_rows(
                *core.encode_batch_to_numpy(batch, allowed, disallowed, [], [], "uint32", threads)
            )

        return (ids for batch in batches(source, batch_size) for ids in encoded(batch))

    def encode_arrow(
        self,
        column: ArrowArray | ArrowStream,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
        num_threads: int | None = None,
    ) -> EncodedColumn:
        """Encodes an Apache Arrow column of texts in parallel, without copying it or creating Python objects.

        Any library that supports the Arrow PyCapsule interface can read the result, any number of times and
        without a copy: `pyarrow.array(ids)`, `polars.Series(ids)`, `pandas.Series.from_arrow(ids)`. Its
        memory is freed when its last reader releases it.

        All chunks of a column are read before the first is encoded, and the result is one array. If a table
        does not fit into memory, pass the column of one batch at a time.

        Args:
            column: A column of type string, large_string or string_view, or of binary, large_binary or
                binary_view, whose bytes are encoded as by `encode_bytes`; also slices and chunks of one. Any
                object with `__arrow_c_array__` or `__arrow_c_stream__` is accepted.
            allowed_special: Same as in `encode`. In bytes that are not UTF-8, special tokens are found before
                the first invalid byte only.
            disallowed_special: Same as in `encode`, but by default nothing is an error.
            num_threads: The maximum number of threads; if not given, all processors, or one in a process
                started by `multiprocessing`.

        Returns:
            A column as long as `column`, null where that is null: of type list<uint32>, or large_list<uint32>
            if there are 2**31 IDs or more.

        Raises:
            TypeError: `column` is not a column of text. Cast dictionaries (categories) first.
            ValueError: `num_threads` is not positive, or the column breaks the interface's rules.
            DisallowedSpecialTokenError, PatternError: Same as `encode`, for the first text that fails.
            OSError: The column's owner cannot read it.

        Complexity:
            That of `encode` for each text, divided by the threads. Memory for 16 bytes per text, and twice
            the token IDs, 4 bytes each, while those of several threads are put together.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        return self._core_bpe.encode_arrow(column, allowed, disallowed, thread_count(num_threads))

    # --- Counting, without making the ids ---

    def count(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
    ) -> int:
        """Returns the number of tokens of a text, without creating the token IDs.

        Args:
            text: Any string.
            allowed_special: The special tokens that count as one token, same as in `encode`.
            disallowed_special: Same as in `encode`, but by default nothing is an error: special tokens that
                are not allowed are ordinary text.

        Raises:
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `encode`.

        Complexity:
            That of `encode`; memory for one piece.
        """
        if allowed_special is NO_TOKENS and disallowed_special == ():
            # The usual call.
            return self._core_bpe.count(text)
        return self._core_bpe.count(text, *self._resolve(allowed_special, disallowed_special))

    def count_batch(
        self,
        texts: Iterable[str],
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
        num_threads: int | None = None,
    ) -> npt.NDArray[np.int64]:
        """Returns the number of tokens of each of many texts, in parallel.

        Args:
            texts: The texts; pass a single text as `[text]`.
            allowed_special: Same as in `count`.
            disallowed_special: Same as in `count`.
            num_threads: The maximum number of threads; if not given, all processors, or one in a process
                started by `multiprocessing`.

        Returns:
            The numbers, of shape (texts,) and dtype int64.

        Raises:
            ValueError: `num_threads` is not positive.
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `encode`, for the first text that
                fails.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        threads = thread_count(num_threads)
        # In Python: inside the core, an import that Ctrl-C interrupts would be an internal error.
        import numpy as np  # noqa: F401

        return self._core_bpe.count_batch(list(several("texts", texts)), allowed, disallowed, threads)

    def count_by_token(
        self,
        texts: Iterable[str],
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
        num_threads: int | None = None,
    ) -> npt.NDArray[np.int64]:
        """Returns how often each token occurs in texts: for pruning a vocabulary, or for a draft model's.

        Args:
            texts: The texts, any number of them: they are read and encoded in batches.
            allowed_special: Same as in `count`.
            disallowed_special: Same as in `count`.
            num_threads: Same as in `count_batch`.

        Returns:
            The counts, of shape (n_vocab,) and dtype int64, by token ID. Their sum is the number of tokens.

        Raises:
            ValueError, DisallowedSpecialTokenError, TypeError, PatternError: Same as `count_batch`.

        Complexity:
            That of `encode_batch_to_numpy`; memory for the counts, and for about 16 million characters of
            text or the longest one.
        """
        import numpy as np

        allowed, disallowed = kept(allowed_special, disallowed_special)
        options: dict[str, Any] = {
            "allowed_special": allowed,
            "disallowed_special": disallowed,
            "num_threads": num_threads,
        }
        counts = np.zeros(self.n_vocab, dtype=np.int64)
        for batch in batches(several("texts", texts), TEXTS_AT_ONCE):
            ids = self.encode_batch_to_numpy(batch, **options).ids
            counts += np.bincount(ids, minlength=len(counts))
        return counts

    def count_till_limit(
        self,
        text: str,
        limit: SupportsIndex,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
    ) -> int | None:
        """Counts the tokens of a text, but stops as soon as they exceed a limit.

        Args:
            text: Any string.
            limit: The highest count of interest.
            allowed_special: Same as in `count`.
            disallowed_special: Same as in `count`.

        Returns:
            The result of `count`, or `None` if that is more than `limit`.

        Raises:
            ValueError: `limit` is negative.
            TypeError: `text` is not a string, or `limit` not an integer.
            DisallowedSpecialTokenError, PatternError: Same as `encode`.

        Complexity:
            With a built-in pattern, that of `encode_ordinary` for the first `limit` tokens, however long the
            text is; with `disallowed_special`, the whole text is searched for these. A custom pattern splits
            as much text, but one that runs on the package `regex` splits all of it.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        return self._core_bpe.count_till_limit(text, token_limit("limit", limit, 0), allowed, disallowed)

    # --- Offsets of tokens in the text ---

    # --- Texts that grow ---

    def session(
        self,
        text: str = "",
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> Session:
        """Returns a session: a text that changes, of which only what a change can reach is encoded again.

        Args:
            text: The text to start with.
            allowed_special: Same as in `encode`, for all of the session.
            disallowed_special: Same as in `encode`, for all of the session.

        Raises:
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `encode`.

        Complexity:
            That of `encode` for the text.
        """
        special = kept(allowed_special, disallowed_special)
        session = Session(self._core_bpe.session(*self._resolve(*special)), self, special)
        session.append(text)
        return session

    def stream_encoder(
        self,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
        errors: str = "strict",
    ) -> StreamEncoder:
        """Returns an encoder for a text that arrives in parts; token IDs come as soon as they are certain.

        Args:
            allowed_special: Same as in `encode`.
            disallowed_special: Same as in `encode`.
            errors: What to do with bytes that are not UTF-8, same as in `bytes.decode`.

        Raises:
            TypeError: `allowed_special` is neither "all" nor a set.
            LookupError: There is no such error handler.
        """
        core = self._core_bpe.stream_encoder(*self._resolve(allowed_special, disallowed_special))
        return StreamEncoder(core, errors)

    def split_points(self, text: str, every: SupportsIndex = 65_536) -> list[int]:
        """Returns offsets where a text can be cut: its token IDs are those of both sides, joined.

        Encode the first part with `encode`, and each of the others with `encode_further`. No special token
        lies across an offset. Other strings of `disallowed_special` may: then neither part has them, and none
        is refused.

        Args:
            text: Any string. Pairs of surrogates count as one character.
            every: The least number of bytes of UTF-8 between two offsets. Most are little farther apart;
                there is none inside of a long run of letters, for example, and none at all with a
                pattern that needs backtracking.

        Returns:
            The offsets in characters, in order, without the start and the end of the text.

        Raises:
            ValueError: `every` is not positive.
            TypeError: `text` is not a string.

        Complexity:
            Some characters are looked at for each offset.
        """
        size = integer("every", every)
        if size < 1:
            raise ValueError(f"every must be a number of bytes, 1 or more, got {size}")
        return self._core_bpe.split_points(text, min(size, sys.maxsize))

    def encode_further(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> list[int]:
        """Encodes text that follows one of the `split_points`; same arguments and errors as `encode`.

        A tokenizer may treat the start of a text as nothing else: SentencePiece models put a space there.
        """
        return self._core_bpe.encode_further(text, *self._resolve(allowed_special, disallowed_special))

    # --- Token IDs that need not be those of their text, such as sampled ones ---

    def first_drift(self, tokens: Sequence[int], *, final: bool = True) -> int | None:
        """Returns the index of the first token ID that encoding the text of all would not give.

        A model may sample other token IDs than those of the text that they spell. A program that passes on
        the text, and encodes it again, then works with other IDs from this index on.

        Ordinary token IDs that spell a special token are not that token, and do not drift; nor do special
        tokens themselves.

        Args:
            tokens: Token IDs.
            final: Whether the text is complete. If not, only those that no further token can change count.

        Returns:
            The index, or `None` if all are those of the text. It is `len(tokens)`, or that of a special
            token, where the text before has further token IDs than those given. Where the bytes of the tokens
            are not UTF-8, the index is that of a token with such bytes, at the latest.

        Raises:
            UnknownTokenError, OverflowError, TypeError: Same as `decode_bytes`.

        Complexity:
            That of decoding and encoding.
        """
        return self._core_bpe.first_drift(tokens, final)

    def is_canonical(self, tokens: Sequence[int]) -> bool:
        """Returns whether token IDs are those of the text that they spell; see `first_drift`."""
        return self._core_bpe.first_drift(tokens, True) is None  # noqa: FBT003 - it has no names

    def canonicalize(self, tokens: Sequence[int]) -> list[int]:
        """Returns the token IDs of the text that some token IDs spell.

        Special tokens stay, and ordinary tokens that spell one stay ordinary. Bytes that are not UTF-8 are
        encoded same as in `encode_bytes`. Same errors as `first_drift`.
        """
        return self._core_bpe.canonicalize(tokens)

    def encode_with_offsets(
        self,
        text: str,
        *,
        unit: Literal["char", "byte"] = "char",
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> EncodedWithOffsets:
        """Encodes text, and returns the span of each token in it.

        Offsets refer to the encoded text, in which a surrogate pair is one character and a lone surrogate is
        U+FFFD. If all of it is encoded, as with the built-in patterns, `starts` in characters are the same as
        those of `decode_with_offsets`. Text that a custom pattern drops lies between two tokens.

        Args:
            text: Any string.
            unit: "char" counts characters: a token that starts or ends inside a character has the offset of
                that character's start or end, so `text[start:end]` contains all characters that the token is
                a part of. "byte" counts UTF-8 bytes, which is exact for every token.
            allowed_special: Same as in `encode`.
            disallowed_special: Same as in `encode`.

        Returns:
            The token IDs, and the start and end of each token, as writable arrays.

        Raises:
            ValueError: `unit` is neither "char" nor "byte".
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `encode`.

        Complexity:
            That of `encode`, and O(text).
        """
        if unit not in ("char", "byte"):
            raise ValueError(f"unit must be 'char' or 'byte', not {unit!r}")
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        spans = self._core_bpe.encode_with_offsets(text, allowed, disallowed, unit == "char")
        return EncodedWithOffsets(*spans)

    # --- Texts within a number of tokens ---
    #
    # Texts are cut between characters, that is code points: a character of several tokens is never cut, and
    # neither are a pair of surrogates or an allowed special token. Merges reach across a cut, so the ids of a
    # part, encoded by itself, need not be some of the whole text's: each part is encoded to count its tokens,
    # and cut again if they are too many.

    def truncate(
        self,
        text: str,
        max_tokens: SupportsIndex,
        *,
        side: Literal["right", "left"] = "right",
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
    ) -> Truncated:
        """Drops the end or the beginning of a text that has too many tokens.

        Args:
            text: Any string.
            max_tokens: The maximum number of tokens of the result. With 0, or if not even one character fits,
                the result is empty.
            side: The side to drop: "right" is the end, "left" the beginning.
            allowed_special: Same as in `count`; an allowed special token is kept whole or dropped whole.
            disallowed_special: Same as in `count`.

        Returns:
            The remaining text, the number of its tokens, and whether anything was dropped. It is maximal for
            ordinary text; in a very long run that the pattern does not split, of whitespace or letters, or
            where a normalizer strips the start of a text, it may be a few characters shorter.

        Raises:
            ValueError: `max_tokens` is negative, or `side` neither "right" nor "left".
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `count_till_limit`.

        Complexity:
            A small multiple of `count_till_limit`.
        """
        limit = token_limit("max_tokens", max_tokens, 0)
        if side not in ("right", "left"):
            raise ValueError(
                f"side must be 'right', which drops the end, or 'left', the beginning, not {side!r}"
            )
        characters, count = self._core_bpe.truncate(
            text, limit, side == "left", *self._resolve(allowed_special, disallowed_special)
        )
        if characters is None:
            return Truncated(text, count, truncated=False)
        keep = first_characters if side == "right" else last_characters
        return Truncated(keep(text, characters), count, truncated=True)

    def split(  # noqa: PLR0913 - all but two are optional
        self,
        text: str,
        max_tokens: SupportsIndex,
        *,
        overlap: SupportsIndex = 0,
        separators: Iterable[str] = (),
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
    ) -> list[str]:
        r"""Splits a text into parts of at most a number of tokens.

        Args:
            text: Any string.
            max_tokens: The maximum number of tokens of a part.
            overlap: The maximum number of tokens to repeat from the end of the previous part; fewer are
                repeated if nothing else would fit.
            separators: Where to end parts, the best first: `["\n\n", "\n", ". ", " "]` ends them at
                paragraphs, else at lines, else at sentences, else at words.
            allowed_special: Same as in `count`; an allowed special token stays in one part.
            disallowed_special: Same as in `count`.

        Returns:
            The parts in order, none of them empty. Without overlap, joining them gives the text.

            Without separators, each is as long as `truncate` makes it. With them, such a part is cut behind
            the last occurrence in it of the first separator that it contains, and is left whole if it
            contains none, or ends the text.

        Raises:
            ValueError: A character has more than `max_tokens` tokens, `max_tokens` is not positive,
                `overlap` negative or not below `max_tokens`, or a separator empty.
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `count_till_limit`.

        Complexity:
            A small multiple of `encode` for all parts.
        """
        spans = self.split_spans(
            text,
            max_tokens,
            overlap=overlap,
            separators=separators,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
        )
        return [text[start:end] for start, end in spans]

    def split_spans(  # noqa: PLR0913 - same as `split`
        self,
        text: str,
        max_tokens: SupportsIndex,
        *,
        overlap: SupportsIndex = 0,
        separators: Iterable[str] = (),
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
    ) -> list[tuple[int, int]]:
        """Returns where the parts of `split` are in the text; same arguments and errors.

        Returns:
            The index of the first character of each part, and the index after its last: part i is
            `text[start:end]` with `start, end = spans[i]`.
        """
        limit = token_limit("max_tokens", max_tokens, 1)
        repeated = token_limit("overlap", overlap, 0)
        if repeated >= limit:
            raise ValueError(f"overlap must be below max_tokens, which is {limit}, got {repeated}")
        wanted = list(several("separators", separators))
        for separator in wanted:
            check_type("a separator", separator, str)
        if "" in wanted:
            raise ValueError("separators must not be empty: leave `separators` out to split anywhere")
        parts = self._core_bpe.parts(
            text, limit, repeated, wanted, *self._resolve(allowed_special, disallowed_special)
        )
        if parts and parts[-1][1] != len(text):
            starts, ends = zip(*parts, strict=True)
            parts = list(zip(string_indices(text, starts), string_indices(text, ends), strict=True))
        return parts

    # --- Decoding ---

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Decodes token IDs to bytes.

        Args:
            tokens: Token IDs, special or not: a list, tuple, range, array, NumPy array of integers or buffer.

        Raises:
            UnknownTokenError: An ID is not that of a token.
            OverflowError: An ID is negative or above 2**32 - 1.
            TypeError: `tokens` is not a sequence of integers.
        """
        return self._core_bpe.decode_bytes(tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Decodes token IDs to text; same arguments and errors as `decode_bytes`.

        The bytes of arbitrary token IDs need not be valid UTF-8. By default invalid bytes become U+FFFD, and
        encoding the text does not give the same IDs.

        Args:
            tokens: The IDs.
            errors: How to handle invalid UTF-8, same as in `bytes.decode`.

        Raises:
            UnicodeDecodeError: The bytes are not UTF-8 and `errors` is "strict".
        """
        return self._core_bpe.decode(tokens, errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Returns the bytes of one token, mergeable or special; same errors as `decode_bytes`."""
        return self._core_bpe.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Returns the bytes of each token; same errors as `decode_bytes`."""
        return tokens_bytes(self._core_bpe, tokens)

    def decode_with_offsets(self, tokens: Iterable[int]) -> tuple[str, list[int]]:
        """Decodes token IDs to text, with the offset of each token in it; same errors as `decode_bytes`.

        Returns:
            The text, and for each token the index of its first character. A token that starts inside a
            character has the index of that character.

        Raises:
            UnicodeDecodeError: The joined bytes are not UTF-8.
        """
        tokens = list(tokens)
        return self._source.decode_with_offsets(self._core_bpe, tokens)

    def stream_decoder(self, errors: str = "replace") -> StreamDecoder:
        """Returns a decoder for token IDs that arrive one by one, such as from a model; see `StreamDecoder`.

        With a `tokenizer.json`, later tokens may change how earlier ones are decoded: a run of byte tokens,
        for instance, becomes characters only if all of them are valid. Text that may still change is held
        back: all of it, if a SentencePiece model has rules for decoded text.
        """
        return self._source.stream_decoder(self._core_bpe, errors)

    def decode_batch(
        self, batch: Iterable[Sequence[int]] | Ragged, *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Decodes many sequences of token IDs to texts; see `decode_bytes_batch` and `decode`."""
        threads = thread_count(num_threads, as_in_tiktoken=True)
        return self._core_bpe.decode_batch(rows_of(batch), errors, threads)

    def decode_bytes_batch(
        self, batch: Iterable[Sequence[int]] | Ragged, *, num_threads: int = 8
    ) -> list[bytes]:
        """Decodes many sequences of token IDs in parallel, same as `decode_bytes` for one.

        Args:
            batch: The sequences, such as a list of lists or a two-dimensional NumPy array; or the result of
                `encode_batch_to_numpy`.
            num_threads: The maximum number of threads.

        Raises:
            ValueError: `num_threads` is not positive.
            UnknownTokenError, OverflowError, TypeError: Same as `decode_bytes`.
        """
        threads = thread_count(num_threads, as_in_tiktoken=True)
        return self._core_bpe.decode_bytes_batch(rows_of(batch), threads)

    # --- The vocabulary ---

    @property
    def definition(self) -> Definition:
        """The plain data that determines this encoding.

        Complexity:
            O(vocabulary) the first time for a built-in or trained encoding, otherwise O(1).
        """
        ranks = self._mergeable_ranks if self._has_ranks else {}
        parts = (self._pat_str, ranks, self._special_tokens, self._template)
        model, tokenizer = map(self._source.fields.get, ("model", "tokenizer"))
        return Definition(self.name, *parts, model, tokenizer)

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        # Built-in encodings make it when it is needed: the dictionary takes longer than the rest of them.
        return self._core_bpe.mergeable_ranks()

    @cached_property
    def sha256(self) -> str:
        """The SHA-256, in hexadecimal, of everything that determines token IDs: all but the name.

        `bytemill.fingerprint` defines it.

        Complexity:
            O(vocabulary), once.
        """
        return self.definition.sha256

    @property
    def n_vocab(self) -> int:
        """The highest token ID plus one: more than the number of tokens if the IDs have gaps."""
        return self.max_token_value + 1

    @property
    def eot_token(self) -> int:
        """The ID of `<|endoftext|>`; raises `KeyError` if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Returns whether a token ID is that of a special token; `AssertionError` if it is not an `int`."""
        if not isinstance(token, int):
            raise AssertionError  # noqa: TRY004 - as in tiktoken
        return token in self._special_token_values

    def token_byte_values(self) -> list[bytes]:
        """Returns the bytes of all mergeable tokens, sorted."""
        return self._core_bpe.token_byte_values()

    def token_lengths(self) -> npt.NDArray[np.int32]:
        """Returns the number of bytes of each mergeable token, indexed by token ID.

        Returns:
            An array of shape (n_vocab,) and dtype int32; 0 for special tokens and for IDs without a token.

        Complexity:
            O(n_vocab).
        """
        import numpy as np

        ids, lengths = self._core_bpe.token_lengths()
        by_id = np.zeros(self.n_vocab, dtype=np.int32)
        by_id[ids] = lengths
        return by_id

    def vocab(self) -> dict[int, bytes]:
        """Returns the bytes of every token, special ones as UTF-8, in the order of the IDs."""
        if self._has_ranks:
            return self.definition.vocab()
        token_ids = self._core_bpe.token_ids()
        return {token_id: self._core_bpe.decode_single_token_bytes(token_id) for token_id in token_ids}

    def merges(self) -> list[tuple[int, int]]:
        """Returns the two tokens that make each mergeable token of more than one byte, in rank order.

        Raises:
            VocabularyError: A token is not made of exactly two others of lower rank.
        """
        return self._core_bpe.merges()

    def explain(self, text: str) -> list[PieceExplanation]:
        """Returns how a text becomes token IDs: its pieces, and each merge in them.

        Args:
            text: Any string, preferably short; special tokens are ordinary text.

        Returns:
            The pieces in order. Their token IDs, joined, are those of `encode_ordinary`. For a SentencePiece
            model, a piece is a segment of the normalized text that no token crosses; if the model has unused
            pieces, or is a Unigram model, the whole text is one piece. With WordPiece, and with Unigram in a
            `tokenizer.json`, a piece is a word of the normalized text.

        Raises:
            TypeError, PatternError: Same as `encode_ordinary`.
            VocabularyError: It is a `tokenizer.json` of a BPE model that does not merge by rank.

        Complexity:
            Time and memory quadratic in the length of each piece. For a SentencePiece model also linear in
            its tokens, the first time.
        """
        ranks = self._mergeable_ranks if self._has_ranks else {}
        return self._source.explain(self._core_bpe, text, ranks)

    def pieces(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
    ) -> list[str]:
        """Returns the pieces of a text that are encoded by themselves, same as pre-tokenizers return.

        Args:
            text: Any string.
            allowed_special: Same as in `count`; each allowed special token is a piece.
            disallowed_special: Same as in `count`.

        Returns:
            For each piece that has tokens, the part of the text that it stands for, in order. Joined they are
            the text, unless the tokenizer drops characters, such as spaces between words.

        Raises:
            DisallowedSpecialTokenError, TypeError, PatternError: Same as `count`.

        Complexity:
            That of `encode_with_offsets`.
        """
        from bytemill.splitting import repair_surrogates

        text = repair_surrogates(text)
        special = self._resolve(allowed_special, disallowed_special)
        _, starts, ends = self._core_bpe.encode_with_offsets(text, *special, True)  # noqa: FBT003
        numbers = self._core_bpe.piece_numbers(text, special[0])
        spans: dict[int, tuple[int, int]] = {}
        for number, start, end in zip(numbers.tolist(), starts.tolist(), ends.tolist(), strict=True):
            first, last = spans.get(number, (start, end))
            spans[number] = min(first, start), max(last, end)
        return [text[start:end] for start, end in spans.values()]

    def candidates(self, text: str) -> list[list[Candidate]]:
        """Returns the tokens that a Unigram model chooses from: all that each piece of a text contains.

        A piece becomes the tokens with the highest sum of scores.

        Args:
            text: Any string, preferably short; special tokens are ordinary text.

        Returns:
            For each piece of `explain`, the tokens from left to right, the shortest first; none for a token
            that is found in the text as it stands.

        Raises:
            TypeError: `text` is not a string.
            VocabularyError: It is not a Unigram model.

        Complexity:
            O(n) for n bytes, times the length of the longest token.
        """
        check_type("text", text, str)
        if self._core_bpe.model_kind != "scores":
            raise VocabularyError("candidates are tokens with scores: expected a Unigram model, got another")
        # Only here: few need it.
        from bytemill.explanation import candidates

        return candidates(self._core_bpe, text)

    def with_special_tokens(self, special_tokens: Mapping[str, int], *, name: str | None = None) -> Encoding:
        """Returns an encoding with more special tokens; the vocabulary is shared, not copied.

        Args:
            special_tokens: The ID of each special token to add. Existing special tokens may be included, with
                the same ID.
            name: The name of the encoding; by default the name of this one followed by "_extended".

        Raises:
            ValueError: An ID belongs to another token or is out of range, or a special token is empty or
                already has another ID.
            TypeError: `special_tokens` is not a mapping, a special token is not a string, or its ID is not an
                integer.

        Warns:
            UserWarning: A special token is the beginning of another.

        Complexity:
            O(special tokens).
        """
        together = extended(self._special_tokens, special_tokens, self._core_bpe, self.n_vocab)
        warn_of_ambiguity({}, together)
        encoding = Encoding._around(
            self._core_bpe.with_special_tokens(together),
            name=f"{self.name}_extended" if name is None else name,
            pat_str=self._pat_str,
            special_tokens=together,
            max_token_value=max([self.max_token_value, *together.values()]),
        )
        encoding._template = self._template  # noqa: SLF001 - of this class
        encoding._source = self._source  # noqa: SLF001 - as above
        return encoding

    def with_vocab_size(self, vocab_size: int, *, name: str | None = None) -> Encoding:
        """Returns an encoding with the first merges only: same as training to that size.

        Args:
            vocab_size: The number of token IDs: the mergeable tokens that are kept, then the special tokens
                in the order of their IDs. For a SentencePiece model, pieces of one character, of bytes and
                without text are kept too, and those that training does not learn keep their IDs.
            name: The name of the encoding; by default the name of this one followed by the size.

        Raises:
            ValueError: This encoding has fewer token IDs, or `vocab_size` is too small for the bytes and the
                special tokens.
        """
        vocab_size = integer("vocab_size", vocab_size)
        name = f"{self.name}_{vocab_size}" if name is None else name
        first = self._source.with_vocab_size(self.definition, vocab_size, name)
        return Encoding.from_definition(first)

    # --- The cache ---

    def memory_usage(self) -> int:
        """Returns the memory of the vocabulary and the caches, in bytes.

        Caches contain pieces of texts with their token IDs, and outlive the call. There is one cache per
        concurrent call, each limited by `set_cache_limit`.
        """
        return self._core_bpe.memory_usage()

    def clear_cache(self) -> None:
        """Empties the caches and frees their memory. Token IDs stay the same."""
        self._core_bpe.clear_cache()

    def set_cache_limit(self, bytes_per_thread: int) -> None:
        """Limits the memory of each cache, and empties the caches. Token IDs stay the same.

        Args:
            bytes_per_thread: The limit for each thread that encodes at the same time, in bytes; 64 MiB unless
                set. Some kilobytes are used in any case. Copies of this object share the limit.
                `bytemill.set_process_cache_limit` limits all threads and encodings together.

        Raises:
            ValueError: `bytes_per_thread` is negative.
        """
        bytes_per_thread = integer("bytes_per_thread", bytes_per_thread)
        if bytes_per_thread < 0:
            raise ValueError(f"expected a number of bytes, 0 or more, got {bytes_per_thread}")
        self._core_bpe.set_cache_limit(min(bytes_per_thread, sys.maxsize))

    # --- Files ---
    #
    # Every writer reads its files back and encodes sample texts before the files get their names: readers see
    # the old files or the complete new ones. What a format cannot store exactly raises an error.
    # The modules for files are imported where they are needed: most programs read and write none.

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        pattern: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Self:
        """Reads a tokenizer file; the token IDs are the same as in the library that the file comes from.

        The format is detected from the contents: `.tiktoken` (also Llama 3's and Qwen's `tiktoken.model`),
        Hugging Face's `tokenizer.json`, GPT-2's `encoder.json` and `vocab.bpe` (or `vocab.json` and
        `merges.txt`), SentencePiece's `.model`, BERT's `vocab.txt`, minbpe's `.model`, Mistral's
        `tekken.json`, GGUF of the kinds `llama`, `t5`, `bert` and, of known families, `gpt2`, and
        `.bytemill`, which `save` writes.

        Args:
            path: The file (either of GPT-2's two), or a directory with one of these under its usual name. Or
                a model on the Hugging Face Hub, such as "Qwen/Qwen3-8B", whose file is in the Hub's cache on
                this machine; nothing is downloaded.
            name: The name of the encoding; by default the name in the file, or else the name of the file.
            pattern: For files without a pattern, `.tiktoken` and GPT-2's, how text is split: a name in
                `bytemill.patterns.PATTERNS` such as "llama3", or a regular expression. For GPT-2's files, its
                own pattern if not given.
            special_tokens: The ID of each special token, instead of those in the file.

        Raises:
            VocabularyError: The format of the file is unknown, the file is malformed, or the token IDs of its
                library cannot be given exactly; the message has the file, the entry and the reason.
            ValueError: The file needs a pattern and none is given, or it has one and another is given.
            PatternError: The pattern that is given does not compile or can match the empty string.
            OSError: The file cannot be read.

        Warns:
            UserWarning: The file says that tokens are added to each text, which an encoding does not do; or
                same as the constructor.

        Complexity:
            Linear in the file.
        """
        from bytemill.io.reading import read

        loaded = read(path, name=name, pattern=pattern, special_tokens=special_tokens)
        return cls._loaded(loaded, str(path), pattern)

    @classmethod
    def from_bytes(
        cls,
        contents: Buffer,
        *,
        name: str | None = None,
        pattern: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Self:
        """Reads the contents of a tokenizer file, such as from an object store; see `from_file`.

        GPT-2's two files, and other formats that need a second file, are read by `from_file` only.

        Args:
            contents: The bytes of the file.
            name: The name of the encoding; by default the name in the file, or else "tokenizer".
            pattern: Same as in `from_file`.
            special_tokens: Same as in `from_file`.

        Raises:
            TypeError: The contents are not bytes.
            VocabularyError, ValueError, PatternError: Same as `from_file`.

        Warns:
            UserWarning: Same as `from_file`.

        Complexity:
            Linear in the contents.
        """
        from bytemill.io.reading import CONTENTS, read_contents

        if isinstance(contents, str):
            raise TypeError("contents must be bytes, not str: pass text.encode(), or a path to from_file")
        data = bytes_of("contents", contents)
        loaded = read_contents(data, name=name, pattern=pattern, special_tokens=special_tokens)
        return cls._loaded(loaded, CONTENTS, pattern)

    @classmethod
    def _loaded(cls, loaded: Loaded, source: str, pattern: str | None) -> Self:
        """Returns the encoding of what was read from a source, for which a pattern was given or none."""
        from bytemill.formats.json_file import brief

        try:
            encoding = cls._of(*loaded)
        except (PatternError, VocabularyError) as error:
            if pattern is not None and isinstance(error, PatternError):
                raise
            raise VocabularyError(f"{source}: {brief(str(error))}") from error
        if loaded.definition.tokenizer is None:
            # At the caller of `from_file` or `from_bytes`.
            warn_of_ambiguity(loaded.shared_ranks, loaded.definition.special_tokens, stacklevel=4)
        return encoding

    @classmethod
    def from_huggingface(
        cls, tokenizer: str | os.PathLike[str] | HuggingFaceTokenizer, *, name: str | None = None
    ) -> Self:
        """Reads a tokenizer of Hugging Face's libraries; the token IDs are the same as in `tokenizers`.

        Special tokens are recognised only if `allowed_special` says so; other added tokens always. So
        `encode(text, allowed_special="all")` gives the token IDs of
        `tokenizer.encode(text, add_special_tokens=False)`.

        Args:
            tokenizer: A `tokenizer.json`, its folder, a `tokenizers.Tokenizer`, or a fast tokenizer of
                `transformers`.
            name: The name of the encoding; by default the name of the folder or of the file.

        Raises:
            TypeError: It is none of these.
            VocabularyError: Something in it is not supported; the message has its path in the JSON and the
                reason.
            OSError: The file cannot be read.

        Warns:
            UserWarning: Same as `from_file`.

        Complexity:
            Linear in the file.
        """
        from bytemill.formats.tokenizer_json import serialized
        from bytemill.io.reading import read_tokenizer

        given = serialized(tokenizer)
        if given is None:
            return cls.from_file(tokenizer, name=name)  # type: ignore[arg-type]
        contents, usual_name = given
        return cls._of(*read_tokenizer(contents, name or usual_name))

    def to_tiktoken(self) -> tiktoken.Encoding:
        """Returns the same encoding as a `tiktoken.Encoding`, checked with sample texts.

        Raises:
            ImportError: `tiktoken` is not installed.
            VocabularyError: tiktoken would give different token IDs.
        """
        from bytemill.formats.tiktoken_ranks import to_tiktoken

        return to_tiktoken(self.definition, self._encode_all)

    def save(self, path: str | os.PathLike[str], *, provenance: Mapping[str, Any] | None = None) -> None:
        """Writes everything to one file, `.bytemill` by convention; see `bytemill.formats.native`.

        It loads in a fraction of the time of other formats.

        Args:
            path: The file, replaced if it exists.
            provenance: Additional information, such as the source of the vocabulary, as JSON values. The
                version of this library is added.

        Raises:
            TypeError, ValueError: The provenance cannot be written as JSON.
            ValueError: The name is one of another format, such as "tokenizer.json".
            OSError: The file cannot be written.
        """
        from bytemill.io.writing import write_native

        write_native(self.definition, self._core_bpe, path, provenance)

    def save_tiktoken(self, path: str | os.PathLike[str]) -> None:
        """Writes the mergeable tokens as a `.tiktoken` file, without pattern and special tokens.

        For a built-in encoding that is the published file, byte for byte; gpt2 was published in another
        format, see `save_gpt2`.

        Raises:
            OSError: The file cannot be written.
        """
        from bytemill.io.writing import write_tiktoken

        write_tiktoken(self.definition, self._encode_all, path)

    def save_huggingface(
        self, directory: str | os.PathLike[str], *, form: Literal["llama", "gemma", "metaspace"] | None = None
    ) -> None:
        """Writes `tokenizer.json` and `tokenizer_config.json` for Hugging Face's libraries.

        Those libraries recognise special tokens in every text: their token IDs are those of
        `encode(text, allowed_special="all")`. If `tokenizers` is installed, it checks the file too. A
        SentencePiece model becomes merges of characters, as in Llama 2's or Gemma's file. The tokens of
        `definition.template` are put around each text, and in the same way around the second of a pair.

        An encoding read from a `tokenizer.json` that does not merge by rank is written byte for byte as it
        was read.

        Args:
            directory: Created if it does not exist; files of these names are replaced.
            form: For SentencePiece models, how the file describes the treatment of spaces: like the files of
                Llama 2, of Gemma, or of later Mistral models. By default like Llama 2's if the model puts a
                space before texts, otherwise like Gemma's.

        Raises:
            VocabularyError: The library would give different token IDs; or the file is written as it was
                read, and special tokens were added or removed since.
            ValueError: A form is given, and the encoding is not a SentencePiece model.
            PatternError: The pattern may mean something else to the library's regular expressions.
            OSError: A file cannot be written.
        """
        from bytemill.io.writing import write_huggingface

        write_huggingface(self.definition, self._encode_all, directory, form)

    def save_gpt2(
        self,
        directory: str | os.PathLike[str],
        *,
        file_names: tuple[str, str] = ("vocab.bpe", "encoder.json"),
    ) -> None:
        """Writes GPT-2's two files. They contain no pattern, so the pattern must be GPT-2's.

        For gpt2 those are the published files, byte for byte.

        Args:
            directory: Created if it does not exist; files of these names are replaced.
            file_names: The names of the files with the merges and with the token IDs; transformers expects
                `("merges.txt", "vocab.json")`.

        Raises:
            VocabularyError: A reader of the format would give different token IDs.
            OSError: A file cannot be written.
        """
        from bytemill.io.writing import write_gpt2

        write_gpt2(self.definition, self._encode_all, directory, file_names)

    def save_minbpe(self, prefix: str | os.PathLike[str]) -> None:
        """Writes `prefix`.model and `prefix`.vocab for minbpe.

        Raises:
            ValueError: The format cannot store the pattern or a special token.
            VocabularyError: minbpe would give different token IDs.
            PatternError: The pattern may mean something else to minbpe's regular expressions.
            OSError: A file cannot be written.
        """
        from bytemill.io.writing import write_minbpe

        write_minbpe(self.definition, self._encode_all, prefix)

    def save_sentencepiece(
        self, path: str | os.PathLike[str], *, vocab: str | os.PathLike[str] | None = None
    ) -> None:
        """Writes the file of a SentencePiece model, byte for byte as it was read.

        Args:
            path: The file, replaced if it exists.
            vocab: If given, a second file, with the pieces and scores as text, same as the file that
                SentencePiece writes when it trains a model.

        Raises:
            VocabularyError: This encoding is not a SentencePiece model, or special tokens were added or
                removed since it was read.
            OSError: The file cannot be written.
        """
        from bytemill.io.writing import write_sentencepiece

        write_sentencepiece(self.definition, self._encode_all, path, vocab)

    def _merging_bytes(self, purpose: str) -> None:
        """Raises `VocabularyError` unless bytes merge by rank; see `Definition.merging_bytes`."""
        # The definition of an encoding of bytes takes time linear in the vocabulary, the first time.
        if not self._has_ranks:
            self.definition.merging_bytes(purpose)

    @property
    def _has_ranks(self) -> bool:
        """Returns whether bytes merge by rank, not as a SentencePiece model or a `tokenizer.json` says."""
        return self._source.has_ranks

    @property
    def _pattern(self) -> str | None:
        """The pattern, by which long texts may be cut; `None` for an encoding without ranks."""
        return self._pat_str if self._has_ranks else None

    def _encode_all(self, text: str) -> list[int]:
        """Encodes a text in which all special tokens are allowed."""
        return self._core_bpe.encode(text, None)

    # --- Pickling and copying ---

    def __getstate__(self) -> object:
        """Returns the name of a registered encoding, or else the parts, sorted: equals pickle equally."""
        if self._registered_as == self.name:
            return self.name
        return self._source.state(self.definition)

    def __setstate__(self, state: str | dict[str, Any]) -> None:
        """Takes a state of `__getstate__`, also of tiktoken's."""
        if isinstance(state, str):
            self.__dict__.update(Encoding._find_registered(state).__dict__)
        else:
            name, pattern, ranks = state["name"], state.get("pat_str", ""), state.get("mergeable_ranks", {})
            others = map(state.get, ("template", "model", "tokenizer"))
            self._build(Definition(name, pattern, ranks, state["special_tokens"], *others))

    def __copy__(self) -> Encoding:
        """Makes another object around the same tables."""
        copy = self.__class__.__new__(self.__class__)
        copy.__dict__.update(self.__dict__)
        return copy

    def __deepcopy__(self, memo: dict[int, object]) -> Encoding:
        """Makes another object around the same tables, which are immutable."""
        return self.__copy__()


def set_process_cache_limit(bytes_per_process: int | None) -> None:
    """Limits the memory of all caches in this process, those of all encodings and threads together.

    Token IDs stay the same. By default the limit is 64 MiB for each processor that the process may use, by
    its affinity and its control group, and at least 256 MiB. Caches take memory first come, first served;
    over the limit, caches are cleared on their next use, and those that get none are slower.
    `Encoding.clear_cache` gives memory back.

    Args:
        bytes_per_process: The limit in bytes, or `None` for no limit besides that of each thread, see
            `Encoding.set_cache_limit`. Some kilobytes are used for each thread and encoding in any case.

    Raises:
        TypeError: `bytes_per_process` is neither an integer nor `None`.
        ValueError: `bytes_per_process` is negative.
    """
    if bytes_per_process is None:
        bytes_per_process = sys.maxsize
    bytes_per_process = integer("bytes_per_process", bytes_per_process)
    if bytes_per_process < 0:
        raise ValueError(
            f"expected a number of bytes, 0 or more, or None for no limit, got {bytes_per_process}"
        )
    set_core_limit(min(bytes_per_process, sys.maxsize))


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raises the error for the disallowed `token` at an unknown position; the name is tiktoken's."""
    raise_disallowed(token, -1)


@lru_cache(maxsize=128)
def _special_token_regex(tokens: frozenset[str]) -> re.Pattern[str]:
    """Returns a regular expression that finds any of some strings; the name is tiktoken's."""
    # Only here: nothing in this library calls it.
    import regex  # type: ignore[import-untyped]  # noqa: TID251 - what tiktoken returns

    found: re.Pattern[str] = regex.compile(f"({'|'.join(map(regex.escape, tokens))})")
    return found


def utf8(text_or_bytes: str | bytes) -> bytes:
    """Returns text as UTF-8, and bytes as they are."""
    return text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
