"""Comparing long lists of ids: pytest's own report of two lists that differ takes minutes for millions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import pytest

__all__ = ["assert_same_ids", "first_difference"]

# How many ids to show on either side of a difference.
CONTEXT = 5


def first_difference(encoding: Any, ours: Sequence[int], theirs: Sequence[int]) -> str | None:
    """Describes where two sequences of ids part, with the text around it; `None` if they are equal.

    Args:
        encoding: What the ids are decoded with, for the reader: an encoding of either library.
        ours: The ids that this library gave.
        theirs: The ids that they should be.
    """
    if list(ours) == list(theirs):
        return None
    pairs = zip_longest(ours, theirs)
    position = next(index for index, (left, right) in enumerate(pairs) if left != right)

    def around(ids: Sequence[int]) -> str:
        shown = [int(token) for token in ids[max(position - CONTEXT, 0) : position + CONTEXT]]
        return f"{shown} {encoding.decode_tokens_bytes(shown)}"

    start = len(encoding.decode_bytes(list(theirs[:position])))
    return (
        f"ids differ from token {position} on, at byte {start} ({len(ours)} tokens, expected {len(theirs)})\n"
        f"     got {around(ours)}\nexpected {around(theirs)}"
    )


def assert_same_ids(encoding: Any, ours: Sequence[int], theirs: Sequence[int], what: object) -> None:
    """Fails, naming `what` was encoded, unless the ids are the same."""
    difference = first_difference(encoding, ours, theirs)
    if difference is not None:
        pytest.fail(f"{str(what)[:500]}: {difference}", pytrace=False)
