"""Requests for far more memory than available raise `MemoryError`, and the process continues."""

from __future__ import annotations

import sys
from pathlib import Path

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


@pytest.mark.skipif(sys.platform != "linux", reason="memory is not limited like this elsewhere")
def test_the_largest_id_takes_no_more_than_others() -> None:
    run(
        """
        import json, resource
        import bytemill

        largest = 2**32 - 2
        tokens = {"a": 0, "b": 1, "ab": 2}
        characters = {"type": "BPE", "unk_token": "?", "vocab": {**tokens, "?": largest}, "merges": ["a b"]}
        words = {"type": "WordLevel", "unk_token": "?", "vocab": {**tokens, "?": largest}}
        taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        limit = taken + (600 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for model in (characters, words):
            contents = json.dumps({"added_tokens": [], "model": model}).encode()
            encoding = bytemill.Encoding.from_bytes(contents)
            assert encoding.encode("ab") == [2]
            assert set(encoding.encode("cc")) == {largest}
        """
    )


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
def test_as_many_threads_as_there_may_be(tmp_path: Path) -> None:
    """If the system allows no more threads, the existing ones do the work.

    `RLIMIT_NPROC` does not bind root: the script switches to another user, usually `nobody`.
    """
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    run(
        f"""
        import os, resource, threading
        from pathlib import Path
        import numpy, pyarrow
        import bytemill
        from bytemill.shards import write_shards

        encoding = bytemill.get_encoding("gpt2")
        texts = [f"words and {{i}} more words\\n" * 5_000 for i in range(20)]
        folder = Path({str(tmp_path)!r})

        def shards(name):
            write_shards(texts, folder / name, encoding, num_threads=8, shard_tokens=10_000)
            return [path.read_bytes() for path in sorted((folder / name).glob("*.bin"))]

        work = {{
            "lists": lambda _: encoding.encode_ordinary_batch(texts, num_threads=8),
            "arrays": lambda _: [a.tolist() for a in encoding.encode_batch_to_numpy(texts, num_threads=8)],
            "columns": lambda _: pyarrow.array(encoding.encode_arrow(pyarrow.array(texts))).to_pylist(),
            "counts": lambda _: encoding.count_batch(texts, num_threads=8).tolist(),
            "decoded": lambda _: encoding.decode_batch([[1, 2, 3] * 10_000] * 20, num_threads=8),
            "pieces": lambda _: sorted(bytemill.count_pieces(texts, num_threads=8, progress=False)),
            "train": lambda _: bytemill.train(texts, 270, num_threads=8, progress=False).merges(),
            "model": lambda _: bytemill.train(
                texts, 60, kind="sentencepiece", num_threads=8, progress=False
            ).vocab(),
            "shards": shards,
        }}
        expected = {{name: do("before") for name, do in work.items()}}
        assert len(expected["shards"]) > 1
        if os.getuid() == 0:
            os.setresuid(65534, 65534, 65534)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        try:
            threading.Thread(target=print).start()
        except RuntimeError:
            pass
        else:
            raise AssertionError("the system allows a thread")
        for name, do in work.items():
            assert do("after") == expected[name], name
        """
    )
