"""Columns of Arrow: the ids of each text, for every type and producer; memory is shared and released once."""

from __future__ import annotations

import ctypes
import gc
import random
import sys
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import bytemill
from bytemill import DisallowedSpecialTokenError
from support import arrow_c
from support.libraries import EOT
from support.memory import needs_memory, peak_beyond, resident
from support.texts import ADVERSARIAL, broken_utf8, multilingual, patchwork

TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
BYTES_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view()]

TEXTS: list[str | None] = [
    None,
    "",
    "x" * 12,  # just in a view
    "y" * 13,
    *(text.encode(errors="replace").decode() for text in ADVERSARIAL.values()),
    None,
    *(patchwork(seed, 30) for seed in range(200)),
    None,
    multilingual(1, 20_000),
    f"a {EOT} b",
    None,
]


@pytest.fixture(scope="module")
def encoding() -> bytemill.Encoding:
    return bytemill.get_encoding("o200k_base")


@pytest.fixture(scope="module")
def expected(encoding: bytemill.Encoding) -> list[list[int] | None]:
    return [None if text is None else encoding.encode_ordinary(text) for text in TEXTS]


def ids_of(column: Any) -> list[list[int] | None]:
    """Columns as another library reads them, checked by it."""
    array = pa.array(column)
    array.validate(full=True)
    assert array.type == pa.list_(pa.uint32())
    assert len(column) == len(array)
    ids: list[list[int] | None] = array.to_pylist()
    assert array.null_count == ids.count(None)
    return ids


# --- In -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
@pytest.mark.parametrize("threads", [1, 2, None])
def test_columns_of_text(
    encoding: bytemill.Encoding, expected: list[list[int] | None], kind: Any, threads: int | None
) -> None:
    column = pa.array(TEXTS, kind)
    assert ids_of(encoding.encode_arrow(column, num_threads=threads)) == expected
    # As they are without a null.
    column = pa.array([text for text in TEXTS if text is not None], kind)
    without = [ids for ids in expected if ids is not None]
    assert ids_of(encoding.encode_arrow(column, num_threads=threads)) == without


@pytest.mark.parametrize("kind", BYTES_TYPES, ids=str)
def test_columns_of_bytes(encoding: bytemill.Encoding, kind: Any) -> None:
    values = [None, *broken_utf8(7, 300), b"", *(text.encode() for text in TEXTS if text is not None)]
    expected = [None if value is None else encoding.encode_bytes(value) for value in values]
    assert ids_of(encoding.encode_arrow(pa.array(values, kind))) == expected


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
def test_slices_and_chunks(encoding: bytemill.Encoding, expected: list[list[int] | None], kind: Any) -> None:
    column = pa.array(TEXTS, kind)
    source = random.Random(3)  # noqa: S311 - repeatable, not secret
    for _ in range(12):
        start, end = sorted(source.choices(range(len(TEXTS) + 1), k=2))
        assert ids_of(encoding.encode_arrow(column[start:end])) == expected[start:end]
        cuts = sorted(source.choices(range(start, end + 1), k=5))
        parts = [column[first:last] for first, last in zip([start, *cuts], [*cuts, end], strict=True)]
        chunked = pa.chunked_array(parts, kind)
        assert ids_of(encoding.encode_arrow(chunked)) == expected[start:end]
    assert ids_of(encoding.encode_arrow(pa.chunked_array([], kind))) == []
    assert ids_of(encoding.encode_arrow(pa.array([], kind))) == []
    # One value in several buffers of views.
    many = pa.concat_arrays([column] * 3)
    assert ids_of(encoding.encode_arrow(many)) == expected * 3


def test_only_nulls(encoding: bytemill.Encoding) -> None:
    for column in [
        pa.nulls(9),
        pa.nulls(9, pa.string()),
        pa.nulls(9, pa.string_view()),
        pl.Series([None] * 9),
    ]:
        assert ids_of(encoding.encode_arrow(column)) == [None] * 9


PRODUCERS: dict[str, Callable[[list[str | None]], Any]] = {
    "pyarrow, mapped": lambda texts: pa.ipc.open_file(ipc_file(texts)).read_all()["text"],
    "polars": pl.Series,
    "polars, in chunks": lambda texts: pl.concat([pl.Series(texts[:9]), pl.Series(texts[9:])], rechunk=False),
    "polars, a slice": lambda texts: pl.Series(["x", *texts, "y"])[1:-1],
    "duckdb": lambda texts: duckdb.from_arrow(pa.table({"text": pa.array(texts)})).to_arrow_table()["text"],
}


if sys.version_info >= (3, 11):
    # pandas speaks Arrow since its third version, which needs that.
    PRODUCERS["pandas"] = pd.Series
    PRODUCERS["pandas, objects"] = lambda texts: pd.Series(texts, dtype=object)


def ipc_file(texts: list[str | None]) -> Any:
    table = pa.table({"text": pa.array(texts)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=50)
    return sink.getvalue()


@pytest.mark.parametrize("producer", PRODUCERS)
def test_columns_of_other_libraries(
    encoding: bytemill.Encoding, expected: list[list[int] | None], producer: str
) -> None:
    assert ids_of(encoding.encode_arrow(PRODUCERS[producer](TEXTS))) == expected


def test_special_tokens(encoding: bytemill.Encoding) -> None:
    column = pa.array([None, "fine", f"é {EOT}", EOT])
    eot = encoding.eot_token
    ids = ids_of(encoding.encode_arrow(column, allowed_special={EOT}))
    assert ids == [None, encoding.encode("fine"), [*encoding.encode("é "), eot], [eot]]
    for disallowed in ["all", {EOT}, {EOT, "nowhere"}]:
        with pytest.raises(DisallowedSpecialTokenError) as caught:
            encoding.encode_arrow(column, disallowed_special=disallowed)
        assert (caught.value.token, caught.value.start) == (EOT, 2)
    # Strings that are no special tokens.
    with pytest.raises(DisallowedSpecialTokenError) as caught:
        encoding.encode_arrow(pa.array([None, "ab", "xyz"]), disallowed_special={"yz", "y"})
    assert (caught.value.token, caught.value.start) == ("yz", 1)
    assert ids_of(encoding.encode_arrow(column, disallowed_special={"yz"})) == ids_of(
        encoding.encode_arrow(column)
    )
    # In bytes that are not UTF-8, too; what is no character counts as one.
    with pytest.raises(DisallowedSpecialTokenError) as caught:
        encoding.encode_arrow(pa.array([b"\xe2\x82\xffab" + EOT.encode()]), disallowed_special="all")
    assert (caught.value.token, caught.value.start) == (EOT, 4)


# --- Out ----------------------------------------------------------------------------------------------------


def test_every_library_reads_it(encoding: bytemill.Encoding, expected: list[list[int] | None]) -> None:
    ids = encoding.encode_arrow(pl.Series(TEXTS))
    assert pa.chunked_array(ids).to_pylist() == expected
    assert pa.table({"ids": ids})["ids"].to_pylist() == expected
    assert pl.Series(ids).dtype == pl.List(pl.UInt32)
    assert pl.Series(ids).to_list() == expected
    read = pl.from_arrow(ids)
    assert isinstance(read, pl.Series)
    assert read.to_list() == expected
    assert pl.DataFrame({"ids": ids})["ids"].to_list() == expected
    if sys.version_info >= (3, 11):
        series = pd.Series.from_arrow(ids)
        assert [None if row is None else list(row) for row in series] == expected
    table = pa.table({"ids": ids})
    assert [row for (row,) in duckdb.from_arrow(table).fetchall()] == expected


def test_large_lists_if_asked_for(encoding: bytemill.Encoding, expected: list[list[int] | None]) -> None:
    ids = encoding.encode_arrow(pa.array(TEXTS))
    wanted = pa.large_list(pa.uint32())
    # Not cast by the reader, but made so.
    capsules = ids.__arrow_c_array__(wanted.__arrow_c_schema__())
    array = pa.Array._import_from_c_capsule(*capsules)
    array.validate(full=True)
    assert array.type == wanted
    assert array.to_pylist() == expected
    # Other requests are not met.
    for other in [pa.list_(pa.int64()), pa.string()]:
        array = pa.Array._import_from_c_capsule(*ids.__arrow_c_array__(other.__arrow_c_schema__()))
        assert array.type == pa.list_(pa.uint32())
    stream = ids.__arrow_c_stream__(wanted.__arrow_c_schema__())
    chunked = pa.ChunkedArray._import_from_c_capsule(stream)
    assert chunked.type == wanted
    assert chunked.to_pylist() == expected


def test_readers_share_the_memory(encoding: bytemill.Encoding) -> None:
    ids = encoding.encode_arrow(pa.array(["some words", "and more"]))
    first, second = pa.array(ids), pa.array(ids)
    assert first.flatten().buffers()[1].address == second.flatten().buffers()[1].address
    expected = first.to_pylist()
    del ids, first
    gc.collect()
    assert second.to_pylist() == expected
    values = second.flatten()
    del second
    gc.collect()
    assert values.to_pylist() == [*expected[0], *expected[1]]


def test_parts_are_released_once(encoding: bytemill.Encoding) -> None:
    ids = encoding.encode_arrow(pa.array(["some words", None]))
    schema, array = ids.__arrow_c_array__()
    struct = arrow_c.struct_in(array, arrow_c.Array, b"arrow_array")
    assert (struct.length, struct.null_count, struct.n_buffers, struct.n_children) == (2, 1, 2, 1)
    # A reader may keep the values alone: it moves them out and releases the rest.
    place = struct.children[0].contents
    values = arrow_c.Array.from_buffer_copy(place)
    place.release = type(place.release)()
    struct.release(struct)
    assert not struct.release
    del array, ids
    gc.collect()
    numbers = np.ctypeslib.as_array((ctypes.c_uint32 * values.length).from_address(values.buffers[1]))
    assert numbers.tolist() == encoding.encode("some words")
    values.release(values)
    assert not values.release
    described = arrow_c.struct_in(schema, arrow_c.Schema, b"arrow_schema")
    assert (described.format, described.children[0].contents.format) == (b"+l", b"I")
    # Not released by hand: the capsule does it.
    del schema


@needs_memory
def test_no_memory_is_lost() -> None:
    encoding = bytemill.get_encoding("r50k_base")
    allocated = pa.total_allocated_bytes()
    column = pa.array([" a" * 1_000_000])
    ids = encoding.encode_arrow(column)
    assert len(pa.array(ids).flatten()) == 1_000_000
    before = 0
    for number in range(60):
        if number == 10:
            # By then the allocators have most of what they keep: after many other tests that was 45 MB, and
            # 31 MB more came later.
            before = resident()
        ids = encoding.encode_arrow(column)
        _unread = (ids.__arrow_c_array__(), ids.__arrow_c_stream__())
        pa.chunked_array(ids)
        # The schema alone is read.
        pa.DataType._import_from_c_capsule(ids.__arrow_c_array__()[0])
        del _unread
        gc.collect()
    # 50 times 4 MB would be lost.
    assert resident() - before < 75_000_000
    del column
    gc.collect()
    assert pa.total_allocated_bytes() == allocated


@needs_memory
def test_the_text_is_not_copied(encoding: bytemill.Encoding) -> None:
    column = pa.array(["x" * (48 << 20), "short"])

    def encode() -> None:
        assert ids_of(encoding.encode_arrow(column[1:])) == [encoding.encode("short")]

    assert peak_beyond(encode) < 24 << 20


# --- What is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            ["text"],
            r"expected a column with __arrow_c_array__ or __arrow_c_stream__.*got list.*pyarrow.array",
        ),
        ("text", "got str"),
        (pa.array([1]), 'got one of the Arrow format "l": cast it, in PyArrow by `column.cast'),
        (pa.array([["text"]]), 'Arrow format "[+]l"'),
        (pa.array([b"ab"], pa.binary(2)), 'Arrow format "w:2"'),
        (pa.array(["text"]).dictionary_encode(), "got a dictionary .*: cast it"),
        (pl.Series(["text"], dtype=pl.Categorical), "got a dictionary"),
        (pa.table({"text": ["text"]}), r"got a table .*: pass one of its columns"),
        (pl.DataFrame({"text": ["text"]}), "got a table"),
        (pa.record_batch({"text": ["text"]}), "got a table"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_column_of_text(encoding: bytemill.Encoding, column: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        encoding.encode_arrow(column)


def test_what_is_to_be_cast_can_be(encoding: bytemill.Encoding) -> None:
    expected = [encoding.encode("text")]
    dictionary = pa.array(["text"]).dictionary_encode()
    assert ids_of(encoding.encode_arrow(dictionary.cast(pa.string()))) == expected
    category = pl.Series(["text"], dtype=pl.Categorical)
    assert ids_of(encoding.encode_arrow(category.cast(pl.String))) == expected
    if sys.version_info >= (3, 11):
        series = pd.Series(["text"], dtype="category")
        with pytest.raises(TypeError, match="got a dictionary"):
            encoding.encode_arrow(series)
        assert ids_of(encoding.encode_arrow(series.astype("str"))) == expected


class Malformed:
    """An array of two values that is no longer what it was when its library checked it."""

    def __init__(self, kind: Any, places: Any, **changed: int) -> None:
        data = pa.array(["twenty bytes of text", "other"], kind)
        self.capsules = data.__arrow_c_array__()
        self.struct = arrow_c.struct_in(self.capsules[1], arrow_c.Array, b"arrow_array")
        self.places = None if places is None else np.asarray(places)
        self.struct.buffers[1] = None if self.places is None else self.places.ctypes.data
        for name, value in changed.items():
            setattr(self.struct, name, value)

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.capsules


def int32(numbers: Any) -> npt.NDArray[np.int32]:
    return np.array(numbers, np.int32)


def int64(numbers: Any) -> npt.NDArray[np.int64]:
    return np.array(numbers, np.int64)


VIEWS = [20, 0, 0, 0]  # length, first bytes, buffer, place


@pytest.mark.parametrize(
    ("kind", "places", "changed", "message"),
    [
        (pa.string(), int32([0, 5, 3]), {}, "ends before it starts"),
        (pa.string(), int32([0, -5, 3]), {}, "negative"),
        (pa.large_string(), int64([5, 0, 0]), {}, "ends before it starts"),
        (pa.large_string(), int64([-(2**60), 0, 0]), {}, "negative"),
        (pa.string(), None, {}, "a buffer is missing"),
        (pa.string(), int32([0, 5, 6]), {"n_buffers": 2}, "a buffer is missing"),
        (pa.string(), int32([0, 5, 6]), {"n_buffers": -3}, "negative"),
        (pa.string(), int32([0, 5, 6]), {"length": -1}, "negative"),
        (pa.string(), int32([0, 5, 6]), {"offset": -1}, "negative"),
        (pa.string(), int32([0, 5, 6]), {"offset": 2**62}, "longer than memory"),
        (pa.string_view(), int32([[20, 0, 0, 1], VIEWS]), {}, "leads out of its buffer"),
        (pa.string_view(), int32([[20, 0, 0, -1], VIEWS]), {}, "negative"),
        (pa.string_view(), int32([[20, 0, 1, 0], VIEWS]), {}, "a buffer is missing"),
        (pa.string_view(), int32([[20, 0, -1, 0], VIEWS]), {}, "negative"),
        (pa.string_view(), int32([[-1, 0, 0, 0], VIEWS]), {}, "negative"),
        (pa.string_view(), int32([VIEWS, VIEWS]), {"n_buffers": 3}, "a buffer is missing"),
    ],
)
def test_malformed_arrays(
    encoding: bytemill.Encoding, kind: Any, places: Any, changed: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=f"malformed Arrow data: .*{message}"):
        encoding.encode_arrow(Malformed(kind, places, **changed))


def test_numbers_need_not_be_aligned(encoding: bytemill.Encoding) -> None:
    for kind, width in [(pa.string(), np.int32), (pa.large_string(), np.int64)]:
        numbers = np.array([0, 6, 20], width).tobytes()
        places = np.zeros(64, np.uint8)[1 : 1 + len(numbers)]
        places[:] = np.frombuffer(numbers, np.uint8)
        ids = ids_of(encoding.encode_arrow(Malformed(kind, places)))
        assert ids == [encoding.encode("twenty"), encoding.encode(" bytes of text")]


def test_columns_that_cannot_be_read(encoding: bytemill.Encoding) -> None:
    for number, message, kind in [
        (22, b"wrong", ValueError),
        (5, b"the disk is gone", OSError),
        (5, None, OSError),
    ]:
        column = arrow_c.FailingColumn(number, message)
        shown = "no reason is given" if message is None else message.decode()
        with pytest.raises(kind, match=f"the column cannot be read: {shown}") as caught:
            encoding.encode_arrow(column)
        assert kind is ValueError or getattr(caught.value, "errno", None) == number
        assert column.released == 1


def test_a_capsule_is_read_once(encoding: bytemill.Encoding) -> None:
    class Again:
        def __init__(self, column: Any) -> None:
            self.capsules = column.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema: object = None) -> Any:
            return self.capsules

    column = Again(pa.array(["text"]))
    assert ids_of(encoding.encode_arrow(column)) == [encoding.encode("text")]
    with pytest.raises(ValueError, match="empty: expected one that nobody has read yet"):
        encoding.encode_arrow(column)

    column.capsules = ("no", "capsules")
    with pytest.raises(TypeError):
        encoding.encode_arrow(column)
    # One of another name.
    column.capsules = pa.array(["text"]).__arrow_c_array__()[::-1]
    with pytest.raises(ValueError, match="incorrect name"):
        encoding.encode_arrow(column)


def test_no_threads(encoding: bytemill.Encoding) -> None:
    with pytest.raises(ValueError, match="num_threads must be 1 or more"):
        encoding.encode_arrow(pa.array(["text"]), num_threads=0)
