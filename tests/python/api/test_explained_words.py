"""`Encoding.explain` of models that do not merge: WordPiece, WordLevel and Unigram."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

import bytemill
from bytemill.errors import VocabularyError
from support.open_models import SCORE_MODELS, WORD_MODELS, file_of
from support.sentencepiece import trained
from support.texts import patchwork

if TYPE_CHECKING:
    from pathlib import Path

# ruff: noqa: S311 - no secrets

ROWS = [*WORD_MODELS, *SCORE_MODELS]


def encoding_of(contents: bytes, name: str, folder: Path) -> bytemill.Encoding:
    """Returns the encoding of a file, which adds no tokens around a text."""
    (folder / name).write_bytes(contents)
    return bytemill.Encoding.from_file(folder / name)


def word_encoding(folder: Path) -> bytemill.Encoding:
    """Returns a WordPiece model of a few words."""
    vocab = {token: i for i, token in enumerate(["[UNK]", "un", "##aff", "##able", "a", "##ff"])}
    model = {
        "type": "WordPiece",
        "vocab": vocab,
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    contents = {"model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}, "added_tokens": []}
    return encoding_of(json.dumps(contents).encode(), "tokenizer.json", folder)


def test_words_are_taken_from_the_left(tmp_path: Path) -> None:
    encoding = word_encoding(tmp_path)
    assert encoding.explain("unaffable aff unx") == [
        (b"unaffable", [[b"unaffable"], [b"un", b"affable"], [b"un", b"aff", b"able"]], [1, 2, 3]),
        (b"aff", [[b"aff"], [b"a", b"ff"]], [4, 5]),
        (b"unx", [[b"unx"]], [0]),
    ]
    assert encoding.explain(" ") == []


def test_candidates_have_the_scores_of_the_file(tmp_path: Path) -> None:
    vocab = [["<unk>", 0.0], ["\u2581", -2.0], ["a", -1.5], ["ab", -2.0], ["\u2581a", -3.0]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    contents = {"model": model, "pre_tokenizer": metaspace, "added_tokens": []}
    encoding = encoding_of(json.dumps(contents).encode(), "tokenizer.json", tmp_path)
    (first, second) = encoding.explain("ab é")
    assert first.steps == [[b" ", b"a", b"b"], [b" ", b"ab"]]
    assert first.ids == [1, 3]
    scored, unknown = encoding.candidates("ab é")
    assert scored == [
        (0, b" ", 1, -2.0),
        (0, b" a", 4, -3.0),
        (1, b"a", 2, -1.5),
        (1, b"ab", 3, -2.0),
        (2, b"b", None, -13.0),
    ]
    assert [each.id for each in unknown] == [1, None]
    assert second.ids == [1, 0]


@pytest.mark.filterwarnings("ignore:.*post-processor adds")
@pytest.mark.parametrize("row", ROWS)
def test_their_ids_are_those_of_the_text(row: str, tmp_path: Path) -> None:
    encoding = encoding_of(file_of(row), "tokenizer.json", tmp_path)
    dice = random.Random(row)
    strings = ["the ", "cat", ".", "  ", "é", "e\u0301", "中文", "\n", "<mask>", "☃", "--", "unbelievably"]
    texts = ["".join(dice.choices(strings, k=dice.randint(0, 12))) for _ in range(100)]
    for text in [*texts, patchwork(2, 2000)]:
        explained = encoding.explain(text)
        assert [token for piece in explained for token in piece.ids] == encoding.encode_ordinary(text)
        for piece in explained:
            assert b"".join(piece.steps[0]) == piece.piece
        if row in SCORE_MODELS:
            for piece, scored in zip(explained, encoding.candidates(text), strict=True):
                assert all(piece.piece[each.start :].startswith(each.token) for each in scored)


@pytest.mark.parametrize("kind", ["unigram", "word", "char"])
def test_models_of_sentencepiece(kind: str, tmp_path: Path) -> None:
    contents = trained(size=800, model_type=kind, hard_vocab_limit=False)
    encoding = encoding_of(contents, "tokenizer.model", tmp_path)
    for text in ["the lowest  of them", "中文 ☃☃ a", "", "-" * 40]:
        explained = encoding.explain(text)
        assert [token for piece in explained for token in piece.ids] == encoding.encode_ordinary(text)
        if kind == "unigram":
            assert len(encoding.candidates(text)) == len(explained)
        else:
            with pytest.raises(VocabularyError, match="expected a Unigram model"):
                encoding.candidates(text)


@pytest.mark.filterwarnings("ignore:.*post-processor adds")
def test_lists_of_merges_are_not_explained(tmp_path: Path) -> None:
    encoding = encoding_of(file_of("gemma-3"), "tokenizer.json", tmp_path)
    with pytest.raises(VocabularyError, match="explanations need"):
        encoding.explain("a")
