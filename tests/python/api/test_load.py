"""`bytemill.load`: files, URLs and tiktoken's cache. No test opens a socket."""

from __future__ import annotations

import hashlib
import http.client
import io
import subprocess
import sys
import tempfile
import types
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tiktoken.load

from bytemill import load
from bytemill.errors import VocabularyError
from support.offline_tiktoken import PublishedFile

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://example.invalid/some.tiktoken"
CONTENTS = b"YQ== 0\nYg== 1\n"
SHA256 = hashlib.sha256(CONTENTS).hexdigest()
CACHE_NAME = hashlib.sha1(URL.encode(), usedforsecurity=False).hexdigest()


class Server:
    """Stands in for the network: answers with `contents` and remembers what it was asked."""

    def __init__(self) -> None:
        self.contents = CONTENTS
        self.requests: list[tuple[str, float]] = []

    def urlopen(self, url: str, *, timeout: float) -> io.BytesIO:
        self.requests.append((url, timeout))
        return io.BytesIO(self.contents)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(urllib.request, "urlopen", server.urlopen)
    return server


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that does not exist yet."""
    folder = tmp_path / "new" / "cache"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    return folder


def test_check_hash() -> None:
    assert load.check_hash(CONTENTS, SHA256)
    assert not load.check_hash(CONTENTS + b"\n", SHA256)


def test_read_file_reads_paths_and_urls(tmp_path: Path, server: Server) -> None:
    path = tmp_path / "some file"
    path.write_bytes(b"local")
    assert load.read_file(str(path)) == b"local"
    assert not server.requests
    assert load.read_file(URL) == CONTENTS
    assert load.read_file("http://example.invalid/", timeout=0.5) == CONTENTS
    assert server.requests == [(URL, 30.0), ("http://example.invalid/", 0.5)]
    with pytest.raises(FileNotFoundError):
        load.read_file(str(tmp_path / "missing"))


def test_a_download_that_breaks_off_is_an_error_and_not_cached(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            raise http.client.IncompleteRead(CONTENTS[:4], len(CONTENTS) - 4)

    monkeypatch.setattr(urllib.request, "urlopen", lambda _url, timeout: Broken() if timeout else None)
    with pytest.raises(
        OSError, match=r"cannot fetch https://example\.invalid/some\.tiktoken: IncompleteRead"
    ):
        load.read_file_cached(URL)
    assert not cache.exists()


def test_a_download_is_cached_under_the_hash_of_its_url(cache: Path, server: Server) -> None:
    assert load.read_file_cached(URL, SHA256) == CONTENTS
    assert [path.name for path in cache.iterdir()] == [CACHE_NAME]
    assert (cache / CACHE_NAME).read_bytes() == CONTENTS
    assert load.read_file_cached(URL, SHA256) == CONTENTS
    assert load.read_file_cached(URL) == CONTENTS
    assert len(server.requests) == 1


@pytest.mark.usefixtures("cache", "server")
def test_the_cache_is_shared_with_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load.read_file_cached(URL, SHA256) == CONTENTS
    monkeypatch.setattr(tiktoken.load, "read_file", lambda _: pytest.fail("not in the cache"))
    assert tiktoken.load.read_file_cached(URL, SHA256) == CONTENTS


def test_a_damaged_cached_file_is_fetched_again(cache: Path, server: Server) -> None:
    cache.mkdir(parents=True)
    (cache / CACHE_NAME).write_bytes(b"half a downl")
    assert load.read_file_cached(URL, SHA256) == CONTENTS
    assert (cache / CACHE_NAME).read_bytes() == CONTENTS
    assert len(server.requests) == 1


def test_a_damaged_cached_file_is_removed_even_if_the_download_fails(cache: Path, server: Server) -> None:
    cache.mkdir(parents=True)
    (cache / CACHE_NAME).write_bytes(b"half a downl")
    server.contents = b"<html>sign in</html>"
    with pytest.raises(VocabularyError):
        load.read_file_cached(URL, SHA256)
    assert list(cache.iterdir()) == []


def test_without_a_hash_a_cached_file_is_believed(cache: Path, server: Server) -> None:
    cache.mkdir(parents=True)
    (cache / CACHE_NAME).write_bytes(b"placed by hand")
    assert load.read_file_cached(URL) == b"placed by hand"
    assert not server.requests


@pytest.mark.parametrize("cached", ["cached", "not cached"])
def test_a_wrong_hash_is_refused(
    cached: str, cache: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cached == "not cached":
        monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    server.contents = b"something else"
    with pytest.raises(VocabularyError) as caught:
        load.read_file_cached(URL, SHA256)
    assert str(caught.value) == (
        f"Hash mismatch for data downloaded from {URL} (expected {SHA256}). "
        "This may indicate a corrupted download. Please try again."
    )
    assert not cache.exists()


def test_an_empty_folder_name_turns_the_cache_off(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path))
    assert load.read_file_cached(URL) == load.read_file_cached(URL) == CONTENTS
    assert len(server.requests) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("server")
def test_which_folder_is_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path / "second"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "first"))
    load.read_file_cached(URL)
    assert (tmp_path / "first" / CACHE_NAME).exists()
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    load.read_file_cached(URL)
    assert (tmp_path / "second" / CACHE_NAME).exists()
    monkeypatch.delenv("DATA_GYM_CACHE_DIR")
    load.read_file_cached(URL)
    assert (tmp_path / "temporary" / "data-gym-cache" / CACHE_NAME).exists()


@pytest.mark.usefixtures("server")
def test_only_the_default_cache_may_be_unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a file"
    file.write_bytes(b"")
    monkeypatch.setattr(tempfile, "tempdir", str(file))
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    assert load.read_file_cached(URL) == CONTENTS
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(file))
    with pytest.raises(OSError, match="a file"):
        load.read_file_cached(URL)


@pytest.mark.usefixtures("server")
def test_a_default_cache_where_nothing_can_be_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # As in a folder of another user; this name is too long.
    monkeypatch.setattr(tempfile, "tempdir", f"/tmp/{'long' * 100}")  # noqa: S108 - never made
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    assert load.read_file_cached(URL) == CONTENTS


def test_a_local_file_is_read_where_it_is(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "some.tiktoken"
    for contents in (b"YQ== 0\n", b"YQ== 1\n"):
        path.write_bytes(contents)
        assert load.read_file_cached(str(path)) == contents
    assert not cache.exists()
    with pytest.raises(ValueError, match="Hash mismatch"):
        load.read_file_cached(str(path), SHA256)


@pytest.mark.usefixtures("cache")
def test_load_tiktoken_bpe(server: Server) -> None:
    assert load.load_tiktoken_bpe(URL, SHA256) == {b"a": 0, b"b": 1}
    server.contents = b"YQ== zero\n"
    other = "https://example.invalid/other"
    with pytest.raises(ValueError, match=f"^Error parsing line b'YQ== zero' in {other}: line 1: "):
        load.load_tiktoken_bpe(other)


def test_dumped_ranks_are_loaded_again(tmp_path: Path) -> None:
    path = str(tmp_path / "some.tiktoken")
    ranks = {b"b": 1, b"a": 0, b"\xff\x00 \n": 70000}
    load.dump_tiktoken_bpe(ranks, path)
    assert Path(path).read_bytes() == b"YQ== 0\nYg== 1\n/wAgCg== 70000\n"
    assert load.load_tiktoken_bpe(path) == ranks


def test_other_urls_go_through_blobfile(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    stored: dict[str, io.BytesIO] = {}

    class BlobFile(io.BytesIO):
        def __init__(self, url: str, mode: str) -> None:
            assert mode == "wb"
            super().__init__()
            stored[url] = self

        def close(self) -> None:
            """Keeps what was written."""

    blobfile: Any = types.ModuleType("blobfile")
    blobfile.BlobFile = BlobFile
    blobfile.read_bytes = lambda url: stored[url].getvalue()
    monkeypatch.setitem(sys.modules, "blobfile", blobfile)
    load.dump_tiktoken_bpe({b"a": 0}, "az://account/some.tiktoken")
    assert load.load_tiktoken_bpe("az://account/some.tiktoken") == {b"a": 0}
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize(
    "use",
    [load.read_file, lambda url: load.dump_tiktoken_bpe({b"a": 0}, url)],
    ids=["read_file", "dump_tiktoken_bpe"],
)
def test_other_urls_need_blobfile(use: Callable[[str], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "blobfile", None)
    with pytest.raises(ImportError, match="pip install blobfile"):
        use("az://account/some.tiktoken")


@pytest.mark.parametrize("name", ["gpt2", "r50k_base", "cl100k_base"])
def test_loads_published_files_as_tiktoken_does(
    name: str,
    published_files: dict[str, list[PublishedFile]],
    tiktoken_encodings: dict[str, tiktoken.Encoding],
) -> None:
    (urls, hashes) = zip(*published_files[name], strict=True)
    loader = load.data_gym_to_mergeable_bpe_ranks if name == "gpt2" else load.load_tiktoken_bpe
    ranks = loader(*urls, *hashes)
    assert list(ranks.items()) == list(tiktoken_encodings[name]._mergeable_ranks.items())


def test_importing_needs_neither_the_network_nor_blobfile() -> None:
    modules = {"blobfile", "requests", "urllib.request"}
    script = f"import sys, bytemill.load; print({modules} & sys.modules.keys())"
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ours
    assert result.stdout == "set()\n"
