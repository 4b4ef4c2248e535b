"""The checks of tiktoken's own tests, written anew: known ids, round trips, batches, and odd texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bytemill
from support.offline_tiktoken import NAMES

every_encoding = pytest.mark.parametrize("name", NAMES)

TEXTS = [
    "",
    " ",
    "\n",
    "hello world",
    "Many hands, he'd said; WE'LL see.  And\tthen?\r\n\r\n",
    "\u8bf7\u8003\u8bd5\u6211\u7684\u8f6f\u4ef6\uff0112345",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0baf\u0bbe\u0ba4\u0bc1\u0bae\u0bcd \U0001f44b\U0001f3fd",
    "def f():\n\treturn {'a': 1_000_000}\n",
]


def test_known_ids() -> None:
    gpt2 = bytemill.get_encoding("gpt2")
    assert gpt2.encode("hello world") == [31373, 995]
    assert gpt2.decode([31373, 995]) == "hello world"
    assert gpt2.encode("hello <|endoftext|>", allowed_special="all") == [31373, 220, 50256]
    cl100k = bytemill.get_encoding("cl100k_base")
    assert cl100k.encode("hello world") == [15339, 1917]
    assert cl100k.decode([15339, 1917]) == "hello world"
    assert cl100k.encode("hello <|endoftext|>", allowed_special="all") == [15339, 220, 100257]
    o200k = bytemill.get_encoding("o200k_base")
    assert o200k.encode("hello world") == [24912, 2375]
    assert o200k.decode([24912, 2375]) == "hello world"


def test_runs_of_one_character_merge_in_rank_order() -> None:
    gpt2 = bytemill.get_encoding("gpt2")
    expected = [
        [15],
        [405],
        [830],
        [2388],
        [20483],
        [10535],
        [24598],
        [8269],
        [10535, 830],
        [8269, 405],
        [8269, 830],
        [8269, 2388],
        [8269, 20483],
        [8269, 10535],
        [8269, 24598],
        [25645],
        [8269, 10535, 830],
    ]
    assert [gpt2.encode("0" * length) for length in range(1, 18)] == expected


def test_a_million_of_one_letter() -> None:
    text = "x" * 1_000_000
    encoding = bytemill.get_encoding("o200k_base")
    assert encoding.decode(encoding.encode(text)) == text


def test_contractions_and_blanks_at_the_end() -> None:
    cl100k = bytemill.get_encoding("cl100k_base")
    assert cl100k.encode("rer") == [38149]
    assert cl100k.encode("'rer") == [2351, 81]
    assert cl100k.encode("today\n ") == [31213, 198, 220]
    assert cl100k.encode("today\n \n") == [31213, 27907]
    assert cl100k.encode("today\n  \n") == [31213, 14211]


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("r50k_base", [220, 126, 227, 15]),
        ("p50k_base", [220, 126, 227, 15]),
        ("cl100k_base", [220, 126, 227, 15]),
    ],
)
def test_the_next_line_control_is_a_blank(name: str, ids: list[int]) -> None:
    assert bytemill.get_encoding(name).encode(" \x850") == ids


@pytest.mark.parametrize(
    ("name", "ids"),
    [("r50k_base", [31373, 995]), ("p50k_base", [31373, 995]), ("cl100k_base", [15339, 1917])],
)
def test_known_ids_of_other_encodings(name: str, ids: list[int]) -> None:
    assert bytemill.get_encoding(name).encode("hello world") == ids


@every_encoding
def test_no_text_gives_no_ids(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    assert encoding.encode("") == encoding.encode_ordinary("") == encoding._encode_bytes(b"") == []
    assert encoding.encode_to_numpy("").shape == (0,)
    assert encoding.encode_batch([]) == encoding.encode_ordinary_batch([]) == []
    assert encoding.encode_batch([""]) == [[]]
    assert encoding.decode([]) == ""
    assert encoding.decode_bytes([]) == b""
    assert encoding.decode_batch([]) == []
    assert encoding.decode_bytes_batch([]) == []


def test_surrogates() -> None:
    cl100k = bytemill.get_encoding("cl100k_base")
    assert cl100k.encode("\U0001f44d") == [9468, 239, 235]
    assert cl100k.encode("\ud83d\udc4d") == [9468, 239, 235]
    assert cl100k.encode("\ud83d") == cl100k.encode("\ufffd")
    assert cl100k.encode("a\udc4d\ud83db") == cl100k.encode("a\ufffd\ufffdb")


@every_encoding
@pytest.mark.parametrize(
    "method", ["encode", "encode_ordinary", "encode_to_numpy", "_encode_only_native_bpe"]
)
def test_surrogates_are_repaired_in_every_method(name: str, method: str) -> None:
    encode = getattr(bytemill.get_encoding(name), method)
    assert list(encode("x\ud83d\udc4d y")) == list(encode("x\U0001f44d y"))
    assert list(encode("x\ud83d y\udc4d")) == list(encode("x\ufffd y\ufffd"))


@every_encoding
def test_surrogates_are_repaired_in_batches_and_where_text_is_unstable(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    broken, repaired = ["\ud83d\udc4d", "a", "\udc4d"], ["\U0001f44d", "a", "\ufffd"]
    assert encoding.encode_batch(broken) == encoding.encode_batch(repaired)
    assert encoding.encode_ordinary_batch(broken) == encoding.encode_ordinary_batch(repaired)
    for one, other in zip(broken, repaired, strict=True):
        stable, completions = encoding.encode_with_unstable(one)
        expected_stable, expected_completions = encoding.encode_with_unstable(other)
        assert stable == expected_stable
        assert sorted(completions) == sorted(expected_completions)


@every_encoding
def test_repetitive_texts_round_trip(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    for character in ["^", "0", "a", "'s", " ", "\n"]:
        text = character * 10_000
        for variant in (text, " " + text, text + "\n"):
            assert encoding.decode(encoding.encode(variant)) == variant


@every_encoding
@pytest.mark.parametrize("text", TEXTS)
def test_texts_round_trip(name: str, text: str) -> None:
    encoding = bytemill.get_encoding(name)
    ids = encoding.encode(text, disallowed_special=())
    assert encoding.decode(ids) == text
    assert encoding.decode(ids, errors="strict") == text
    assert encoding.decode_bytes(ids) == text.encode()
    assert b"".join(encoding.decode_tokens_bytes(ids)) == text.encode()
    assert encoding.encode_ordinary(text) == ids
    assert encoding.encode_to_numpy(text, disallowed_special=()).tolist() == ids


@every_encoding
def test_single_tokens_round_trip(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    for token in range(10_000):
        assert encoding.encode_single_token(encoding.decode_single_token_bytes(token)) == token


def test_single_tokens_are_text_or_bytes() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    assert encoding.encode_single_token("hello") == encoding.encode_single_token(b"hello") == 15339
    assert (
        encoding.encode_single_token("<|endoftext|>")
        == encoding.encode_single_token(b"<|endoftext|>")
        == 100257
    )
    assert encoding.encode_single_token(b"\xff") == encoding._mergeable_ranks[b"\xff"]


def test_a_piece_is_merged_without_splitting() -> None:
    encoding = bytemill.get_encoding("gpt2")
    assert encoding._encode_single_piece("helloqqqq") == [31373, 38227, 38227]
    assert encoding._encode_single_piece(b"helloqqqq") == [31373, 38227, 38227]
    # Split, "a b" would be two pieces that nothing joins.
    assert encoding._encode_single_piece("hello world") == encoding.encode("hello world")
    assert encoding._encode_single_piece(b"\xff\xfe") == encoding._encode_bytes(b"\xff\xfe")


@every_encoding
def test_batches_are_the_texts_one_by_one(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    single = [encoding.encode(text) for text in TEXTS]
    for threads in (1, 2, 3, 8, 100):
        assert encoding.encode_batch(TEXTS, num_threads=threads) == single
        assert encoding.encode_ordinary_batch(TEXTS, num_threads=threads) == single
        assert encoding.decode_batch(single, num_threads=threads) == TEXTS
        assert encoding.decode_bytes_batch(single, num_threads=threads) == [text.encode() for text in TEXTS]


def test_batches_of_many_texts_keep_their_order() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    batch = [f"{number} " * (number % 700) for number in range(3_000)]
    ids = encoding.encode_ordinary_batch(batch)
    assert ids == [encoding.encode_ordinary(text) for text in batch]
    assert encoding.decode_batch(ids) == batch


def test_batches_are_any_iterable() -> None:
    np = pytest.importorskip("numpy")
    encoding = bytemill.get_encoding("cl100k_base")
    single = [encoding.encode(text) for text in TEXTS]
    assert encoding.encode_batch(text for text in TEXTS) == single
    assert encoding.encode_batch(tuple(TEXTS)) == single
    assert encoding.encode_batch(np.array(TEXTS, dtype=object)) == single
    assert encoding.encode_ordinary_batch(np.array(["ab", "c d"])) == encoding.encode_batch(["ab", "c d"])
    assert encoding.encode_ordinary_batch("abc") == [[64], [65], [66]]
    rows = np.array([[15339, 1917], [9906, 1917]])
    assert encoding.decode_batch(rows) == ["hello world", "Hello world"]
    assert encoding.decode_bytes_batch(list(rows)) == [b"hello world", b"Hello world"]
    assert encoding.decode_batch(iter([[15339], [1917]])) == ["hello", " world"]


def test_arrays() -> None:
    np = pytest.importorskip("numpy")
    encoding = bytemill.get_encoding("cl100k_base")
    ids = encoding.encode_to_numpy("hello world")
    assert isinstance(ids, np.ndarray)
    assert ids.dtype == np.uint32
    assert ids.shape == (2,)
    assert not ids.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        ids[0] = 1
    assert ids.tolist() == [15339, 1917]
    assert encoding.decode(ids) == "hello world"


def test_ids_may_come_as_any_sequence_of_integers() -> None:
    np = pytest.importorskip("numpy")
    encoding = bytemill.get_encoding("cl100k_base")
    ids = [64, 65, 66]
    for sequence in (ids, tuple(ids), range(64, 67), bytes(ids), bytearray(ids), memoryview(bytes(ids))):
        assert encoding.decode(sequence) == "abc"
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        assert encoding.decode(np.array(ids, dtype=kind)) == "abc"
    assert encoding.decode(np.arange(64, 70)[::2]) == "ace"
    assert encoding.decode(np.array([])) == ""
    assert encoding.decode([np.int64(64), np.uint8(65)]) == "ab"


@pytest.mark.parametrize("kind", ["i2", "u2", "i4", "u4", "i8", "u8"])
def test_ids_may_come_in_either_byte_order(kind: str) -> None:
    np = pytest.importorskip("numpy")
    encoding = bytemill.get_encoding("cl100k_base")
    for order in "<>":
        assert encoding.decode(np.array([64, 300], dtype=order + kind)) == encoding.decode([64, 300])


def test_text_may_be_a_subclass_of_str() -> None:
    np = pytest.importorskip("numpy")

    class Text(str):
        __slots__ = ()

    encoding = bytemill.get_encoding("cl100k_base")
    for text in (Text("hello world"), np.str_("hello world")):
        assert encoding.encode(text) == encoding.encode_ordinary(text) == [15339, 1917]
        assert encoding.encode_batch([text]) == [[15339, 1917]]


def test_what_is_not_utf8_decodes_to_replacement_characters() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    ids = encoding._encode_bytes(b"a\xff")
    assert encoding.decode(ids) == "a\ufffd"
    assert encoding.decode(ids, "ignore") == "a"
    assert encoding.decode_batch([ids], errors="backslashreplace") == ["a\\xff"]
    with pytest.raises(UnicodeDecodeError):
        encoding.decode(ids, errors="strict")


def test_special_tokens_of_a_custom_encoding(byte_ranks: dict[bytes, int]) -> None:
    encoding = bytemill.Encoding(
        "custom", pat_str=r"[\s\S]", mergeable_ranks=byte_ranks, special_tokens={"<|a|>": 1000}
    )
    assert encoding.encode("b<|a|>b", allowed_special="all") == [98, 1000, 98]
    assert encoding.n_vocab == 1001
    with pytest.raises(KeyError, match="endoftext"):
        encoding.eot_token  # noqa: B018 - asking is the test


def test_encodings_are_made_once() -> None:
    assert bytemill.get_encoding("cl100k_base") is bytemill.get_encoding("cl100k_base")
    assert bytemill.encoding_for_model("gpt-4") is bytemill.get_encoding("cl100k_base")
    assert repr(bytemill.get_encoding("cl100k_base")) == "<Encoding 'cl100k_base', 100277 tokens>"
    assert bytemill.get_encoding("cl100k_base") != bytemill.get_encoding("o200k_base")
    assert not hasattr(bytemill.get_encoding("cl100k_base"), "__len__")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt2", "gpt2"),
        ("text-davinci-003", "p50k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("gpt-3.5-turbo-0301", "cl100k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
    ],
)
def test_encodings_of_models(model: str, name: str) -> None:
    assert bytemill.encoding_for_model(model).name == bytemill.encoding_name_for_model(model) == name


def test_lists_of_ids_may_hold_anything_that_stands_for_an_integer() -> None:
    encoding = bytemill.get_encoding("gpt2")
    ids: list[Any] = [15339, np.int64(995), True, 0]
    assert encoding.decode_bytes(ids) == encoding.decode_bytes([15339, 995, 1, 0])


def test_a_list_may_change_while_its_ids_are_read() -> None:
    ids: list[Any] = []

    class Clears:
        def __index__(self) -> int:
            del ids[2:]
            return 5

    ids += [1, Clears(), 2, 3]
    encoding = bytemill.get_encoding("gpt2")
    assert encoding.decode_bytes(ids) == encoding.decode_bytes([1, 5])


@pytest.mark.parametrize("number", [-1, 2**32, 2**63, -(2**63), 2**70, -(2**70)])
def test_numbers_that_are_no_ids_are_refused_in_lists(number: int) -> None:
    encoding = bytemill.get_encoding("gpt2")
    message = f"the id {number} is out of range: expected 0 to 4294967295"
    wrong: list[Any] = [[1, number], (1, number), [np.int64(1), number]]
    for ids in wrong:
        with pytest.raises(OverflowError, match=f"^{message}$"):
            encoding.decode(ids)
    with pytest.raises(OverflowError, match=message):
        encoding.decode_batch([[1], [number]])
    assert encoding.decode([1]) == '"'
