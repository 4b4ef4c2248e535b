"""Calls of accelerated tokenizers with pairs, words, offsets, parts and tensors, beside `transformers`."""

# ruff: noqa: S106, S301, S311 - no passwords; what this test pickled itself; randomness that can be repeated

from __future__ import annotations

import json
import os
import pickle
import random
import zlib
from typing import Any

import numpy as np
import pytest

from bytemill import hf
from bytemill.hf.accelerated import ENGINE
from support.encodings import COLUMNS, UNLIKE
from support.open_models import LOADED, ROWS, file_of
from support.open_models.speech import SENTENCES, TRICKY
from support.outcomes import outcome, plain
from support.toy_tokenizers import PROCESSORS, TEXTS, byte_level

tokenizers: Any = pytest.importorskip("tokenizers")
transformers: Any = pytest.importorskip("transformers")

FULL = os.environ.get("BYTEMILL_FULL") == "1"


def both(backend: Any, **options: Any) -> tuple[Any, Any]:
    """Returns a tokenizer of `transformers`, and the same, accelerated."""
    theirs, ours = (
        transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **options) for _ in range(2)
    )
    return theirs, hf.accelerate(ours)


def described(result: Any, *, deep: bool) -> Any:
    """Returns all that a result holds, as plain values.

    Args:
        result: What a call returned, or its exception.
        deep: Whether the encodings are looked at.
    """
    if not isinstance(result, transformers.BatchEncoding):
        return result
    columns = [
        (name, type(value), getattr(value, "dtype", None), plain(value)) for name, value in result.items()
    ]
    return columns, vars(result)["_n_sequences"], len(result.encodings), deep and encodings_of(result)


def encodings_of(result: Any) -> list[Any]:
    """Returns all that the encodings in a result hold."""
    return [contents_of(encoding) for encoding in result.encodings]


def contents_of(encoding: Any) -> Any:
    """Returns all that an encoding holds."""
    columns = [getattr(encoding, name) for name in COLUMNS]
    return columns, encoding.n_sequences, [contents_of(other) for other in encoding.overflowing]


def random_input(dice: random.Random, texts: list[str], *, in_words: bool) -> tuple[Any, Any]:
    """Returns texts and second texts for a call, by chance."""

    def text() -> Any:
        some = dice.choice(texts)[: dice.choice([5, 40, 200])]
        return dice.choice([list, tuple])(some.split(" ")) if in_words else some

    kind, count = dice.randrange(5), dice.choice([1, 2, 4])
    if kind == 0:
        return text(), None
    if kind == 1:
        return text(), text()
    if kind == 2:
        return [text() for _ in range(count)], None
    if kind == 3:
        return [text() for _ in range(count)], [text() for _ in range(count)]
    return [dice.choice([(text(), text()), [text(), text()], text()]) for _ in range(count)], None


def random_options(dice: random.Random) -> dict[str, Any]:
    """Returns arguments of a call, by chance."""
    choices: dict[str, list[Any]] = {
        "add_special_tokens": [False],
        "padding": [True, "longest", "max_length", False],
        "truncation": [True, True, True, "only_first", "only_second", "longest_first"],
        "max_length": [0, 1, 2, 3, 4, 5, 6, 9, 9, 14, 14, 30, 30],
        "stride": [0, 1, 2, 3, 5, -1],
        "pad_to_multiple_of": [None, 3, 8],
        "padding_side": ["left", "right", None],
        "return_tensors": ["np"],
        "return_token_type_ids": [True, False],
        "return_attention_mask": [True, False],
        "return_overflowing_tokens": [True, True, False],
        "return_special_tokens_mask": [True, False],
        "return_offsets_mapping": [True, True, False],
        "return_length": [True, False],
        "split_special_tokens": [True, False],
        "verbose": [False],
    }
    return {name: dice.choice(values) for name, values in choices.items() if dice.random() < 0.4}


def compare(theirs: Any, ours: Any, texts: list[str], dice: random.Random, *, calls: int) -> int:
    """Compares calls by chance, and returns how many of them returned something."""
    returned = 0
    for _ in range(calls):
        in_words, options = dice.random() < 0.35, random_options(dice)
        given, pair = random_input(dice, texts, in_words=in_words)
        if in_words:
            options["is_split_into_words"] = True
        for tokenizer in (theirs, ours):
            tokenizer.truncation_side = "left" if len(options) % 3 == 0 else "right"
        expected = outcome(lambda: theirs(given, pair, **options))  # noqa: B023
        found = outcome(lambda: ours(given, pair, **options))  # noqa: B023
        deep = dice.random() < 0.5
        assert described(found, deep=deep) == described(expected, deep=deep), (given, pair, options)
        returned += isinstance(expected, transformers.BatchEncoding)
    return returned


@pytest.mark.parametrize("processor", PROCESSORS)
def test_random_calls(processor: str) -> None:
    theirs, ours = both(byte_level(processor), bos_token="<s>", eos_token="</s>", pad_token="<pad>")
    dice = random.Random(zlib.crc32(processor.encode()))
    calls = 5_000 if FULL else 120
    assert compare(theirs, ours, TEXTS, dice, calls=calls) > calls / 3


@pytest.mark.parametrize("name", LOADED)
def test_random_calls_of_rows(name: str) -> None:
    backend = tokenizers.Tokenizer.from_str(file_of(name).decode())
    theirs, ours = both(backend)
    token = backend.id_to_token(0)
    for tokenizer in (theirs, ours):
        tokenizer.pad_token = token
    contents = [token["content"] for token in ROWS[name].tokens][:12]
    texts = [*TRICKY, *SENTENCES, "".join(f"x {content}  {content}y" for content in contents)]
    dice = random.Random(zlib.crc32(name.encode()))
    calls = 400 if FULL else 15
    assert compare(theirs, ours, texts, dice, calls=calls) > calls / 8
    engine = ours.__dict__[ENGINE].engine()
    assert not engine.is_traced or name not in UNLIKE


def test_tokens_around_a_text_may_count_as_texts() -> None:
    backend = byte_level("template")
    processors = tokenizers.processors
    trims = processors.ByteLevel(trim_offsets=True)
    backend.post_processor = processors.Sequence([backend.post_processor, trims])
    theirs, ours = both(backend, pad_token="<pad>")
    options: dict[str, Any]
    for options in ({}, {"add_special_tokens": False}, {"padding": True, "return_tensors": "np"}):
        for given in ("a b", ["a b", ""]):
            expected = theirs(given, **options)
            assert vars(expected)["_n_sequences"] > 1 or "add_special_tokens" in options
            assert described(ours(given, **options), deep=True) == described(expected, deep=True)


def test_calls_are_answered_here(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = both(byte_level("sequence"), pad_token="<pad>")
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        (("a b", "c"), {}),
        ((["a b", "c"], ["d", "e f"]), {"padding": True, "return_tensors": "np"}),
        (([("a", "b"), ["c", "d e"]],), {"truncation": True, "max_length": 8, "stride": 1}),
        ((["a", " b"],), {"is_split_into_words": True, "return_offsets_mapping": True}),
        (
            (TEXTS[2:9],),
            {"truncation": True, "max_length": 9, "stride": 2, "return_overflowing_tokens": True},
        ),
        ((TEXTS[2:9],), {"return_offsets_mapping": True, "return_special_tokens_mask": True}),
    ]
    expected = [described(theirs(*given, **options), deep=True) for given, options in calls]

    def fail(*_args: Any, **_options: Any) -> None:
        raise AssertionError("the original was called")

    monkeypatch.setattr(transformers.PreTrainedTokenizerFast, "_encode_plus", fail)
    assert [described(ours(*given, **options), deep=True) for given, options in calls] == expected


INVALID: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (("a\ud800",), {}),
    ((["a", "\udfff"],), {}),
    (("a", "\ud800"), {"return_offsets_mapping": True}),
    (("a",), {"text_pair": 3}),
    ((["a", "b"], ["c"]), {}),
    ((["a", "b"], "c"), {}),
    ((["a", 3],), {}),
    (([("a", "b", "c")],), {}),
    (("a",), {"is_split_into_words": True}),
    (([],), {"is_split_into_words": True}),
    (([[]],), {"is_split_into_words": True}),
    (([[], ["a"]],), {"is_split_into_words": True, "return_tensors": "np"}),
    ((["a"], ["b"]), {"is_split_into_words": True}),
    ((["a"], "b"), {"is_split_into_words": True}),
    (([["a"]], [["b"]]), {"is_split_into_words": True}),
    (([(["a"], ["b"])],), {"is_split_into_words": True}),
    ((np.array(["a", "b"]),), {"is_split_into_words": True}),
    (([np.array(["a", "b"])],), {"is_split_into_words": True}),
    (([np.array(["a"]), np.array(["b"])],), {"is_split_into_words": True}),
    (([[np.array(["a"]), np.array(["b"])]],), {"is_split_into_words": True}),
    ((["a"], np.array(["b"])), {}),
    (("a b c",), {"truncation": True, "max_length": 1.5}),
    (("a b c",), {"truncation": True, "max_length": -1}),
    (("a b c",), {"truncation": True, "max_length": 4, "stride": "1"}),
    (("a b c",), {"truncation": True, "max_length": 4, "stride": 4}),
    (("a b c",), {"padding": True, "padding_side": "up"}),
    (("a b c",), {"padding": True, "padding_side": ""}),
    (("a<s>",), {"add_special_tokens": 0}),
    (("a<s>",), {"add_special_tokens": "no"}),
    (("a<s>",), {"add_special_tokens": None}),
    (("a<s>",), {"add_special_tokens": np.bool_(0)}),
    (("a<s>",), {"split_special_tokens": 1}),
    ((["a", "b"],), {"is_split_into_words": 1}),
    ((["a", "b"],), {"return_overflowing_tokens": 1, "return_length": 1}),
    (("a b c",), {"padding": True, "pad_to_multiple_of": -2}),
    (("a b c",), {"padding": "max_length", "max_length": -2}),
    (("a b c",), {"return_tensors": "np", "return_overflowing_tokens": True, "return_length": True}),
    ((["a", "b c d"],), {"return_tensors": "np"}),
    (("a",), {"unknown": 1}),
]


@pytest.mark.parametrize("number", range(len(INVALID)))
def test_calls_that_may_fail(number: int) -> None:
    given, options = INVALID[number]
    theirs, ours = both(byte_level("template"), pad_token="<pad>")
    expected = described(outcome(lambda: theirs(*given, **options)), deep=True)
    assert described(outcome(lambda: ours(*given, **options)), deep=True) == expected


IDS: list[Any] = [
    *([1, 5], [[1, 5], [5]], [True, False], [np.int64(1), 5], "1", None, -1),
    *([1.0, 5], [np.float64(1), 5], [np.bool_(1), 5], ["1"], [-1], [1 << 32], [1 << 70], [5, [1]], [[1], 5]),
    *([[5, 1.0], [2]], [[5, -1], [2]], [[5], None], [[5], [[1]]]),
]


@pytest.mark.parametrize("skips", [True, False, 1, 0, "yes", None, np.bool_(1)])
def test_ids_and_flags_to_decode(skips: Any) -> None:
    theirs, ours = both(byte_level("template"))
    for ids in IDS:
        for given in ({}, {"clean_up_tokenization_spaces": True}):
            expected = outcome(lambda: theirs.decode(ids, skip_special_tokens=skips, **given))  # noqa: B023
            assert outcome(lambda: ours.decode(ids, skip_special_tokens=skips, **given)) == expected, ids  # noqa: B023


def test_no_token_to_fill_up_with() -> None:
    theirs, ours = both(byte_level("template"))
    expected = outcome(lambda: theirs(["a", "b c"], padding=True))
    assert isinstance(expected, tuple)
    assert outcome(lambda: ours(["a", "b c"], padding=True)) == expected


def test_pickled_encodings_are_those_of_tokenizers() -> None:
    theirs, ours = both(byte_level("sequence"), pad_token="<pad>")
    options = {"truncation": True, "max_length": 9, "stride": 2, "padding": True}
    for given in (TEXTS[:9], [("a b c d", text) for text in TEXTS[2:9]]):
        found = pickle.loads(pickle.dumps(ours(given, **options)))
        assert all(type(encoding) is tokenizers.Encoding for encoding in found.encodings)
        expected = theirs(given, **options)
        assert found.data == expected.data
        assert encodings_of(found) == encodings_of(expected)


def test_texts_and_columns_may_change_before_encodings_are_made() -> None:
    theirs, ours = both(byte_level("template"))
    texts = ["a b", "c"]
    expected, found = encodings_of(theirs(texts)), ours(texts)
    texts[0] = "other"
    assert encodings_of(found) == expected
    found = ours(texts, return_offsets_mapping=True)
    found["input_ids"][0].append(5)
    found["offset_mapping"][0].clear()
    assert encodings_of(found) == encodings_of(theirs(texts))


def test_characters_without_a_token_are_told() -> None:
    names = {"smollm2", "bloom", "some byte tokens, no unknown"}
    for name in names:
        file = json.loads(file_of(name))
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizers.Tokenizer.from_str(json.dumps(file))
        )
        assert not hf.accelerate(tokenizer).__dict__[ENGINE].engine().is_traced
