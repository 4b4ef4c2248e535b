"""The binary form in which tokens cross to the page.

The page holds the bytes of the text, so a token is its id and its length there: 5 bytes instead of the 9 that
JSON needs, and no parsing. All numbers are little-endian:

    4 bytes     "BMT1"
    u32[7]      sequence number, tokens, bytes of text, special tokens, long tokens, gaps, microseconds
    u32[n]      ids
    u32[s]      indices of special tokens
    u32[2][l]   long tokens: index, length
    u32[2][g]   gaps: index of the token before which text is left out, number of bytes; the index may be n
    u8[n]       lengths; 255 stands for a long token
    u8[]        padding to a multiple of 4

A token may have length 0: normalization made it of nothing, or its characters belong to the token before.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bytemill.playground.loaded import rule_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from bytemill.core import Encoding
    from bytemill.playground.loaded import Loaded

__all__ = ["LONG", "MAGIC", "Tokens", "pack", "tokenize", "unpack"]

MAGIC = b"BMT1"
LONG = 255
WORD = np.dtype("<u4")
HEADER_WORDS = 7


class Tokens(NamedTuple):
    """The tokens of a text.

    Attributes:
        size: Number of bytes of the text.
        ids: Ids, of dtype uint32.
        lengths: Bytes of the text that each token takes, of dtype int64.
        special: Indices of special tokens.
        gaps: Pairs of the index of a token and the number of bytes left out before it, of shape (gaps, 2).
        microseconds: Time that encoding took.
    """

    size: int
    ids: npt.NDArray[np.uint32]
    lengths: npt.NDArray[np.int64]
    special: npt.NDArray[np.int64]
    gaps: npt.NDArray[np.int64]
    microseconds: int = 0


def tokenize(loaded: Loaded, name: str, text: str, special: str) -> Tokens:
    """Encodes a text.

    Args:
        loaded: The encodings of the page.
        name: The name of one.
        text: A text without surrogates.
        special: What special tokens in it are: "text", "allow" or "error".

    Raises:
        ValueError: The rule is unknown.
        DisallowedSpecialTokenError, PatternError: As `Encoding.encode`.

    Complexity:
        That of a change to the last text, and of copying its tokens. Where the bytes of the tokens are not
        those of the text, also that of `Encoding.encode_with_offsets`.
    """
    encoding, rule = loaded[name], rule_of(special)
    size = len(text.encode())
    # Before the clock starts: the first use of an encoding builds its tables.
    table = loaded.lengths(name)
    encoding.encode_ordinary("a")
    start = perf_counter()
    ids = loaded.encode(name, text, special)
    taken = round((perf_counter() - start) * 1e6)
    no_gaps = np.zeros((0, 2), dtype=np.int64)
    lengths = table[ids].astype(np.int64)
    if int(lengths.sum()) != size or is_normalizing(encoding):
        _, starts, ends = encoding.encode_with_offsets(text, unit="byte", **rule)
        lengths, no_gaps = spans(starts, ends, size)
    values = np.array(sorted(set(encoding._special_tokens.values())), dtype=np.int64)  # noqa: SLF001 - of this library
    found = np.flatnonzero(np.isin(ids, values)) if special == "allow" and len(values) else np.zeros(0)
    return Tokens(size, ids, lengths, found.astype(np.int64), no_gaps, taken)


def is_normalizing(encoding: Encoding) -> bool:
    """Returns whether tokens may have other bytes than the text they stand for."""
    return not encoding._has_ranks  # noqa: SLF001 - as above


def spans(
    starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns lengths and gaps of spans: a token begins where the one before it ends, or after a gap."""
    reach = np.maximum.accumulate(np.concatenate([np.zeros(1, dtype=np.int64), ends]))
    begins = np.maximum(starts, reach[:-1])
    lengths = np.maximum(ends, reach[:-1]) - np.minimum(begins, np.maximum(ends, reach[:-1]))
    missing = np.concatenate([np.minimum(begins, reach[1:]), [size]]) - reach
    before = np.flatnonzero(missing)
    return lengths, np.stack([before, missing[before]], axis=1)


def pack(tokens: Tokens, sequence: int) -> bytes:
    """Returns the binary form of the tokens of a text."""
    long = np.flatnonzero(tokens.lengths >= LONG)
    counts = [len(tokens.ids), tokens.size, len(tokens.special), len(long), len(tokens.gaps)]
    header = np.array([sequence, *counts, tokens.microseconds], dtype=np.uint64).astype(WORD)
    parts = [
        MAGIC,
        header.tobytes(),
        tokens.ids.astype(WORD).tobytes(),
        tokens.special.astype(WORD).tobytes(),
        np.stack([long, tokens.lengths[long]], axis=1).astype(WORD).tobytes(),
        tokens.gaps.astype(WORD).tobytes(),
        np.minimum(tokens.lengths, LONG).astype(np.uint8).tobytes(),
        bytes(-len(tokens.ids) % 4),
    ]
    return b"".join(parts)


def unpack(block: bytes) -> tuple[Tokens, int, int]:
    """Returns the tokens of a binary form, its sequence number, and its size: the definition for the page."""
    if block[:4] != MAGIC:
        raise ValueError(f"expected a block that starts with {MAGIC!r}, got {block[:4]!r}")
    sequence, count, size, specials, longs, gaps, taken = np.frombuffer(block, WORD, HEADER_WORDS, 4).tolist()
    offset = 4 + 4 * HEADER_WORDS

    def words(number: int) -> npt.NDArray[np.int64]:
        nonlocal offset
        found = np.frombuffer(block, WORD, number, offset).astype(np.int64)
        offset += 4 * number
        return found

    ids = words(count).astype(np.uint32)
    special, long = words(specials), words(2 * longs).reshape(-1, 2)
    left_out = words(2 * gaps).reshape(-1, 2)
    lengths = np.frombuffer(block, np.uint8, count, offset).astype(np.int64)
    lengths[long[:, 0]] = long[:, 1]
    return Tokens(size, ids, lengths, special, left_out, taken), sequence, offset + count + -count % 4
