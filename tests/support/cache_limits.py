"""Checks of the limit of all caches, to be run in a process in which nothing else has caches."""

from __future__ import annotations

import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

import bytemill
from support.texts import multilingual

__all__ = [
    "a_forked_process_has_the_limit_for_itself",
    "an_encoding_learns_what_another_gives_back",
    "it_bounds_all_caches_together_and_changes_no_id",
    "what_exceeds_a_lower_limit_is_emptied_at_its_next_use",
]

THREADS = 4
MIB = 1 << 20

# What each cache takes in any case, and another for each encoding in each thread.
SLACK = 1 << 14


def words(seed: int) -> str:
    """Returns words that no other seed has, of lengths for each of a cache's tables."""
    drawn = np.random.default_rng(seed)
    letters = "".join(map(chr, drawn.integers(97, 123, 500_000)))
    ends = np.cumsum(drawn.choice([5, 12, 25, 60], 15_000)).tolist()
    return " ".join(letters[start:end] for start, end in zip([0, *ends], ends, strict=False))


TEXTS = [*(words(seed) for seed in range(3)), multilingual(1, 20_000)]


def own_encodings() -> list[bytemill.Encoding]:
    """Returns encodings of several patterns."""
    names = ("cl100k_base", "o200k_base", "gpt2")
    return [bytemill.get_encoding(name).with_special_tokens({"<|own|>": 300_000}) for name in names]


def encode_all(encodings: list[bytemill.Encoding]) -> list[npt.NDArray[np.uint32]]:
    """Encodes every text by every encoding twice, in some threads at once."""
    works = [(encoding, text) for text in TEXTS for encoding in encodings]
    with ThreadPoolExecutor(THREADS) as pool:
        encoded = list(pool.map(lambda work: work[0].encode_ordinary_to_numpy(work[1]), works * 2))
    for first, second in zip(encoded, encoded[len(works) :], strict=False):
        assert np.array_equal(first, second)
    return encoded[: len(works)]


def usage(encodings: list[bytemill.Encoding]) -> int:
    return sum(encoding.memory_usage() for encoding in encodings)


def it_bounds_all_caches_together_and_changes_no_id() -> None:
    encodings = own_encodings()
    least = usage(encodings)
    slack = SLACK * THREADS * len(encodings)
    expected = encode_all(encodings)
    # Without a limit, they learn more than with those below.
    assert usage(encodings) - least > 16 * MIB
    for limit in (0, 1 << 16, MIB, 8 * MIB):
        bytemill.set_process_cache_limit(limit)
        for encoding in encodings:
            encoding.clear_cache()
        for ids, right in zip(encode_all(encodings), expected, strict=True):
            assert np.array_equal(ids, right)
        assert usage(encodings) - least <= limit + slack, limit
    bytemill.set_process_cache_limit(None)
    for encoding in encodings:
        encoding.clear_cache()
    encode_all(encodings)
    assert usage(encodings) - least > 16 * MIB


def many_threads_stay_within_the_default_limit() -> None:
    """As in a server, where each of 40 threads encodes text that the others have not seen."""
    encoding = bytemill.get_encoding("o200k_base")
    least = encoding.memory_usage()
    threads = 40
    together = threading.Barrier(threads)

    def work(number: int) -> bool:
        dice = random.Random(number)  # noqa: S311 - for tests
        letters = "abcdefghijklmnopqrstuvwxyz"
        texts = [" ".join("".join(dice.choices(letters, k=9)) for _ in range(4_000)) for _ in range(3)]
        counts = [encoding.count(text) for text in texts]
        together.wait()
        return counts == [encoding.count(text) for text in texts]

    with ThreadPoolExecutor(threads) as pool:
        assert all(pool.map(work, range(threads)))
    limit = max(256 * MIB, 64 * MIB * (os.cpu_count() or 1))
    assert 16 * MIB < encoding.memory_usage() - least <= limit + SLACK * threads


def what_exceeds_a_lower_limit_is_emptied_at_its_next_use() -> None:
    encodings = own_encodings()
    least = usage(encodings)
    encode_all(encodings)
    before = usage(encodings)
    bytemill.set_process_cache_limit(MIB)
    assert usage(encodings) == before
    # Each call uses one cache of those that an encoding has.
    for _ in range(THREADS):
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(lambda encoding: encoding.encode_ordinary_to_numpy(TEXTS[0]), encodings * THREADS))
    after = usage(encodings)
    assert after < before
    for encoding in encodings:
        encoding.clear_cache()
    for ids, right in zip(encode_all(encodings), encode_all(encodings), strict=True):
        assert np.array_equal(ids, right)
    assert usage(encodings) - least <= MIB + SLACK * THREADS * len(encodings)


def an_encoding_learns_what_another_gives_back() -> None:
    encodings = own_encodings()
    first, second, _ = encodings
    least = second.memory_usage()
    bytemill.set_process_cache_limit(4 * MIB)
    first.encode_ordinary_to_numpy(TEXTS[0])
    second.encode_ordinary_to_numpy(TEXTS[0])
    alone = second.memory_usage() - least
    for encoding in (first, second):
        encoding.clear_cache()
    second.encode_ordinary_to_numpy(TEXTS[0])
    assert second.memory_usage() - least > 2 * alone


def a_forked_process_has_the_limit_for_itself() -> None:
    encodings = own_encodings()
    least = usage(encodings)
    expected = encode_all(encodings)
    for encoding in encodings:
        encoding.clear_cache()
    bytemill.set_process_cache_limit(2 * MIB)
    encode_all(encodings)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for encoding in encodings:
                encoding.clear_cache()
            same = all(map(np.array_equal, encode_all(encodings), expected))
            learned = usage(encodings) - least
            # What the parent has is no longer counted here, and what the child has is.
            is_used = MIB // 2 < learned <= 2 * MIB + SLACK * THREADS * len(encodings)
            status = 0 if same and is_used else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
