"""The real tiktoken without a network, reading vocabulary files exported by this library.

tiktoken takes a file from its cache only if the SHA-256 is the published one, so its loading at all proves
that the exports equal the published files byte for byte.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import tiktoken
import tiktoken.load
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

import bytemill
from bytemill.formats.data_gym import format_encoder, format_merges
from bytemill.formats.tiktoken_ranks import format_ranks

# A published file: its URL and the SHA-256 that tiktoken expects.
PublishedFile = tuple[str, str]

NAMES: list[str] = list(openai_public.ENCODING_CONSTRUCTORS)


def published_files(name: str) -> list[PublishedFile]:
    """Returns the files that tiktoken builds an encoding from, without reading any."""
    files: list[PublishedFile] = []

    def load_tiktoken_bpe(url: str, expected_hash: str) -> dict[bytes, int]:
        files.append((url, expected_hash))
        return {}

    def data_gym_to_mergeable_bpe_ranks(**arguments: str) -> dict[bytes, int]:
        kinds = ("vocab_bpe", "encoder_json")
        files.extend((arguments[f"{kind}_file"], arguments[f"{kind}_hash"]) for kind in kinds)
        return {}

    with (
        patch.object(openai_public, "load_tiktoken_bpe", load_tiktoken_bpe),
        patch.object(openai_public, "data_gym_to_mergeable_bpe_ranks", data_gym_to_mergeable_bpe_ranks),
    ):
        openai_public.ENCODING_CONSTRUCTORS[name]()
    return files


def exported_files(name: str) -> list[bytes]:
    """Returns the same files as written by this library."""
    encoding = bytemill.get_encoding(name)
    if name == "gpt2":
        return [format_merges(encoding.definition), format_encoder(encoding.definition)]
    return [format_ranks(encoding._mergeable_ranks)]


@contextmanager
def offline_tiktoken(folder: Path) -> Iterator[Mapping[str, tiktoken.Encoding]]:
    """Fills `folder` as tiktoken's cache and yields its encodings by name, each built on first access."""

    def read_file(blobpath: str) -> bytes:
        if "://" not in blobpath:
            return Path(blobpath).read_bytes()
        message = f"tiktoken does not accept our export of {blobpath}"
        raise AssertionError(message)

    for name in NAMES:
        for (url, _), contents in zip(published_files(name), exported_files(name), strict=True):
            (folder / hashlib.sha1(url.encode()).hexdigest()).write_bytes(contents)  # noqa: S324 - a file name
    with (
        patch.dict(os.environ, {"TIKTOKEN_CACHE_DIR": str(folder)}),
        # tiktoken would open a socket here.
        patch.object(tiktoken.load, "read_file", read_file),
    ):
        yield Encodings()


class Encodings(Mapping[str, tiktoken.Encoding]):
    """Encodings of the real tiktoken by name."""

    def __getitem__(self, name: str) -> tiktoken.Encoding:
        """Returns an encoding, building it on first access."""
        if name not in NAMES:
            raise KeyError(name)
        return tiktoken.get_encoding(name)

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names in tiktoken's order."""
        return iter(NAMES)

    def __len__(self) -> int:
        """Returns the number of encodings."""
        return len(NAMES)
