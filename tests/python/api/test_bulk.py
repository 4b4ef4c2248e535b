"""Arrays and counts of many texts: the ids of `encode_ordinary`, whatever the threads, types and buffers."""

from __future__ import annotations

import array
import gc
import itertools
import json
import math
import mmap
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import bytemill
from bytemill import DisallowedSpecialTokenError, Ragged
from bytemill.shards import write_shards
from support.libraries import EOT
from support.memory import needs_memory, resident
from support.offline_tiktoken import NAMES
from support.texts import ADVERSARIAL, broken_utf8, installation_files, multilingual, patchwork

every_encoding = pytest.mark.parametrize("name", NAMES)
every_family = pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])

TEXTS = [
    "",
    *ADVERSARIAL.values(),
    "",
    *(patchwork(seed, 60) for seed in range(200)),
    multilingual(2, 30_000),
    *(text for _, text in installation_files(300_000)),
    f"a {EOT} b",
    "\ud83d\udc4d \udc4d",
]


@pytest.fixture(scope="module")
def encoding() -> bytemill.Encoding:
    return bytemill.get_encoding("o200k_base")


def rows(ragged: Ragged) -> list[list[int]]:
    """The ids of each text, as lists."""
    ids, offsets = ragged
    return [ids[start:end].tolist() for start, end in itertools.pairwise(offsets.tolist())]


# --- The same ids -------------------------------------------------------------------------------------------


@every_family
def test_the_ids_of_each_text(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    expected = [encoding.encode_ordinary(text) for text in TEXTS]
    counts = list(map(len, expected))
    assert rows(encoding.encode_batch_to_numpy(TEXTS)) == expected
    every_id = np.array([*itertools.chain.from_iterable(expected)], np.uint32)
    offsets = [0, *itertools.accumulate(counts)]
    for threads in (None, *range(1, 9)):
        ragged = encoding.encode_batch_to_numpy(TEXTS, num_threads=threads)
        assert np.array_equal(ragged.ids, every_id)
        assert np.array_equal(ragged.offsets, offsets)
        assert encoding.count_batch(TEXTS, num_threads=threads).tolist() == counts
    assert [encoding.count(text) for text in TEXTS] == counts


@every_family
def test_one_text_on_several_threads(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    cut_anywhere = "".join(patchwork(seed, 1_000) for seed in range(300))
    for text in ["\n".join(TEXTS) * 2, cut_anywhere, " " * 500_000, "a" * 300_000, "", "a"]:
        expected = np.array(encoding.encode_ordinary(text), np.uint32)
        for threads in (None, 1, 2, 7):
            assert np.array_equal(encoding.encode_ordinary_to_numpy(text, num_threads=threads), expected)
            assert np.array_equal(encoding.encode_batch_to_numpy([text], num_threads=threads).ids, expected)


def test_shapes_and_types(encoding: bytemill.Encoding) -> None:
    ragged = encoding.encode_batch_to_numpy(["hello world", "", "hello"])
    assert isinstance(ragged, bytemill.Ragged)
    assert ragged.ids.dtype == np.uint32
    assert ragged.offsets.dtype == np.int64
    assert ragged.ids.tolist() == [24912, 2375, 24912]
    assert ragged.offsets.tolist() == [0, 2, 2, 3]
    counts = encoding.count_batch(["hello world", "", "hello"])
    assert counts.dtype == np.int64
    assert counts.tolist() == [2, 0, 1]
    assert type(encoding.count("hello")) is int


def test_no_texts(encoding: bytemill.Encoding) -> None:
    none: list[Any] = [[], (), iter([])]
    for texts in none:
        ids, offsets = encoding.encode_batch_to_numpy(texts, prepend=1)
        assert (ids.tolist(), offsets.tolist()) == ([], [0])
        assert ids.dtype == np.uint32
    assert encoding.count_batch([]).shape == (0,)
    assert rows(encoding.encode_batch_to_numpy([""])) == [[]]
    assert encoding.encode_ordinary_to_numpy("").shape == (0,)
    assert encoding.count("") == 0


def test_texts_are_any_iterable_of_strings(encoding: bytemill.Encoding) -> None:
    texts = ["hello", "\u4f60\u597d", ""]
    expected = [encoding.encode_ordinary(text) for text in texts]
    for batch in (tuple(texts), iter(texts), dict.fromkeys(texts), np.array(texts), (t for t in texts)):
        assert rows(encoding.encode_batch_to_numpy(batch)) == expected
    assert encoding.count_batch(text for text in texts).tolist() == list(map(len, expected))


@pytest.mark.parametrize("text", ["ab", "", b"ab"])
def test_a_single_text_is_no_list_of_texts(encoding: bytemill.Encoding, text: Any) -> None:
    for call in (encoding.encode_batch_to_numpy, encoding.count_batch, encoding.encode_iter):
        with pytest.raises(TypeError, match=r"texts must be an iterable of texts, .* given as \[text\]"):
            call(text)


def test_numbers_are_checked_by_name(encoding: bytemill.Encoding) -> None:
    wrong: Any = "300"
    calls: dict[str, Callable[[], object]] = {
        "num_threads": lambda: encoding.count_batch(["a"], num_threads=wrong),
        "batch_size": lambda: encoding.encode_iter(["a"], batch_size=wrong),
        "bytes_per_thread": lambda: encoding.set_cache_limit(wrong),
        "vocab_size": lambda: bytemill.train(["a"], wrong),
        "min_frequency": lambda: bytemill.train(["a"], 300, min_frequency=wrong),
        "max_token_length": lambda: bytemill.train(["a"], 300, max_token_length=wrong),
        "pad_vocab_to": lambda: bytemill.train(["a"], 300, pad_vocab_to=wrong),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"{name} must be an integer, not '300'"):
            call()


@pytest.mark.filterwarnings("ignore:training ended")
def test_numbers_beyond_those_of_the_machine_train() -> None:
    def trained(size: int, **more: Any) -> int:
        return bytemill.train(["ab ab"], size, progress=False, **more).n_vocab

    assert trained(10**23) == trained(10**23, max_token_length=10**23) == trained(300)
    assert trained(10**23, min_frequency=10**23) == 256


def test_more_threads_than_integers_of_the_machine(encoding: bytemill.Encoding) -> None:
    assert encoding.encode_batch(["a b"], num_threads=10**23) == [encoding.encode("a b")]
    assert encoding.decode_batch([[64]], num_threads=2**64) == ["a"]
    assert encoding.count_batch(["a b"], num_threads=10**23).tolist() == [2]
    with pytest.raises(ValueError, match="num_threads must be 1 or more, or None for all processors, not 0"):
        encoding.count_batch(["a"], num_threads=0)


@pytest.mark.parametrize("threads", [1, 2])
def test_arrays_are_the_callers(encoding: bytemill.Encoding, threads: int) -> None:
    texts = ["words " * 30_000] * 4
    for _ in range(2):
        ids, offsets = encoding.encode_batch_to_numpy(texts, num_threads=threads)
        one = encoding.encode_ordinary_to_numpy(texts[0], num_threads=threads)
        counts = encoding.count_batch(texts, num_threads=threads)
        assert counts.tolist() == [len(one)] * 4 == np.diff(offsets).tolist()
        for numbers in (ids, offsets, one, counts):
            assert numbers.flags.writeable
            assert numbers.flags.c_contiguous
            assert numbers.flags.aligned
            numbers[:] = 0


@needs_memory
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_is_released(encoding: bytemill.Encoding, threads: int) -> None:
    texts = ["some words, and more of them; " * 2_000] * 100

    def work() -> None:
        encoding.encode_batch_to_numpy(texts, num_threads=threads)
        encoding.encode_batch_to_numpy(texts, num_threads=threads, dtype=np.int64)
        encoding.count_batch(texts, num_threads=threads)
        ids: Any = encoding.encode_ordinary_to_numpy(texts[0])
        encoding.decode_bytes(ids)

    for _ in range(3):
        work()
    gc.collect()
    before = resident()
    for _ in range(15):
        work()
    gc.collect()
    # Each turn makes arrays of some twenty megabytes.
    assert resident() - before < 30_000_000


# --- Types --------------------------------------------------------------------------------------------------

WIDE = ["i4", "u4", "i8", "u8", np.int64, int, np.dtype("uint32"), np.longlong, ">u4", ">i8", "<u8"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_integer_types(encoding: bytemill.Encoding, dtype: Any, threads: int) -> None:
    expected = encoding.encode_batch_to_numpy(TEXTS)
    ids, offsets = encoding.encode_batch_to_numpy(TEXTS, dtype=dtype, num_threads=threads)
    assert ids.dtype == np.dtype(dtype)
    assert ids.flags.writeable
    assert np.array_equal(ids, expected.ids)
    assert np.array_equal(offsets, expected.offsets)


def test_the_smallest_type() -> None:
    words = {"type": "WordLevel", "vocab": {"a": 0, "b": 127, "?": 2}, "unk_token": "?"}
    splitter = {"type": "WhitespaceSplit"}
    file = {"version": "1.0", "added_tokens": [], "pre_tokenizer": splitter, "model": words}
    encoding = bytemill.Encoding.from_bytes(json.dumps(file).encode())
    ids = encoding.encode_batch_to_numpy(["b a"], dtype="int8").ids
    assert (ids.dtype.name, ids.tolist()) == ("int8", [127, 0])


def test_small_vocabularies_fit_small_types(byte_ranks: dict[bytes, int]) -> None:
    gpt2 = bytemill.get_encoding("gpt2")
    assert gpt2.encode_batch_to_numpy(["hello"], dtype="u2").ids.dtype == np.uint16
    for highest, fitting, refused in ((255, "u1 i2 u2 i4", "i1"), (32_767, "i2", "u1"), (65_535, "u2", "i2")):
        encoding = (
            bytemill.Encoding(
                "small", pat_str=r"[\s\S]", mergeable_ranks=byte_ranks | {b"ab": highest}, special_tokens={}
            )
            if highest > 255
            else bytemill.Encoding("bytes", pat_str=r"[\s\S]", mergeable_ranks=byte_ranks, special_tokens={})
        )
        for dtype in fitting.split():
            ids = encoding.encode_batch_to_numpy(["a\xff"], append=highest, dtype=dtype).ids
            assert (ids.dtype, ids.tolist()) == (np.dtype(dtype), [97, 195, 191, highest])
        with pytest.raises(ValueError, match="cannot hold token IDs up to"):
            encoding.encode_batch_to_numpy(["a"], dtype=refused)


@pytest.mark.parametrize("dtype", ["u2", "i2", "u1", "i1", "f4", "f8", bool, object, "S4", "M8[s]", "m8[s]"])
def test_types_that_cannot_hold_the_ids(encoding: bytemill.Encoding, dtype: Any) -> None:
    texts = iter(["a"])
    with pytest.raises(ValueError, match=r"cannot hold token IDs up to 200018: expected .* uint32"):
        encoding.encode_batch_to_numpy(texts, dtype=dtype)
    assert list(texts) == ["a"], "texts were read before the type was refused"


def test_types_that_are_none(encoding: bytemill.Encoding) -> None:
    with pytest.raises(TypeError):
        encoding.encode_batch_to_numpy(["a"], dtype="no type")


# --- Before and after ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_prepend_and_append(encoding: bytemill.Encoding, threads: int) -> None:
    plain = [encoding.encode_ordinary(text) for text in TEXTS]
    eot = encoding.eot_token
    around: list[Any] = [(eot, None), (None, eot), ([1, eot], (2, 3)), (np.int64(5), np.array([6, 7]))]
    for prepend, append in around:
        ragged = encoding.encode_batch_to_numpy(TEXTS, prepend=prepend, append=append, num_threads=threads)
        before = np.atleast_1d([] if prepend is None else prepend).tolist()
        after = np.atleast_1d([] if append is None else append).tolist()
        assert rows(ragged) == [[*before, *ids, *after] for ids in plain]
    assert rows(encoding.encode_batch_to_numpy(["a"], prepend=[], append=())) == [[64]]
    named = encoding.encode_batch_to_numpy(TEXTS, prepend="!", append=[EOT, 5], num_threads=threads)
    assert rows(named) == [[0, *ids, eot, 5] for ids in plain]


@pytest.mark.parametrize("where", ["prepend", "append"])
@pytest.mark.parametrize("token", [200_018 + 1, 199_998, -1, 2**32, 2**70, [5, 200_019]])
def test_unknown_tokens_around_texts(encoding: bytemill.Encoding, where: str, token: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{where} has the id .*not a token.*encode_single_token"):
        encoding.encode_batch_to_numpy(["a"], **{where: token})


@pytest.mark.parametrize("where", ["prepend", "append"])
@pytest.mark.parametrize("token", [b"\n", bytearray(b"\n"), memoryview(b"\n"), b""])
def test_bytes_around_texts(where: str, token: Any, tmp_path: Path) -> None:
    """Their items are integers, but not meant as IDs."""
    encoding = bytemill.get_encoding("gpt2")
    arguments = {where: token}
    for call in (
        lambda: encoding.encode_batch_to_numpy(["a"], **arguments),
        lambda: write_shards(["a"], tmp_path / "out", encoding, **arguments),
    ):
        with pytest.raises(TypeError, match=rf"^{where} must be a token id, the text of a token as str, or "):
            call()


def test_the_warning_of_an_ordinary_token_names_the_call(tmp_path: Path) -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    calls = (
        lambda: encoding.encode_batch_to_numpy(["a"], append="eos"),
        lambda: write_shards(["a"], tmp_path / "out", encoding, append="eos"),
    )
    for call in calls:
        with pytest.warns(UserWarning, match="ordinary token") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("where", ["prepend", "append"])
@pytest.mark.parametrize("token", ["<|none|>", "", "hello world", [EOT, "<|none|>"]])
def test_texts_around_texts_that_are_no_token(encoding: bytemill.Encoding, where: str, token: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{where} has the text .*not a token.*such as '<|endoftext|>'"):
        encoding.encode_batch_to_numpy(["a"], **{where: token})


@pytest.mark.parametrize("where", ["prepend", "append"])
@pytest.mark.parametrize("token", [1.5, [1.5], [None], object()])
def test_what_is_no_token_id(encoding: bytemill.Encoding, where: str, token: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{where} must be a token id.*encode_single_token"):
        encoding.encode_batch_to_numpy(["a"], **{where: token})


# --- Special tokens and errors ------------------------------------------------------------------------------


def test_special_tokens_are_text_unless_allowed(encoding: bytemill.Encoding) -> None:
    texts = [f"a {EOT}", EOT, "b"]
    ordinary = [encoding.encode_ordinary(text) for text in texts]
    assert rows(encoding.encode_batch_to_numpy(texts)) == ordinary
    assert encoding.count_batch(texts).tolist() == list(map(len, ordinary))
    assert encoding.count(EOT) == len(ordinary[1])
    for allowed in ("all", {EOT}):
        special = [encoding.encode(text, allowed_special="all") for text in texts]
        assert rows(encoding.encode_batch_to_numpy(texts, allowed_special=allowed)) == special
    with pytest.raises(DisallowedSpecialTokenError):
        encoding.encode_batch_to_numpy(texts, disallowed_special="all")
    with pytest.raises(TypeError):
        encoding.encode_batch_to_numpy(texts, allowed_special=[EOT])  # type: ignore[arg-type]


class Table:
    """Has columns, which it iterates over, as data frames do."""

    columns = ("text", "id")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


@pytest.mark.parametrize(
    "method",
    [
        "encode_batch",
        "encode_ordinary_batch",
        "encode_batch_to_numpy",
        "encode_iter",
        "count_batch",
        "count_by_token",
    ],
)
def test_tables_and_mappings_are_no_texts(encoding: bytemill.Encoding, method: str) -> None:
    call = getattr(encoding, method)
    with pytest.raises(TypeError, match=r"not a table \(Table\): pass the column with the texts"):
        call(Table())
    batch = {"text": ["a book"], "id": [1]}
    if method.endswith("_batch") and method.startswith("encode"):
        # As in tiktoken.
        assert call(batch) == [encoding.encode("text"), encoding.encode("id")]
        return
    with pytest.raises(TypeError, match=r"not a mapping of columns \(dict\): pass the column"):
        call(batch)
    assert len(list(call(list(batch)))) >= 2


def test_rows_of_an_array(encoding: bytemill.Encoding) -> None:
    texts = ["hello world", "", "a book", "\ud83d\ude00"]
    ragged = encoding.encode_batch_to_numpy(texts, append=encoding.eot_token, dtype="int64")
    found = ragged.rows()
    assert [row.tolist() for row in found] == rows(ragged)
    assert all(np.shares_memory(row, ragged.ids) for row in found)
    assert {row.dtype for row in found} == {np.dtype("int64")}
    assert encoding.encode_batch_to_numpy([]).rows() == []
    decoded = [f"{text}{EOT}" for text in (*texts[:3], "\U0001f600")]
    assert encoding.decode_batch(ragged) == decoded
    assert encoding.decode_bytes_batch(ragged) == [text.encode() for text in decoded]


FAILING: list[tuple[list[Any], Any, type[Exception], str]] = [
    (["a", 3, EOT], "all", TypeError, "expected text as str, got int"),
    (["a", EOT, 3], "all", DisallowedSpecialTokenError, "endoftext"),
    (["a", "<|endofprompt|>", EOT, 3], "all", DisallowedSpecialTokenError, "endofprompt"),
    (["a", b"b"], (), TypeError, "expected text as str, got bytes; encode_bytes takes bytes"),
    (["a", None], (), TypeError, "expected text as str, got NoneType; leave out missing texts"),
    (["a", math.nan], (), TypeError, "expected text as str, got float; leave out missing texts"),
    ([pa.scalar("a")], (), TypeError, "got StringScalar; encode_arrow takes Arrow arrays"),
    (["a", "say hello", EOT], ["hello", EOT], DisallowedSpecialTokenError, "hello"),
    (["a", EOT, "say hello"], ["hello", EOT], DisallowedSpecialTokenError, "endoftext"),
    ([3, "say hello"], ["hello"], TypeError, "got int"),
    (["say hello", 3], ["hello"], DisallowedSpecialTokenError, "hello"),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("texts", "disallowed", "error", "message"), FAILING)
def test_the_first_text_that_fails_decides(  # noqa: PLR0913, PLR0917 - a row of the table
    encoding: bytemill.Encoding,
    texts: list[Any],
    disallowed: Any,
    error: type[Exception],
    message: str,
    threads: int,
) -> None:
    # In batches of one share and of many.
    for before in ([], ["some words " * 10_000] * 20):
        for encode in (encoding.encode_batch_to_numpy, encoding.encode_batch):
            with pytest.raises(error, match=message) as caught:
                encode(before + texts, disallowed_special=disallowed, num_threads=threads)
            assert type(caught.value) is error


def test_a_batch_that_fails_where_a_pattern_gives_up(byte_ranks: dict[bytes, int]) -> None:
    # A backreference, so that there is no automaton.
    encoding = bytemill.Encoding(
        "custom", pat_str=r"(c?)(a+)+\1(?=b)b|[^a]", mergeable_ranks=byte_ranks, special_tokens={EOT: 300}
    )
    hopeless: Any = "a" * 100_000 + "c"
    for texts, error in [
        ([hopeless, EOT, 3], bytemill.PatternError),
        ([EOT, hopeless], DisallowedSpecialTokenError),
    ]:
        with pytest.raises(error):
            encoding.encode_batch(texts)
        with pytest.raises(error):
            encoding.encode_batch_to_numpy(texts, disallowed_special="all")
    for count in (lambda: encoding.count(hopeless), lambda: encoding.count_batch([hopeless, "b"])):
        with pytest.raises(bytemill.PatternError):
            count()


@pytest.mark.parametrize("threads", [0, -1])
def test_numbers_of_threads(encoding: bytemill.Encoding, threads: int) -> None:
    for call in (
        lambda: encoding.encode_batch_to_numpy([], num_threads=threads),
        lambda: encoding.count_batch([], num_threads=threads),
        lambda: encoding.encode_ordinary_to_numpy("", num_threads=threads),
    ):
        with pytest.raises(ValueError, match=f"num_threads must be 1 or more, .*not {threads}"):
            call()


@pytest.mark.parametrize("text", [None, 3, b"a", ["a"]])
def test_text_must_be_a_string(encoding: bytemill.Encoding, text: Any) -> None:
    for call in (
        encoding.count,
        encoding.encode_ordinary_to_numpy,
        lambda text: encoding.count_batch([text]),
    ):
        with pytest.raises(TypeError, match="expected text as str"):
            call(text)
    with pytest.raises(TypeError):
        encoding.count_batch(3)  # type: ignore[arg-type]


# --- Bytes --------------------------------------------------------------------------------------------------


@every_encoding
def test_bytes_of_text_give_the_ids_of_the_text(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    for text in TEXTS[:-1]:
        assert encoding.encode_bytes(text.encode()) == encoding.encode_ordinary(text)
    for data in broken_utf8(seed=3, count=1_000):
        assert encoding.encode_bytes(data) == encoding._encode_bytes(data)


def test_any_contiguous_buffer(encoding: bytemill.Encoding) -> None:
    data = "hello \u4f60\u597d, ".encode() * 500 + b"\xff"
    expected = encoding._encode_bytes(data)
    numbers = np.frombuffer(data, dtype=np.uint8)
    with mmap.mmap(-1, len(data)) as mapped:
        mapped[:] = data
        buffers: list[Any] = [
            data,
            bytearray(data),
            memoryview(data),
            memoryview(bytearray(data)),
            memoryview(data).cast("c"),
            mapped,
            array.array("B", data),
            numbers,
            numbers.copy(),
            np.repeat(numbers, 2)[::2].copy(),
        ]
        for buffer in buffers:
            assert encoding.encode_bytes(buffer) == expected
        assert encoding.encode_bytes(memoryview(data)[6:12]) == encoding.encode_ordinary("\u4f60\u597d")
    assert encoding.encode_bytes(b"") == encoding.encode_bytes(bytearray()) == []


@pytest.mark.parametrize(
    "data",
    [
        "text",
        3,
        None,
        [104, 105],
        np.frombuffer(b"abcdef", dtype=np.uint8)[::2],
        memoryview(b"abcdef")[::-1],
        np.array([104, 105]),
        np.array([104, 105], dtype=">u2"),
        array.array("I", [104]),
        np.array([1.5]),
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_no_buffer_of_bytes(encoding: bytemill.Encoding, data: Any) -> None:
    with pytest.raises(TypeError, match="expected bytes or a contiguous buffer of them"):
        encoding.encode_bytes(data)


# --- Lists and arrays of ids --------------------------------------------------------------------------------


def test_lists_hold_what_arrays_hold(encoding: bytemill.Encoding) -> None:
    # Two ways from the core's ids to Python: interned integers, and NumPy's own.
    text = "\n".join(TEXTS)
    for _ in range(3):
        assert encoding.encode_ordinary(text) == encoding.encode_ordinary_to_numpy(text).tolist()
    counts = set()
    for _ in range(1_000):
        (hello,) = encoding.encode_ordinary("hello")
        counts.add(sys.getrefcount(hello))
    assert len(counts) == 1


def test_ids_beyond_those_interned(byte_ranks: dict[bytes, int]) -> None:
    special_tokens = {"<a>": 2**32 - 2, "<b>": 2**20, "<c>": 2**20 - 1}
    encoding = bytemill.Encoding(
        "far", pat_str=r"[\s\S]", mergeable_ranks=byte_ranks, special_tokens=special_tokens
    )
    for _ in range(2):
        ids = encoding.encode("a<a><b><c>", allowed_special="all")
        assert ids == [97, 2**32 - 2, 2**20, 2**20 - 1]
        assert encoding.decode(ids) == "a<a><b><c>"


@pytest.mark.parametrize("size", [3, 100_000])
def test_arrays_of_ids_of_every_layout(encoding: bytemill.Encoding, size: int) -> None:
    ids: Any = np.resize(np.array(encoding.encode_ordinary(multilingual(3, 2_000)), dtype=np.uint32), size)
    expected = encoding.decode_bytes(ids.tolist())
    raw = bytearray(b"x" + ids.tobytes())
    layouts: list[Any] = [
        ids,
        ids.astype(">u4"),
        *(ids.astype(kind) for kind in ("i4", "i8", "u8", ">i8")),
        np.repeat(ids, 3)[::3],
        ids[::-1].copy()[::-1],
        np.frombuffer(memoryview(raw)[1:], dtype=np.uint32),
        array.array("I", ids.tobytes()),
        tuple(ids.tolist()),
    ]
    ids.flags.writeable = False
    for layout in layouts:
        assert encoding.decode_bytes(layout) == expected
        assert encoding.decode(layout) == expected.decode("utf-8", "replace")
        assert encoding.decode_bytes_batch([layout] * 3) == [expected] * 3
        assert encoding.decode_batch([layout] * 3) == [expected.decode("utf-8", "replace")] * 3
    for number in (-1, 2**32):
        outside: Any = np.append(ids.astype(np.int64), number)
        with pytest.raises(OverflowError):
            encoding.decode(outside)
    unknown: Any = np.append(ids, np.uint32(199_998))
    with pytest.raises(bytemill.UnknownTokenError, match="199998"):
        encoding.decode(unknown)


def test_cache_limit_bounds_what_is_remembered_and_changes_no_id(encoding: bytemill.Encoding) -> None:
    def letters(number: int) -> str:
        return "".join(chr(97 + (number * 7919 >> shift) % 26) for shift in range(12))

    words = [f" {letters(number)}" for number in range(20_000)]
    text = "".join(words)
    expected = encoding.encode_ordinary(text)
    encoding.clear_cache()
    empty = encoding.memory_usage()
    try:
        for limit in (0, 1 << 20, 1 << 23):
            encoding.set_cache_limit(limit)
            assert encoding.encode_ordinary(text) == expected
            assert encoding.encode_ordinary(text) == expected
            assert encoding.memory_usage() - empty <= limit + (1 << 16)
        with pytest.raises(ValueError, match="expected a number of bytes, 0 or more, got -1"):
            encoding.set_cache_limit(-1)
        with pytest.raises(TypeError):
            encoding.set_cache_limit("64 MB")  # type: ignore[arg-type]
    finally:
        encoding.set_cache_limit(64 << 20)


def test_a_two_dimensional_array_is_a_batch(encoding: bytemill.Encoding) -> None:
    rectangle = np.array([[64, 64], [65, 65]], dtype=np.uint32)
    assert encoding.decode_batch(rectangle) == ["aa", "bb"]
    wrong: Any
    for wrong in (rectangle, rectangle.tolist()):
        with pytest.raises(TypeError, match="got a list of them: decode_batch decodes several lists"):
            encoding.decode(wrong)
