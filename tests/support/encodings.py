"""Compares the encodings of `bytemill.hf` with those of `tokenizers`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

__all__ = ["COLUMNS", "UNLIKE", "check", "columns"]

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


def columns(encoded: Any, unlike: Collection[str] = (), depth: int = 3) -> dict[str, Any]:
    """Returns what an encoding of either library has, and the parts in `overflowing`.

    Args:
        encoded: The encoding.
        unlike: Columns to leave out.
        depth: How deep parts of parts are taken.
    """
    found = {name: getattr(encoded, name) for name in COLUMNS if name not in unlike}
    found |= {"length": len(encoded), "sequences": encoded.n_sequences}
    if depth:
        found["overflowing"] = [columns(part, unlike, depth - 1) for part in encoded.overflowing]
    return found


def check(ours: Any, theirs: Any, *, unlike: Collection[str] = ()) -> None:
    """Asserts that two encodings have the same `columns`."""
    assert columns(ours, unlike) == columns(theirs, unlike)
