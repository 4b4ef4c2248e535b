"""The folders on the page about open models have the ids of tiktoken."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
import tiktoken

import bytemill
from support import texts
from support.catalogue import PATTERNS
from support.open_models.folders import FOLDERS

TEXTS = [texts.multilingual(1, 300), texts.patchwork(2, 2000), texts.random_unicode(3, 500)]


@pytest.mark.parametrize("name", FOLDERS)
def test_ids_are_those_of_tiktoken(name: str, tmp_path: Path) -> None:
    folder = FOLDERS[name]
    pattern = PATTERNS[folder.chain]
    ranks = bytemill.train(TEXTS, 600, pattern=pattern, progress=False)._mergeable_ranks
    folder.write(tmp_path, ranks)
    assert (tmp_path / folder.ranks).is_file()
    encoding = bytemill.Encoding.from_file(tmp_path)
    theirs = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    # Mistral's special tokens come first.
    first = encoding.encode_ordinary("a")[0] - ranks[b"a"]
    assert first == (1000 if folder.ranks == "tekken.json" else 0)
    for text in TEXTS:
        normal = unicodedata.normalize("NFC", text) if folder.ranks == "qwen.tiktoken" else text
        assert encoding.encode_ordinary(text) == [first + rank for rank in theirs.encode_ordinary(normal)]
