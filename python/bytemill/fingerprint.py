"""The SHA-256 of a vocabulary: equal for equal encodings, whatever their origin."""

from __future__ import annotations

import hashlib
from operator import itemgetter
from struct import pack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["vocabulary_sha256"]

HEADER = b"bytemill vocabulary 1\n"


def vocabulary_sha256(
    pattern: str, ranks: dict[bytes, int], special_tokens: dict[str, int], model: bytes | None = None
) -> str:
    r"""Returns the SHA-256 of everything that determines token IDs, which excludes the name.

    The hashed bytes, with numbers as unsigned 64-bit integers in little-endian order, and text in UTF-8:

    - the 22 bytes `bytemill vocabulary 1\n`;
    - the pattern: the number of its bytes, then the bytes;
    - the mergeable tokens: their number, then for each its ID, the number of its bytes, and the bytes, in the
      order of the IDs;
    - the special tokens: likewise; those with one ID in the order of the mapping, since the ID decodes to the
      first;
    - of a SentencePiece model or a `tokenizer.json`, which has no pattern and no mergeable tokens here: the
      number of its bytes, then the bytes.

    Args:
        pattern: The pattern, in the spelling of the encoding.
        ranks: The ID of each mergeable token, in any order.
        special_tokens: The ID of each special token.
        model: The bytes of a SentencePiece model or a `tokenizer.json`, if that determines token IDs.

    Returns:
        64 hexadecimal digits, lower case.

    Complexity:
        O(n log n) for n tokens.
    """
    digest = hashlib.sha256(HEADER)
    digest.update(sized(pattern.encode()))
    digest.update(listed(ranks.items()))
    digest.update(listed((text.encode(), token_id) for text, token_id in special_tokens.items()))
    if model is not None:
        digest.update(sized(model))
    return digest.hexdigest()


def listed(tokens: Iterable[tuple[bytes, int]]) -> bytes:
    """Returns the number of tokens, and each with its ID."""
    in_order = sorted(tokens, key=itemgetter(1))
    entries = [pack("<Q", token_id) + sized(token) for token, token_id in in_order]
    return pack("<Q", len(entries)) + b"".join(entries)


def sized(contents: bytes) -> bytes:
    """Returns the number of bytes, and the bytes."""
    return pack("<Q", len(contents)) + contents
