"""One encoding with many threads, forked and spawned processes; the GIL is released during work."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import bytemill
from support.memory import needs_memory, resident
from support.subprocesses import has_fork, run
from support.texts import ADVERSARIAL, multilingual, patchwork

TEXTS = [*ADVERSARIAL.values(), *(patchwork(seed, 500) for seed in range(20)), multilingual(1, 1_000)]


def test_one_encoding_in_eight_threads() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    expected = [encoding.encode_ordinary(text) for text in TEXTS]
    start = threading.Barrier(8)

    def work(worker: int) -> None:
        start.wait()
        for turn in range(3):
            for index in range(len(TEXTS)):
                # Every thread goes through the texts and the methods in its own order.
                text, ids = (
                    TEXTS[(index * (worker + 1)) % len(TEXTS)],
                    expected[(index * (worker + 1)) % len(TEXTS)],
                )
                match (worker + turn + index) % 4:
                    case 0:
                        assert encoding.encode(text, disallowed_special=()) == ids
                    case 1:
                        assert encoding.encode_to_numpy(text, disallowed_special=()).tolist() == ids
                    case 2:
                        assert encoding.decode(ids) == text
                    case _:
                        assert encoding.encode_ordinary_batch([text, text], num_threads=2) == [ids, ids]

    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(work, worker) for worker in range(8)]:
            future.result()


def test_eight_threads_that_first_ask_for_an_encoding_get_the_same_one() -> None:
    printed = run(
        """
        import threading, bytemill
        start, found = threading.Barrier(8), []

        def ask():
            start.wait()
            encoding = bytemill.get_encoding("o200k_base")
            assert encoding.encode("hello world") == [24912, 2375]
            found.append(encoding)
            assert len(encoding._mergeable_ranks) == 199998
            assert encoding.token_byte_values()[0] == b"\\0"

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(found), len(set(map(id, found))))
        """
    )
    assert printed.split() == ["8", "1"]


WORDS = "some words that take a while, again and again; " * 600_000

# Each takes some hundredths of a second, or more.
LONG_WORK: dict[str, Callable[[bytemill.Encoding], object]] = {
    "encode": lambda encoding: encoding.encode(WORDS),
    "encode_ordinary": lambda encoding: encoding.encode_ordinary(WORDS),
    "encode_to_numpy": lambda encoding: encoding.encode_to_numpy(WORDS),
    "encode_ordinary_batch": lambda encoding: encoding.encode_ordinary_batch([WORDS, WORDS]),
    "encode_batch_to_numpy": lambda encoding: encoding.encode_batch_to_numpy([WORDS, WORDS], dtype="int64"),
    "count": lambda encoding: encoding.count(WORDS),
    "count_batch": lambda encoding: encoding.count_batch([WORDS, WORDS]),
    "encode_bytes": lambda encoding: encoding.encode_bytes(WORDS.encode()),
    "encode_arrow": lambda encoding: encoding.encode_arrow(pa.array([WORDS, WORDS])),
    "encode_spans_to_numpy": lambda encoding: encoding._core_bpe.encode_spans_to_numpy(
        WORDS.encode(), np.array([0, len(WORDS)]), set(), set(), (), (), "uint32", 1
    ),
    "_encode_bytes": lambda encoding: encoding._encode_bytes(WORDS.encode()),
    "_encode_single_piece": lambda encoding: encoding._encode_single_piece(
        "".join(map(str, range(1_000_000)))
    ),
    "decode_bytes_batch": lambda encoding: encoding.decode_bytes_batch([range(256, 100_000)] * 200),
}


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="there is no GIL")
@pytest.mark.parametrize("method", LONG_WORK)
def test_other_threads_go_on(method: str) -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    ticks, done = 0, threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.wait(0.001):
            ticks += 1

    counter = threading.Thread(target=count)
    counter.start()
    try:
        LONG_WORK[method](encoding)
        progress = ticks
    finally:
        done.set()
        counter.join()
    # If the GIL were held throughout, the other thread would run once or twice.
    assert progress >= 5


@pytest.mark.parametrize("method", ["encode_ordinary", "encode_to_numpy", "count"])
def test_the_event_loop_goes_on(method: str) -> None:
    """`benches/harness/event_loop.py` measures the largest stall."""
    encode = getattr(bytemill.get_encoding("cl100k_base"), method)
    text = "some words that take a while, again and again; " * 500_000

    async def both() -> tuple[int, Any]:
        encoded = asyncio.create_task(asyncio.to_thread(encode, text))
        turns = 0
        while not encoded.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns, encoded.result()

    turns, result = asyncio.run(both())
    assert turns > 5
    assert np.array_equal(result, encode(text))


@has_fork
def test_a_child_of_a_process_that_used_threads() -> None:
    printed = run(
        """
        import os, bytemill
        # Since 3.12, Python warns of a fork in a process with threads: ours are gone when a call returns.
        encoding = bytemill.get_encoding("cl100k_base")
        texts = ["words and more words " * 5_000] * 20
        expected = encoding.encode_ordinary_batch(texts)
        for _ in range(3):
            child = os.fork()
            if child == 0:
                ok = encoding.encode_ordinary_batch(texts) == expected
                ok = ok and encoding.decode_batch(expected) == texts
                ok = ok and bytemill.get_encoding("o200k_base").encode("hello world") == [24912, 2375]
                os._exit(0 if ok else 1)
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status))
        assert encoding.encode_ordinary_batch(texts) == expected
        """
    )
    assert printed.split() == ["0"] * 3


@has_fork
def test_a_child_forked_while_another_thread_encodes() -> None:
    printed = run(
        """
        import os, threading, warnings, bytemill
        warnings.simplefilter("ignore")  # of forking with threads: that is the test
        encoding = bytemill.get_encoding("cl100k_base")
        text = "words and more words " * 20_000
        expected = encoding.encode_ordinary(text)
        done = threading.Event()

        def work():
            while not done.is_set():
                assert encoding.encode_ordinary_batch([text, text], num_threads=2) == [expected] * 2

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if encoding.encode_ordinary_batch([text] * 4) == [expected] * 4 else 1)
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status))
        done.set()
        for thread in threads: thread.join()
        """
    )
    assert printed.split() == ["0"] * 10


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_pools_of_processes(method: str, byte_ranks: dict[bytes, int]) -> None:
    registered = bytemill.get_encoding("cl100k_base")
    custom = bytemill.Encoding(
        "custom",
        pat_str=r"\w+|\W+",
        mergeable_ranks={**byte_ranks, b"ab": 256},
        special_tokens={"<|a|>": 300},
    )
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
        # The bound method pickles its encoding, a registered one by name and a custom one by definition.
        for encoding in (registered, custom):
            texts = TEXTS if encoding is registered else TEXTS[:4]
            expected = [encoding.encode_ordinary(text) for text in texts]
            assert list(pool.map(encoding.encode_ordinary, texts)) == expected
            assert pool.submit(encoding.encode_ordinary_batch, texts, num_threads=2).result() == expected
            assert pool.submit(encoding.decode_batch, expected, num_threads=2).result() == texts


def test_errors_cross_processes() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    with pytest.raises(bytemill.DisallowedSpecialTokenError) as disallowed:
        encoding.encode("a <|endoftext|>")
    with pytest.raises(bytemill.UnknownTokenError) as unknown:
        encoding.decode([100256])
    for error in (disallowed.value, unknown.value):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        assert type(again) is type(error)
        assert again.args == error.args
        assert vars(again) == vars(error)


@needs_memory
def test_encodings_are_freed() -> None:
    def build() -> None:
        parts = {bytes([byte]): byte for byte in range(256)}
        parts |= {b"%06d" % number: 256 + number for number in range(100_000)}
        encoding = bytemill.Encoding("large", pat_str=r"\w+|\W+", mergeable_ranks=parts, special_tokens={})
        assert encoding.encode("000001") == [257]

    for _ in range(2):
        build()
    gc.collect()
    before = resident()
    for _ in range(10):
        build()
    gc.collect()
    # One such encoding takes some ten megabytes.
    assert resident() - before < 60_000_000
