"""Padded batches, compared with `tokenizers` and `transformers`."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from bytemill import hf
from support.tokenizer_files import added, bytes_file, file

pytestmark = pytest.mark.filterwarnings("ignore")

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PARTS = [f"##{letter}" for letter in LETTERS]
TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *PARTS, "the", "##ing", "."]
SPECIAL = {"special": True, "normalized": False, "lstrip": False, "rstrip": False, "single_word": False}


def part(name: str, sequence: int) -> dict[str, Any]:
    """Returns a part of a template: a special token, or a text."""
    kind = "Sequence" if len(name) == 1 else "SpecialToken"
    return {kind: {"id": name, "type_id": sequence}}


TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [part("[CLS]", 2), part("A", 0), part("[SEP]", 1)],
    "pair": [part("[CLS]", 2), part("A", 0), part("[SEP]", 0), part("B", 1), part("[SEP]", 1)],
    "special_tokens": {
        name: {"id": name, "ids": [i], "tokens": [name]} for i, name in ((2, "[CLS]"), (3, "[SEP]"))
    },
}
BERT = json.dumps(
    {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": token, **SPECIAL} for i, token in enumerate(TOKENS[:4])],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": TEMPLATE,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: number for number, token in enumerate(TOKENS)},
        },
    }
)
BYTES = bytes_file(added(256, "<pad>", special=True), added(257, "<s>", special=True))
TEXTS = ["The thing.", "", "singing the long thing again and again.", "a", "中 x [SEP] [MASK]", "é" * 7]
NAMES = {"input_ids": "ids", "token_type_ids": "type_ids", "attention_mask": "attention_mask"}
NAMES["special_tokens_mask"] = "special_tokens_mask"


def expected(contents: str, texts: list[Any], *, adds: bool, **settings: Any) -> dict[str, list[list[int]]]:
    """Returns the rows of `tokenizers`."""
    theirs: Any = Tokenizer.from_str(contents)
    if settings["truncation"]:
        theirs.enable_truncation(**settings["truncation"])
    theirs.enable_padding(**settings["padding"])
    rows = theirs.encode_batch(texts, add_special_tokens=adds)
    return {name: [getattr(row, attribute) for row in rows] for name, attribute in NAMES.items()}


@pytest.mark.parametrize("contents", [BERT, BYTES], ids=["BERT", "bytes"])
@pytest.mark.parametrize("is_pair", [False, True])
def test_rows_are_those_of_tokenizers(contents: str, is_pair: bool) -> None:  # noqa: FBT001
    ours = hf.Tokenizer.from_str(contents)
    pad = 0 if contents == BERT else 256
    others = TEXTS[::-1]
    inputs: list[Any] = list(zip(TEXTS, others, strict=True)) if is_pair else TEXTS
    most: Any
    length: Any
    for most, length, multiple, side, adds, dtype in product(
        (None, 7, 3),
        ("longest", "max_length", 64),
        (None, 8),
        ("right", "left"),
        (True, False),
        ("int64", "uint32"),
    ):
        if length == "max_length" and most is None:
            continue
        if is_pair and most is not None and most < 4:
            continue
        truncation = {"max_length": most} if most else None
        padding = {
            "direction": side,
            "pad_id": pad,
            "length": most if length == "max_length" else None if length == "longest" else length,
            "pad_to_multiple_of": multiple,
        }
        rows = expected(contents, inputs, adds=adds, truncation=truncation, padding=padding)
        arrays = ours.encode_batch_padded(
            TEXTS,
            others if is_pair else None,
            max_length=most,
            padding=length,
            pad_to_multiple_of=multiple,
            side=side,
            add_special_tokens=adds,
            return_special_tokens_mask=True,
            dtype=dtype,
        )
        assert list(arrays) == list(NAMES)
        for name, values in arrays.items():
            assert values.tolist() == rows[name], (name, most, length, multiple, side, adds)
            assert values.dtype == dtype
            assert values.flags.c_contiguous
            assert values.flags.writeable


def test_settings_of_the_file_are_used() -> None:
    file = json.loads(BERT)
    file["truncation"] = {"direction": "Left", "max_length": 6, "strategy": "LongestFirst", "stride": 0}
    file["padding"] = {
        "strategy": {"Fixed": 9},
        "direction": "Left",
        "pad_to_multiple_of": None,
        "pad_id": 5,
        "pad_type_id": 7,
        "pad_token": "b",
    }
    contents = json.dumps(file)
    theirs, ours = Tokenizer.from_str(contents), hf.Tokenizer.from_str(contents)
    rows = theirs.encode_batch(TEXTS)
    arrays = ours.encode_batch_padded(TEXTS)
    assert list(arrays) == ["input_ids", "token_type_ids", "attention_mask"]
    for name, values in arrays.items():
        assert values.tolist() == [getattr(row, NAMES[name]) for row in rows]
    # What is given counts.
    assert ours.encode_batch_padded(TEXTS, padding="longest")["input_ids"].shape == (len(TEXTS), 6)
    assert ours.encode_batch_padded(TEXTS, max_length=4, padding=4, side="right")["input_ids"].shape == (6, 4)


def test_shapes_without_texts() -> None:
    ours = hf.Tokenizer.from_str(BERT)
    pairs: Any
    for pairs in (None, []):
        assert ours.encode_batch_padded([], pairs)["input_ids"].shape == (0, 0)
        assert ours.encode_batch_padded([], pairs, padding=5)["input_ids"].shape == (0, 5)
    assert ours.encode_batch_padded([""], add_special_tokens=False)["input_ids"].shape == (1, 0)


def test_long_texts_are_cut_at_their_own_tokens() -> None:
    text = "the thing is singing. " * 20_000
    ours = hf.Tokenizer.from_str(BERT)
    ids = ours.encode(text).ids
    for most in (2, 3, 128, 5000, len(ids) - 1, len(ids), len(ids) + 1):
        for side in ("right", "left"):
            ours.enable_truncation(most, direction=side)
            [row] = ours.encode_batch_padded([text], num_threads=2)["input_ids"]
            assert row.tolist() == ours.encode(text).ids


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"padding": 3}, ValueError, "text 2 has .* tokens, which is more than the 3 of a row"),
        ({"padding": "max_length"}, ValueError, "expected a max_length"),
        ({"padding": "all"}, ValueError, 'expected padding as "longest", "max_length" or a number'),
        ({"padding": True}, TypeError, "or a number, got True: rows are always padded"),
        ({"padding": False}, TypeError, "or a number, got False"),
        ({"padding": -1}, OverflowError, "length must be from 0"),
        ({"side": "top"}, ValueError, "direction must be one of right, left"),
        ({"dtype": "float32"}, ValueError, "dtype must be one of int64, int32, uint32"),
        ({"padding": 2**64 - 1, "pad_to_multiple_of": 8}, MemoryError, "there is no room"),
        ({"max_length": 1}, ValueError, "expected a max_length of at least 2"),
        ({"max_length": "7"}, TypeError, "max_length must be an integer"),
        ({"pairs": ["a"]}, ValueError, "expected as many pairs as texts, 6, got 1"),
        ({"texts": "abc"}, TypeError, "texts"),
        ({"texts": ["a", 1]}, TypeError, "each text must be a string"),
        ({"num_threads": 0}, ValueError, "num_threads"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    ours: Any = hf.Tokenizer.from_str(BERT)
    with pytest.raises(error, match=message):
        ours.encode_batch_padded(**({"texts": TEXTS} | arguments))


def test_numbers_fit_the_type() -> None:
    highest = 2**32 - 2
    large = hf.Tokenizer.from_str(file({"a": highest, "b": 1}, pre_tokenizer={"type": "Whitespace"}))
    assert large.encode_batch_padded(["a"])["input_ids"].tolist() == [[highest]]
    small = hf.Tokenizer.from_str(file({"a": 0}))
    for tokenizer, pad_id in ((large, 0), (small, 2**31)):
        tokenizer.enable_padding(pad_id=pad_id)
        for pairs in (None, ["a"]):
            tokenizer.encode_batch_padded(["a"], pairs, dtype="uint32")
            with pytest.raises(ValueError, match="dtype int32 cannot hold token IDs up to"):
                tokenizer.encode_batch_padded(["a"], pairs, dtype="int32")


def test_tensors_of_accelerated_tokenizers_are_arrays_of_the_core() -> None:
    transformers = pytest.importorskip("transformers")
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    theirs, ours = (
        transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(BERT), **names)
        for _ in range(2)
    )
    hf.accelerate(ours)
    options: Any
    for texts, options in product(
        (TEXTS, TEXTS[0], [TEXTS[3]]),
        (
            {"padding": True},
            {"padding": True, "pad_to_multiple_of": 8, "padding_side": "left"},
            {
                "padding": "max_length",
                "truncation": True,
                "max_length": 9,
                "return_special_tokens_mask": True,
            },
            {"padding": True, "return_special_tokens_mask": True},
            {"padding": True, "return_token_type_ids": False, "add_special_tokens": False},
        ),
    ):
        found, wanted = (each(texts, return_tensors="np", **options) for each in (ours, theirs))
        assert found.keys() == wanted.keys()
        for name, values in wanted.items():
            assert found[name].dtype == values.dtype
            assert np.array_equal(found[name], values), (name, options)
        assert [row.ids for row in found.encodings] == [row.ids for row in wanted.encodings]
    for text in TEXTS:
        found, wanted = (each(text, return_tensors="np") for each in (ours, theirs))
        assert np.array_equal(found["input_ids"], wanted["input_ids"])
