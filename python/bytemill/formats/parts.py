"""What a file of a vocabulary holds, whatever its format, and what must be true of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bytemill.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ID_LIMIT", "Parts", "checked_ids", "checked_ranks"]

# Ids are below this.
ID_LIMIT = 2**32 - 1


class Parts(NamedTuple):
    """The parts of an encoding.

    Attributes:
        pattern: What cuts text into pieces; `None` if the format has no place for it.
        ranks: Each mergeable token's id.
        special_tokens: Each special token's id.
        name: The name of the encoding, if the file says it.
        usual_pattern: What readers of the format use, if it has no place for a pattern and they agree on one.
        warning: What the reader should know, if anything.
    """

    pattern: str | None
    ranks: dict[bytes, int]
    special_tokens: dict[str, int]
    name: str | None = None
    usual_pattern: str | None = None
    warning: str | None = None


def checked_ranks(ranks: dict[bytes, int], source: str) -> dict[bytes, int]:
    """Gives the mergeable tokens of a file if they make a vocabulary.

    Raises:
        VocabularyError: A single byte is missing, a token is empty, an id occurs twice or is out of range.
    """
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        shown = ", ".join(f"0x{byte:02x}" for byte in missing[:8]) + (", ..." if len(missing) > 8 else "")  # noqa: PLR2004
        message = f"{source}: expected a token for each of the 256 bytes, got none for {shown}"
        raise VocabularyError(message)
    if b"" in ranks:
        message = f"{source}: the token with the id {ranks[b'']} is empty"
        raise VocabularyError(message)
    checked_ids(ranks.items(), source)
    return ranks


def checked_ids(tokens: Iterable[tuple[object, int]], source: str) -> dict[int, object]:
    """Gives the token of each id; `VocabularyError` if two have one id, or an id is out of range."""
    token_of_id: dict[int, object] = {}
    for token, token_id in tokens:
        if not 0 <= token_id < ID_LIMIT:
            message = (
                f"{source}: the token {token!r} has the id {token_id}: expected one from 0 to {ID_LIMIT - 1}"
            )
            raise VocabularyError(message)
        if token_id in token_of_id:
            message = (
                f"{source}: the tokens {token_of_id[token_id]!r} and {token!r} have the same id {token_id}"
            )
            raise VocabularyError(message)
        token_of_id[token_id] = token
    return token_of_id
