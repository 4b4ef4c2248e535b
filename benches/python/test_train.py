"""Training on a small text: this library, the reference, and tiktoken's educational trainer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tiktoken import _educational

import bytemill
from bytemill.patterns import R50K_PATTERN
from bytemill.reference import ranks_of_merges, train

Compare = Callable[[str, str, int, Callable[[], object], object], None]

VOCABULARY_SIZE = 300


@pytest.mark.parametrize("engine", ["bytemill", "reference", "tiktoken"])
def test_train(engine: str, texts: dict[str, str], compare: Compare) -> None:
    """300 tokens from 20,000 characters, ties to the pair seen first."""
    text = next(iter(texts.values()))[:20_000]

    def theirs() -> dict[bytes, int]:
        ranks: dict[bytes, int] = _educational.bpe_train(text, VOCABULARY_SIZE, R50K_PATTERN, visualise=None)
        return ranks

    def by_definition() -> dict[bytes, int]:
        return ranks_of_merges(train(text, VOCABULARY_SIZE, pattern=R50K_PATTERN))

    def ours() -> dict[bytes, int]:
        encoding = bytemill.train(
            [text], VOCABULARY_SIZE, pattern=R50K_PATTERN, tie_break="first_seen", progress=False
        )
        return encoding._mergeable_ranks

    work = {"bytemill": ours, "reference": by_definition, "tiktoken": theirs}[engine]
    compare(f"train {VOCABULARY_SIZE} tokens", engine, len(text.encode()), work, theirs())
