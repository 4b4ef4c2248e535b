"""`datasets.map` with several processes: the ids, a fingerprint that stays, and one thread a process."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from typing import Any

import pytest

import bytemill
from bytemill._arguments import available_processors, thread_count
from support.subprocesses import run

# Datasets keep files of their own: each script has a directory for them, which goes when it ends.
HEAD = """
import contextlib, os, sys, tempfile, warnings
home = tempfile.TemporaryDirectory()
os.environ.update(HF_HOME=home.name, HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1")
warnings.simplefilter("ignore")  # what others warn of
import datasets, pyarrow as pa
import bytemill

texts = [f"text {number} and more of it" for number in range(2_000)]
custom = bytemill.Encoding(
    "custom",
    pat_str=r"\\w+|\\W+",
    mergeable_ranks={**{bytes([byte]): byte for byte in range(256)}, b"te": 256, b"ex": 257},
    special_tokens={"<|b|>": 301, "<|a|>": 300, "<|c|>": 302},
)
"""


def in_datasets(script: str) -> Any:
    """Runs a script and returns the JSON that it prints."""
    return json.loads(run(HEAD + script).splitlines()[-1])


def test_map_in_two_processes() -> None:
    same, threads = in_datasets(
        """
import json
from bytemill._arguments import thread_count
encoding = bytemill.get_encoding("cl100k_base")

def encode(batch):
    ids = encoding.encode_batch_to_numpy(batch["text"])
    rows = [ids.ids[start:end] for start, end in zip(ids.offsets, ids.offsets[1:])]
    own = custom.encode_ordinary_batch(batch["text"])
    return {"ids": rows, "own": own, "threads": [thread_count(None)] * len(rows)}

def encode_columns(table):
    return table.append_column("ids", pa.array(encoding.encode_arrow(table["text"])))

source = datasets.Dataset.from_dict({"text": texts})
mapped = source.map(encode, batched=True, num_proc=2)
columns = source.with_format("arrow").map(encode_columns, batched=True, num_proc=2).with_format(None)
expected = [encoding.encode_ordinary(text) for text in texts]
same = [
    mapped["ids"][:] == expected,
    columns["ids"][:] == expected,
    mapped["own"][:] == [custom.encode_ordinary(text) for text in texts],
    pa.chunked_array(encoding.encode_arrow(source.data["text"])).to_pylist() == expected,
]
print(json.dumps([same, sorted(set(mapped["threads"][:]))]))
"""
    )
    assert same == [True] * 4
    assert threads == [1]


def test_the_fingerprint_stays() -> None:
    # What `map` has done is found again by the fingerprint of the function, with all that it refers to.
    script = """
import json, dill
from datasets.fingerprint import Hasher

def prints(encoding):
    function = lambda batch: {"ids": encoding.encode_batch(batch["text"])}
    return [Hasher.hash(function), Hasher.hash(encoding), dill.dumps(encoding).hex()]

encodings = [bytemill.get_encoding("o200k_base"), custom]
before = [prints(encoding) for encoding in encodings]
for encoding in encodings:
    encoding.encode_batch(texts)
    encoding.special_tokens_set, encoding._mergeable_ranks, encoding.decode([97])
assert [prints(encoding) for encoding in encodings] == before
assert [prints(dill.loads(dill.dumps(encoding))) for encoding in encodings] == before
assert before[0] != before[1]
print(json.dumps(before))
"""
    # Each process has another seed for its hashes.
    assert in_datasets(script) == in_datasets(script)


def threads_of_a_worker(_: int) -> tuple[int, int]:
    return thread_count(None), thread_count(3)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_use_one_thread_unless_asked(method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert set(pool.map(threads_of_a_worker, range(4))) == {(1, 3)}
    assert thread_count(None) == available_processors()


def test_pickles_are_the_same_whatever_came_before(byte_ranks: dict[bytes, int]) -> None:
    def make(names: list[str]) -> bytemill.Encoding:
        special = {name: 300 + ord(name[-1]) for name in names}
        return bytemill.Encoding(
            "one", pat_str=r"\w+", mergeable_ranks=dict(byte_ranks), special_tokens=special
        )

    one, other = make(["<a", "<b"]), make(["<b", "<a"])
    other.encode_ordinary("text")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.dumps(one, protocol) == pickle.dumps(other, protocol)
