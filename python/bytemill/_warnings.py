"""Warnings of special tokens that are ambiguous in text or in ids."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["warn_of_ambiguity"]


def warn_of_ambiguity(mergeable_ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]) -> None:
    """Warns of ambiguous special tokens, at the caller of the function that calls this one.

    tiktoken builds such encodings without a warning. In text it then takes one of the special tokens that
    match, in an unspecified order; of two tokens with one id it decodes the mergeable one.

    Args:
        mergeable_ranks: Each mergeable token's id.
        special_tokens: Each special token's id.

    Warns:
        UserWarning: A special token is the beginning of another, or has the id of a mergeable token.

    Complexity:
        Linear in the tokens, plus sorting the special ones.
    """
    for token, successor in pairwise(sorted(special_tokens)):
        # In sorted order, a string is followed directly by those that begin with it.
        if successor.startswith(token):
            warnings.warn(
                f"the special token {token!r} is the beginning of {successor!r}: "
                "where both match, the longer one wins",
                UserWarning,
                stacklevel=3,
            )
    ids = set(special_tokens.values())
    if not ids.isdisjoint(mergeable_ranks.values()):
        shared = sorted(ids.intersection(mergeable_ranks.values()))
        warnings.warn(
            f"special tokens share the ids {shared} with mergeable tokens, and decode to those",
            UserWarning,
            stacklevel=3,
        )
