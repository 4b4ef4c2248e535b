"""Files from strangers: each reader answers a bomb by an ordinary error or by what the file says.

Memory is in proportion to the file, and so is time, however large the numbers in the file and however deep or
repetitive it is: see `SECURITY.md`. `test_malformed_files.py` damages files that are sound.
"""

from __future__ import annotations

import importlib
import inspect
import multiprocessing
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bytemill import formats
from support.apart import Apart, EndedError
from support.bombs import BOMBS
from support.memory import peak_beyond
from support.readers import NOT_READERS, READERS, Outcome, outcome

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited and measured on Linux")

# Bytes that reading may take beside those in proportion to the file, for tables of characters and the like.
CONSTANT = 32 << 20

# Bytes more where Arrow reads: pages of its library count as soon as they are touched, and it has 60 MB.
OF_ARROW = 32 << 20

# Seconds of a call, though processor time is limited: the machine may be busy.
PATIENCE = 300

# A kind's other readers share its parsers: they try what is refused, and those that number added tokens all.
CASES = [
    pytest.param(kind, reader, name, id=f"{kind}-{reader}-{name}")
    for kind, bombs in BOMBS.items()
    for reader in READERS[kind]
    for name, bomb in bombs.items()
    if bomb.reason is not None or reader in {next(iter(READERS[kind])), "hf.Tokenizer.from_file"}
]


@pytest.fixture(scope="module")
def forked() -> Iterator[Apart]:
    """Processes that have imported everything."""
    peak_beyond(lambda: None)  # skips if the system does not tell it
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["support.readers", "pyarrow.parquet"])
    apart = Apart(PATIENCE, context)
    yield apart
    apart.close()


@pytest.mark.parametrize(("kind", "reader", "name"), CASES)
def test_bombs(kind: str, reader: str, name: str, forked: Apart, tmp_path: Path) -> None:
    bomb = BOMBS[kind][name]
    files = bomb.make()
    for file, contents in files.items():
        (tmp_path / file).write_bytes(contents)
    most = CONSTANT + OF_ARROW * (kind == "piece counts") + bomb.most * sum(map(len, files.values()))
    try:
        came: Outcome = forked.call(outcome, kind, reader, tmp_path / next(iter(files)), most)
    except EndedError:
        pytest.fail("the process ended: it crashed, was ended, or took too much time")
    finally:
        forked.close()
    assert came.peak < most, f"{came.peak / 1e6:.0f} MB: {came}"
    # A message is for reading, whatever is in the file.
    assert len(came.message) < 2_000
    if came.error:
        expected = "RuntimeError" if reader.startswith("sentencepiece.") else "ValueError"
        assert expected in came.error, came
    if reader == next(iter(READERS[kind])):
        assert bool(came.error) == (bomb.reason is not None), came
        assert re.search(bomb.reason or "", came.message, re.DOTALL), came
        if came.error:
            assert str(tmp_path) in came.message


# --- No reader is forgotten ---

# Modules of formats that read files, and the kinds of their files; and the others.
FORMATS: dict[str, list[str]] = {
    "bert_vocabulary": ["vocab.txt"],
    "data_gym": ["GPT-2's pair"],
    "gguf_file": ["GGUF"],
    "gguf_model": ["GGUF"],
    "json_file": ["tekken.json"],
    "minbpe_model": ["minbpe"],
    "native": ["native"],
    "ranks_folders": ["folders of ranks"],
    "sentencepiece_model": ["SentencePiece"],
    "tekken": ["tekken.json"],
    "tiktoken_ranks": ["ranks"],
    "tokenizer_json": ["tokenizer.json, components", "tokenizer.json, models"],
    "transformers_folder": ["vocab.txt", "GPT-2's pair"],
}
WITHOUT_READERS = {"dialects", "gguf_splitting", "huggingface", "lines", "merge_list", "npy", "verification"}

PUBLIC = [
    "bytemill",
    *(
        f"bytemill.{name}"
        for name in (
            "hf",
            "inspection",
            "jobs",
            "load",
            "minbpe",
            "ray",
            "sentencepiece",
            "shards",
            "spark",
            "training",
        )
    ),
]

# Parameters that are files, their contents or folders.
PARAMETERS = {
    "blobpath",
    "buffer",
    "contents",
    "directory",
    "file",
    "file_prefix",
    "filename",
    "json",
    "model_file",
    "model_proto",
    "path",
    "paths",
    "plan",
    "serialized",
    "source",
    "tiktoken_bpe_file",
    "tokenizer",
    "vocab_bpe_file",
    "work",
}


def takers() -> Iterator[str]:
    """Yields the names of everything public that takes a file."""
    for module in PUBLIC:
        public = importlib.import_module(module)
        for name in public.__all__:
            value = getattr(public, name)
            found = {name: value}
            if inspect.isclass(value):
                found |= {f"{name}.{key}": getattr(value, key) for key in dir(value) if key[0] != "_"}
            for each, function in found.items():
                if not callable(function):
                    continue
                try:
                    parameters = inspect.signature(function).parameters
                except ValueError:  # of a class of the system
                    continue
                if PARAMETERS & set(parameters):
                    yield f"{module}.{each}".removeprefix("bytemill.")


def test_every_reader_is_tried() -> None:
    assert set(BOMBS) == set(READERS)
    tried = {name for readers in READERS.values() for name in readers}
    assert set(takers()) == tried | set(NOT_READERS)
    assert not tried & set(NOT_READERS)
    assert set(NOT_READERS.values()) <= tried | {""}


def test_every_format_is_tried() -> None:
    modules = {module.name for module in pkgutil.iter_modules(formats.__path__)}
    assert modules == FORMATS.keys() | WITHOUT_READERS
    assert {kind for kinds in FORMATS.values() for kind in kinds} <= set(BOMBS)
