"""Compare long lists of ids; pytest takes minutes to report how two lists of millions differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

__all__ = ["assert_same_ids", "first_difference"]

Ids: TypeAlias = "Sequence[int] | npt.NDArray[np.uint32]"

# Number of ids to show on either side of a difference.
CONTEXT = 5


def first_difference(encoding: Any, ours: Ids, theirs: Ids) -> str | None:
    """Describes the first difference of two sequences of ids with the text around it; `None` if they are
    equal.

    Args:
        encoding: Encoding of either library that decodes the ids for the message.
        ours: Ids by this library.
        theirs: Expected ids.
    """
    if same(ours, theirs):
        return None
    pairs = zip_longest(ours, theirs)
    position = next(index for index, (left, right) in enumerate(pairs) if left != right)

    def around(ids: Ids) -> str:
        shown = [int(token) for token in ids[max(position - CONTEXT, 0) : position + CONTEXT]]
        return f"{shown} {encoding.decode_tokens_bytes(shown)}"

    start = len(encoding.decode_bytes(theirs[:position]))
    return (
        f"ids differ from token {position} on, at byte {start} ({len(ours)} tokens, expected {len(theirs)})\n"
        f"     got {around(ours)}\nexpected {around(theirs)}"
    )


def same(ours: Ids, theirs: Ids) -> bool:
    """Returns whether two lists, or a list or an array and an array, are equal."""
    if isinstance(theirs, list):
        return list(ours) == theirs
    return np.array_equal(np.asarray(ours), np.asarray(theirs))


def assert_same_ids(encoding: Any, ours: Ids, theirs: Ids, what: object) -> None:
    """Fails unless the ids are equal; `what` names the encoded text."""
    difference = first_difference(encoding, ours, theirs)
    if difference is not None:
        pytest.fail(f"{str(what)[:500]}: {difference}", pytrace=False)
