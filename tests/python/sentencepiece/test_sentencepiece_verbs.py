"""SentencePiece models behind methods and commands that are not about SentencePiece."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import bytemill
from bytemill import Encoding, VocabularyError
from support.command_line import bytemill as run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXT = "Hello w\xf6rld, \u6f22\u5b57 <s> hello\n  world"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with tokens for bytes."""
    path = tmp_path_factory.mktemp("models") / "small.model"
    texts = ["hello world, hello w\xf6rld", "the world says hello"] * 20
    trained = bytemill.train(
        texts, 300, kind="sentencepiece", byte_fallback=True, hard_vocab_limit=False, character_coverage=1.0
    )
    assert isinstance(trained, Encoding)
    trained.save_sentencepiece(path)
    return path


def test_commands_give_the_ids_of_the_model(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text(TEXT, encoding="utf-8")
    encoding = Encoding.from_file(model)
    ids = encoding.encode_ordinary(TEXT)
    assert run("count", "-e", model, text).out.split()[0] == str(len(ids))
    encoded = run("encode", "-e", model, text).out
    assert list(map(int, encoded.split())) == ids
    (tmp_path / "ids.txt").write_text(encoded)
    assert run("decode", "-e", model, tmp_path / "ids.txt").out.rstrip("\n") == encoding.decode(ids)


def test_shards_hold_the_ids_of_the_model(model: Path, tmp_path: Path) -> None:
    documents = tmp_path / "a.jsonl"
    lines = [json.dumps({"text": text}) for text in (TEXT, "hello", "the world")]
    documents.write_text("\n".join(lines), encoding="utf-8")
    encoding = Encoding.from_file(model)
    shards = tmp_path / "shards"
    assert run("shard", documents, "-e", model, "-o", shards, "--format", "npy").code == 0
    import numpy as np

    written = np.concatenate([np.load(path) for path in sorted(shards.glob("*.npy"))])
    expected = [encoding.encode_ordinary(text) for text in (TEXT, "hello", "the world")]
    assert written.tolist() == [token for ids in expected for token in ids]


def test_what_needs_merges_of_bytes_is_refused(model: Path, tmp_path: Path) -> None:
    encoding = Encoding.from_file(model)
    refused: list[Callable[[], object]] = [
        lambda: encoding.definition.with_vocab_size(280, "cut"),
        lambda: encoding.save_tiktoken(tmp_path / "a.tiktoken"),
        lambda: encoding.save_gpt2(tmp_path / "b"),
        lambda: encoding.save_minbpe(tmp_path / "c"),
        lambda: bytemill.train(["hello"], 400, initial=encoding),
    ]
    for call in refused:
        with pytest.raises(
            VocabularyError, match="is a SentencePiece model, which `save_sentencepiece` writes"
        ):
            call()
    assert [path for path in tmp_path.iterdir() if path.is_file()] == []


def test_a_model_is_written_as_it_was_read(model: Path, tmp_path: Path) -> None:
    encoding = Encoding.from_file(model)
    encoding.save_sentencepiece(tmp_path / "copy.model")
    assert (tmp_path / "copy.model").read_bytes() == model.read_bytes()
    assert encoding.definition.model == model.read_bytes()
    with pytest.raises(VocabularyError, match="merges bytes"):
        bytemill.get_encoding("gpt2").save_sentencepiece(tmp_path / "gpt2.model")
    with pytest.raises(ValueError, match="has no pattern"):
        Encoding.from_file(model, pattern="gpt2")
