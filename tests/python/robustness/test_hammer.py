"""All methods of one encoding called from many threads at once return the results of one thread."""

from __future__ import annotations

import pickle
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import bytemill
from support.subprocesses import has_fork, run
from support.texts import ADVERSARIAL, multilingual, patchwork

Call = Callable[[bytemill.Encoding, str, list[int]], object]

TEXTS = [
    *(text[:300] for text in ADVERSARIAL.values()),
    *(patchwork(seed, 40) for seed in range(8)),
    multilingual(1, 100),
    "some words, again and again; " * 600,
]


# Minimum number of calls of each thread, and of all together.
CALLS_EACH = 12
CALLS_TOGETHER = 500


def with_offsets(encoding: bytemill.Encoding, text: str, _: list[int]) -> object:
    offsets = encoding.encode_with_offsets(text, disallowed_special=())
    return offsets.ids.tolist(), offsets.starts.tolist(), offsets.ends.tolist()


def batch_to_numpy(encoding: bytemill.Encoding, text: str, _: list[int]) -> object:
    ids, offsets = encoding.encode_batch_to_numpy([text, text[::2], ""], disallowed_special=(), num_threads=2)
    return ids.tolist(), offsets.tolist()


def pickled(encoding: bytemill.Encoding, text: str, _: list[int]) -> object:
    again = pickle.loads(pickle.dumps(encoding))  # noqa: S301 - our own
    return again.name, again.encode_ordinary(text[:50])


CALLS: dict[str, Call] = {
    "encode": lambda encoding, text, _: encoding.encode(text, disallowed_special=()),
    "encode_ordinary": lambda encoding, text, _: encoding.encode_ordinary(text),
    "encode_batch": lambda encoding, text, _: encoding.encode_batch(
        [text, text[::2]], disallowed_special=(), num_threads=2
    ),
    "encode_to_numpy": lambda encoding, text, _: encoding.encode_to_numpy(
        text, disallowed_special=()
    ).tolist(),
    "encode_batch_to_numpy": batch_to_numpy,
    "count": lambda encoding, text, _: encoding.count(text),
    "decode": lambda encoding, _, ids: encoding.decode(ids),
    "decode_bytes": lambda encoding, _, ids: encoding.decode_bytes(ids),
    "truncate": lambda encoding, text, _: encoding.truncate(text, 20),
    "split": lambda encoding, text, _: encoding.split(text, 30, overlap=5),
    "encode_with_offsets": with_offsets,
    "memory_usage": lambda encoding, _, __: encoding.memory_usage() > 0,
    "clear_cache": lambda encoding, _, __: encoding.clear_cache(),
    "set_cache_limit": lambda encoding, text, _: encoding.set_cache_limit(1 << (10 + len(text) % 12)),
    "pickle": pickled,
}


def custom(byte_ranks: dict[bytes, int]) -> bytemill.Encoding:
    """Returns an encoding without a native pattern, with holes in its ids and tokens that never merge."""
    tokens = [b"ab", b" a", b"the", b"th", b"er", b"so", b"me", b"\xe4\xb8", "中".encode(), b"xyz"]
    return bytemill.Encoding(
        "hammered",
        pat_str=r"\w+|\s+|[^\w\s]+",
        mergeable_ranks=byte_ranks | {token: 300 + 7 * index for index, token in enumerate(tokens)},
        special_tokens={"<|x|>": 1000},
    )


@pytest.mark.parametrize("threads", [1, 2, 8, 64])
@pytest.mark.parametrize("name", ["o200k_base", "custom"])
def test_mixed_calls(name: str, threads: int, byte_ranks: dict[bytes, int]) -> None:
    encoding = custom(byte_ranks) if name == "custom" else bytemill.get_encoding(name)
    cases = []
    for number, text in enumerate(TEXTS):
        ids = encoding.encode_ordinary(text)
        for what, call in CALLS.items():
            # Cleared caches are slow at first.
            if number % 4 == 0 or what not in {"clear_cache", "set_cache_limit"}:
                cases.append((what, call, text, ids, call(encoding, text, ids)))
    start = threading.Barrier(threads)

    def work(worker: int) -> int:
        # Each thread has its own order.
        mine = random.Random(worker).sample(cases, len(cases))  # noqa: S311 - the same every time
        calls = 0
        start.wait()
        for what, call, text, ids, expected in mine[: max(CALLS_EACH, CALLS_TOGETHER // threads)]:
            assert call(encoding, text, ids) == expected, what
            calls += 1
        return calls

    try:
        with ThreadPoolExecutor(threads) as pool:
            assert sum(pool.map(work, range(threads))) >= threads * CALLS_EACH
    finally:
        encoding.set_cache_limit(64 << 20)


@has_fork
def test_children_forked_while_a_thread_makes_what_is_made_once() -> None:
    """Lazily built vocabularies and tables: a child does not wait for a thread that only its parent has."""
    printed = run(
        """
        import os, signal, threading, time, warnings, bytemill
        warnings.simplefilter("ignore")  # of forking with threads: that is the test

        def use(name):
            encoding = bytemill.get_encoding(name)
            assert encoding.decode([encoding.encode_single_token("hello")]) == "hello"
            assert encoding.encode_with_unstable("fanta")[1]

        for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base"):
            thread = threading.Thread(target=use, args=[name])
            thread.start()
            while thread.is_alive():
                child = os.fork()
                if child == 0:
                    signal.alarm(30)
                    use(name)
                    os._exit(0)
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            thread.join()
        """
    )
    codes = printed.split()
    assert len(codes) >= 4
    assert set(codes) == {"0"}


@has_fork
def test_children_of_a_process_whose_threads_use_everything() -> None:
    printed = run(
        """
        import os, pickle, signal, threading, warnings, bytemill
        warnings.simplefilter("ignore")
        encoding = bytemill.get_encoding("cl100k_base")
        text = "words and more words, 中文 and numbers 1234; " * 100
        ids = encoding.encode(text)
        count = encoding.count(text[:200])
        done = threading.Event()

        def works():
            assert encoding.encode(text) == ids
            assert encoding.encode_batch_to_numpy([text] * 3, num_threads=2).ids.tolist() == ids * 3
            assert encoding.decode(ids) == text
            assert encoding.count(text) == len(ids)
            assert encoding.memory_usage() > 0
            encoding.clear_cache()
            assert pickle.loads(pickle.dumps(encoding)).count(text[:200]) == count

        def work():
            while not done.is_set():
                works()

        works()  # NumPy is imported: a child forked meanwhile would wait for Python's lock of that module
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                works()
                os._exit(7)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        done.set()
        for thread in threads: thread.join()
        works()
        """
    )
    assert printed.split() == ["7"] * 5
