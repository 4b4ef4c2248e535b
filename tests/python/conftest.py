"""Fixtures that more than one test module needs: above all the real tiktoken, offline."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import tiktoken

import bytemill
from support import offline_tiktoken
from support.libraries import Library
from support.offline_tiktoken import NAMES, PublishedFile


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--part=2/3`: the second third of the modules, so that processes may share the tests."""
    parser.addoption("--part", metavar="N/M", help="run every M-th module, from the N-th on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the tests of the modules that `--part` says."""
    part = config.getoption("--part")
    if part is None:
        return
    number, count = map(int, part.split("/"))
    if not 1 <= number <= count:
        raise pytest.UsageError(f"expected --part=N/M with N from 1 to M, got {part}")
    modules = {path: index for index, path in enumerate(sorted({item.path for item in items}))}
    others = [item for item in items if modules[item.path] % count != number - 1]
    items[:] = [item for item in items if modules[item.path] % count == number - 1]
    config.hook.pytest_deselected(items=others)


def pytest_collection_finish() -> None:
    """Keeps the collector of garbage from looking, again and again, at all that was imported."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Lets modules end as they would."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_disks() -> Iterator[None]:
    """Skips `fsync`: no test can see what a power failure leaves, and waiting for disks takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def published_files() -> dict[str, list[PublishedFile]]:
    """The files that each of tiktoken's encodings was published in."""
    return {name: offline_tiktoken.published_files(name) for name in NAMES}


@pytest.fixture(scope="session")
def exported_files() -> dict[str, list[bytes]]:
    """The same files as this library writes them."""
    return {name: offline_tiktoken.exported_files(name) for name in NAMES}


@pytest.fixture(scope="session")
def tiktoken_encodings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, tiktoken.Encoding]]:
    """The real tiktoken's encodings by name, read from our exports."""
    with offline_tiktoken.offline_tiktoken(tmp_path_factory.mktemp("tiktoken-cache")) as encodings:
        yield encodings


@pytest.fixture(scope="session")
def tiktoken_cache(tiktoken_encodings: Mapping[str, tiktoken.Encoding]) -> Path:  # noqa: ARG001 - it fills the cache
    """tiktoken's cache, filled by our exports."""
    return Path(os.environ["TIKTOKEN_CACHE_DIR"])


@pytest.fixture
def theirs(tiktoken_encodings: Mapping[str, tiktoken.Encoding]) -> Library:
    """tiktoken, to be compared with this library call by call."""
    return Library(tiktoken, tiktoken_encodings["cl100k_base"])


@pytest.fixture
def ours() -> Library:
    """This library, in the same way."""
    return Library(bytemill, bytemill.get_encoding("cl100k_base"))


@pytest.fixture(scope="session")
def byte_ranks() -> dict[bytes, int]:
    """The smallest vocabulary: the 256 single bytes."""
    return {bytes([byte]): byte for byte in range(256)}


@pytest.fixture
def custom_parts(byte_ranks: dict[bytes, int]) -> dict[str, Any]:
    """The arguments for a small encoding of one's own."""
    return {
        "name": "custom",
        "pat_str": r"\p{L}+|\p{N}+|[^\p{L}\p{N}]+",
        "mergeable_ranks": {**byte_ranks, b"ab": 256, b"abc": 257},
        "special_tokens": {"<|endoftext|>": 300, "<|other|>": 301},
    }


@pytest.fixture
def memory_store() -> Iterator[None]:
    """Empties the store of this process, "memory://", after a test."""
    yield
    from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped]

    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]


@pytest.fixture
def stored_corpus(tmp_path: Path, memory_store: None) -> Path:  # noqa: ARG001 - empties it afterwards
    """Writes a corpus to a folder, which is returned, and to "memory://corpus"."""
    from support.mixed_corpus import write_corpus
    from support.stores import upload

    folder = write_corpus(tmp_path / "corpus")
    upload(folder, "memory://corpus")
    return folder
