"""Files on object stores are counted, learned from and written to shards as those of folders are."""

from __future__ import annotations

from pathlib import Path

import fsspec  # type: ignore[import-untyped]
import pytest

import bytemill
from bytemill.shards import Provenance, write_shards

pytestmark = pytest.mark.usefixtures("memory_store")


def write(uri: str, text: str) -> None:
    with fsspec.open(uri, "w") as file:
        file.write(text)


def shards(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob("*.bin"))]


@pytest.mark.parametrize("uri", ["memory://corpus", "memory://corpus/", "memory://corpus/*"])
def test_a_uri_is_a_source(stored_corpus: Path, tmp_path: Path, uri: str) -> None:
    counts = bytemill.count_pieces(stored_corpus, "gpt2", progress=False)
    assert list(bytemill.count_pieces(uri, "gpt2", progress=False)) == list(counts)
    # Also the order of first occurrence is the same.
    options = {"tie_break": "first_seen", "pattern": "gpt2", "progress": False}
    assert bytemill.train(uri, 280, **options).sha256 == bytemill.train(stored_corpus, 280, **options).sha256  # type: ignore[arg-type]
    encoding = bytemill.get_encoding("gpt2")
    write_shards(stored_corpus, tmp_path / "here", encoding)
    written = write_shards(uri, tmp_path / "there", encoding)
    assert shards(tmp_path / "there") == shards(tmp_path / "here")
    assert [source.path for source in written.sources] == [
        f"memory:///corpus/{path.name}" for path in sorted(stored_corpus.iterdir())
    ]
    read = Provenance.from_json((tmp_path / "there" / "provenance.json").read_text(encoding="utf-8"))
    assert read.sources == written.sources


def test_a_file_of_this_machine_may_have_a_scheme(stored_corpus: Path) -> None:
    path = stored_corpus / "a.jsonl"
    assert dict(bytemill.count_pieces(f"file://{path}", progress=False)) == dict(
        bytemill.count_pieces(path, progress=False)
    )


def test_an_object_that_has_changed_is_noticed(tmp_path: Path) -> None:
    write("memory://texts/a.txt", "some words " * 10)
    write("memory://texts/b.txt", "other words")
    encoding = bytemill.get_encoding("gpt2")
    write_shards("memory://texts", tmp_path / "shards", encoding, shard_tokens=5)
    again = write_shards("memory://texts", tmp_path / "shards", encoding, shard_tokens=5, resume=True)
    assert again.tokens > 20
    write("memory://texts/a.txt", "fresh words" * 10)
    with pytest.raises(ValueError, match=r"a\.txt: the source has changed since shards were written from it"):
        write_shards("memory://texts", tmp_path / "shards", encoding, shard_tokens=5, resume=True)


def test_what_is_no_object_is_an_error(stored_corpus: Path) -> None:
    del stored_corpus
    with pytest.raises(FileNotFoundError, match="there is no such file: 'memory://corpus/none'"):
        bytemill.count_pieces("memory://corpus/none", progress=False)
    with pytest.raises(ValueError, match=r"all of these are URIs \('memory://corpus/a\.jsonl'\)"):
        bytemill.count_pieces(["memory://corpus/a.jsonl"], progress=False)
    # Among other documents, and where a list is not, it is a document.
    counts = bytemill.count_pieces(["memory://corpus/a.jsonl", "text"], None, progress=False)
    assert dict(counts) == {b"memory://corpus/a.jsonl": 1, b"text": 1}
