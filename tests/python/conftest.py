"""Fixtures that more than one test module needs: above all the real tiktoken, offline."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import bytemill
import pytest
import tiktoken
import tiktoken.load
from bytemill.formats.data_gym import format_encoder, format_merges
from bytemill.formats.tiktoken_ranks import format_ranks
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from pathlib import Path

# A published file: its URL and the SHA-256 that tiktoken expects of it.
PublishedFile = tuple[str, str]


def files_behind(name: str) -> list[PublishedFile]:
    """Asks tiktoken which files an encoding is built from, without reading any."""
    files: list[PublishedFile] = []

    def load_tiktoken_bpe(url: str, expected_hash: str) -> dict[bytes, int]:
        files.append((url, expected_hash))
        return {}

    def data_gym_to_mergeable_bpe_ranks(**arguments: str) -> dict[bytes, int]:
        names = ("vocab_bpe", "encoder_json")
        files.extend((arguments[f"{name}_file"], arguments[f"{name}_hash"]) for name in names)
        return {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", load_tiktoken_bpe)
        patch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", data_gym_to_mergeable_bpe_ranks)
        openai_public.ENCODING_CONSTRUCTORS[name]()
    return files


@pytest.fixture(scope="session")
def published_files() -> dict[str, list[PublishedFile]]:
    """The files that each of tiktoken's encodings was published in."""
    return {name: files_behind(name) for name in openai_public.ENCODING_CONSTRUCTORS}


@pytest.fixture(scope="session")
def exported_files() -> dict[str, list[bytes]]:
    """The same files as this library writes them."""
    files = {}
    for name in openai_public.ENCODING_CONSTRUCTORS:
        encoding = bytemill.get_encoding(name)
        if name == "gpt2":
            files[name] = [format_merges(encoding), format_encoder(encoding)]
        else:
            files[name] = [format_ranks(encoding._mergeable_ranks)]
    return files


@pytest.fixture(scope="session")
def tiktoken_cache(
    tmp_path_factory: pytest.TempPathFactory,
    published_files: dict[str, list[PublishedFile]],
    exported_files: dict[str, list[bytes]],
) -> Iterator[Path]:
    """A cache for tiktoken, filled by our exports. tiktoken itself checks their hashes."""

    def read_file(blobpath: str) -> bytes:
        pytest.fail(f"tiktoken does not accept our export of {blobpath}")

    folder = tmp_path_factory.mktemp("tiktoken-cache")
    for name, published in published_files.items():
        for (url, _), contents in zip(published, exported_files[name], strict=True):
            name_in_cache = hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()
            (folder / name_in_cache).write_bytes(contents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        # Where tiktoken would open a socket.
        patch.setattr(tiktoken.load, "read_file", read_file)
        yield folder


class TiktokenEncodings(Mapping[str, tiktoken.Encoding]):
    """The encodings of the real tiktoken by name, each built when it is asked for."""

    def __getitem__(self, name: str) -> tiktoken.Encoding:
        if name not in openai_public.ENCODING_CONSTRUCTORS:
            raise KeyError(name)
        return tiktoken.get_encoding(name)

    def __iter__(self) -> Iterator[str]:
        return iter(openai_public.ENCODING_CONSTRUCTORS)

    def __len__(self) -> int:
        return len(openai_public.ENCODING_CONSTRUCTORS)


@pytest.fixture(scope="session")
def tiktoken_encodings(tiktoken_cache: Path) -> TiktokenEncodings:  # noqa: ARG001 - it must be there
    """The real tiktoken's encodings, read from our exports."""
    return TiktokenEncodings()


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
