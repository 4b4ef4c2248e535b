"""`bytemill.hf.accelerate` with the real sentence-transformers: `make test-embedding`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

import bytemill
from bytemill import hf
from bytemill.hf.accelerated import Accelerated

if TYPE_CHECKING:
    from pathlib import Path

# Its names are found when they are used.
transformers: Any = pytest.importorskip("transformers")

TOKENS = """[PAD] [UNK] [CLS] [SEP] [MASK]
the lower est ##est low slow ##er , . of token ##ization cafe"""
TEXTS = ["The lowest of the LOW.", "slower", "", "zebra 中文 Café", "the token " * 100]
LONGEST = 32


def embedder(folder: Path) -> Any:
    """Returns a small model with random weights, of which each call is the same."""
    (folder / "vocab.txt").write_text("\n".join(TOKENS.split()), encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"))
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(TOKENS.split()),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=2 * LONGEST,
    )
    transformers.BertModel(config).save_pretrained(folder)
    word = Transformer(str(folder), max_seq_length=LONGEST)
    pooling = Pooling(word.get_embedding_dimension())
    return SentenceTransformer(modules=[word, pooling], device="cpu")


def features(model: Any, texts: list[str]) -> dict[str, Any]:
    """Returns the token IDs and masks that the model gets for some texts, by name."""
    prepared = model.preprocess(texts) if hasattr(model, "preprocess") else model.tokenize(texts)
    return {name: each.tolist() if hasattr(each, "tolist") else each for name, each in prepared.items()}


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], TEXTS[2:3]], ids=["all", "one", "empty"])
def test_embeddings_stay_the_same(texts: list[str], tmp_path: Path) -> None:
    model = embedder(tmp_path)
    before, expected = features(model, texts), model.encode(texts)
    hf.accelerate(model.tokenizer)
    assert isinstance(model.tokenizer, Accelerated)
    assert features(model, texts) == before
    assert np.array_equal(model.encode(texts), expected)
    assert len(before["input_ids"][0]) <= LONGEST


def test_arrays_are_those_of_the_model(tmp_path: Path) -> None:
    model = embedder(tmp_path)
    tokenizer = hf.Tokenizer.from_file(tmp_path / "tokenizer.json")
    arrays = tokenizer.encode_batch_padded(TEXTS, max_length=LONGEST)
    expected = features(model, TEXTS)
    assert {name: arrays[name].tolist() for name in arrays} == {name: expected[name] for name in arrays}


def test_counts_leave_room_for_two_tokens(tmp_path: Path) -> None:
    model = embedder(tmp_path)
    with pytest.warns(UserWarning, match="adds"):
        encoding = bytemill.Encoding.from_file(tmp_path / "tokenizer.json")
    for part in encoding.split(TEXTS[-1], LONGEST - 2):
        ids = features(model, [part])["input_ids"][0]
        assert len(ids) == encoding.count(part) + 2 <= LONGEST
