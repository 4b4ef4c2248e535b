"""Compares the encodings of `bytemill.hf` with those of `tokenizers`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

__all__ = ["COLUMNS", "UNLIKE", "check"]

# What has an entry for each token.
COLUMNS = [
    "ids",
    "tokens",
    "offsets",
    "attention_mask",
    "special_tokens_mask",
    "type_ids",
    "sequence_ids",
    "word_ids",
]

# What differs in rows of the catalogue: offsets beside a byte that has no token.
UNLIKE: dict[str, tuple[str, ...]] = {
    "missing bytes": ("offsets",),
    "missing bytes, explicit merges": ("offsets",),
    "bloom": ("offsets",),
    "hunyuan-3": ("offsets",),
    "smollm2": ("offsets",),
    "some byte tokens, no unknown": ("offsets",),
}


def check(ours: Any, theirs: Any, *, unlike: Collection[str] = (), depth: int = 3) -> None:
    """Asserts that two encodings, and the parts in `overflowing`, are the same.

    Args:
        ours: That of `bytemill.hf`.
        theirs: That of `tokenizers`.
        unlike: Columns that are not compared.
        depth: How deep parts of parts are compared.
    """
    for name in COLUMNS:
        if name not in unlike:
            assert getattr(ours, name) == getattr(theirs, name), name
    assert len(ours) == len(theirs)
    assert ours.n_sequences == theirs.n_sequences
    if depth:
        assert len(ours.overflowing) == len(theirs.overflowing)
        for our, their in zip(ours.overflowing, theirs.overflowing, strict=True):
            check(our, their, unlike=unlike, depth=depth - 1)
