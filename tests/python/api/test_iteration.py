"""Texts one after the other: the ids of each, in order; pulled as they are wanted, kept a batch at a time."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytemill
from bytemill import DisallowedSpecialTokenError, _calls
from support.libraries import EOT
from support.strategies import surrogate_texts
from support.texts import ADVERSARIAL, patchwork


@pytest.fixture(scope="module")
def encoding() -> bytemill.Encoding:
    return bytemill.get_encoding("o200k_base")


@pytest.mark.parametrize("batch_size", [1, 3, 1_000])
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_the_ids_of_each_text(encoding: bytemill.Encoding, batch_size: int, threads: int | None) -> None:
    texts = ["", *ADVERSARIAL.values(), "", *(patchwork(seed, 40) for seed in range(100)), f"a {EOT}"]
    arrays = list(encoding.encode_iter(texts, batch_size=batch_size, num_threads=threads))
    assert [ids.tolist() for ids in arrays] == [encoding.encode_ordinary(text) for text in texts]
    assert all(ids.dtype == np.uint32 and ids.ndim == 1 for ids in arrays)


@given(texts=st.lists(surrogate_texts, max_size=9), batch_size=st.integers(1, 4))
def test_any_texts(texts: list[str], batch_size: int) -> None:
    encoding = bytemill.get_encoding("gpt2")
    arrays = encoding.encode_iter(texts, batch_size=batch_size)
    assert [ids.tolist() for ids in arrays] == [encoding.encode_ordinary(text) for text in texts]


def test_texts_are_pulled_a_batch_at_a_time(encoding: bytemill.Encoding) -> None:
    pulled = 0

    def endless() -> Iterator[str]:
        nonlocal pulled
        while True:
            pulled += 1
            yield f"text {pulled}"

    arrays = encoding.encode_iter(endless(), batch_size=4)
    assert pulled == 0
    for number, ids in enumerate(itertools.islice(arrays, 10), start=1):
        assert encoding.decode(ids.tolist()) == f"text {number}"
        assert pulled == -(-number // 4) * 4


def test_long_texts_make_small_batches(encoding: bytemill.Encoding, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_calls, "MOST_CHARACTERS", 100)
    source = iter(["x" * 60] * 5)
    arrays = encoding.encode_iter(source)
    assert next(arrays).tolist() == encoding.encode("x" * 60)
    assert len(list(source)) == 3
    assert len(list(arrays)) == 1


def test_memory_is_that_of_a_batch(encoding: bytemill.Encoding) -> None:
    def total(texts: int) -> int:
        tracemalloc.start()
        try:
            generated = (f"{number} " * 1_000 for number in range(texts))
            tokens = sum(len(ids) for ids in encoding.encode_iter(generated, batch_size=8))
            assert tokens > 1_000 * texts
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    total(10)
    assert total(400) < 3 * total(40)


def test_arrays_are_the_callers(encoding: bytemill.Encoding) -> None:
    first, second = encoding.encode_iter(["hello world", "hello"])
    first[:] = 0
    assert second.tolist() == [24912]
    assert first.base is None
    assert first.flags.writeable


def test_special_tokens(encoding: bytemill.Encoding) -> None:
    def ids(**special: Any) -> list[list[int]]:
        return [ids.tolist() for ids in encoding.encode_iter([f"a{EOT}"], **special)]

    assert ids() == [encoding.encode_ordinary(f"a{EOT}")]
    assert ids(allowed_special="all") == ids(allowed_special={EOT}) == [[64, encoding.eot_token]]
    with pytest.raises(DisallowedSpecialTokenError):
        ids(disallowed_special="all")
    with pytest.raises(DisallowedSpecialTokenError):
        ids(disallowed_special={"a"})


def test_a_set_of_special_tokens_that_changes(encoding: bytemill.Encoding) -> None:
    allowed = {EOT}
    arrays = encoding.encode_iter([EOT] * 3, batch_size=1, allowed_special=allowed)
    first = next(arrays).tolist()
    allowed.clear()
    assert [first, *(ids.tolist() for ids in arrays)] == [[encoding.eot_token]] * 3


def test_texts_before_the_batch_that_fails_come_first(encoding: bytemill.Encoding) -> None:
    texts: list[Any] = ["hello", "world", "hello", None, "world"]
    arrays = encoding.encode_iter(texts, batch_size=2)
    assert [next(arrays).tolist(), next(arrays).tolist()] == [[24912], [24169]]
    with pytest.raises(TypeError, match="expected text as str, got NoneType"):
        next(arrays)
    assert list(arrays) == []


def test_wrong_arguments_are_refused_at_once(encoding: bytemill.Encoding) -> None:
    with pytest.raises(ValueError, match="expected a batch_size of 1 or more, got 0"):
        encoding.encode_iter([], batch_size=0)
    with pytest.raises(ValueError, match="num_threads must be 1 or more"):
        encoding.encode_iter([], num_threads=0)
    with pytest.raises(TypeError, match="allowed_special must be"):
        encoding.encode_iter([], allowed_special=["a"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not iterable"):
        encoding.encode_iter(5)  # type: ignore[arg-type]


def test_no_texts(encoding: bytemill.Encoding) -> None:
    assert list(encoding.encode_iter([])) == []
