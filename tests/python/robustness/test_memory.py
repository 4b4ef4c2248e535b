"""Memory does not grow with the number of calls, nor with hostile texts; texts may be very large.

BYTEMILL_FULL=1 adds ten million calls, and a text of more than 4 GiB, which takes some 12 GB of
memory.
"""

from __future__ import annotations

import os
import random
import sys

import numpy as np
import numpy.typing as npt
import pytest

import bytemill
from support.subprocesses import run
from support.timing import seconds

FULL = os.environ.get("BYTEMILL_FULL") == "1"

# Prints by how many bytes the process grew during the second half of the calls, most of which are short.
CALLS = """
import os, pickle, random, sys
import bytemill

calls = {calls}
encoding = bytemill.get_encoding("o200k_base")
encoding.set_cache_limit(1 << 20)
random = random.Random(1)
letters = "abcdefghijklmnopqrstuvwxyz   \\n中é1'"
texts = ["".join(random.choices(letters, k=random.randrange(60))) for _ in range(500)]
ids = [encoding.encode_ordinary(text) for text in texts]
arrays = [encoding.encode_to_numpy(text) for text in texts]
page = os.sysconf("SC_PAGE_SIZE")

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * page

def refused(text):
    try:
        encoding.encode(text + "<|endoftext|>")
    except ValueError:
        return
    raise AssertionError("a special token was let through")

def unknown():
    try:
        encoding.decode([3_000_000])
    except KeyError:
        return
    raise AssertionError("an unknown id was decoded")

def mixed(number):
    at = number % 500
    text = texts[at]
    kind = number % 20
    if kind < 5:
        assert encoding.encode(text) == ids[at]
    elif kind < 8:
        assert encoding.decode(ids[at]) == text
    elif kind < 10:
        assert encoding.count(text) == len(ids[at])
    elif kind == 10:
        assert len(encoding.encode_to_numpy(text)) == len(ids[at])
    elif kind == 11:
        assert encoding.decode(arrays[at]) == text
    elif kind == 12:
        assert encoding.encode_batch([text, text])[1] == ids[at]
    elif kind == 13:
        assert len(encoding.encode_batch_to_numpy([text, text]).ids) == 2 * len(ids[at])
    elif kind == 14:
        encoding.encode(f"{{number}} words that {{number * 7919}} nobody has seen")
    elif kind == 15:
        assert encoding.truncate(text, 5).token_count <= 5
        assert "".join(encoding.split(text, 8)) == text
    elif kind == 16:
        assert len(encoding.encode_with_offsets(text).ids) == len(ids[at])
    elif kind == 17:
        refused(text)
        unknown()
    elif kind == 18:
        decoder = encoding.stream_decoder()
        assert "".join(map(decoder.push, ids[at])) + decoder.flush() == text
    elif number % 400 == 19:
        pickle.loads(pickle.dumps(encoding))
        encoding.encode_with_unstable(text[:20])
        assert encoding.encode_batch([text] * 8, num_threads=2)[7] == ids[at]
        if number % 20_000 == 19:
            encoding.clear_cache()

for number in range(calls // 2):
    mixed(number)
before = resident()
for number in range(calls // 2, calls):
    mixed(number)
print(resident() - before, before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in other ways elsewhere")
@pytest.mark.timeout(7200 if FULL else 300)
def test_calls_leave_nothing_behind() -> None:
    grown, _ = map(int, run(CALLS.format(calls=10_000_000 if FULL else 200_000), timeout=7200).split())
    # A byte per call would be ten megabytes for ten million; the allocator itself varies by some.
    assert grown < (8 << 20)


LIMIT = 1 << 20


@pytest.mark.parametrize("length", [6, 14, 30, 60])
def test_texts_that_are_all_new(length: int) -> None:
    """They fill the cache repeatedly, within the limit; common pieces are soon cached again."""
    encoding = bytemill.get_encoding("cl100k_base")
    encoding.set_cache_limit(LIMIT)
    try:
        # Rows for decoding are built once.
        encoding.decode_bytes([0] * 200_000)
        encoding.clear_cache()
        encoding.encode("a")
        empty = encoding.memory_usage()
        usual = "The quick brown fox jumps over the lazy dog; it's 12 words, or so they say.\n" * 3_000
        expected = encoding.encode(usual)
        before = seconds(lambda: encoding.encode_to_numpy(usual), 4)
        drawn = random.Random(length)  # noqa: S311 - the same every time
        for _ in range(10):
            letters = drawn.choices("abcdefghijklmnopqrstuvwxyz", k=300_000)
            words = ["".join(letters[at : at + length]) for at in range(0, len(letters), length)]
            hostile = " ".join(words)
            ids = encoding.encode(hostile)
            # Five times the capacity, and no token of the vocabulary is lost.
            assert encoding.memory_usage() - empty <= LIMIT + (1 << 17), empty
            assert encoding.decode(ids) == hostile
        assert encoding.encode(usual) == expected
        after = seconds(lambda: encoding.encode_to_numpy(usual), 4)
        assert after < 3 * before + 0.002
    finally:
        encoding.set_cache_limit(64 << 20)


@pytest.mark.skipif(not FULL, reason="it takes some 10 GB of memory")
@pytest.mark.timeout(3600)
def test_texts_of_more_than_4_gib() -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    # Pieces end where it does, so that the ids are those of one repetition, repeated.
    part = "Some words, 1234 numbers; they're here again.\n" + ("=" * 64 + "\n") * 20
    expected = encoding.encode_ordinary_to_numpy(part)
    times = (41 << 30) // 10 // len(part) + 1
    contents = part.encode() * times
    assert len(contents) > 4 << 30

    def assert_repeated(ids: npt.NDArray[np.uint32]) -> None:
        rows = ids.reshape(times, len(expected))
        assert np.array_equal(rows.min(axis=0), expected)
        assert np.array_equal(rows.max(axis=0), expected)

    ids = encoding.encode_bytes(contents)
    assert len(ids) == times * len(expected)
    assert_repeated(np.fromiter(ids, np.uint32, len(ids)))
    assert encoding.decode_bytes(ids) == contents
    del ids
    text = contents.decode()
    del contents
    assert encoding.count(text) == times * len(expected)
    assert_repeated(encoding.encode_ordinary_to_numpy(text, num_threads=2))
    cut = encoding.truncate(text, times * len(expected) - 1)
    assert text.startswith(cut.text)
    assert len(text) - 65 <= len(cut.text) < len(text)
