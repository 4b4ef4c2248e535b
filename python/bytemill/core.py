"""`Encoding`: a definition made ready to work, with tiktoken's whole interface.

Its methods are thin: text, ids and bytes cross into the compiled core once for each document or batch.
"""

from __future__ import annotations

import sys
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, SupportsIndex

from bytemill._arguments import (
    check_type,
    integer,
    integer_type,
    known_ids,
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
from bytemill._batching import batches, copied_rows
from bytemill._special_tokens import extended
from bytemill._truncation import first_characters, last_characters, string_indices
from bytemill._warnings import warn_of_ambiguity
from bytemill.definition import Definition, core_of
from bytemill.errors import PatternError, VocabularyError
from bytemill.results import EncodedWithOffsets, PieceExplanation, Ragged, Truncated
from bytemill.special import (
    ALL,
    NO_TOKENS,
    AllowedSpecial,
    DisallowedSpecial,
    Tokens,
    raise_disallowed,
    resolve_for_core,
)
from bytemill.streaming import SentencePieceStreamDecoder, StreamDecoder, TextStreamDecoder

if TYPE_CHECKING:
    import os
    import re
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt
    import tiktoken
    from typing_extensions import Buffer, Self

    from bytemill._arrow import ArrowArray, ArrowStream
    from bytemill._backend import EncodedColumn
    from bytemill.definition import Template
    from bytemill.formats.huggingface_tokenizer import HuggingFaceTokenizer

__all__ = ["TIER", "UNICODE_VERSION", "Encoding", "__version__", "set_process_cache_limit"]

# Bytes that continue a UTF-8 character, as opposed to those that start one.
CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


class Encoding:
    """Turns text into token ids and back.

    An encoding never changes: threads may share it, and it goes on working in forked processes. The GIL is
    released while the core works. Encoding takes time linear in the text for the splitting of the built-in
    patterns, and O(n log n) for each piece of n bytes; decoding is linear in its output.

    Text that the pattern does not match is dropped without notice, as in tiktoken; the built-in patterns
    match everything. Surrogate pairs in a string become the character that they stand for, lone surrogates
    U+FFFD.

    Attributes:
        name: The name of the encoding; encodings with different special tokens should have different names.
        max_token_value: The highest token id.
    """

    name: str
    max_token_value: int

    # Finds a registered encoding by its name, for unpickling. The registry, which builds encodings, sets it.
    _find_registered: ClassVar[Callable[[str], Encoding]]

    # The name under which the registry has this encoding, and its copies; `None` for others.
    _registered_as: str | None = None

    # Part of the definition, and nothing that this class applies.
    _template: Template | None = None

    # The bytes of the SentencePiece model, if it is one.
    _model: bytes | None = None

    # The bytes of the `tokenizer.json`, if ranks do not give its ids.
    _tokenizer: bytes | None = None

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
            special_tokens: Each special token's id. Of several that match at the same position the longest is
                taken; of several with one id the first is what that id decodes to.
            explicit_n_vocab: If given and not 0, the number of tokens, which must have ids without a gap.

        Raises:
            AssertionError: The number of tokens or the highest id does not agree with `explicit_n_vocab`.
            VocabularyError: A single byte is missing, a rank occurs twice or is too large, or a token is
                empty.
            PatternError: The pattern does not compile or can match the empty string.

        Warns:
            UserWarning: A special token is the beginning of another, or has the id of a mergeable token.
        """
        definition = Definition(name, pat_str, mergeable_ranks, special_tokens)
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
            TypeError, VocabularyError, PatternError: As the constructor.

        Warns:
            UserWarning: As the constructor.
        """
        check_type("definition", definition, Definition)
        encoding = cls._of(definition)
        if definition.tokenizer is None:
            warn_of_ambiguity(definition.ranks, definition.special_tokens)
        return encoding

    @classmethod
    def from_tiktoken(cls, encoding: tiktoken.Encoding) -> Self:
        """Builds the same encoding as one of tiktoken.

        Raises:
            TypeError: `encoding` is not one of tiktoken.

        Warns:
            UserWarning: As the constructor.
        """
        from bytemill.formats.tiktoken_encoding import definition_of

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
        self._model, self._tokenizer = definition.model, definition.tokenizer
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
        return f"<Encoding {self.name!r}>"

    # --- Encoding text to lists ---

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

        Special tokens steer a model, so text from outside must not contain any by accident: unless the caller
        says otherwise, a special token in the text is an error.

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
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        return self._core_bpe.encode(text, allowed, disallowed)

    def encode_ordinary_batch(self, text: Iterable[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encodes many texts in parallel, as `encode_ordinary` does one.

        Args:
            text: The texts. A single string counts as the texts of its characters.
            num_threads: The most threads that may work.

        Returns:
            The token ids of each text, in the order of the texts.

        Raises:
            ValueError: `num_threads` is not positive.
            TypeError, PatternError: As `encode_ordinary`, for the first text that fails.
        """
        threads = thread_count(num_threads, as_in_tiktoken=True)
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
            num_threads: The most threads that may work.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`.

        Returns:
            The token ids of each text, in the order of the texts.

        Raises:
            ValueError: `num_threads` is not positive.
            DisallowedSpecialTokenError, TypeError, PatternError: As `encode`, for the first text that fails.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        threads = thread_count(num_threads, as_in_tiktoken=True)
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
            The ids that any continuation keeps, which stand for a beginning of the text, and the possible
            encodings of the rest, in no particular order: the former followed by any of the latter decode to
            something that begins with the text; with a SentencePiece model, with the normalized text.

        Raises:
            VocabularyError: It is a `tokenizer.json` whose ids ranks do not give.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        if self._model is not None:
            from bytemill.continuation import encode_with_unstable
            from bytemill.splitting import repair_surrogates

            text = repair_surrogates(text)
            ids, _, ends = self._core_bpe.encode_with_offsets(text, allowed, disallowed, True)  # noqa: FBT003
            places = [i for i, token in enumerate(ids.tolist()) if token in self._special_token_values]
            kept = places[-1] + 1 if places else 0
            rest = text[ends[kept - 1] :] if places else text
            stable, completions = encode_with_unstable(self._model, rest)
            return ids[:kept].tolist() + stable, completions
        self._merging_bytes("texts that may go on")
        return self._core_bpe.encode_with_unstable(text, allowed, disallowed)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Returns the id of a token, mergeable or special.

        Raises:
            UnknownTokenError: There is no such token.
            UnicodeEncodeError: The text contains a surrogate.
        """
        return self._core_bpe.encode_single_token(utf8(text_or_bytes))

    def encode_bytes(self, data: Buffer) -> list[int]:
        """Encodes text in UTF-8 without making a `str` of it, as `encode_ordinary` does.

        Bytes that are not UTF-8 are encoded too: those from the first invalid one on, and the piece before
        it, are taken for one piece.

        Args:
            data: `bytes`, or any other contiguous buffer of them: `bytearray`, `memoryview`, `mmap`, a NumPy
                array of uint8. Anything that does not end in `bytes` is copied first, as it may change
                meanwhile. A mapped file that is truncated during the call raises `SIGBUS`, as anywhere.

        Raises:
            TypeError: `data` is no such buffer.
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
    ) -> npt.NDArray[np.uint32]:
        """Encodes text to a read-only array of shape (tokens,) and dtype uint32; otherwise as `encode`."""
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        return self._core_bpe.encode_to_numpy(text, allowed, disallowed)

    def encode_ordinary_to_numpy(self, text: str, *, num_threads: int | None = 1) -> npt.NDArray[np.uint32]:
        """Encodes text to an array of shape (tokens,) and dtype uint32, otherwise as `encode_ordinary`.

        Args:
            text: Any string.
            num_threads: The most threads that may work, where the text can be cut without changing its ids.

        Raises:
            ValueError: `num_threads` is not positive.
            TypeError, PatternError: As `encode_ordinary`.
        """
        return self._core_bpe.encode_ordinary_to_numpy(text, thread_count(num_threads))

    def encode_batch_to_numpy(  # noqa: PLR0913 - all but the texts have names
        self,
        texts: Iterable[str],
        *,
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = (),
        prepend: int | Sequence[int] | None = None,
        append: int | Sequence[int] | None = None,
        add_special_tokens: bool = False,
        dtype: npt.DTypeLike | None = None,
        num_threads: int | None = None,
    ) -> Ragged:
        """Encodes many texts in parallel into one array, which the caller may write to.

        Args:
            texts: The texts; a single one is given as `[text]`.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`, but by default nothing is an error.
            prepend: A token id, or several, to put before the ids of each text.
            append: A token id, or several, to put after the ids of each text.
            add_special_tokens: Whether the tokens of `definition.template`, which the tokenizer's own library
                adds, are put around the ids of each text, inside of `prepend` and `append`.
            dtype: The integer type of the ids; uint32 if not given. uint16 holds vocabularies below 65,536.
            num_threads: The most threads that may work; all processors if not given, one in a process that
                `multiprocessing` has started.

        Returns:
            The ids of all texts, and the offsets at which those of each text start and end.

        Raises:
            ValueError: `num_threads` is not positive, `dtype` is no integer type that holds every id up to
                `max_token_value`, or `prepend`, `append` or the template has an id that is no token of this
                encoding.
            DisallowedSpecialTokenError, TypeError, PatternError: As `encode`, for the first text that fails.

        Complexity:
            That of `encode` for each text, divided by the threads. While the ids of several threads are put
            together, they are in memory twice, 4 bytes each.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        threads = thread_count(num_threads)
        kind = None if dtype is None else integer_type(dtype, self.max_token_value)
        before = known_ids("prepend", prepend, self._core_bpe.is_token)
        after = known_ids("append", append, self._core_bpe.is_token)
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
        """Returns the ids that `add_special_tokens` puts before and after those of each text."""
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
            texts: The texts. Those of a batch are taken from a generator when the first ids of the batch are
                needed. A single text is given as `[text]`.
            batch_size: The number of texts in a batch; fewer if they have more than 16 million characters
                together.
            num_threads: The most threads that may work; all processors if not given.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`, but by default nothing is an error.

        Returns:
            An iterator over the ids of each text, in the order of the texts: arrays of shape (tokens,) and
            dtype uint32, each with memory of its own that the caller may write to.

        Raises:
            ValueError: `batch_size` or `num_threads` is not positive.
            DisallowedSpecialTokenError, TypeError, PatternError: As `encode`, when the ids of the first text
                of the batch with the failing text are needed.

        Complexity:
            That of `encode` for each text, divided by the threads. Memory for the texts of a batch and twice
            their ids.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
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
        """Encodes a column of texts of Apache Arrow in parallel, without copies or Python objects of them.

        Any library that speaks Arrow's PyCapsule interface can read the result, any number of times and
        without a copy: `pyarrow.array(ids)`, `polars.Series(ids)`, `pandas.Series.from_arrow(ids)`. Its
        memory is freed when its last reader releases it.

        A column in several chunks is read to its end before the first is encoded, and becomes one array. Of a
        table that does not fit into memory, pass the column of one batch after the other.

        Args:
            column: A column of type string, large_string or string_view, or of binary, large_binary or
                binary_view, whose bytes are encoded as by `encode_bytes`; slices and chunks of one, too.
                Anything with `__arrow_c_array__` or `__arrow_c_stream__` will do.
            allowed_special: As in `encode`. In bytes that are not UTF-8, special tokens are found before the
                first invalid byte only.
            disallowed_special: As in `encode`, but by default nothing is an error.
            num_threads: The most threads that may work; all processors if not given, one in a process that
                `multiprocessing` has started.

        Returns:
            A column as long as `column`, null where that is null: of type list<uint32>, or large_list<uint32>
            if there are 2**31 ids or more.

        Raises:
            TypeError: `column` is no column of text. Dictionaries (categories) are to be cast first.
            ValueError: `num_threads` is not positive, or the column breaks the interface's rules.
            DisallowedSpecialTokenError, PatternError: As `encode`, for the first text that fails.
            OSError: The column's owner cannot read it.

        Complexity:
            That of `encode` for each text, divided by the threads. In memory are 16 bytes a text, and the ids
            twice, 4 bytes each, while those of several threads are put together.
        """
        allowed, disallowed = self._resolve(allowed_special, disallowed_special)
        return self._core_bpe.encode_arrow(column, allowed, disallowed, thread_count(num_threads))

    # --- Counting, without making the ids ---

    def count(self, text: str) -> int:
        """Returns the number of ids that `encode_ordinary` gives for a text.

        Raises:
            TypeError, PatternError: As `encode_ordinary`.

        Complexity:
            That of `encode_ordinary`; memory for one piece.
        """
        return self._core_bpe.count(text)

    def count_batch(self, texts: Iterable[str], *, num_threads: int | None = None) -> npt.NDArray[np.int64]:
        """Returns the number of ids that `encode_ordinary` gives for each of many texts, in parallel.

        Args:
            texts: The texts; a single one is given as `[text]`.
            num_threads: The most threads that may work; all processors if not given, one in a process that
                `multiprocessing` has started.

        Returns:
            The numbers, of shape (texts,) and dtype int64.

        Raises:
            ValueError: `num_threads` is not positive.
            TypeError, PatternError: As `encode_ordinary`, for the first text that fails.
        """
        threads = thread_count(num_threads)
        # In Python: inside the core, an import that Ctrl-C interrupts would be an internal error.
        import numpy as np  # noqa: F401

        return self._core_bpe.count_batch(list(several("texts", texts)), threads)

    def count_till_limit(self, text: str, limit: SupportsIndex) -> int | None:
        """Counts the tokens of a text, but stops as soon as there are more than a limit.

        Args:
            text: Any string; special tokens are ordinary text.
            limit: The highest count of interest.

        Returns:
            The result of `count`, or `None` if that is more than `limit`.

        Raises:
            ValueError: `limit` is negative.
            TypeError: `text` is not a string, or `limit` not an integer.
            PatternError: The engine of a custom pattern gives up on this text.

        Complexity:
            With a built-in pattern, that of `encode_ordinary` for as much text as has `limit` tokens, however
            long the text. A custom pattern has to find the pieces of that much text, and the `regex` package,
            where it stands in, those of all of the text.
        """
        return self._core_bpe.count_till_limit(text, token_limit("limit", limit, 0))

    # --- Offsets of tokens in the text ---

    def encode_with_offsets(
        self,
        text: str,
        *,
        unit: Literal["char", "byte"] = "char",
        allowed_special: AllowedSpecial = NO_TOKENS,
        disallowed_special: DisallowedSpecial = ALL,
    ) -> EncodedWithOffsets:
        """Encodes text as `encode` does, and returns the span of each token in it.

        Offsets are those in the text that is encoded: surrogate pairs are one character, lone surrogates
        U+FFFD. Where all of it is encoded, as with the built-in patterns, `starts` in characters are those
        that `decode_with_offsets` gives for the ids; text that a custom pattern drops lies between the end of
        a token and the start of the next.

        Args:
            text: Any string.
            unit: "char" counts characters: a token that starts or ends inside a character has the offset of
                the start or of the end of that character, so that `text[start:end]` has all the characters
                that the token is part of. "byte" counts bytes of UTF-8, which every token starts and ends
                between.
            allowed_special: As in `encode`.
            disallowed_special: As in `encode`.

        Returns:
            The ids, and the start and end of each. The arrays may be written to.

        Raises:
            ValueError: `unit` is neither "char" nor "byte".
            DisallowedSpecialTokenError, TypeError, PatternError: As `encode`.

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
    # Special tokens are ordinary text here. Texts are cut between characters, that is code points: a
    # character that takes several tokens stays whole, and so does a pair of surrogates. Merges reach across a
    # cut, so the ids of a part, encoded by itself, need not be some of the whole text's: each part is encoded
    # to count its tokens, and cut again if they are too many.

    def truncate(
        self, text: str, max_tokens: SupportsIndex, *, side: Literal["right", "left"] = "right"
    ) -> Truncated:
        """Drops the end or the beginning of a text that has too many tokens.

        Args:
            text: Any string.
            max_tokens: The most tokens that `encode_ordinary` may give for the rest. With 0, and where not
                even one character fits, nothing is left.
            side: The side that is dropped: "right" is the end, "left" the beginning.

        Returns:
            The rest of the text, the number of its tokens, and whether it is less than the whole. It is as
            long as possible where words or the like are short; in a long run that the pattern does not split,
            of whitespace or letters, it may be some characters shorter.

        Raises:
            ValueError: `max_tokens` is negative, or `side` neither "right" nor "left".
            TypeError, PatternError: As `count_till_limit`.

        Complexity:
            As `count_till_limit`, some times over.
        """
        limit = token_limit("max_tokens", max_tokens, 0)
        if side not in ("right", "left"):
            raise ValueError(
                f"side must be 'right', which drops the end, or 'left', the beginning, not {side!r}"
            )
        characters, count = self._core_bpe.truncate(text, limit, side == "left")
        if characters is None:
            return Truncated(text, count, truncated=False)
        keep = first_characters if side == "right" else last_characters
        return Truncated(keep(text, characters), count, truncated=True)

    def split(self, text: str, max_tokens: SupportsIndex, *, overlap: SupportsIndex = 0) -> list[str]:
        """Cuts a text into parts of a limited number of tokens.

        Args:
            text: Any string.
            max_tokens: The most tokens that `encode_ordinary` may give for a part.
            overlap: Each part but the first begins with the end of the one before it: as much of that as has
                so many tokens by itself, or less if nothing else would fit into the part.

        Returns:
            The parts in order, none of them empty; each is as long as `truncate` would leave it. Without
            overlap they give the text when joined.

        Raises:
            ValueError: A character has more than `max_tokens` tokens, `max_tokens` is not positive, or
                `overlap` negative or not below `max_tokens`.
            TypeError, PatternError: As `count_till_limit`.

        Complexity:
            That of `encode_ordinary` for all parts, some times over.
        """
        limit = token_limit("max_tokens", max_tokens, 1)
        repeated = token_limit("overlap", overlap, 0)
        if repeated >= limit:
            raise ValueError(f"overlap must be below max_tokens, which is {limit}, got {repeated}")
        parts = self._core_bpe.parts(text, limit, repeated)
        if parts and parts[-1][1] != len(text):
            starts, ends = zip(*parts, strict=True)
            parts = list(zip(string_indices(text, starts), string_indices(text, ends), strict=True))
        return [text[start:end] for start, end in parts]

    # --- Decoding ---

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Decodes ids to bytes.

        Args:
            tokens: Ids of mergeable and special tokens: a list, tuple, range, array, NumPy array of integers
                or buffer.

        Raises:
            UnknownTokenError: An id belongs to no token.
            OverflowError: An id is negative or above 2**32 - 1.
            TypeError: `tokens` is not a sequence of integers.
        """
        return self._core_bpe.decode_bytes(tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Decodes ids to text; arguments and errors as `decode_bytes`.

        Any ids may be decoded, so the bytes need not be UTF-8. By default those that are not become U+FFFD,
        and the text does not give these ids again.

        Args:
            tokens: The ids.
            errors: How to treat bytes that are not UTF-8, as in `bytes.decode`.

        Raises:
            UnicodeDecodeError: The bytes are not UTF-8 and `errors` is "strict".
        """
        return self._core_bpe.decode(tokens, errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Returns the bytes of one token, mergeable or special; errors as `decode_bytes`."""
        return self._core_bpe.decode_single_token_bytes(token)

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Returns the bytes of each token; errors as `decode_bytes`."""
        return [self._core_bpe.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Iterable[int]) -> tuple[str, list[int]]:
        """Decodes ids to text, with the offset of each token in it; errors as `decode_bytes`.

        Returns:
            The text, and for each token the index of its first character. A token that starts inside a
            character has the index of that character.

        Raises:
            UnicodeDecodeError: The bytes are not UTF-8, and are joined as they are.
        """
        tokens = list(tokens)
        if (
            self._tokenizer is not None
            and (decoded := self._core_bpe.decode_with_offsets(tokens)) is not None
        ):
            return decoded
        parts = self.decode_tokens_bytes(tokens) if self._model is None else self._decoded_parts(tokens)
        offsets = []
        characters = 0
        for part in parts:
            starts_inside = part[:1] in CONTINUATION_BYTES and bool(part)
            offsets.append(max(0, characters - starts_inside))
            characters += len(part.translate(None, CONTINUATION_BYTES))
        return b"".join(parts).decode("utf-8"), offsets

    def _decoded_parts(self, tokens: Sequence[int]) -> list[bytes]:
        """Returns the bytes that each id adds to those of a text, by the rules of a model."""
        ordinary = [
            b"" if token in self._special_token_values else part
            for token, part in zip(tokens, self.decode_tokens_bytes(tokens), strict=True)
        ]
        # Spaces at the start belong to no text: at most one of each token.
        removed = sum(map(len, ordinary)) - len(self._core_bpe.decode_bytes(tokens))
        for index, part in enumerate(ordinary):
            if removed <= 0:
                break
            if part.startswith(b" "):
                ordinary[index] = part[1:]
                removed -= 1
        return ordinary

    def stream_decoder(self, errors: str = "replace") -> StreamDecoder:
        """Makes a decoder for ids that come one by one, as from a model; arguments and errors as its own.

        The decoder of a `tokenizer.json` may change a text by what follows: runs of tokens of bytes, for
        instance, are characters only if all of them are. What may still change is kept back.
        """
        if (stream := self._core_bpe.text_stream()) is not None:
            return TextStreamDecoder(stream, errors)
        if self._model is not None:
            return SentencePieceStreamDecoder(self._core_bpe, errors)
        return StreamDecoder(self, errors)

    def decode_batch(
        self, batch: Iterable[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Decodes many sequences of ids to texts; arguments and errors as `decode_bytes_batch`, `decode`."""
        threads = thread_count(num_threads, as_in_tiktoken=True)
        return self._core_bpe.decode_batch(list(batch), errors, threads)

    def decode_bytes_batch(self, batch: Iterable[Sequence[int]], *, num_threads: int = 8) -> list[bytes]:
        """Decodes many sequences of ids in parallel, as `decode_bytes` does one.

        Args:
            batch: The sequences; the rows of a two-dimensional NumPy array will do.
            num_threads: The most threads that may work.

        Raises:
            ValueError: `num_threads` is not positive.
            UnknownTokenError, OverflowError, TypeError: As `decode_bytes`.
        """
        threads = thread_count(num_threads, as_in_tiktoken=True)
        return self._core_bpe.decode_bytes_batch(list(batch), threads)

    # --- The vocabulary ---

    @property
    def definition(self) -> Definition:
        """The plain value that says what this encoding is.

        Complexity:
            O(vocabulary) the first time for a built-in or trained encoding, otherwise O(1).
        """
        ranks = self._mergeable_ranks if self._has_ranks else {}
        parts = (self._pat_str, ranks, self._special_tokens, self._template)
        return Definition(self.name, *parts, self._model, self._tokenizer)

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        # Built-in encodings make it when it is needed: the dictionary takes longer than the rest of them.
        return self._core_bpe.mergeable_ranks()

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of everything that decides about ids, that is all but the name, in hexadecimal digits.

        `bytemill.fingerprint` defines it.

        Complexity:
            O(vocabulary), once.
        """
        return self.definition.sha256

    @property
    def n_vocab(self) -> int:
        """The highest token id plus one: more than the number of tokens if ids leave gaps."""
        return self.max_token_value + 1

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`; `KeyError` if there is none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Returns whether an id is that of a special token; `AssertionError` if it is not an `int`."""
        if not isinstance(token, int):
            raise AssertionError  # noqa: TRY004 - as in tiktoken
        return token in self._special_token_values

    def token_byte_values(self) -> list[bytes]:
        """Returns the bytes of all mergeable tokens, sorted."""
        return self._core_bpe.token_byte_values()

    def token_lengths(self) -> npt.NDArray[np.int32]:
        """Returns the number of bytes of each mergeable token, as an array to look ids up in.

        Returns:
            The lengths by id, of shape (n_vocab,) and dtype int32; 0 for special tokens and for ids that are
            no token.

        Complexity:
            O(n_vocab).
        """
        import numpy as np

        ids, lengths = self._core_bpe.token_lengths()
        by_id = np.zeros(self.n_vocab, dtype=np.int32)
        by_id[ids] = lengths
        return by_id

    def vocab(self) -> dict[int, bytes]:
        """Returns the bytes of every token, special ones as UTF-8, in the order of the ids."""
        if self._has_ranks:
            return self.definition.vocab()
        token_ids = (token_id for token_id in range(self.n_vocab) if self._core_bpe.is_token(token_id))
        return {token_id: self._core_bpe.decode_single_token_bytes(token_id) for token_id in token_ids}

    def merges(self) -> list[tuple[int, int]]:
        """Returns the two tokens that make each mergeable token of more than one byte, in rank order.

        Raises:
            VocabularyError: A token is not made of exactly two others of lower rank.
        """
        return self._core_bpe.merges()

    def explain(self, text: str) -> list[PieceExplanation]:
        """Shows how a text becomes ids: its pieces, and each merge of their symbols.

        Args:
            text: Any string; special tokens are ordinary text. Meant for short ones.

        Returns:
            The pieces in order. Their ids, joined, are those of `encode_ordinary`. Those of a SentencePiece
            model are segments of the normalized text which no token crosses; all of the text if the model
            has unused pieces.

        Raises:
            TypeError, PatternError: As `encode_ordinary`.
            VocabularyError: It is a `tokenizer.json` whose ids ranks do not give.

        Complexity:
            Time and memory quadratic in the length of each piece. For a SentencePiece model also linear in
            its tokens, the first time.
        """
        if self._model is not None:
            check_type("text", text, str)
            from bytemill.explanation import explain_model

            return explain_model(self._model, text)
        self._merging_bytes("explanations")
        # Only here: it imports the regular expressions.
        from bytemill.reference import merge_steps

        explanations = []
        for piece in map(str.encode, self._core_bpe.split(text)):
            steps = list(merge_steps(piece, self._mergeable_ranks))
            if piece in self._mergeable_ranks and steps[-1] != [piece]:
                steps = [steps[0], [piece]]
            explanations.append(PieceExplanation(piece, steps, self._core_bpe.encode_single_piece(piece)))
        return explanations

    def with_special_tokens(self, special_tokens: Mapping[str, int], *, name: str | None = None) -> Encoding:
        """Makes an encoding with more special tokens; the vocabulary is shared, not copied.

        Args:
            special_tokens: The id of each special token to add. One that this encoding has already may be
                among them, with the id that it has.
            name: The name of the encoding; if not given, that of this one followed by "_extended".

        Raises:
            ValueError: An id belongs to another token or is out of range, a special token has another id
                already, or it is the empty string.
            TypeError: They are no mapping, a special token is not a string, or its id not an integer.

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
        encoding._model = self._model  # noqa: SLF001 - as above
        encoding._tokenizer = self._tokenizer  # noqa: SLF001 - as above
        return encoding

    def with_vocab_size(self, vocab_size: int, *, name: str | None = None) -> Encoding:
        """Makes an encoding of the first merges only: the result of training to that size.

        Args:
            vocab_size: The number of ids: of the mergeable tokens that are kept, and of the special tokens,
                which follow them in the order of their ids. Of a SentencePiece model the pieces of one
                character, of bytes and without text are kept as well, and those that training does not learn
                have the ids that they had.
            name: The name of the encoding; if not given, that of this one followed by the size.

        Raises:
            ValueError: This encoding has fewer ids, or so few do not hold the bytes and the special tokens.
        """
        vocab_size = integer("vocab_size", vocab_size)
        name = f"{self.name}_{vocab_size}" if name is None else name
        if self._model is not None:
            from bytemill.formats.sentencepiece_pieces import first_merges

            return Encoding.from_definition(first_merges(self.definition, vocab_size, name))
        return Encoding.from_definition(self.definition.with_vocab_size(vocab_size, name))

    # --- The cache ---

    def memory_usage(self) -> int:
        """Returns the bytes that the vocabulary and the caches take.

        Caches hold pieces of texts with their ids and outlive the call; there are as many caches as calls
        ever ran at once, each limited as `set_cache_limit` says.
        """
        return self._core_bpe.memory_usage()

    def clear_cache(self) -> None:
        """Empties the caches and frees their memory. Ids stay the same."""
        self._core_bpe.clear_cache()

    def set_cache_limit(self, bytes_per_thread: int) -> None:
        """Limits the memory of each cache, and empties the caches. Ids stay the same.

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
    # the old files or the complete new ones. What a format cannot hold exactly is refused with the reason.
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
        """Reads an encoding that gives the same ids as the library that the file comes from.

        The contents of a file tell its format: `.tiktoken` (also Llama 3's and Qwen's `tiktoken.model`),
        Hugging Face's `tokenizer.json`, GPT-2's `encoder.json` and `vocab.bpe` (or `vocab.json` and
        `merges.txt`), SentencePiece's BPE `.model`, minbpe's `.model`, Mistral's `tekken.json`, GGUF whose
        vocabulary is a SentencePiece model (needs the package `gguf`), and `.bytemill`, which `save` writes.

        Args:
            path: The file, or a directory with one of these under its usual name; of GPT-2's two, either.
            name: The name of the encoding; if not given, that in the file, or else that of the file.
            pattern: For files without a pattern, `.tiktoken` and GPT-2's, how text is split: a name in
                `bytemill.patterns.PATTERNS` such as "llama3", or a regular expression. For GPT-2's files, its
                own pattern if not given.
            special_tokens: Each special token's id, instead of those in the file.

        Raises:
            VocabularyError: The file is of no known format, malformed, or no encoding gives the ids that its
                own library gives; the message has file, entry and reason.
            ValueError: The file needs a pattern and none is given, or has one and another is given.
            PatternError: The pattern that is given does not compile or can match the empty string.
            OSError: The file cannot be read.
            ImportError: It is a GGUF file, and `gguf` is not installed.

        Warns:
            UserWarning: The file says that tokens are added to each text, which an encoding does not do; or
                as the constructor.

        Complexity:
            Linear in the file.
        """
        from bytemill.io.reading import read

        loaded = read(path, name=name, pattern=pattern, special_tokens=special_tokens)
        try:
            encoding = cls._of(*loaded)
        except (PatternError, VocabularyError) as error:
            if pattern is not None and isinstance(error, PatternError):
                raise
            raise VocabularyError(f"{path}: {error}") from error
        if encoding._tokenizer is None:  # noqa: SLF001 - of this class
            warn_of_ambiguity(loaded.shared_ranks, loaded.definition.special_tokens)
        return encoding

    @classmethod
    def from_huggingface(
        cls, tokenizer: str | os.PathLike[str] | HuggingFaceTokenizer, *, name: str | None = None
    ) -> Self:
        """Reads a tokenizer of Hugging Face's libraries: its ids are those of `tokenizers`.

        Its special tokens are those of the encoding, found only where `allowed_special` says so; other added
        tokens are always found. So `encode(text, allowed_special="all")` gives the ids of
        `tokenizer.encode(text, add_special_tokens=False)`.

        Args:
            tokenizer: A `tokenizer.json`, the folder that it is in, a `tokenizers.Tokenizer`, or a tokenizer
                of `transformers` that is made of one.
            name: The name of the encoding; if not given, that of the folder or of the file.

        Raises:
            TypeError: It is none of these.
            VocabularyError: Something in it is not supported; the message has its path in the JSON and the
                reason.
            OSError: The file cannot be read.

        Warns:
            UserWarning: As `from_file`.

        Complexity:
            Linear in the file.
        """
        from bytemill.formats.huggingface_tokenizer import serialized
        from bytemill.io.reading import read_tokenizer

        given = serialized(tokenizer)
        if given is None:
            return cls.from_file(tokenizer, name=name)  # type: ignore[arg-type]
        contents, usual_name = given
        return cls._of(*read_tokenizer(contents, name or usual_name))

    def to_tiktoken(self) -> tiktoken.Encoding:
        """Builds the same encoding in tiktoken, checked with sample texts.

        Raises:
            ImportError: `tiktoken` is not installed.
            VocabularyError: tiktoken would give other ids.
        """
        from bytemill.formats.tiktoken_encoding import to_tiktoken

        return to_tiktoken(self.definition, self._encode_all)

    def save(self, path: str | os.PathLike[str], *, provenance: Mapping[str, Any] | None = None) -> None:
        """Writes everything to one file, `.bytemill` by convention; see `bytemill.formats.native`.

        It loads in a fraction of the time of other formats.

        Args:
            path: The file, replaced if it exists.
            provenance: More to be known, such as where the vocabulary comes from; any JSON. The version of
                this library is added.

        Raises:
            TypeError, ValueError: JSON cannot hold the provenance.
            OSError: The file cannot be written.
        """
        from bytemill.io.writing import write_native

        write_native(self.definition, self._core_bpe, path, provenance)

    def save_tiktoken(self, path: str | os.PathLike[str]) -> None:
        """Writes the mergeable tokens as a `.tiktoken` file, which holds neither pattern nor special tokens.

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

        There special tokens are always found in text: the ids are those of
        `encode(text, allowed_special="all")`. Where `tokenizers` is installed, it checks the file too. A
        SentencePiece model becomes merges of characters, as in Llama 2's or Gemma's file.

        An encoding that was read from a `tokenizer.json` whose ids ranks do not give is written byte for byte
        as it was read; special tokens that were added since are not in the file.

        Args:
            directory: Made if it does not exist; files of these names are replaced.
            form: For SentencePiece models, how the file says what is done to spaces: as the files of Llama 2,
                of Gemma, or of later Mistral models. If not given, as Llama 2's where the model puts a space
                before texts, else as Gemma's.

        Raises:
            VocabularyError: The library would give other ids.
            ValueError: A form is given, and the encoding is no SentencePiece model.
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
        """Writes GPT-2's two files, which hold no pattern: it must be GPT-2's.

        For gpt2 those are the published files, byte for byte.

        Args:
            directory: Made if it does not exist; files of these names are replaced.
            file_names: The names of the merges and of the ids; transformers expects
                `("merges.txt", "vocab.json")`.

        Raises:
            VocabularyError: A reader of the format would give other ids.
            OSError: A file cannot be written.
        """
        from bytemill.io.writing import write_gpt2

        write_gpt2(self.definition, self._encode_all, directory, file_names)

    def save_minbpe(self, prefix: str | os.PathLike[str]) -> None:
        """Writes `prefix`.model and `prefix`.vocab for minbpe.

        Raises:
            ValueError: The format cannot hold the pattern or a special token.
            VocabularyError: minbpe would give other ids.
            PatternError: The pattern may mean something else to minbpe's regular expressions.
            OSError: A file cannot be written.
        """
        from bytemill.io.writing import write_minbpe

        write_minbpe(self.definition, self._encode_all, prefix)

    def save_sentencepiece(
        self, path: str | os.PathLike[str], *, vocab: str | os.PathLike[str] | None = None
    ) -> None:
        """Writes the file of a SentencePiece model, byte for byte the one it was read from.

        Special tokens that were added since are not in it.

        Args:
            path: The file, replaced if it exists.
            vocab: If given, another file: the pieces and scores as text, as SentencePiece writes them beside
                a model that it trains.

        Raises:
            VocabularyError: This encoding merges bytes.
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
        return self._model is None and self._tokenizer is None

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
        if self._model is not None:
            special_tokens = dict(sorted(self._special_tokens.items(), key=itemgetter(1)))
            return {"name": self.name, "model": self._model, "special_tokens": special_tokens}
        if self._tokenizer is not None:
            special_tokens = dict(sorted(self._special_tokens.items(), key=itemgetter(1)))
            template = {} if self._template is None else {"template": self._template}
            return {
                "name": self.name,
                "tokenizer": self._tokenizer,
                "special_tokens": special_tokens,
                **template,
            }
        state: dict[str, Any] = {
            "name": self.name,
            "pat_str": self._pat_str,
            "mergeable_ranks": dict(sorted(self._mergeable_ranks.items(), key=itemgetter(1))),
            "special_tokens": dict(sorted(self._special_tokens.items(), key=itemgetter(1))),
        }
        # Without a template, the state is that of tiktoken.
        return state if self._template is None else {**state, "template": self._template}

    def __setstate__(self, state: str | dict[str, Any]) -> None:
        """Takes a state of `__getstate__`, also of tiktoken's."""
        if isinstance(state, str):
            self.__dict__.update(Encoding._find_registered(state).__dict__)
        elif "model" in state:
            self._build(Definition(state["name"], "", {}, state["special_tokens"], model=state["model"]))
        elif "tokenizer" in state:
            parts = (state["special_tokens"], state.get("template"), None, state["tokenizer"])
            self._build(Definition(state["name"], "", {}, *parts))
        else:
            name, pattern, ranks = state["name"], state["pat_str"], state["mergeable_ranks"]
            self._build(Definition(name, pattern, ranks, state["special_tokens"], state.get("template")))

    def __copy__(self) -> Encoding:
        """Makes another object around the same tables."""
        copy = self.__class__.__new__(self.__class__)
        copy.__dict__.update(self.__dict__)
        return copy

    def __deepcopy__(self, memo: dict[int, object]) -> Encoding:
        """Makes another object around the same tables, which never change."""
        return self.__copy__()


def set_process_cache_limit(bytes_per_process: int | None) -> None:
    """Limits the memory of all caches in this process, those of all encodings and threads together.

    Ids stay the same. Memory goes to those caches that ask first; the others learn less, which makes them
    slower. `Encoding.clear_cache` gives back what an encoding is no longer used for.

    Args:
        bytes_per_process: The limit in bytes, or `None` for no limit besides that of each thread, see
            `Encoding.set_cache_limit`, as it is at first. Some kilobytes are used for each thread and
            encoding in any case. Where caches take more already, each is emptied when it is next used, until
            they do not.

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
