"""Arguments of `hf.Tokenizer`, `hf.DecodeStream` and files: accepted and refused as by `tokenizers`."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import bytemill
from bytemill import hf
from support.tokenizer_files import PLAIN, added, bytes_file

if TYPE_CHECKING:
    from collections.abc import Callable

tokenizers: Any = pytest.importorskip("tokenizers")

POST_PROCESSOR = {"type": "BertProcessing", "cls": ["<s>", 256], "sep": ["b", 98]}
FRAMED = bytes_file(added(256, "<s>", special=True), post_processor=POST_PROCESSOR)


class Index:
    """An integer of a type of its own."""

    def __index__(self) -> int:
        return 3


NUMBERS: list[Any] = [
    *(None, 0, 3, True, 1.5, "1", b"1", -1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, Index(), [3]),
    *(np.int64(3), np.uint8(3), np.int32(-1), np.bool_(True), np.float32(1), np.array([3]), np.array(3)),  # noqa: FBT003
]
TEXTS: list[Any] = [None, 5, "", b"a", "a", "\ud800", ["a"], np.str_("a")]
FLAGS: list[Any] = [None, 0, 1, "x", "", [], 1.0, True, False, np.bool_(True)]  # noqa: FBT003


def split(tokenizer: Any, value: Any) -> Any:
    """Sets whether special tokens are text, and returns a text's ids."""
    tokenizer.encode_special_tokens = value
    return tokenizer.encode("<s>").ids


# Methods that take a number, a text, or a flag; what they return or change is compared.
OF_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "max_length": lambda t, v: (t.enable_truncation(v), t.truncation)[1],
    "stride": lambda t, v: (t.enable_truncation(5, stride=v), t.truncation)[1],
    "pad_id": lambda t, v: (t.enable_padding(pad_id=v), t.padding)[1],
    "pad_type_id": lambda t, v: (t.enable_padding(pad_type_id=v), t.padding)[1],
    "length": lambda t, v: (t.enable_padding(length=v), t.padding)[1],
    "multiple": lambda t, v: (t.enable_padding(pad_to_multiple_of=v), t.padding)[1],
    "id_to_token": lambda t, v: t.id_to_token(v),
    "num_special_tokens_to_add": lambda t, v: t.num_special_tokens_to_add(v),
}
OF_TEXTS: dict[str, Callable[[Any, Any], Any]] = {
    "token_to_id": lambda t, v: t.token_to_id(v),
    "encode": lambda t, v: t.encode(v).ids,
    "pair": lambda t, v: t.encode("a", v).ids,
    "words": lambda t, v: t.encode(v, is_pretokenized=True).ids,
    "word": lambda t, v: t.encode([v], is_pretokenized=True).ids,
    "batch": lambda t, v: [each.ids for each in t.encode_batch(v)],
    "fast batch": lambda t, v: [each.ids for each in t.encode_batch_fast(v)],
    "in a batch": lambda t, v: [each.ids for each in t.encode_batch([v])],
    "in a batch of pairs": lambda t, v: [each.ids for each in t.encode_batch([("a", v)])],
    "add_tokens": lambda t, v: (t.add_tokens(v), t.get_vocab_size()),
    "an added token": lambda t, v: (t.add_tokens([v]), t.get_vocab_size()),
    "add_special_tokens": lambda t, v: (t.add_special_tokens(v), t.get_vocab_size()),
    "a special token": lambda t, v: (t.add_special_tokens([v]), t.get_vocab_size()),
    "strategy": lambda t, v: t.enable_truncation(5, strategy=v),
    "direction": lambda t, v: t.enable_truncation(5, direction=v),
    "side": lambda t, v: t.enable_padding(direction=v),
    "pad_token": lambda t, v: (t.enable_padding(pad_token=v), t.padding)[1],
}
OF_FLAGS: dict[str, Callable[[Any, Any], Any]] = {
    "add_special_tokens": lambda t, v: t.encode("a<s>", add_special_tokens=v).ids,
    "is_pretokenized": lambda t, v: t.encode("a" if not v else ["a"], is_pretokenized=v).ids,
    "skip_special_tokens": lambda t, v: t.decode([97, 256], skip_special_tokens=v),
    "skip_special_tokens of a batch": lambda t, v: t.decode_batch([[97, 256]], skip_special_tokens=v),
    "get_vocab": lambda t, v: len(t.get_vocab(v)),
    "get_vocab_size": lambda t, v: t.get_vocab_size(v),
    "to_str": lambda t, v: "\n" in t.to_str(v),
    "encode_special_tokens": split,
}


def result(call: Callable[[], Any]) -> Any:
    """Returns what a call returns, or the kind of its exception."""
    try:
        return call()
    except (TypeError, ValueError, OverflowError) as error:
        # A lone surrogate is an error of encoding there, where a name is expected.
        return TypeError if isinstance(error, UnicodeEncodeError) else type(error)


@pytest.mark.parametrize("contents", [PLAIN, FRAMED], ids=["plain", "framed"])
@pytest.mark.parametrize(
    ("methods", "values"),
    [(OF_NUMBERS, NUMBERS), (OF_TEXTS, TEXTS), (OF_FLAGS, FLAGS)],
    ids=["numbers", "texts", "flags"],
)
def test_arguments(contents: str, methods: dict[str, Callable[[Any, Any], Any]], values: list[Any]) -> None:
    for (name, method), value in product(methods.items(), values):
        theirs, ours = tokenizers.Tokenizer.from_str(contents), hf.Tokenizer.from_str(contents)
        before = ours.to_str()
        expected = result(lambda: method(theirs, value))  # noqa: B023
        found = result(lambda: method(ours, value))  # noqa: B023
        if name in {"strategy", "direction", "side"} and value == "\ud800":
            assert found is ValueError
        else:
            assert found == expected, (name, value)
        if isinstance(expected, type):
            assert ours.to_str() == before
        # What is saved can be loaded, here and there.
        assert json.loads(tokenizers.Tokenizer.from_str(ours.to_str()).to_str()) == json.loads(
            theirs.to_str()
        )
        assert hf.Tokenizer.from_str(ours.to_str()).to_str() == ours.to_str()


@pytest.mark.parametrize(("most", "stride"), [*product((0, 1, 2, 5), (0, 1, 2, 3, 4, 5, 6))])
def test_stride_beside_added_tokens(most: int, stride: int) -> None:
    for contents in (PLAIN, FRAMED):
        found, expected = (
            result(lambda: (t.enable_truncation(most, stride=stride), t.truncation)[1])  # noqa: B023
            for t in (hf.Tokenizer.from_str(contents), tokenizers.Tokenizer.from_str(contents))
        )
        assert found == expected


TRUNCATION = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
PADDING = {
    "strategy": "BatchLongest",
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "[PAD]",
}
ENTRIES: list[dict[str, Any]] = [
    *({"truncation": TRUNCATION | {"max_length": v}} for v in (-5, 1.5, 2**40, 2**64 - 1, 2**64, True, "1")),
    *({"truncation": TRUNCATION | {"stride": value}} for value in (-1, 5, 6, None)),
    *({"padding": PADDING | {"strategy": {"Fixed": value}}} for value in (-1, 3, 2**40, 1.5)),
    *({"padding": PADDING | {"pad_to_multiple_of": value}} for value in (-2, 0, 2**40)),
    *({"padding": PADDING | {"pad_id": value}} for value in (-1, 2**32 - 1, 2**32)),
    *({"padding": PADDING | {"pad_type_id": value}} for value in (-1, 2**32 - 1, 2**32)),
    {"padding": PADDING | {"pad_token": 5}},
]


@pytest.mark.parametrize("number", range(len(ENTRIES)))
def test_settings_in_files(number: int) -> None:
    contents = json.dumps(json.loads(PLAIN) | ENTRIES[number])
    try:
        theirs = tokenizers.Tokenizer.from_str(contents)
    except Exception:  # noqa: BLE001 - what is raised there
        with pytest.raises(bytemill.VocabularyError, match="expected"):
            hf.Tokenizer.from_str(contents)
        return
    ours = hf.Tokenizer.from_str(contents)
    assert (ours.truncation, ours.padding) == (theirs.truncation, theirs.padding)
    for name in ENTRIES[number]:
        assert json.loads(ours.to_str())[name] == json.loads(theirs.to_str())[name]


STEPS: list[Any] = [
    *(104, np.int64(104), np.uint8(104), np.array(104), True, [104, 105], (104, 105), range(104, 106)),
    *(np.array([104, 105]), np.array([104, 105], dtype=np.uint16), [np.int64(104)], [], np.array([]), b"hi"),
    *("h", None, 1.5, np.bool_(True), -1, [-1], 2**32, [2**32], [None], ["a"], [[104]]),  # noqa: FBT003
    *(np.array([[104]]), np.array([1.0])),
]


@pytest.mark.parametrize("number", range(len(STEPS)))
def test_steps_of_a_stream(number: int) -> None:
    value = STEPS[number]
    theirs, ours = tokenizers.Tokenizer.from_str(PLAIN), hf.Tokenizer.from_str(PLAIN)
    for ids in (None, [104], np.array([104, 105])):
        their, our = tokenizers.decoders.DecodeStream(ids), hf.DecodeStream(ids)
        expected, found = result(lambda: their.step(theirs, value)), result(lambda: our.step(ours, value))  # noqa: B023
        assert found == expected
        # A step that is refused changes nothing, and later ones go on from there.
        assert [our.step(ours, i) for i in (97, 98)] == [their.step(theirs, i) for i in (97, 98)]
    expected = result(lambda: tokenizers.decoders.DecodeStream(value).step(theirs, 104))
    assert result(lambda: hf.DecodeStream(value).step(ours, 104)) == expected


def test_flags_of_a_stream() -> None:
    for value in FLAGS:
        expected = result(lambda: tokenizers.decoders.DecodeStream(skip_special_tokens=value) is None)  # noqa: B023
        assert result(lambda: hf.DecodeStream(skip_special_tokens=value) is None) == expected  # noqa: B023


def test_a_single_text_or_a_mapping_is_no_list() -> None:
    ours = hf.Tokenizer.from_str(PLAIN)
    with pytest.raises(
        TypeError, match=r"tokens must be an iterable of texts, not str: .* given as \[text\]"
    ):
        ours.add_tokens("<n>")
    with pytest.raises(TypeError, match="tokens must be a list, not dict, whose keys would be used"):
        ours.add_tokens({"<n>": 1})
    with pytest.raises(TypeError, match="input must be a list, not dict, whose keys would be used"):
        ours.encode_batch({"a": 1})
    with pytest.raises(TypeError, match="each text must be Unicode, got a lone surrogate"):
        ours.encode("\ud800")
    assert ours.get_vocab_size() == 257
