"""`bytemill.hf.Tokenizer` and `DecodeStream` beside those of `tokenizers`."""

# ruff: noqa: S106, S301, S311 - no password; what this test pickled itself; randomness that can be repeated

from __future__ import annotations

import copy
import json
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import bytemill
from bytemill import hf
from support.encodings import check
from support.toy_tokenizers import PROCESSORS, TEXTS, byte_level

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

tokenizers: Any = pytest.importorskip("tokenizers")


def both(processor: str = "template") -> tuple[Any, hf.Tokenizer]:
    """Returns a tokenizer of `tokenizers` and ours."""
    theirs = byte_level(processor)
    return theirs, hf.Tokenizer.from_str(theirs.to_str())


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("adds", [True, False])
@pytest.mark.parametrize("splits", [True, False])
def test_encode(processor: str, adds: bool, splits: bool) -> None:  # noqa: FBT001 - parameters
    theirs, ours = both(processor)
    theirs.encode_special_tokens = ours.encode_special_tokens = splits
    for text in TEXTS:
        check(ours.encode(text, add_special_tokens=adds), theirs.encode(text, add_special_tokens=adds))
    batches = zip(
        ours.encode_batch(TEXTS, add_special_tokens=adds),
        theirs.encode_batch(TEXTS, add_special_tokens=adds),
        strict=True,
    )
    for our, their in batches:
        check(our, their)
    fast = ours.encode_batch_fast(TEXTS, add_special_tokens=adds)
    assert [e.ids for e in fast] == [e.ids for e in theirs.encode_batch_fast(TEXTS, add_special_tokens=adds)]
    for pair in (False, True):
        assert ours.num_special_tokens_to_add(pair) == theirs.num_special_tokens_to_add(pair)


@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize("strategy", ["longest_first", "only_first"])
@pytest.mark.parametrize(("max_length", "stride"), [(2, 0), (3, 0), (8, 3), (1000, 5)])
def test_truncation(direction: str, strategy: str, max_length: int, stride: int) -> None:
    theirs, ours = both()
    for tokenizer in (theirs, ours):
        tokenizer.enable_truncation(max_length, stride=stride, strategy=strategy, direction=direction)
    assert ours.truncation == theirs.truncation
    again = hf.Tokenizer.from_str(ours.to_str())
    assert again.truncation == theirs.truncation
    for text in TEXTS[:10]:
        for adds in (True, False):
            if stride < max_length - 2 * adds or not text:
                check(
                    again.encode(text, add_special_tokens=adds), theirs.encode(text, add_special_tokens=adds)
                )
    ours.no_truncation()
    assert ours.truncation is None
    check(ours.encode(TEXTS[4]), byte_level().encode(TEXTS[4]))


@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize("length", [None, 3, 20])
@pytest.mark.parametrize("multiple", [None, 8])
@pytest.mark.parametrize("max_length", [None, 9])
def test_padding(direction: str, length: int | None, multiple: int | None, max_length: int | None) -> None:
    theirs, ours = both()
    for tokenizer in (theirs, ours):
        tokenizer.enable_padding(
            direction=direction,
            pad_id=2,
            pad_type_id=5,
            pad_token="<pad>",
            length=length,
            pad_to_multiple_of=multiple,
        )
        if max_length is not None:
            tokenizer.enable_truncation(max_length, stride=2)
    assert ours.padding == theirs.padding
    again = hf.Tokenizer.from_str(ours.to_str())
    assert again.padding == theirs.padding
    for tokenizer in (ours, again):
        for our, their in zip(tokenizer.encode_batch(TEXTS[:9]), theirs.encode_batch(TEXTS[:9]), strict=True):
            check(our, their)
        check(tokenizer.encode(TEXTS[5]), theirs.encode(TEXTS[5]))
    ours.no_padding()
    assert ours.padding is None


@pytest.mark.parametrize("skips", [True, False])
def test_decode(skips: bool) -> None:  # noqa: FBT001 - a parameter
    theirs, ours = both()
    dice = random.Random(1)
    batch = [[dice.randrange(520) for _ in range(dice.randrange(30))] for _ in range(200)]
    batch += [encoded.ids for encoded in theirs.encode_batch(TEXTS)]
    assert ours.decode_batch(batch, skips) == theirs.decode_batch(batch, skips)
    for ids in batch:
        assert ours.decode(ids, skips) == theirs.decode(ids, skips)
        assert ours.decode(tuple(ids), skips) == theirs.decode(ids, skips)
    with pytest.raises(TypeError):
        ours.decode(["a"])  # type: ignore[list-item]


@pytest.mark.parametrize("skips", [True, False])
@pytest.mark.parametrize("given", [None, [0, 40]])
def test_decode_stream(skips: bool, given: list[int] | None) -> None:  # noqa: FBT001 - a parameter
    theirs, ours = both()
    dice = random.Random(2)
    for number in range(100):
        ids = [dice.randrange(500) for _ in range(dice.randrange(40))]
        if number < len(TEXTS):
            ids = theirs.encode(TEXTS[number]).ids
        our = hf.DecodeStream(given, skips)
        their = tokenizers.decoders.DecodeStream(given, skips)
        for token_id in ids:
            assert our.step(ours, token_id) == their.step(theirs, token_id)
        assert our.step(ours, [40, 41]) == their.step(theirs, [40, 41])


def test_vocabulary() -> None:
    theirs, ours = both()
    for adds in (True, False):
        assert ours.get_vocab(adds) == theirs.get_vocab(adds)
        assert ours.get_vocab_size(adds) == theirs.get_vocab_size(adds)
    for token in [*theirs.get_vocab(), "nothing", ""]:
        assert ours.token_to_id(token) == theirs.token_to_id(token)
    for token_id in range(510):
        assert ours.id_to_token(token_id) == theirs.id_to_token(token_id)
    assert shown(ours) == shown(theirs)


def shown(tokenizer: Any) -> dict[int, Any]:
    """Returns the added tokens of a tokenizer."""
    flags = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")
    added = tokenizer.get_added_tokens_decoder()
    assert list(added) == sorted(added)
    return {token_id: [getattr(token, flag) for flag in flags] for token_id, token in added.items()}


def test_added_tokens() -> None:
    theirs, ours = both()
    steps: list[tuple[str, list[Any]]] = [
        ("add_special_tokens", ["<new>", "<s>", "", "<new>"]),
        ("add_special_tokens", [tokenizers.AddedToken("<other>", special=True, normalized=False)]),
        ("add_special_tokens", ["<pad>"]),
    ]
    for method, tokens in steps:
        assert getattr(ours, method)(tokens) == getattr(theirs, method)(tokens)
        assert shown(ours) == shown(theirs)
        text = "a<new>b <other> c<s>"
        check(ours.encode(text), theirs.encode(text))
        assert ours.decode(theirs.encode(text).ids) == theirs.decode(theirs.encode(text).ids)
    again = hf.Tokenizer.from_str(ours.to_str())
    check(again.encode("a<new>b"), theirs.encode("a<new>b"))
    with pytest.raises(TypeError, match="expected a string or an AddedToken"):
        ours.add_tokens([1])  # type: ignore[list-item]


def test_files(tmp_path: Path) -> None:
    theirs, ours = both()
    theirs.save(str(tmp_path / "theirs.json"))
    ours = hf.Tokenizer.from_file(tmp_path / "theirs.json")
    ours.save(tmp_path / "ours.json")
    back = tokenizers.Tokenizer.from_file(str(tmp_path / "ours.json"))
    assert json.loads(back.to_str()) == json.loads(theirs.to_str())
    assert json.loads(ours.to_str()) == json.loads(ours.to_str(pretty=True)) == json.loads(theirs.to_str())
    check(hf.Tokenizer.from_buffer(theirs.to_str().encode()).encode("hi there"), theirs.encode("hi there"))


def test_a_file_of_save_is_explained(tmp_path: Path) -> None:
    bytemill.get_encoding("gpt2").save(tmp_path / "mine.bytemill")
    with pytest.raises(
        bytemill.VocabularyError, match=r"got a file of Encoding\.save.*save_huggingface writes"
    ):
        hf.Tokenizer.from_file(tmp_path / "mine.bytemill")


def test_copies() -> None:
    theirs, ours = both()
    for tokenizer in (theirs, ours):
        tokenizer.enable_truncation(9)
        tokenizer.enable_padding(length=12)
        tokenizer.encode_special_tokens = True
    ways: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
    for copied in ways:
        other, expected = copied(ours), copied(theirs)
        assert other.truncation == ours.truncation
        assert other.padding == ours.padding
        assert other.encode_special_tokens is expected.encode_special_tokens is False
        assert other.encode(TEXTS[3]).ids == expected.encode(TEXTS[3]).ids
        other.no_truncation()
        other.add_special_tokens(["<new>"])
    assert ours.truncation is not None
    assert ours.token_to_id("<new>") is None


def test_threads() -> None:
    theirs, ours = both()
    expected = [encoded.ids for encoded in theirs.encode_batch(TEXTS)]
    with ThreadPoolExecutor(4) as pool:
        for ids in pool.map(lambda _: [ours.encode(text).ids for text in TEXTS], range(20)):
            assert ids == expected


def test_what_is_not_done_is_refused() -> None:
    ours = both()[1]
    for call in (
        lambda: ours.encode(1),  # type: ignore[arg-type]
        lambda: ours.encode(["a"]),
        lambda: ours.encode("a", ["b"]),
        lambda: ours.encode_batch([("a", "b", "c")]),
        lambda: ours.encode_batch([["a"], 1]),
    ):
        with pytest.raises(TypeError, match="each text must be a string, not"):
            call()
    for call in (
        lambda: ours.encode("a", is_pretokenized=True),
        lambda: ours.encode(["a", 1], is_pretokenized=True),  # type: ignore[list-item]
        lambda: ours.encode_batch(["a b"], is_pretokenized=True),
        lambda: ours.encode_batch([(["a"], ["b"], ["c"])], is_pretokenized=True),
    ):
        with pytest.raises(TypeError, match="expected a list of words as strings, got"):
            call()
    with pytest.raises(TypeError, match="pair must be of the type Encoded"):
        ours.post_process(ours.encode("a"), "b")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="strategy must be one of"):
        ours.enable_truncation(5, strategy="none")
    with pytest.raises(ValueError, match="direction must be one of"):
        ours.enable_padding(direction="up")
    ours.enable_truncation(1)
    with pytest.raises(ValueError, match="max_length of at least 2"):
        ours.encode("a")
    ours.enable_truncation(5, strategy="only_second")
    with pytest.raises(ValueError, match="expected a second text"):
        ours.encode(TEXTS[4])
    ours.enable_truncation(5, stride=3)
    with pytest.raises(ValueError, match="expected a stride below 3"):
        ours.encode(TEXTS[4])
    with pytest.raises(ValueError, match=r"expected a stride of at most 3, .* got 4"):
        ours.enable_truncation(5, stride=4)
    assert ours.truncation is not None
    assert ours.truncation["stride"] == 3


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("post_processor", {"type": "Other"}, "post_processor.*: expected .*TemplateProcessing"),
        (
            "truncation",
            {"max_length": 3, "stride": 0, "strategy": "Some"},
            "truncation.strategy: expected one of",
        ),
        ("padding", {"strategy": "BatchLongest", "direction": "Up"}, "padding.direction: expected one of"),
    ],
)
def test_malformed_files(entry: str, value: Any, message: str) -> None:
    contents = json.loads(byte_level().to_str()) | {entry: value}
    with pytest.raises(bytemill.VocabularyError, match=message):
        hf.Tokenizer.from_str(json.dumps(contents))
