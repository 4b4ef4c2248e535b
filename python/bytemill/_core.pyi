# The compiled core. Private: `bytemill.Encoding` is the public face, and documents what may go wrong.
# A set of special tokens that is `None` stands for all of them. Surrogates in text are repaired.

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, final

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer, Self

__all__ = [
    "BUILD_PROFILE",
    "TIER",
    "UNICODE_VERSION",
    "CoreBPE",
    "EncodedColumn",
    "LearnedMerges",
    "PieceCounts",
    "Splitter",
    "__version__",
    "find_invalid_utf8",
    "json_fields",
    "last_cut",
    "line_breaks",
    "line_offsets",
    "train_merges",
]

# The version of the package, "release" or "debug", the version of the Unicode data that splitting goes by:
# major, minor, update; and which instructions of the machine are used.
__version__: str
BUILD_PROFILE: str
UNICODE_VERSION: tuple[int, int, int]
TIER: str

# A vocabulary, its special tokens and its splitter; immutable and shared freely between threads.
@final
class CoreBPE:
    # `splitter`, if given, replaces the pattern: it takes a text to the offsets of its pieces in UTF-8, as
    # [start, end, start, end, ...].
    def __new__(
        cls,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        pattern: str,
        splitter: Callable[[str], Sequence[int]] | None = None,
    ) -> Self: ...
    # With the vocabulary of merges that were learned starting from the bytes: no others.
    @staticmethod
    def trained(
        learned: LearnedMerges,
        special_tokens: dict[str, int],
        pattern: str,
        splitter: Callable[[str], Sequence[int]] | None = None,
    ) -> CoreBPE: ...
    # With a vocabulary that is compiled in: "r50k", "p50k", "cl100k" or "o200k".
    @staticmethod
    def builtin(vocabulary: str, special_tokens: dict[str, int], pattern: str) -> CoreBPE: ...

    # With the same vocabulary and pattern, shared, and these special tokens instead.
    def with_special_tokens(self, special_tokens: dict[str, int], /) -> CoreBPE: ...

    # Text to ids. `disallowed_special` being `None` stands for all special tokens that are not allowed; by
    # default nothing is disallowed.
    def encode_ordinary(self, text: str, /) -> list[int]: ...
    def encode(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None = ...,
        /,
    ) -> list[int]: ...
    # Arrays of shape (tokens,): this one may be written to,
    def encode_ordinary_to_numpy(self, text: str, num_threads: int, /) -> npt.NDArray[np.uint32]: ...
    # and this one may not.
    def encode_to_numpy(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None = ...,
        /,
    ) -> npt.NDArray[np.uint32]: ...
    # The stable ids and the possible completions, in no particular order.
    def encode_with_unstable(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None = ...,
        /,
    ) -> tuple[list[int], list[list[int]]]: ...
    # How many ids `encode_ordinary` gives.
    def count(self, text: str, /) -> int: ...

    # The same if it is no more than `limit`, else `None`.
    def count_till_limit(self, text: str, limit: int, /) -> int | None: ...
    # How many characters to keep so that they have at most `limit` ids, or `None` for the whole text; and how
    # many they have. A pair of surrogates is one character, here and in the next two.
    def truncate(self, text: str, limit: int, keep_end: bool, /) -> tuple[int | None, int]: ...
    # Where parts of at most `limit` ids start and end. `overlap` is below `limit`.
    def parts(self, text: str, limit: int, overlap: int, /) -> list[tuple[int, int]]: ...
    # Ids, and where each starts and ends, in characters or in bytes.
    def encode_with_offsets(
        self,
        text: str,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        characters: bool,
        /,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...

    # Many texts. Errors are those of the first text that fails.
    def encode_ordinary_batch(self, texts: list[str], num_threads: int, /) -> list[list[int]]: ...
    def encode_batch(
        self,
        texts: list[str],
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        num_threads: int,
        /,
    ) -> list[list[int]]: ...
    # All ids, as the native type with the name `dtype`, and where those of each text start and end.
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
    # The same for texts that lie in one buffer: text i is data[offsets[i] : offsets[i + 1]], and need not be
    # UTF-8. Offsets have the shape (texts + 1,); they start and end where they like. The data is copied
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
    # For each text of an object with `__arrow_c_array__` or `__arrow_c_stream__`.
    def encode_arrow(
        self,
        column: object,
        allowed_special: AbstractSet[str] | None,
        disallowed_special: AbstractSet[str] | None,
        num_threads: int,
        /,
    ) -> EncodedColumn: ...
    def count_batch(self, texts: list[str], num_threads: int, /) -> npt.NDArray[np.int64]: ...

    # Bytes to ids: one token, one piece, many pieces, bytes that need not be UTF-8 (of any buffer).
    def encode_single_token(self, piece: bytes, /) -> int: ...
    def encode_single_piece(self, piece: bytes, /) -> list[int]: ...
    def encode_pieces(self, pieces: Sequence[bytes], /) -> list[int]: ...
    def _encode_bytes(self, data: bytes, /) -> list[int]: ...
    def encode_bytes(self, data: Buffer, /) -> list[int]: ...

    # The pieces of a text.
    def split(self, text: str, /) -> list[str]: ...

    # Ids to bytes, and to text with `errors` as in `bytes.decode`.
    def decode_bytes(self, tokens: Sequence[int], /) -> bytes: ...
    def decode(self, tokens: Sequence[int], errors: str, /) -> str: ...
    def decode_bytes_batch(self, batch: list[Sequence[int]], num_threads: int, /) -> list[bytes]: ...
    def decode_batch(self, batch: list[Sequence[int]], errors: str, num_threads: int, /) -> list[str]: ...
    def decode_single_token_bytes(self, token: int, /) -> bytes: ...
    # Whether any integer is the id of a token, mergeable or special.
    def is_token(self, number: int, /) -> bool: ...

    # Ids and lengths in bytes of the mergeable tokens, in rank order.
    def token_lengths(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]: ...
    # The mergeable tokens: sorted by bytes; with their ranks, in rank order; and those of more than one byte
    # as the ids of their two parts, in rank order.
    def memory_usage(self) -> int: ...
    def clear_cache(self) -> None: ...
    def set_cache_limit(self, bytes_per_thread: int, /) -> None: ...
    def token_byte_values(self) -> list[bytes]: ...
    def mergeable_ranks(self) -> dict[bytes, int]: ...
    def merges(self) -> list[tuple[int, int]]: ...

# A list of ids for each text, for Arrow: `list<uint32>`, or `large_list` if there are 2**31 ids or more or if
# that is asked for; other requests are ignored. May be read more than once.
@final
class EncodedColumn:
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

# What cuts texts into pieces: a pattern, or `splitter` instead of it, as in `CoreBPE`.
@final
class Splitter:
    def __new__(cls, pattern: str, splitter: Callable[[str], Sequence[int]] | None = None) -> Self: ...

# Pieces and how often they occur. The sum of all counts is at most 2**64 - 1: beyond, `OverflowError`. Locked
# inside.
@final
class PieceCounts:
    # With a limit, tables take about so many bytes at most: full ones go to temporary files without names in
    # `directory`, and every method but `total`, `text_bytes` and `memory` may raise `OSError` of these.
    def __new__(cls, memory_limit: int | None = None, directory: str | None = None) -> Self: ...
    # Splits texts and counts their pieces; without a splitter a text is one piece. Strings in `special` cut
    # texts and are not counted. Of bytes, stretches of UTF-8 are texts of their own, what is between two of
    # them is one piece. With `ahead` and several threads, a list is counted while the next is asked for.
    # After an error some of the texts are counted and others are not.
    def add(
        self,
        batches: Iterator[list[str | bytes]],
        splitter: Splitter | None,
        special: list[str],
        num_threads: int,
        ahead: bool,
    ) -> None: ...
    # After an error nothing is counted. Empty pieces and counts of 0 are ignored.
    def add_pieces(self, pieces: list[bytes], counts: npt.NDArray[np.uint64] | list[int]) -> None: ...
    def merge(self, other: PieceCounts) -> None: ...
    # Different pieces, all pieces, bytes of text counted (weighted), bytes of memory.
    def __len__(self) -> int: ...
    def total(self) -> int: ...
    def text_bytes(self) -> int: ...
    def memory(self) -> int: ...
    # In the order of first occurrence, whatever the number of threads: as pairs; and as the bytes of all
    # pieces, where they start and end, shape (pieces + 1,), and their counts, shape (pieces,).
    def items(self) -> list[tuple[bytes, int]]: ...
    def columns(self) -> tuple[bytes, npt.NDArray[np.int64], npt.NDArray[np.uint64]]: ...
    # Most frequent first; of equally frequent ones, those that occur first.
    def most_common(self, n: int) -> list[tuple[bytes, int]]: ...

# The learned merges as pairs of ids; merge k makes token 256 + k, after the initial merges. `initial_tokens`
# are the 256 bytes in the order of their ids. Pairs that occur less often than `min_frequency` are not
# merged, nor are those that would make a token of more than `max_token_length` bytes. `progress` is called a
# few times a second with the merges done and wanted; what it raises stops training.
def train_merges(
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

# What was learned: the two tokens of each merge, in order.
@final
class LearnedMerges:
    def __len__(self) -> int: ...
    def pairs(self) -> list[tuple[int, int]]: ...

# Blocks of files to documents. The strings in a field of lines of JSON, as UTF-8 one after the other, and
# where they start and end; `ValueError` tells the first line that is none, counted from 1. Stricter than
# `json`: of what it refuses, that may take some.
def json_fields(block: Buffer, field: str, num_threads: int, /) -> tuple[bytes, npt.NDArray[np.int64]]: ...

# Where lines start and end, their breaks included.
def line_offsets(block: Buffer, /) -> npt.NDArray[np.int64]: ...

# How many line breaks there are.
def line_breaks(data: Buffer, /) -> int: ...

# Where the first bytes are that are not UTF-8.
def find_invalid_utf8(data: Buffer, /) -> int | None: ...

# The last offset, within the last `window` bytes of a block, at which a document that goes on after it may be
# cut: the pieces of both parts are those of the whole, and no special token lies across. Without a splitter
# only special tokens cut. The bytes need not be UTF-8.
def last_cut(
    block: Buffer, special_tokens: list[bytes], splitter: Splitter | None, window: int, /
) -> int | None: ...
