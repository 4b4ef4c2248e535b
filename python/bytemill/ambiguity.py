"""Special tokens that text or ids do not tell from others: what a constructor warns of."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["warn_of_ambiguity"]


def warn_of_ambiguity(mergeable_ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]) -> None:
    """Warns, in the name of the constructor's caller, of special tokens that are not told from others.

    tiktoken builds such encodings in silence. In text it then takes one of the special tokens that match, in
    an order that nobody chose; of two tokens with one id it decodes the mergeable one.

    Args:
        mergeable_ranks: Each mergeable token's id.
        special_tokens: Each special token's id.

    Warns:
        UserWarning: A special token is the beginning of another, or has the id of a mergeable token.

    Complexity:
        Linear in the tokens, plus sorting the special ones.
    """
    for token, successor in pairwise(sorted(special_tokens)):
        # Sorted, what a string begins comes directly after it.
        if successor.startswith(token):
            message = (
                f"the special token {token!r} is the beginning of {successor!r}: "
                "where both match, the longer one is taken"
            )
            warnings.warn(message, UserWarning, stacklevel=3)
    ids = set(special_tokens.values())
    if not ids.isdisjoint(mergeable_ranks.values()):
        shared = sorted(ids.intersection(mergeable_ranks.values()))
        message = f"special tokens share the ids {shared} with mergeable tokens, and decode to those"
        warnings.warn(message, UserWarning, stacklevel=3)
