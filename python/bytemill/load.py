"""Loading vocabularies from files and, if the caller gives one, from a URL; through tiktoken's cache.

The contents of a URL are kept in a file named by the SHA-1 of the URL, in the folder `TIKTOKEN_CACHE_DIR`, or
else `DATA_GYM_CACHE_DIR`, or else in `data-gym-cache` in the folder for temporary files; an empty name turns
the cache off. The built-in encodings do not use it.

Three things differ from tiktoken. A local file is never copied to the cache: tiktoken reads the copy even
after the file has changed. An expected hash is checked without a cache as well. Downloads time out.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bytemill._arguments import check_type
from bytemill.errors import VocabularyError
from bytemill.formats.data_gym import parse_data_gym
from bytemill.formats.tiktoken_ranks import format_ranks, parse_ranks
from bytemill.io.atomic import write_atomically

__all__ = [
    "check_hash",
    "data_gym_to_mergeable_bpe_ranks",
    "dump_tiktoken_bpe",
    "load_tiktoken_bpe",
    "read_file",
    "read_file_cached",
]

# Seconds without an answer after which a download fails.
TIMEOUT = 30.0


def read_file(blobpath: str, *, timeout: float = TIMEOUT) -> bytes:
    """Reads a file or fetches a URL, without the cache.

    Args:
        blobpath: A path, an http or https URL, or another URL that the package `blobfile` takes.
        timeout: Seconds without a response after which a download over http fails.

    Raises:
        OSError: The file cannot be read, or the URL cannot be fetched.
        ImportError: The URL needs `blobfile`, which is not installed.
    """
    if is_local(blobpath):
        return Path(blobpath).read_bytes()
    if blobpath.startswith(("http://", "https://")):
        return download(blobpath, timeout)
    blob: bytes = import_blobfile().read_bytes(blobpath)
    return blob


def check_hash(data: bytes, expected_hash: str) -> bool:
    """Returns whether data has a SHA-256, given in lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest() == expected_hash


def read_file_cached(blobpath: str, expected_hash: str | None = None, *, timeout: float = TIMEOUT) -> bytes:
    """Reads a file, or a URL through the cache.

    Args:
        blobpath: See `read_file`.
        expected_hash: The SHA-256 that the contents must have, in lower-case hexadecimal digits. A cached
            file with another hash is removed and fetched again.
        timeout: See `read_file`.

    Raises:
        VocabularyError: The contents do not have the expected hash.
        OSError: The file cannot be read, the URL cannot be fetched, or a cache that the environment names
            cannot be written. If the default cache cannot be written, that is ignored.
        ImportError: See `read_file`.
    """
    named_folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if is_local(blobpath) or named_folder == "":
        return read_verified(blobpath, expected_hash, timeout)

    folder = Path(tempfile.gettempdir(), "data-gym-cache") if named_folder is None else Path(named_folder)
    cached = folder / hashlib.sha1(blobpath.encode(), usedforsecurity=False).hexdigest()
    # Not the method of the path, which raises an error in a folder of another user.
    if os.path.exists(cached):  # noqa: PTH110
        contents = cached.read_bytes()
        if not expected_hash or check_hash(contents, expected_hash):
            return contents
        with contextlib.suppress(OSError):
            cached.unlink()

    contents = read_verified(blobpath, expected_hash, timeout)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(cached, contents)
    except OSError:
        if named_folder is not None:
            raise
    return contents


def data_gym_to_mergeable_bpe_ranks(  # noqa: PLR0913 - as in tiktoken
    vocab_bpe_file: str,
    encoder_json_file: str,
    vocab_bpe_hash: str | None = None,
    encoder_json_hash: str | None = None,
    clobber_one_byte_tokens: bool = False,  # noqa: FBT001, FBT002 - as in tiktoken
    *,
    timeout: float = TIMEOUT,
) -> dict[bytes, int]:
    """Loads a vocabulary from the two files of GPT-2, see `bytemill.formats.data_gym`.

    Args:
        vocab_bpe_file: Path or URL of the merges.
        encoder_json_file: Path or URL of the token IDs.
        vocab_bpe_hash: The SHA-256 that the first must have.
        encoder_json_hash: The SHA-256 that the second must have.
        clobber_one_byte_tokens: Whether byte tokens have the IDs in the second file instead of those of
            GPT-2.
        timeout: See `read_file`.

    Returns:
        Each mergeable token's rank.

    Raises:
        VocabularyError: A file is malformed or has another hash, or the two disagree.
        OSError: See `read_file_cached`.
        ImportError: See `read_file`.
    """
    return parse_data_gym(
        read_file_cached(vocab_bpe_file, vocab_bpe_hash, timeout=timeout),
        read_file_cached(encoder_json_file, encoder_json_hash, timeout=timeout),
        vocab_bpe_file=vocab_bpe_file,
        encoder_json_file=encoder_json_file,
        clobber_one_byte_tokens=clobber_one_byte_tokens,
    )


def load_tiktoken_bpe(
    tiktoken_bpe_file: str, expected_hash: str | None = None, *, timeout: float = TIMEOUT
) -> dict[bytes, int]:
    """Loads a vocabulary from a `.tiktoken` file, see `bytemill.formats.tiktoken_ranks`.

    Args:
        tiktoken_bpe_file: Path or URL.
        expected_hash: The SHA-256 that the file must have.
        timeout: See `read_file`.

    Returns:
        Each mergeable token's rank.

    Raises:
        VocabularyError: The file is malformed or has another hash.
        OSError: See `read_file_cached`.
        ImportError: See `read_file`.
    """
    return parse_ranks(read_file_cached(tiktoken_bpe_file, expected_hash, timeout=timeout), tiktoken_bpe_file)


def dump_tiktoken_bpe(bpe_ranks: dict[bytes, int], tiktoken_bpe_file: str) -> None:
    """Writes a vocabulary as a `.tiktoken` file.

    Args:
        bpe_ranks: Each mergeable token's rank.
        tiktoken_bpe_file: A path, or a URL that the package `blobfile` takes.

    Raises:
        TypeError: A token or rank is of a wrong type.
        OSError: The file cannot be written.
        ImportError: The URL needs `blobfile`, which is not installed.
    """
    check_type("bpe_ranks", bpe_ranks, Mapping, "expected the rank of each token")
    contents = format_ranks(bpe_ranks)
    if is_local(tiktoken_bpe_file):
        write_atomically(tiktoken_bpe_file, contents)
    else:
        with import_blobfile().BlobFile(tiktoken_bpe_file, "wb") as file:
            file.write(contents)


def is_local(blobpath: str) -> bool:
    """Returns whether this is a path rather than a URL."""
    return "://" not in blobpath


def read_verified(blobpath: str, expected_hash: str | None, timeout: float) -> bytes:
    """Reads a file or URL and checks its hash."""
    contents = read_file(blobpath, timeout=timeout)
    if expected_hash and not check_hash(contents, expected_hash):
        raise VocabularyError(
            f"Hash mismatch for data downloaded from {blobpath} (expected {expected_hash}). "
            "This may indicate a corrupted download. Please try again."
        )
    return contents


def download(url: str, timeout: float) -> bytes:
    """Fetches an http or https URL; every failure is an `OSError`."""
    # Only here: these take longer to import than all of this package.
    from http.client import HTTPException
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=timeout) as response:  # noqa: S310 - http and https only
            contents: bytes = response.read()
    except HTTPException as error:
        # Mostly a truncated answer. Other failures are `OSError`s already.
        raise OSError(f"cannot fetch {url}: {error!r}") from error
    return contents


def import_blobfile() -> Any:  # noqa: ANN401 - an optional package without types
    """Imports the optional package for URLs other than http."""
    try:
        return importlib.import_module("blobfile")
    except ImportError as error:
        raise ImportError(
            "blobfile is not installed. Please install it by running `pip install blobfile`."
        ) from error
