"""The vocabulary of Qwen 1 and 2, which the Rust package bpe-openai carries for another model that has it."""

from __future__ import annotations

import functools
import gzip
import json
import os
import shutil
import unicodedata
from pathlib import Path

import pytest
import tiktoken
from tiktoken.load import load_tiktoken_bpe
from tokenizers import Tokenizer, normalizers

import bytemill
from bytemill.formats.huggingface import format_tokenizer
from bytemill.patterns import QWEN2_PATTERN
from support.crates import crate_file
from support.open_models.speech import CODE, SENTENCES, TRICKY, patchworks
from support.texts import installation_files, multilingual, random_unicode

# They take some seconds each, and cargo fetches the package.
pytestmark = [
    pytest.mark.skipif(not os.environ.get("BYTEMILL_FULL"), reason="set BYTEMILL_FULL to run"),
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed"),
]

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{number}|>" for number in range(205))]
SIZE = 151_643


@functools.cache
def contents() -> bytes:
    packed = crate_file(
        "bpe-openai",
        "0.3.2",
        "data/voyage3_base.tiktoken.gz",
        "8a74f464404e098f0809fc01d84ea4de83307f8ec79e57333e4678c343a67154",
    )
    return gzip.decompress(packed)


@functools.cache
def texts() -> list[str]:
    real = [text for _, text in installation_files(2_000_000)]
    foreign = [multilingual(8, 2000), random_unicode(4, 2000)]
    composed = [unicodedata.normalize("NFD", text) for text in [*SENTENCES, foreign[0]]]
    return [*TRICKY, *SENTENCES, CODE, *foreign, *composed, *real, *patchworks(9, 3000, SPECIAL[:4])]


def folder(path: Path) -> Path:
    (path / "qwen.tiktoken").write_bytes(contents())
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "QWenTokenizer"}))
    return path


def test_the_first_qwen(tmp_path: Path) -> None:
    encoding = bytemill.Encoding.from_file(folder(tmp_path))
    ranks = load_tiktoken_bpe(str(tmp_path / "qwen.tiktoken"))
    special = {text: SIZE + number for number, text in enumerate(SPECIAL)}
    theirs = tiktoken.Encoding("q", pat_str=QWEN2_PATTERN, mergeable_ranks=ranks, special_tokens=special)
    assert encoding.n_vocab == theirs.n_vocab == SIZE + 208
    form = normalizers.NFC()
    normal = [form.normalize_str(text) for text in texts()]
    # The program takes Python's normal forms, which differ for characters that are newer.
    differing = [text for text in texts() if unicodedata.normalize("NFC", text) != form.normalize_str(text)]
    assert len(differing) < len(texts()) // 100
    expected = theirs.encode_batch(normal, allowed_special="all")
    assert encoding.encode_batch(texts(), allowed_special="all") == expected
    assert encoding.encode_ordinary_batch(texts()) == theirs.encode_ordinary_batch(normal)
    assert encoding.decode_batch(expected) == normal


def test_qwen_2(tmp_path: Path) -> None:
    ranks = load_tiktoken_bpe(str(folder(tmp_path) / "qwen.tiktoken"))
    special = {text: SIZE + number for number, text in enumerate(SPECIAL[:3])}
    plain = bytemill.Encoding("q", pat_str=QWEN2_PATTERN, mergeable_ranks=ranks, special_tokens=special)
    file = json.loads(format_tokenizer(plain.definition)) | {"normalizer": {"type": "NFC"}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(file), encoding="utf-8")
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    encoding = bytemill.Encoding.from_file(tmp_path / "tokenizer.json")
    expected = [found.ids for found in tokenizer.encode_batch(texts(), add_special_tokens=False)]
    assert encoding.encode_batch(texts(), allowed_special="all") == expected
    tokenizer.encode_special_tokens = True
    found = tokenizer.encode_batch(texts(), add_special_tokens=False)
    assert encoding.encode_ordinary_batch(texts()) == [each.ids for each in found]
    for text, theirs in list(zip(texts(), found, strict=True))[:100]:
        ours = encoding.encode_with_offsets(text, disallowed_special=())
        assert list(zip(ours.starts.tolist(), ours.ends.tolist(), strict=True)) == theirs.offsets
