"""Files that are cut short, cannot be read, or change while they are read: an error that names them.

A process that reads a mapped file beyond its end is killed: nothing here may map a file.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
import zstandard
from pyarrow import parquet

import bytemill
from bytemill.documents import blocks
from bytemill.shards import write_shards
from support.command_line import bytemill as command

ENCODING = bytemill.get_encoding("gpt2")
LINES = [f"{i}: the quick brown fox, naïve 日本語" for i in range(400)]


def text() -> bytes:
    return "\n".join(LINES).encode()


def json_lines() -> bytes:
    return "".join(json.dumps({"text": line}) + "\n" for line in LINES).encode()


def parquet_file() -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table({"text": LINES}), sink, row_group_size=50)
    return sink.getvalue()


# Files, and whether one that is cut short can be told from a whole one.
FILES: dict[str, Callable[[], bytes]] = {
    "a.jsonl": json_lines,
    "a.txt.gz": lambda: gzip.compress(text()),
    "a.txt.zst": lambda: zstandard.compress(text()),
    "a.jsonl.gz": lambda: gzip.compress(json_lines()),
    "a.parquet": parquet_file,
}


@pytest.mark.parametrize("name", FILES)
def test_truncated_documents(name: str, tmp_path: Path) -> None:
    data = FILES[name]()
    path = tmp_path / name
    # Not at the end of a line, where nothing is missing.
    for size in {1, 7, len(data) // 3, len(data) // 2, len(data) - 9, len(data) - 2}:
        path.write_bytes(data[:size])
        for work in (
            lambda: bytemill.count_pieces([path], "gpt2", progress=False),
            lambda size=size: write_shards([path], tmp_path / f"{size}", ENCODING, num_threads=1),
        ):
            with pytest.raises((ValueError, OSError)) as caught:
                work()
            assert name in str(caught.value)
        written = {entry.name for entry in (tmp_path / f"{size}").iterdir()}
        assert written == {"provenance.json"}
        called = command("count", "-e", "gpt2", path)
        assert called.code == 2
        assert name in called.err


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_truncated_counts(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    bytemill.count_pieces(LINES, "gpt2", progress=False).save(path)
    data = path.read_bytes()
    for size in {*range(0, len(data), max(len(data) // 40, 1)), len(data) - 1}:
        path.write_bytes(data[:size])
        with pytest.raises((ValueError, OSError), match=name):
            bytemill.PieceCounts.load(path)


def test_truncated_ids(tmp_path: Path) -> None:
    path = tmp_path / "ids.npy"
    np.save(path, np.arange(1000, dtype=np.uint16))
    data = path.read_bytes()
    for size in (0, 5, 60, 127, 128, 129, 1000, len(data) - 2):
        path.write_bytes(data[:size])
        called = command("decode", "-e", "gpt2", "-o", tmp_path / "text", path)
        assert called.code == 2
        assert "ids.npy: expected" in called.err
        assert not (tmp_path / "text").exists()
    path.write_bytes(data)
    assert command("decode", "-e", "gpt2", "-o", tmp_path / "text", path).code == 0


READERS: dict[str, Callable[[Path], object]] = {
    "Encoding.from_file": lambda path: bytemill.Encoding.from_file(path, pattern="gpt2"),
    "PieceCounts.load": bytemill.PieceCounts.load,
    "count_pieces": lambda path: bytemill.count_pieces([path], "gpt2", progress=False),
    "train": lambda path: bytemill.train(path, 300, progress=False),
    "write_shards": lambda path: write_shards([path], path.parent / "out", ENCODING),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_what_cannot_be_read(reader: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        reader(tmp_path / "missing.tiktoken")
    (tmp_path / "folder.tiktoken").mkdir()
    with pytest.raises((OSError, ValueError), match="folder"):
        reader(tmp_path / "folder.tiktoken")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners as POSIX has them")
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_what_may_not_be_read(reader: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "secret.tiktoken"
    path.write_bytes(b"YQ== 0\n")
    # Whatever it needs is imported.
    with pytest.raises(OSError, match="missing"):
        reader(tmp_path / "missing.tiktoken")
    path.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError, match=str(tmp_path.parent.name)):
            reader(path)
    finally:
        os.seteuid(user)


def changed(path: Path, how: str) -> None:
    """Changes a file in place."""
    if how == "shrinks":
        os.truncate(path, path.stat().st_size // 2)
    elif how == "grows":
        with path.open("ab") as file:
            file.write(b"more\n" * 1000)
    else:
        facts = path.stat()
        with path.open("r+b") as file:
            file.write(b"other")
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))


@pytest.mark.parametrize("how", ["shrinks", "grows", "changes"])
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_documents_that_change(name: str, how: str, tmp_path: Path) -> None:
    path = tmp_path / name
    line = b"the quick brown fox jumps over the lazy dog, again and again\n"
    if name.endswith(".jsonl"):
        line = b'{"text": "the quick brown fox jumps over the lazy dog"}\n'

    def source() -> Iterator[Path]:
        path.write_bytes(line * 600_000)
        yield path

    times = 0

    def change_once(*_: object) -> None:
        nonlocal times
        times += 1
        if times == 1:
            changed(path, how)

    with pytest.raises(ValueError, match=rf"{name}.*has changed while it was read|{name}, line"):
        write_shards(source(), tmp_path / "out", ENCODING, shard_tokens=1_000_000, progress=change_once)
    assert times
    assert not [entry for entry in (tmp_path / "out").iterdir() if entry.suffix == ".tmp"]
    assert json.loads((tmp_path / "out" / "provenance.json").read_bytes())["complete"] is False
    with pytest.raises(ValueError, match=r"the source has changed"):
        write_shards([path], tmp_path / "out", ENCODING, shard_tokens=1_000_000, resume=True)


@pytest.mark.parametrize("how", ["shrinks", "grows", "changes"])
def test_training_documents_that_change(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text() * 10)
    cut = blocks.last_cut
    times = 0

    def last_cut(*arguments: Any, **options: Any) -> int | None:
        nonlocal times
        times += 1
        if times == 1:
            changed(path, how)
        return cut(*arguments, **options)

    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(blocks, "last_cut", last_cut)
    with pytest.raises(ValueError, match=r"a\.txt: the file has changed while it was read"):
        bytemill.count_pieces([path], "gpt2", progress=False)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_counts_that_shrink(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bytemill.io import piece_table

    monkeypatch.setattr(piece_table, "ROWS", 1000)
    path = tmp_path / name
    bytemill.PieceCounts({b"%d" % i: i + 1 for i in range(200_000)}, pattern="gpt2").save(path)
    read = 0
    try:
        with piece_table.read_table(path) as (_, chunks):
            for pieces, _ in chunks:
                os.truncate(path, 10_000)
                assert pieces.to_pylist() == [b"%d" % i for i in range(read, read + len(pieces))]
                read += len(pieces)
    except (ValueError, OSError) as error:
        assert name in str(error)  # noqa: PT017 - it may also have been read ahead
        assert 0 < read < 200_000
    else:
        assert read == 200_000


def test_ids_that_shrink(tmp_path: Path) -> None:
    from bytemill.cli.id_files import id_blocks

    path = tmp_path / "ids.npy"
    np.save(path, np.zeros(3_000_000, np.uint32))
    with path.open("rb") as file:
        blocks = id_blocks(str(path), file, "npy", "<u4")
        assert len(next(blocks)[0])
        os.truncate(path, 1 << 20)
        with pytest.raises(ValueError, match="expected 3000000 IDs"):
            list(blocks)
