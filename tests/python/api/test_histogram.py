"""Tokens counted one by one, and pieces of texts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import bytemill
from support.open_models import encoding_of
from support.texts import ADVERSARIAL, multilingual

TEXTS = [multilingual(3, 400), "<|endoftext|> twice", "", *ADVERSARIAL.values()]


@pytest.mark.parametrize("name", ["gpt2", "o200k_harmony"])
@pytest.mark.parametrize("options", [{}, {"allowed_special": "all"}, {"num_threads": 2}])
def test_counts_are_those_of_the_ids(name: str, options: dict[str, Any]) -> None:
    encoding = bytemill.get_encoding(name)
    counts = encoding.count_by_token(iter(TEXTS), **options)
    allowed = options.get("allowed_special", set())
    ids = [encoding.encode(text, allowed_special=allowed, disallowed_special=()) for text in TEXTS]
    expected = Counter(token for each in ids for token in each)
    assert (counts.shape, counts.dtype) == ((encoding.n_vocab,), np.dtype(np.int64))
    assert {int(token): int(counts[token]) for token in counts.nonzero()[0]} == expected


def test_many_texts_are_read_some_at_a_time() -> None:
    encoding = bytemill.get_encoding("gpt2")
    counts = encoding.count_by_token("hello world" for _ in range(40_000))
    assert {int(token): int(counts[token]) for token in counts.nonzero()[0]} == {31373: 40_000, 995: 40_000}
    assert not encoding.count_by_token([]).any()


def test_an_iterator_of_strings_to_refuse_is_read_once() -> None:
    encoding = bytemill.get_encoding("gpt2")
    texts = ["hello world"] * 20_000 + ["refused"]
    with pytest.raises(bytemill.DisallowedSpecialTokenError):
        encoding.count_by_token(texts, disallowed_special=iter(["refused"]))  # type: ignore[arg-type]


def test_wrong_texts_are_refused() -> None:
    encoding = bytemill.get_encoding("gpt2")
    with pytest.raises(TypeError, match="texts must be an iterable of texts"):
        encoding.count_by_token("hello")
    with pytest.raises(TypeError):
        encoding.count_by_token([1])  # type: ignore[list-item]
    with pytest.raises(bytemill.DisallowedSpecialTokenError):
        encoding.count_by_token(["<|endoftext|>"], disallowed_special="all")


def test_pieces_are_matches_of_the_pattern() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    assert encoding.pieces("Hello, world!  It's 12345") == [
        "Hello",
        ",",
        " world",
        "!",
        " ",
        " It",
        "'s",
        " ",
        "123",
        "45",
    ]
    text = "a<|endoftext|>b"
    assert encoding.pieces(text, allowed_special="all") == ["a", "<|endoftext|>", "b"]
    assert encoding.pieces(text) == ["a", "<|", "endoftext", "|>", "b"]
    with pytest.raises(bytemill.DisallowedSpecialTokenError):
        encoding.pieces(text, disallowed_special="all")
    with pytest.raises(TypeError):
        encoding.pieces(b"a")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
@pytest.mark.parametrize("text", TEXTS)
def test_pieces_are_the_text_and_have_its_ids(name: str, text: str) -> None:
    encoding = bytemill.get_encoding(name)
    pieces = encoding.pieces(text)
    assert "".join(pieces) == text
    assert pieces == encoding._core_bpe.split(text)


def test_pieces_of_other_kinds_of_files() -> None:
    bert = encoding_of("bert-uncased")
    assert bert.pieces("The lowest, of") == ["The", "lowest", ",", "of"]
    llama = encoding_of("llama-2")
    assert "".join(llama.pieces("The lowest of")) == "The lowest of"
