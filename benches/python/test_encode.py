"""Encoding: a small text with all engines, large ones with the two fast ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Compare = Callable[[str, str, int, Callable[[], object], object], None]

SMALL = 20_000


@pytest.mark.parametrize("engine", ["bytemill", "tiktoken", "reference"])
def test_small_text(engine: str, engines: dict[str, Any], texts: dict[str, str], compare: Compare) -> None:
    """`encode_ordinary` of 20,000 characters to a list."""
    text = next(iter(texts.values()))[:SMALL]
    expected = engines["tiktoken"].encode_ordinary(text)
    group = f"encode_ordinary to a list, {engines['bytemill'].name}"
    compare(group, engine, len(text.encode()), lambda: engines[engine].encode_ordinary(text), expected)


@pytest.mark.parametrize("engine", ["bytemill", "tiktoken"])
def test_large_texts(engine: str, engines: dict[str, Any], texts: dict[str, str], compare: Compare) -> None:
    """`encode` of each text to a list, special tokens checked."""
    everything = "".join(texts.values())
    expected = engines["tiktoken"].encode_ordinary(everything)
    group = f"encode to a list, {engines['bytemill'].name}"
    size = len(everything.encode())
    compare(group, engine, size, lambda: engines[engine].encode(everything, disallowed_special=()), expected)
