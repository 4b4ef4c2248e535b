"""The SHA-256 of a vocabulary: equal for equal encodings, wherever they come from."""

from __future__ import annotations

import hashlib
from operator import itemgetter
from struct import pack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["vocabulary_sha256"]

HEADER = b"bytemill vocabulary 1\n"


def vocabulary_sha256(pattern: str, ranks: dict[bytes, int], special_tokens: dict[str, int]) -> str:
    r"""Gives the SHA-256 of everything that decides ids; a name does not.

    What is hashed, all numbers being unsigned, of 64 bits, least significant byte first, and text UTF-8:

    - the 22 bytes `bytemill vocabulary 1\n`;
    - the pattern: how many bytes it has, then these;
    - the mergeable tokens: how many there are, then for each its id, how many bytes it has, and these, in the
      order of the ids;
    - the special tokens: likewise; those with one id in the order in which they were given, since it is the
      first that the id decodes to.

    Args:
        pattern: The pattern, spelled as the encoding has it.
        ranks: Each mergeable token's id, in any order.
        special_tokens: Each special token's id.

    Returns:
        64 hexadecimal digits, lower case.

    Complexity:
        O(n log n) for n tokens.
    """
    digest = hashlib.sha256(HEADER)
    digest.update(sized(pattern.encode()))
    digest.update(listed(ranks.items()))
    digest.update(listed((text.encode(), token_id) for text, token_id in special_tokens.items()))
    return digest.hexdigest()


def listed(tokens: Iterable[tuple[bytes, int]]) -> bytes:
    """How many tokens there are, and each with its id."""
    in_order = sorted(tokens, key=itemgetter(1))
    entries = [pack("<Q", token_id) + sized(token) for token, token_id in in_order]
    return pack("<Q", len(entries)) + b"".join(entries)


def sized(contents: bytes) -> bytes:
    """How many bytes there are, and these."""
    return pack("<Q", len(contents)) + contents
