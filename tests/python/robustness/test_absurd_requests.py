"""Requests for far more memory than available raise `MemoryError`, and the process continues."""

from __future__ import annotations

import sys

import pytest

from support.subprocesses import run

# Small arguments that request much memory: ranges, one number repeated, a sparse file.
REQUESTS = {
    "decode_range": "encoding.decode(range(2**40))",
    "decode_batch_range": "encoding.decode_batch([[1], range(2**40)])",
    "decode_lying": "encoding.decode_bytes(Lying())",
    "decode_repeated": "encoding.decode(np.broadcast_to(np.uint32(5), 2**40))",
    "decode_repeated_signed": "encoding.decode(np.broadcast_to(np.int64(5), 2**40))",
    "decode_long_token": "long.decode_bytes([256] * 5_000)",
    "decode_long_token_as_text": "long.decode(np.full(5_000, 256))",
    "encode_copied_file": "encoding.encode_bytes(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))",
    "append_to_nothing": "encoding.encode_batch_to_numpy([''] * 1_000_000, append=range(5_000))",
    "nulls": "encoding.encode_arrow(pa.nulls(2**40))",
    "result_as_bytes": "long.decode_bytes([256] * 400)",
}

SCRIPT = """
import mmap, resource, tempfile
from collections.abc import Sequence
import numpy as np
import pyarrow as pa
import bytemill

class Lying(Sequence):
    def __len__(self):
        return 2**60
    def __getitem__(self, index):
        return 1

encoding = bytemill.get_encoding("gpt2")
ranks = {{bytes([byte]): byte for byte in range(256)}}
token = b"a" * (1 << 20)
ranks[token] = 256
long = bytemill.Encoding("long", pat_str=r"\\w+|\\W+", mergeable_ranks=ranks, special_tokens={{}})
file = tempfile.TemporaryFile()
file.truncate(400 << 20)
# Fail allocations even if the system overcommits.
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = taken + (600 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for request in {requests}:
    try:
        eval(request)
    except MemoryError as error:
        print("no memory", error)
    else:
        raise AssertionError(f"there was room for {{request}}")
    assert encoding.encode("hello world") == [31373, 995]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is not limited like this elsewhere")
def test_absurd_requests() -> None:
    """One after the other, in one process."""
    printed = run(SCRIPT.format(requests=[*REQUESTS.values()]))
    assert printed.count("no memory") == len(REQUESTS)


@pytest.mark.parametrize("argument", ["pad_vocab_to=2**40", "pad_vocab_to=2**31"])
def test_absurd_padding(argument: str) -> None:
    run(
        f"""
        import bytemill
        try:
            bytemill.train(["abab"], 257, progress=False, {argument})
        except ValueError as error:
            assert "from 1 to 1048576" in str(error)
        else:
            raise AssertionError("it was padded")
        """
    )


@pytest.mark.skipif(sys.platform != "linux", reason="threads are not limited like this elsewhere")
def test_as_many_threads_as_there_may_be() -> None:
    """If the system allows no more threads, the existing ones do the work."""
    run(
        """
        import resource
        import bytemill
        encoding = bytemill.get_encoding("gpt2")
        texts = ["words and more words " * 20_000] * 20
        expected = encoding.encode_ordinary_batch(texts, num_threads=1)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        assert encoding.encode_ordinary_batch(texts, num_threads=64) == expected
        """
    )
