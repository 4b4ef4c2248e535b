# The compiled core. Private: `bytemill.Encoding` is the public class, and documents the errors.
# Where special tokens are a set, `None` stands for all of them. Surrogates in text are repaired.

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias, final, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer, Self

__all__ = [
    "BUILD_PROFILE",
    "TIER",
    "UNICODE_VERSION",
    "CoreBPE",
    "CorePrefixCache",
    "CoreSession",
    "CoreStreamEncoder",
    "EncodedColumn",
    "LearnedMerges",
    "Normalizer",
    "NormalizerChain",
    "PieceCounts",
    "SentenceCounts",
    "SentencePieceModel",
    "Splitter",
    "TextStream",
    "__version__",
    "charsmap_rules",
    "charsmap_with_name",
    "compile_charsmap",
    "compile_charsmap_tsv",
    "encode_message",
    "encode_pieces",
    "find_invalid_utf8",
    "from_oniguruma",
    "json_fields",
    "last_cut",
    "learn_merges",
    "line_breaks",
    "line_offsets",
    "matches_everything",
    "published_encodings",
    "read_normalizer_spec",
    "read_tokenizer_json",
    "sentencepiece_options",
    "set_process_cache_limit",
    "write_normalizer_spec",
    "write_sentencepiece_text",
]

# The version of the package; "release" or "debug"; the version of the Unicode data used for splitting (major,
# minor, update); and the instructions of the machine that are used.
__version__: str
BUILD_PROFILE: str
UNICODE_VERSION: tuple[int, int, int]
TIER: str

# A vocabulary, its special tokens and its splitter. Immutable, so threads share it freely.
@final
class CoreBPE:
    # `splitter`, if given, replaces the pattern: it returns the offsets of a text's pieces in UTF-8, as
    # [start, end, start, end, ...].
    def __new__(
        cls,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        pattern: str,
        splitter: Callable[[str], Sequence[int]] | None = None,
    ) -> Self: ...
    # Builds the vocabulary from learned merges, which must start from the bytes.
    @staticmethod
    def trained(
        learned: LearnedMerges,
        special_tokens: dict[str, int],
        pattern: str,
        splitter: Callable[[str], Sequence[int]] | None = None,
    ) -> CoreBPE: ...
    # From part of `contents`, which `stored` returned.
    @staticmethod
    def from_stored(
        contents: bytes,
        start: int,
        end: int,
        special_tokens: dict[str, int],
        pattern: str,
        splitter: Callable[[str], Sequence[int]] | None = None,
    ) -> CoreBPE: ...
    # With a vocabulary that is compiled in: "r50k", "p50k", "cl100k" or "o200k".
    @staticmethod
    def builtin(vocabulary: str, special_tokens: dict[str, int], pattern: str) -> CoreBPE: ...

    # Shares vocabulary and pattern, with other special tokens.
    @staticmethod
    def sentencepiece(model: SentencePieceModel, special_tokens: dict[str, int], /) -> CoreBPE: ...
    @staticmethod
    def tokenizer_json(contents: bytes, special_tokens: dict[str, int], /) -> CoreBPE: ...
    def with_special_tokens(self, special_tokens: dict[str, int], /) -> CoreBPE: ...

    # Text to ids. `disallowed_special` is a set of any strings, or `None` for all special tokens that are not
    # allowed; by default nothing is disallowed.
    def encode_ordinary(self, text: str, /) -> list[int]: ...
    def encode(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None = ...,
        cache: CorePrefixCache | None = ...,
        /,
    ) -> list[int]: ...
    # Returns a writable array of shape (tokens,).
    def encode_ordinary_to_numpy(self, text: str, num_threads: int, /) -> npt.NDArray[np.uint32]: ...
    # Returns a read-only array of shape (tokens,), which `decode` and `decode_bytes` borrow.
    def encode_to_numpy(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None = ...,
        cache: CorePrefixCache | None = ...,
        /,
    ) -> npt.NDArray[np.uint32]: ...
    # Returns the stable ids, and the possible completions in no particular order.
    def encode_with_unstable(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None = ...,
        /,
    ) -> tuple[list[int], list[list[int]]]: ...
    # Counts the ids that `encode_ordinary` returns.
    def count(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None = ...,
        disallowed_special: AbstractSet[str] | None = ...,
        /,
    ) -> int: ...

    # Offsets in characters where a text can be cut, each at least `every` bytes behind the one before.
    def split_points(self, text: str, every: int, /) -> list[int]: ...
    # Encodes what follows such a place.
    def encode_further(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        /,
    ) -> list[int]: ...
    # Compare ids with those of their text. An unfinished text is judged as far as no later id can change it.
    def first_drift(self, tokens: Sequence[int], is_finished: bool, /) -> int | None: ...
    def canonicalize(self, tokens: Sequence[int], /) -> list[int]: ...
    # Start a text that changes, and one that arrives in parts.
    def session(
        self, allowed_special: AbstractSet[str] | None, disallowed_special: AbstractSet[str] | None, /
    ) -> CoreSession: ...
    def stream_encoder(
        self, allowed_special: AbstractSet[str] | None, disallowed_special: AbstractSet[str] | None, /
    ) -> CoreStreamEncoder: ...

    # As `count`; `None` if there are more than `limit`.
    def count_till_limit(
        self,
        text: str,
        limit: int,
        allowed_special: AbstractSet[str] | None = ...,
        disallowed_special: AbstractSet[str] | None = ...,
        /,
    ) -> int | None: ...
    # Returns the number of characters to keep for at most `limit` ids, `None` for the whole text, and the
    # number of their ids. A pair of surrogates is one character, here and in the next two.
    def truncate(
        self,
        text: str,
        limit: int,
        keep_end: bool,
        allowed_special: AbstractSet[str] | None = ...,
        disallowed_special: AbstractSet[str] | None = ...,
        /,
    ) -> tuple[int | None, int]: ...
    # Returns the spans of parts of at most `limit` ids, which end behind separators where they can; `overlap`
    # is below `limit`.
    def parts(
        self,
        text: str,
        limit: int,
        overlap: int,
        separators: list[str],
        allowed_special: AbstractSet[str] | None = ...,
        disallowed_special: AbstractSet[str] | None = ...,
        /,
    ) -> list[tuple[int, int]]: ...
    # Returns ids, and the offsets where each starts and ends, in characters or in bytes.
    def encode_with_offsets(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        characters: bool,
        /,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...

    # Returns the number of the piece that each id is part of. Tokens that are found in the text are pieces.
    def unknown_texts(
        self, text: str, allowed_special: frozenset[str] | None, /
    ) -> list[tuple[int, str]]: ...
    def scores(self) -> list[float] | None: ...
    def piece_numbers(
        self, text: str, allowed_special: AbstractSet[str] | None, /
    ) -> npt.NDArray[np.int64]: ...

    # Many texts. The error is that of the first text that fails.
    def encode_ordinary_batch(self, texts: list[str], num_threads: int, /) -> list[list[int]]: ...
    def encode_batch(
        self,
        texts: list[str],
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        num_threads: int,
        /,
    ) -> list[list[int]]: ...
    # Returns all ids, of the native integer type `dtype`, and the offsets where those of each text start and
    # end.
    def encode_batch_to_numpy(
        self,
        texts: list[str],
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        prepend: Sequence[int],
        append: Sequence[int],
        dtype: str,
        num_threads: int,
        /,
    ) -> tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.int64]]: ...
    # Returns arrays of shape (texts, length) by name. `frame`: the ids before and after each text, with
    # types, and the type of its tokens. `keeps`: the most tokens of a text, and whether its last. `padding`:
    # the length of rows, None for that of the longest, of what it is a multiple, the id and type of padding,
    # and whether it is on the left. `columns`: whether there are types, a mask of attention, and one of
    # special tokens.
    def encode_padded(
        self,
        texts: list[str],
        allowed_special: AbstractSet[str] | None,
        frame: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]], int],
        keeps: tuple[int | None, bool],
        padding: tuple[int | None, int, tuple[int, int], bool],
        columns: tuple[bool, bool, bool],
        dtype: str,
        num_threads: int,
        /,
    ) -> dict[str, npt.NDArray[np.integer[Any]]]: ...
    # As `encode_batch_to_numpy`, for texts in one buffer: text i is data[offsets[i] : offsets[i + 1]], and
    # need not be UTF-8. Offsets have the shape (texts + 1,), and need not cover the data, which is copied
    # unless it is part of a `bytes`.
    def encode_spans_to_numpy(
        self,
        data: Buffer,
        offsets: npt.NDArray[np.int64],
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        prepend: Sequence[int],
        append: Sequence[int],
        dtype: str,
        num_threads: int,
        /,
    ) -> tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.int64]]: ...
    # Strings at which a long document may be cut before it is encoded, and others that must stay whole.
    def dividing(
        self, allowed_special: AbstractSet[str] | None, disallowed_special: AbstractSet[str] | None, /
    ) -> tuple[list[str], list[str]]: ...
    # Encodes each text of an object with `__arrow_c_array__` or `__arrow_c_stream__`.
    def encode_arrow(
        self,
        column: object,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        num_threads: int,
        /,
    ) -> EncodedColumn: ...
    def count_batch(
        self,
        texts: list[str],
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        num_threads: int,
        /,
    ) -> npt.NDArray[np.int64]: ...

    # Bytes to ids: one token, one piece, many pieces, bytes that need not be UTF-8 (of any buffer).
    def encode_single_token(self, piece: bytes, /) -> int: ...
    def encode_single_piece(self, piece: bytes, /) -> list[int]: ...
    def encode_pieces(self, pieces: Sequence[bytes], /) -> list[int]: ...
    # How the model makes tokens: "merges", "words" (WordPiece and the like) or "scores" (Unigram).
    @property
    def model_kind(self) -> str: ...
    # Pieces of normalized text; (start, end, id) of their tokens; (start, end, id, score) of candidates.
    def explain_words(
        self, text: str, /
    ) -> list[tuple[bytes, list[tuple[int, int, int]], list[tuple[int, int, int | None, float]]]]: ...
    def _encode_bytes(self, data: bytes, /) -> list[int]: ...
    def encode_bytes(self, data: Buffer, /) -> list[int]: ...

    # Returns the pieces of a text.
    def split(self, text: str, /) -> list[str]: ...

    # Ids to bytes, and to text with `errors` as in `bytes.decode`.
    def decode_bytes(self, tokens: Sequence[int], /) -> bytes: ...
    def decode_further_bytes(self, tokens: Sequence[int], /) -> bytes: ...
    def decode(self, tokens: Sequence[int], errors: str, /) -> str: ...
    def decode_bytes_batch(self, batch: list[Sequence[int]], num_threads: int, /) -> list[bytes]: ...
    def decode_batch(self, batch: list[Sequence[int]], errors: str, num_threads: int, /) -> list[str]: ...
    def decode_single_token_bytes(self, token: int, /) -> bytes: ...
    # Returns text and the offset of each token in characters, if decoding does more than to join the bytes of
    # tokens; otherwise `None`.
    def decode_with_offsets(self, tokens: Sequence[int], /) -> tuple[str, list[int]] | None: ...
    # Appends one token to the bytes that each stream holds back. Returns the texts that are complete now, and
    # the bytes that each stream holds back from now on.
    def continue_texts(
        self, held: list[bytes], tokens: Sequence[int], /
    ) -> tuple[list[str], list[bytes]]: ...
    # Whether IDs may become bytes that are no text, by the decoder of a `tokenizer.json`.
    def may_decode_to_bytes(self) -> bool: ...
    # Starts a stream, unless joining the bytes of tokens is all it needs.
    def text_stream(self) -> TextStream | None: ...

    # Returns true if an integer, of any size, is the id of a token, mergeable or special.
    def is_token(self, number: int, /) -> bool: ...

    # Returns ids and lengths in bytes of the mergeable tokens, in rank order.
    def token_lengths(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]: ...
    # Returns the ids of all tokens, in increasing order.
    def token_ids(self) -> list[int]: ...
    def max_id(self) -> int: ...
    def memory_usage(self) -> int: ...
    def clear_cache(self) -> None: ...
    def set_cache_limit(self, bytes_per_thread: int, /) -> None: ...
    # Return the mergeable tokens: sorted by bytes; with their ranks, in rank order; and those of more than
    # one byte as the ids of their two parts, in rank order.
    def token_byte_values(self) -> list[bytes]: ...
    def mergeable_ranks(self) -> dict[bytes, int]: ...
    # Returns the mergeable tokens and merges in the form that `src/vocabulary/stored.rs` describes.
    def stored(self) -> bytes: ...
    def merges(self) -> list[tuple[int, int]]: ...
    # Returns the id of each token that merges make and those of its two parts, in the order of ids: a list of
    # merges that gives the same ids if whole pieces are looked up first. `VocabularyError` if there is none.
    def listed_merges(self) -> list[tuple[int, int, int]]: ...
    # Returns the entries `vocab` and `merges` of the model in a `tokenizer.json`, with further tokens, and
    # whether whole pieces have to be looked up first.
    def model_entries(self, others: dict[str, int], /) -> tuple[str, bool]: ...

# Ids that come one by one. `push` returns text and the stream after them, `finish` the rest and a new one.
@final
class TextStream:
    def push(self, tokens: Sequence[int], /) -> tuple[str, Self]: ...
    def finish(self) -> tuple[str, Self]: ...

# A cache of the ids that texts begin with. `stats` returns hits, misses, reused bytes, bytes and entries.
@final
class CorePrefixCache:
    def __new__(cls, max_bytes: int, min_text: int, /) -> Self: ...
    def clear(self) -> None: ...
    def stats(self) -> tuple[int, int, int, int, int]: ...

# A text that changes. Changes are the ids between two indices, and what they became. One thread at a time may
# call it.
@final
class CoreSession:
    def append(self, text: str, /) -> tuple[int, int, list[int]]: ...
    def edit(self, start: int, end: int, text: str, /) -> tuple[int, int, list[int]]: ...
    def append_ids(self, tokens: Sequence[int], /) -> tuple[int, int, list[int]]: ...
    # Appends ids as they are, as they stood behind another one.
    def append_ids_behind(
        self, before: int | None, tokens: Sequence[int], /
    ) -> tuple[int, int, list[int]]: ...
    def first_drift(self, /) -> int | None: ...
    # Returns texts, the ids that were appended behind each, and before these the one that they stood behind.
    def pinned(self, /) -> list[tuple[str, int | None, list[int]]]: ...
    def update(self, text: str, /) -> tuple[int, int, list[int]]: ...
    def count_after(self, text: str, /) -> int: ...
    def ids(self, /) -> npt.NDArray[np.uint32]: ...
    def tolist(self, start: int, /) -> list[int]: ...
    def fork(self) -> CoreSession: ...
    @property
    def count(self) -> int: ...
    @property
    def characters(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def is_incremental(self) -> bool: ...

# A text that arrives in parts. One thread at a time may call it.
@final
class CoreStreamEncoder:
    def push(self, text: str, /) -> list[int]: ...
    def flush(self, text: str, /) -> list[int]: ...
    @property
    def count(self) -> int: ...
    @property
    def held(self) -> str: ...

# A list of ids for each text, for Arrow: `list<uint32>`, or `large_list` if there are 2**31 ids or more or if
# that type is requested; other requests are ignored. Can be read more than once.
@final
class EncodedColumn:
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

# Splits texts into pieces, by a pattern, or by `splitter` as in `CoreBPE`.
@final
class Splitter:
    def __new__(cls, pattern: str, splitter: Callable[[str], Sequence[int]] | None = None) -> Self: ...

    # Of a chain of steps, each as (kind, pattern, behavior, flag).
    @staticmethod
    def of_steps(steps: Sequence[tuple[str, str, str, bool]]) -> Splitter: ...
    @property
    def is_native(self) -> bool: ...

    # The byte offsets of the pieces, flat: start, end, start, end, ...
    def offsets(self, text: str) -> list[int]: ...

# Limits the bytes that the caches of all encodings take together, beyond some kilobytes of each.
def set_process_cache_limit(bytes_per_process: int, /) -> None: ...

# Returns the pattern of fancy-regex that matches the same as one of Oniguruma; `PatternError` if none does.
def from_oniguruma(pattern: str) -> str: ...

# Whether every character of every text is certainly in a match of a pattern; false for some where it is, too.
def matches_everything(pattern: str) -> bool: ...

# Returns the published encodings: name, name of the vocabulary, pattern, special tokens.
def published_encodings() -> list[tuple[str, str, str, dict[str, int]]]: ...

# Normalizes as SentencePiece does. `ValueError` if the charsmap, which may be empty, is none. Immutable.
@final
class Normalizer:
    def __new__(
        cls,
        charsmap: bytes,
        *,
        add_dummy_prefix: bool = True,
        remove_extra_whitespaces: bool = True,
        escape_whitespaces: bool = True,
        treat_whitespace_as_suffix: bool = False,
        user_defined_symbols: Sequence[str | bytes] = ...,
    ) -> Self: ...
    @overload
    def normalize(self, text: str) -> str: ...
    @overload
    def normalize(self, text: bytes) -> bytes: ...
    # With the offset in the text of each character, or byte, of the output, and of its end.
    @overload
    def normalize_with_offsets(self, text: str) -> tuple[str, list[int]]: ...
    @overload
    def normalize_with_offsets(self, text: bytes) -> tuple[bytes, list[int]]: ...

# Normalizes as `tokenizers` does, for tests. A step is its name in a `tokenizer.json` and its values; a
# `Replace` of a regular expression is called `Regex`. `ValueError` if a step is none.
@final
class NormalizerChain:
    # Takes the JSON of the normalizer of a `tokenizer.json`.
    def __new__(cls, contents: bytes) -> Self: ...
    def keeps(self, text: str) -> bool: ...
    def normalize(self, text: str) -> str: ...
    # With the offsets in UTF-8 of the character of the text that each byte of the output stands for.
    def normalize_with_spans(self, text: str) -> tuple[str, list[tuple[int, int]]]: ...

# Returns the charsmap of rules with a name: empty for "identity", `None` for a name that is none.
def charsmap_with_name(name: str, /) -> bytes | None: ...

# Return the charsmap of keys and values, and of lines as in `normalization_rule_tsv`. `ValueError` for what
# is no rule.
def compile_charsmap(rules: Sequence[tuple[str, str]], /) -> bytes: ...
def compile_charsmap_tsv(text: str, /) -> bytes: ...

# Returns the keys of a charsmap and their values, sorted by the keys.
def charsmap_rules(charsmap: bytes, /) -> list[tuple[str, str]]: ...

# Pieces and their counts, whose sum is at most 2**64 - 1 (`OverflowError` beyond). Locks internally.
@final
class PieceCounts:
    def __new__(cls) -> Self: ...
    # Splits texts and counts their pieces; without a splitter a text is one piece. Strings in `special` cut
    # texts and are not counted. In bytes, each run of valid UTF-8 is a text, each run between two is one
    # piece. With `ahead` and several threads, a list is counted while the next is requested. After an error,
    # some texts are counted and others are not.
    def add(
        self,
        batches: Iterator[list[str | bytes]],
        splitter: Splitter | None,
        special: list[str],
        num_threads: int,
        ahead: bool,
    ) -> None: ...
    # Adds pieces with their counts: a list, an Arrow column, or what `columns` returns. Counts nothing after
    # an error. Ignores empty pieces and counts of 0.
    def add_pieces(
        self,
        pieces: list[bytes] | tuple[bytes, npt.NDArray[np.int64]] | object,
        counts: npt.NDArray[np.uint64] | list[int],
    ) -> None: ...
    # Splits the texts of an Arrow column, nulls being empty ones, and counts their pieces; as `add`.
    def add_texts(
        self, column: object, splitter: Splitter | None, special: list[str], num_threads: int
    ) -> None: ...
    # Adds counts that others have sorted by piece, each source with a piece once, as a temporary file: this
    # and every method that reads counts then may raise `OSError`. Counts nothing after an error.
    def add_sorted(self, sources: list[Iterator[tuple[object, npt.NDArray[np.uint64]]]]) -> None: ...
    # Calls `write` with the bytes of some `rows` of pieces, sorted, their offsets and their counts, as in
    # `columns`, until all are written or it raises.
    def write_sorted(
        self,
        write: Callable[[bytes, npt.NDArray[np.int64], npt.NDArray[np.uint64]], object],
        rows: int,
    ) -> None: ...
    def merge(self, other: PieceCounts) -> None: ...
    # Return the number of distinct pieces, of all pieces, of bytes of text (weighted), of bytes of memory.
    def __len__(self) -> int: ...
    def total(self) -> int: ...
    def text_bytes(self) -> int: ...
    def memory(self) -> int: ...
    # Return the pieces in the order of first occurrence, for any number of threads: as pairs; and as the
    # bytes of all pieces, their offsets, shape (pieces + 1,), and their counts, shape (pieces,).
    def items(self) -> list[tuple[bytes, int]]: ...
    def columns(self) -> tuple[bytes, npt.NDArray[np.int64], npt.NDArray[np.uint64]]: ...
    # Returns the most frequent first; of equally frequent ones, those that occur first.
    def most_common(self, n: int) -> list[tuple[bytes, int]]: ...

# Learns merges; merge k makes token 256 + k, after the initial merges. `initial_tokens` are the 256 bytes in
# the order of their ids. Pairs that occur less often than `min_frequency` are not merged, nor are those that
# would make a token of more than `max_token_length` bytes. `progress` is called a few times a second with the
# numbers of merges done and requested; an exception from it stops training.
def learn_merges(
    counts: PieceCounts,
    merges: int,
    *,
    tie_break: str,
    min_frequency: int,
    max_token_length: int | None,
    initial_tokens: list[bytes] | None,
    initial_merges: list[tuple[int, int]] | None,
    num_threads: int,
    progress: Callable[[int, int], object] | None,
) -> LearnedMerges: ...

# The two tokens of each learned merge, in order.
@final
class SentenceCounts:
    # The sentences of texts as counted words, as SentencePiece reads them by the options of its trainer and
    # its normalizer, the map of characters among them. Strings in `protected` end words. The seed decides
    # which sentences are kept if not all are. With `is_measured`, none is too long.
    def __new__(
        cls,
        trainer: dict[str, Any],
        normalizer: dict[str, Any],
        *,
        protected: list[str],
        seed: int,
        is_measured: bool,
    ) -> Self: ...
    # Each text is a sentence; or, with `lines`, each line of it. After an error, some are counted and others
    # are not.
    def add(self, batches: Iterator[list[str | bytes]], *, lines: bool, num_threads: int) -> None: ...
    # Whether no more sentences are wanted.
    @property
    def is_complete(self) -> bool: ...
    # The numbers of sentences that were read, and that were too long.
    @property
    def accepted(self) -> int: ...
    @property
    def too_long(self) -> int: ...
    # Returns the number of characters that are pieces in any case, and, unless they are more than `most`,
    # the pieces. Nothing may be added afterwards.
    def learn(
        self, most: int, *, num_threads: int, progress: Callable[[int, int], object] | None
    ) -> tuple[int, list[str] | None]: ...

@final
class LearnedMerges:
    def __len__(self) -> int: ...
    def pairs(self) -> list[tuple[int, int]]: ...
    # How often each pair occurred when it was merged.
    def counts(self) -> list[int]: ...

# Returns the string in the first of the fields that each of the JSON lines has, as UTF-8 one after the other,
# and their offsets. `ValueError` names the first invalid line, from 1. Stricter than `json`, which may accept
# a line that this refuses.
def json_fields(
    block: Buffer, fields: Sequence[str], num_threads: int, /
) -> tuple[bytes, npt.NDArray[np.int64]]: ...

# Returns the offsets where lines start and end, line breaks included.
def line_offsets(block: Buffer, /) -> npt.NDArray[np.int64]: ...

# Counts line breaks.
def line_breaks(data: Buffer, /) -> int: ...

# Returns the offset of the first bytes that are not UTF-8.
def find_invalid_utf8(data: Buffer, /) -> int | None: ...

# Returns the last offset, within the last `window` bytes of a block, at which a document that goes on after
# it may be cut: the pieces of both parts are those of the whole, and no special token lies across, nor any of
# the strings that stay `whole`. Without a splitter only special tokens cut. The bytes need not be UTF-8.
def last_cut(
    block: Buffer,
    special_tokens: list[bytes],
    whole: list[bytes],
    splitter: Splitter | None,
    window: int,
    /,
) -> int | None: ...

# The value of an option of a model file; of a repeated one, a tuple of texts.
_Option: TypeAlias = bool | int | float | str | bytes | Sequence[str] | None

# A SentencePiece BPE model file. Immutable. Pieces are texts with a score and a type: 1 NORMAL, 2 UNKNOWN,
# 3 CONTROL, 4 USER_DEFINED, 5 UNUSED, 6 BYTE. The options of its three messages are dicts by the names of the
# format, with the defaults of those that are absent.
@final
class SentencePieceModel:
    def __new__(cls, data: bytes) -> Self: ...
    # A new model, of which only what is given is written.
    @staticmethod
    def build(
        pieces: Sequence[tuple[str, float, int]],
        trainer_spec: dict[str, _Option],
        normalizer_spec: dict[str, _Option],
        denormalizer_spec: dict[str, _Option] | None = None,
    ) -> SentencePieceModel: ...
    # Another model. `None` as the value of an option removes it; what does not change keeps its bytes.
    def replace(
        self,
        *,
        pieces: Sequence[tuple[str, float, int]] | None = None,
        trainer_spec: dict[str, _Option] | None = None,
        normalizer_spec: dict[str, _Option] | None = None,
        denormalizer_spec: dict[str, _Option] | None = None,
    ) -> SentencePieceModel: ...
    # Whether bytes begin like a model file; some hundred bytes are enough.
    @staticmethod
    def is_likely(head: bytes) -> bool: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[type[SentencePieceModel], tuple[bytes]]: ...
    # The bytes of the file.
    def serialize(self) -> bytes: ...
    @property
    def pieces(self) -> list[str]: ...
    # The ids of the pieces that no text becomes by itself.
    @property
    def control_pieces(self) -> dict[str, int]: ...
    @property
    def scores(self) -> npt.NDArray[np.float32]: ...
    @property
    def types(self) -> npt.NDArray[np.uint8]: ...
    @property
    def trainer_spec(self) -> dict[str, Any]: ...
    @property
    def normalizer_spec(self) -> dict[str, Any]: ...
    @property
    def denormalizer_spec(self) -> dict[str, Any]: ...
    # The options that the file has, of the message with this name.
    def present(self, message: str) -> list[str]: ...
    def find(self, piece: str) -> int | None: ...
    # The ids of the special pieces that the file names; None where that is no piece, or of another type.
    @property
    def unk_id(self) -> int | None: ...
    @property
    def bos_id(self) -> int | None: ...
    @property
    def eos_id(self) -> int | None: ...
    @property
    def pad_id(self) -> int | None: ...

# Returns the core of a `tokenizer.json` with its special tokens, these, the texts of those that the library
# puts before and after each text, and the pattern if the core merges by rank.
def read_tokenizer_json(
    contents: bytes, /, *, is_live: bool, keeps_ids: bool = ...
) -> tuple[CoreBPE, dict[str, int], list[tuple[str, int]], list[tuple[str, int]], str | None]: ...

# Returns the options that a message of a model file may have, with their defaults.
def sentencepiece_options(message: str, /) -> dict[str, Any]: ...

# Return the options that are set in the message of a normalizer, alone or in a model of any type; its bytes.
def read_normalizer_spec(data: bytes, /, *, in_model: bool) -> dict[str, Any]: ...
def write_normalizer_spec(options: dict[str, Any], /, *, in_model: bool) -> bytes: ...

# Encode a text, which need not be UTF-8, with a model and its encoder: to ids, pieces, and where each starts
# and ends in bytes; to the bytes of a message `SentencePieceText`.
def encode_pieces(
    core: CoreBPE, model: SentencePieceModel, text: bytes, /
) -> tuple[list[int], list[bytes], list[tuple[int, int]]]: ...
def encode_message(core: CoreBPE, model: SentencePieceModel, text: bytes, /) -> bytes: ...

# Returns the bytes of a message `SentencePieceText`. A part is an id, its piece, its text, and where that
# starts and ends.
def write_sentencepiece_text(
    text: bytes, parts: Sequence[tuple[int, bytes, bytes | None, int, int]], /
) -> bytes: ...
