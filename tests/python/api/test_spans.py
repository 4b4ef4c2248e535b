"""Texts that lie in one buffer: the ids of `encode_bytes`, whatever the threads and the buffer."""

from __future__ import annotations

import itertools
import mmap
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import bytemill
from support.libraries import EOT
from support.memory import peak_beyond
from support.texts import ADVERSARIAL, broken_utf8, multilingual, patchwork

TEXTS = [
    b"",
    *(text.encode(errors="replace") for text in ADVERSARIAL.values()),
    b"",
    *(patchwork(seed, 60).encode() for seed in range(200)),
    multilingual(3, 30_000).encode(),
    *broken_utf8(5, 200),
    multilingual(4, 30_000).encode() + b"\xff" + b"after",
    f"a {EOT} b".encode(),
    f"a{EOT}".encode() + b"\xc3\x28",
    b"",
]


@pytest.fixture(scope="module")
def encoding() -> bytemill.Encoding:
    return bytemill.get_encoding("o200k_base")


def offsets_of(texts: list[bytes]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *map(len, texts)], dtype=np.int64)


def encode(  # noqa: PLR0913 - the arguments of the core, with defaults
    encoding: bytemill.Encoding,
    data: Any,
    offsets: Any,
    *,
    allowed: set[str] | None = frozenset(),  # type: ignore[assignment]
    prepend: tuple[int, ...] = (),
    append: tuple[int, ...] = (),
    dtype: str = "uint32",
    threads: int = 1,
) -> list[list[int]]:
    ids, ends = encoding._core_bpe.encode_spans_to_numpy(
        data, offsets, allowed, frozenset(), prepend, append, dtype, threads
    )
    assert ids.dtype == dtype
    assert ends.dtype == np.int64
    return [ids[start:end].tolist() for start, end in itertools.pairwise(ends.tolist())]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_ids_are_those_of_each_text(encoding: bytemill.Encoding, threads: int) -> None:
    expected = [encoding.encode_bytes(text) for text in TEXTS]
    assert encode(encoding, b"".join(TEXTS), offsets_of(TEXTS), threads=threads) == expected
    around = encode(
        encoding,
        b"".join(TEXTS),
        offsets_of(TEXTS),
        prepend=(7,),
        append=(8, 9),
        dtype="int64",
        threads=threads,
    )
    assert around == [[7, *ids, 8, 9] for ids in expected]


@pytest.mark.parametrize("threads", [1, 3])
def test_special_tokens_become_ids_where_allowed(encoding: bytemill.Encoding, threads: int) -> None:
    texts = [text for text in TEXTS if text.decode(errors="ignore").encode() == text]
    for allowed in [{EOT}, None]:
        expected = [encoding.encode(text.decode(), allowed_special="all") for text in texts]
        ids = encode(encoding, b"".join(texts), offsets_of(texts), allowed=allowed, threads=threads)
        assert ids == expected
    # Those before the first byte that is not UTF-8 are found, those after it are bytes like others.
    broken = f"a {EOT} b".encode() + b"\xff" + EOT.encode()
    (one,) = encode(encoding, broken, offsets_of([broken]), allowed={EOT})
    assert one.count(encoding.eot_token) == 1
    assert encoding.decode_bytes(one) == broken


def test_spans_need_not_be_all_of_the_data(encoding: bytemill.Encoding) -> None:
    data = "zero éone two".encode()
    assert encode(encoding, data, np.array([5, 10, 14])) == [
        encoding.encode("éone"),
        encoding.encode(" two"),
    ]
    assert encode(encoding, data, np.array([9])) == []
    assert encode(encoding, b"", np.array([0, 0])) == [[]]
    # Every other offset: not contiguous in memory.
    assert encode(encoding, data, np.array([0, 9, 5, 9, 14])[::2]) == [
        encoding.encode("zero "),
        encoding.encode("éone two"),
    ]


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 3, 2], r"offsets\[2\] is 2: expected 3 to 5"),
        ([0, 6], r"offsets\[1\] is 6: expected 0 to 5"),
        ([-1, 2], r"offsets\[0\] is -1: expected 0 to 5"),
        ([], r"at least one, got none"),
    ],
)
def test_wrong_offsets_are_refused(encoding: bytemill.Encoding, offsets: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode(encoding, b"12345", np.array(offsets, dtype=np.int64))


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0, 5], "int64, got list"),
        (np.array([0, 5], dtype=np.int32), r"got ndarray of int32 and shape \(2,\)"),
        (np.array([[0, 5]]), r"got ndarray of int64 and shape \(1, 2\)"),
        (None, "got NoneType"),
    ],
)
def test_what_are_no_offsets_is_refused(encoding: bytemill.Encoding, offsets: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        encode(encoding, b"12345", offsets)


def test_any_contiguous_buffer_of_bytes(encoding: bytemill.Encoding, tmp_path: pathlib.Path) -> None:
    data = b"some words" * 10
    expected = encode(encoding, data, np.array([0, 50, 100]))
    path = tmp_path / "data"
    path.write_bytes(data)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for buffer in [
            bytearray(data),
            memoryview(data),
            memoryview(bytearray(data)).toreadonly(),
            np.frombuffer(data, np.uint8),
            np.frombuffer(data, np.int8),
            pa.py_buffer(data),
            mapped,
        ]:
            assert encode(encoding, buffer, np.array([0, 50, 100])) == expected
    for wrong in ["text", memoryview(data)[::2], np.zeros(100, np.uint16), None]:
        with pytest.raises(TypeError, match="expected bytes or a contiguous buffer"):
            encode(encoding, wrong, np.array([0, 1]))


def test_only_what_can_change_is_copied(encoding: bytemill.Encoding) -> None:
    # All of the vast data is there, and little of it encoded: what is used of the memory tells of copies.
    vast = bytes(64 << 20)
    changeable = np.zeros(64 << 20, np.uint8)
    locked = changeable.view()
    locked.setflags(write=False)
    owner = changeable.copy()
    owner.setflags(write=False)

    def grown(data: Any) -> bool:
        return peak_beyond(lambda: encode(encoding, data, np.array([0, 10]))) > 32 << 20

    for constant in [vast, memoryview(vast), memoryview(memoryview(vast)), np.frombuffer(vast, np.uint8)]:
        assert not grown(constant)
    for other in [
        changeable,
        locked,
        owner,
        changeable.data.toreadonly(),
        bytearray(vast),
        pa.py_buffer(vast),
    ]:
        assert grown(other)
