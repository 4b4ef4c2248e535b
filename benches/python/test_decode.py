"""Decoding the ids of a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Compare = Callable[[str, str, int, Callable[[], object], object], None]


@pytest.mark.parametrize("engine", ["bytemill", "tiktoken", "reference"])
def test_decode_list(engine: str, engines: dict[str, Any], texts: dict[str, str], compare: Compare) -> None:
    """`decode` of a list of ids."""
    text = next(iter(texts.values()))[:200_000]
    ids = engines["tiktoken"].encode_ordinary(text)
    group = f"decode a list, {engines['bytemill'].name}"
    compare(group, engine, len(text.encode()), lambda: engines[engine].decode(ids), text)


@pytest.mark.parametrize("engine", ["bytemill", "tiktoken"])
def test_decode_array(engine: str, engines: dict[str, Any], texts: dict[str, str], compare: Compare) -> None:
    """`decode_bytes` of an array of ids."""
    text = next(iter(texts.values()))[:200_000]
    ids = engines["tiktoken"].encode_to_numpy(text, disallowed_special=())
    group = f"decode an array, {engines['bytemill'].name}"
    compare(group, engine, len(text.encode()), lambda: engines[engine].decode_bytes(ids), text.encode())
