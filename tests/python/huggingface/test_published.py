"""Vocabularies of a published size as `tokenizer.json`: Mistral's tekken, which mistral-common carries."""

from __future__ import annotations

import base64
import functools
import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer

import bytemill
from bytemill.formats.data_gym import token_text
from support.catalogue import PRE_TOKENIZERS
from support.open_models.components import BYTE_LEVEL, added
from support.open_models.speech import CODE, SENTENCES, TRICKY, patchworks
from support.open_models.vocabularies import OPTIONS, with_every_split
from support.texts import installation_files, multilingual

# They take some seconds each.
pytestmark = pytest.mark.skipif(not os.environ.get("BYTEMILL_FULL"), reason="set BYTEMILL_FULL to run")

# The number of ids, special tokens included.
SIZE = 131_072


@functools.cache
def tekken(name: str) -> bytes:
    """Returns a tekken file."""
    spec = importlib.util.find_spec("mistral_common")
    if spec is None or spec.origin is None:
        if os.environ.get("CI") and sys.version_info < (3, 14):
            pytest.fail("mistral-common is not installed")
        pytest.skip("mistral-common is not installed")
    return (Path(spec.origin).parent / "data" / name).read_bytes()


@functools.cache
def converted(name: str) -> bytes:
    """Returns the `tokenizer.json` of a tekken file: special tokens first, all divisions of tokens."""
    file = json.loads(tekken(name))
    number = file["config"]["default_num_special_tokens"]
    named = {token["rank"]: token["token_str"] for token in file.get("special_tokens") or []}
    special = [named.get(rank, f"<SPECIAL_{rank}>") for rank in range(number)]
    ranked = sorted(file["vocab"], key=lambda token: token["rank"])[: SIZE - number]
    tokens = [token_text(base64.b64decode(token["token_bytes"])) for token in ranked]
    model = with_every_split(OPTIONS | {"vocab": {token: rank for rank, token in enumerate(tokens)}})
    vocabulary = {token: number + rank for rank, token in enumerate(tokens)}
    model["vocab"] = {token: token_id for token_id, token in enumerate(special)} | vocabulary
    contents = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [token | {"id": token_id} for token_id, token in enumerate(added(*special))],
        "normalizer": None,
        "pre_tokenizer": PRE_TOKENIZERS["TEKKEN"],
        "post_processor": BYTE_LEVEL,
        "decoder": BYTE_LEVEL,
        "model": model,
    }
    return json.dumps(contents, ensure_ascii=False).encode()


@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_tekken(name: str, tmp_path: Path) -> None:
    (tmp_path / "tekken.json").write_bytes(tekken(name))
    (tmp_path / "tokenizer.json").write_bytes(converted(name))
    encoding = bytemill.Encoding.from_file(tmp_path / "tokenizer.json")
    original = bytemill.Encoding.from_file(tmp_path / "tekken.json")
    tokenizer = Tokenizer.from_str(converted(name).decode())
    real = [text for _, text in installation_files(2_000_000)]
    texts = [
        *TRICKY,
        *SENTENCES,
        CODE,
        multilingual(8, 2000),
        *real,
        *patchworks(9, 3000, ["[INST]", "</s>"]),
    ]
    expected = [found.ids for found in tokenizer.encode_batch(texts, add_special_tokens=False)]
    assert encoding.encode_batch(texts, allowed_special="all") == expected
    tokenizer.encode_special_tokens = True
    expected = [found.ids for found in tokenizer.encode_batch(texts, add_special_tokens=False)]
    assert encoding.encode_ordinary_batch(texts) == expected
    assert original.encode_ordinary_batch(texts) == expected
