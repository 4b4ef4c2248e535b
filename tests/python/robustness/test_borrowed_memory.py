"""Memory that another thread or process may write is copied before the GIL is released.

A thread waits for the GIL, which it gets only when the core releases it, and then writes to the end of
what the core was given: a core that borrowed the memory reads what was written.
"""

from __future__ import annotations

import mmap
import os
import pathlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import bytemill
from support.memory import peak_beyond

pytestmark = pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="without a GIL, writers run before the copy"
)

# Long enough that the end is read many milliseconds after the beginning.
IDS = 8_000_000
TEXT = b"some words, " * 2_000_000
# Rewritten while the core works: the last tenth.
TAIL = len(TEXT) // 10

# An array; decoding takes any, though its annotation says sequences.
Ids: TypeAlias = Any


@pytest.fixture(scope="module")
def encoding() -> bytemill.Encoding:
    return bytemill.get_encoding("cl100k_base")


@contextmanager
def written_meanwhile(write: Callable[[], object]) -> Iterator[None]:
    """Runs `write` in a thread as soon as the body releases the GIL, and not before."""
    may_write = threading.Event()

    def writer() -> None:
        may_write.wait()
        write()

    thread = threading.Thread(target=writer)
    thread.start()
    interval = sys.getswitchinterval()
    # The writer gets the GIL when it is released, not because its turn has come.
    sys.setswitchinterval(1_000)
    try:
        may_write.set()
        yield
    finally:
        sys.setswitchinterval(interval)
        thread.join()


def writable(ids: Ids) -> Ids:
    return ids


def read_only_view(ids: Ids) -> Ids:
    view = ids[:]
    view.setflags(write=False)
    return view


def read_only_view_of_a_read_only_view(ids: Ids) -> Ids:
    return read_only_view(read_only_view(ids))


def read_only_memory_view(ids: Ids) -> Ids:
    return np.frombuffer(memoryview(ids).toreadonly(), np.uint32)


WAYS = [writable, read_only_view, read_only_view_of_a_read_only_view, read_only_memory_view]


@pytest.mark.parametrize("way", WAYS)
def test_decoding_sees_ids_as_they_were(encoding: bytemill.Encoding, way: Callable[[Ids], Ids]) -> None:
    ids: Ids = np.full(IDS, encoding.encode_single_token("a"), np.uint32)
    other = encoding.encode_single_token("b")
    given = way(ids)

    def write() -> None:
        ids[-IDS // 10 :] = other

    with written_meanwhile(write):
        decoded = encoding.decode_bytes(given)
    assert ids[-1] == other
    assert decoded.count(b"a") == len(decoded) == IDS


def test_decoding_sees_an_array_that_was_made_read_only_as_it_was(encoding: bytemill.Encoding) -> None:
    ids: Ids = np.full(IDS, encoding.encode_single_token("a"), np.uint32)
    other = encoding.encode_single_token("b")
    ids.setflags(write=False)

    def write() -> None:
        ids.setflags(write=True)
        ids[-IDS // 10 :] = other

    with written_meanwhile(write):
        decoded = encoding.decode_bytes(ids)
    assert ids[-1] == other
    assert decoded.count(b"a") == len(decoded) == IDS


def test_decoding_a_batch_sees_ids_as_they_were(encoding: bytemill.Encoding) -> None:
    rows: list[Ids] = [np.full(IDS // 4, encoding.encode_single_token("a"), np.uint32) for _ in range(4)]
    other = encoding.encode_single_token("b")

    def write() -> None:
        for row in rows:
            row[-IDS // 20 :] = other

    with written_meanwhile(write):
        decoded = encoding.decode_bytes_batch(rows, num_threads=1)
    assert rows[-1][-1] == other
    assert decoded == [b"a" * (IDS // 4)] * 4


def test_what_nothing_can_write_is_borrowed(encoding: bytemill.Encoding) -> None:
    # More than the allocator keeps for later.
    text = "a " * 10_000_000
    ids: Ids = encoding.encode_to_numpy(text)
    in_bytes: Ids = np.frombuffer(ids.tobytes(), np.uint32)
    changeable: Ids = ids.copy()

    def grown(given: Ids) -> int:
        return peak_beyond(lambda: encoding.decode_bytes(given))

    least = grown(in_bytes)
    assert grown(ids) == pytest.approx(least, abs=ids.nbytes / 2)
    assert grown(ids[10:][:-10]) == pytest.approx(least, abs=ids.nbytes / 2)
    assert grown(changeable) > least + ids.nbytes / 2
    assert encoding.decode(ids) == encoding.decode(in_bytes) == encoding.decode(changeable) == text


def test_encoded_arrays_stay_read_only(encoding: bytemill.Encoding) -> None:
    ids: Ids = encoding.encode_to_numpy("a b c")
    for array in [ids, ids[:], ids.view(np.int32), ids.reshape(1, -1)]:
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    with pytest.raises(TypeError, match="bytes-like object is required"):
        memoryview(ids.base)


def encode_bytes(encoding: bytemill.Encoding, data: Any) -> Ids:
    return np.asarray(encoding.encode_bytes(data), np.uint32)


def encode_spans(encoding: bytemill.Encoding, data: Any) -> Ids:
    offsets = np.array([0, len(TEXT)])
    encode = encoding._core_bpe.encode_spans_to_numpy
    ids, _ = encode(data, offsets, frozenset(), frozenset(), [], [], "uint32", 1)
    return ids


def mapped_array(mapped: mmap.mmap) -> npt.NDArray[np.uint8]:
    return np.frombuffer(mapped, np.uint8)


@pytest.mark.parametrize("encode", [encode_bytes, encode_spans])
@pytest.mark.parametrize("way", [memoryview, mapped_array, lambda mapped: mapped])
def test_encoding_sees_a_mapped_file_as_it_was(
    encoding: bytemill.Encoding,
    tmp_path: pathlib.Path,
    encode: Callable[[bytemill.Encoding, Any], Ids],
    way: Callable[[mmap.mmap], Any],
) -> None:
    expected = encode(encoding, TEXT)
    path = tmp_path / "text"
    path.write_bytes(TEXT)
    with path.open("r+b", buffering=0) as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        data = way(mapped)
        # As another process does it: not through the map.
        with written_meanwhile(lambda: os.pwrite(file.fileno(), b"x" * TAIL, len(TEXT) - TAIL)):
            ids = encode(encoding, data)
    assert mapped[-1:] == b"x"
    assert np.array_equal(ids, expected)
