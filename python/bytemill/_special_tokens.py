"""Adding special tokens to a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING

from bytemill.definition import ID_LIMIT

if TYPE_CHECKING:
    from bytemill._backend import CoreBPE

__all__ = ["extended"]


def extended(
    special_tokens: Mapping[str, int], added: Mapping[str, int], core: CoreBPE, n_vocab: int
) -> dict[str, int]:
    """Returns special tokens with those added to them.

    Args:
        special_tokens: Each special token's id.
        added: The id of each special token to add, or of one that is there already.
        core: The core with the other tokens.
        n_vocab: The number of ids that are in use.

    Raises:
        ValueError: An id belongs to another token or is out of range, a special token has another id already,
            or it is the empty string.
        TypeError: They are no mapping, a special token is not a string, or its id not an integer.
    """
    if not isinstance(added, Mapping):
        raise TypeError(
            f"expected special tokens as a mapping of their texts to their ids, got {type(added).__name__}"
        )
    together = dict(special_tokens)
    owners = {token_id: text for text, token_id in special_tokens.items()}
    for text, number in added.items():
        if not isinstance(text, str) or not hasattr(number, "__index__"):
            raise TypeError(
                f"expected special tokens as strings with integers as ids, got {text!r}: {number!r}"
            )
        token_id = index(number)
        if together.get(text) == token_id:
            continue
        if problem := clash(text, token_id, together, owners, core):
            free = f"; ids from {n_vocab} on are free" if problem.startswith("that is the id") else ""
            raise ValueError(f"cannot add the special token {text!r} with the id {token_id}: {problem}{free}")
        together[text], owners[token_id] = token_id, text
    return together


def clash(
    text: str, token_id: int, special_tokens: Mapping[str, int], owners: Mapping[int, str], core: CoreBPE
) -> str | None:
    """Returns why a special token cannot be added, if it cannot."""
    if not text:
        return "expected at least one character, or it would be found everywhere"
    if text in special_tokens:
        return f"it has the id {special_tokens[text]} already"
    if not 0 <= token_id < ID_LIMIT:
        return f"expected an id from 0 to {ID_LIMIT - 1}"
    if token_id in owners:
        return f"that is the id of {owners[token_id]!r}"
    if core.is_token(token_id):
        return f"that is the id of the token {core.decode_single_token_bytes(token_id)!r}"
    return None
