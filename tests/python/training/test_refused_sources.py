"""Sources and files that are near to being read, and what is said about them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets  # type: ignore[import-untyped]
import duckdb
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
import zstandard

import bytemill
from bytemill import inspection
from bytemill.documents.readers import decompressed, decompression_error
from bytemill.shards import write_shards

TEXT = b"hello world\n" * 100
GPT2 = bytemill.get_encoding("gpt2")


def counted(source: Any, **options: Any) -> int:
    return len(bytemill.count_pieces(source, "gpt2", **options))


# --- Compressed files ---


def with_window(log: int) -> bytes:
    """Returns `TEXT` as `zstd --long=LOG` compresses it from a pipe."""
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=log, hash_log=12, chain_log=12)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return writer.compress(TEXT) + writer.flush()


@pytest.mark.parametrize("log", [27, 28, 30])
def test_any_window_of_zstandard_is_read(tmp_path: Path, log: int) -> None:
    path = tmp_path / "a.txt.zst"
    path.write_bytes(with_window(log))
    assert counted(path) == counted([TEXT])
    path.write_bytes(with_window(log)[:-3])
    with pytest.raises(ValueError, match=r"a\.txt\.zst: the compressed data are damaged or truncated"):
        counted(path)


def test_a_window_that_no_zstandard_reads_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.zst"
    # The exponent of the window is in the upper five bits: 2**33 bytes.
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([23 << 3]) + b"\x61\x00\x00hello world\n")
    with pytest.raises(ValueError, match=r"a\.txt\.zst: to decompress it takes a window of more than 2 GiB"):
        counted(path)


def test_memory_that_is_missing_is_no_damage() -> None:
    reason = zstandard.ZstdError("zstd decompressor error: Allocation error : not enough memory")
    error = decompression_error("a.txt.zst", reason, begun=False)
    assert type(error) is MemoryError
    assert str(error).startswith("a.txt.zst: there is not enough memory to decompress it")


@pytest.mark.parametrize("rest", [b"garbage", b"\0\0x", b"\x1f\x8c"])
def test_what_follows_gzip_is_named(tmp_path: Path, rest: bytes) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(TEXT) + rest)
    with pytest.raises(ValueError, match=r"a\.txt\.gz: other bytes follow the compressed data: `gzip -dc"):
        counted(path)


def test_members_and_zeros_may_follow_gzip(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(TEXT) + gzip.compress(TEXT) + bytes(512))
    with path.open("rb") as file, decompressed(file, path.name) as contents:
        assert contents.read() == TEXT * 2


# --- Other formats ---


def tar(mode: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        info = tarfile.TarInfo("a.txt")
        info.size = len(TEXT)
        archive.addfile(info, io.BytesIO(TEXT))
    return file.getvalue()


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", TEXT)
    return file.getvalue()


FORMATS: dict[str, Callable[[], bytes]] = {
    "a.txt.bz2": lambda: bz2.compress(TEXT),
    "a.txt.xz": lambda: lzma.compress(TEXT),
    "a.txt.lz4": lambda: bytes.fromhex("04224d186440a7") + bytes(20),
    "a.zip": zipped,
    "a.7z": lambda: b"7z\xbc\xaf\x27\x1c" + bytes(30),
    "a.rar": lambda: b"Rar!\x1a\x07\x01\x00" + bytes(30),
    "a.txt.Z": lambda: b"\x1f\x9d\x90" + bytes(30),
    "a.tar": lambda: tar("w:"),
    "a.tar.gz": lambda: tar("w:gz"),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("options", [{}, {"errors": "replace"}, {"lines": True}, {"field": "text"}])
def test_other_formats_are_refused_by_their_contents(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    contents = FORMATS[name]()
    suffix = name.removesuffix(".gz").rpartition(".")[2]
    for path in (tmp_path / name, tmp_path / f"other{'.gz' * name.endswith('.gz')}"):
        path.write_bytes(contents)
        with pytest.raises(
            ValueError, match=rf"{path.name}: the contents of a \.{suffix} file are not read: `"
        ):
            counted(path, **options)


@pytest.mark.parametrize("text", ["BZh91 is how files of bzip2 begin", "PK", "7z", "ustar " * 90, "Rar!"])
def test_texts_about_formats_are_texts(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt.bz2"
    path.write_text(text, encoding="utf-8")
    assert counted(path) == counted([text])


# --- Mappings, tables, and items that are no documents ---

DATASET = datasets.Dataset.from_dict({"text": ["a b", "c"]})
TABLES = {
    "mapping (dict) with the keys train": {"train": ["a b"]},
    "mapping (DatasetDict) with the keys train": datasets.DatasetDict({"train": DATASET}),
    "table (Dataset)": DATASET,
    "table (IterableDataset)": DATASET.to_iterable_dataset(),
    "table (DataFrame)": pd.DataFrame({"text": ["a b"]}),
    "table (LazyFrame)": pl.LazyFrame({"text": ["a b"]}),
    "table (Table)": pa.table({"text": ["a b"]}),
    "table (RecordBatch)": pa.RecordBatch.from_pydict({"text": ["a b"]}),
    "table (DuckDBPyRelation)": duckdb.sql("select 'a b' as text"),
}


@pytest.mark.parametrize("said", TABLES)
def test_mappings_and_tables_are_no_documents(tmp_path: Path, said: str) -> None:
    source: Any = TABLES[said]
    calls: list[Callable[[], object]] = [
        lambda: counted(source),
        lambda: bytemill.train(source, 256),
        lambda: write_shards(source, tmp_path / "out", GPT2),
        lambda: inspection.compare({"gpt2": GPT2}, {"a": source}),
    ]
    for call in calls:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value).startswith(f"expected documents, got a {said}: pass the ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "column",
    [
        DATASET["text"],
        pd.Series(["a b", "c"]),
        pl.Series(["a b", "c"]),
        {"a b": 1, "c": 2}.keys(),
        pa.array(["a b", "c"]).to_pylist(),
    ],
)
def test_columns_are_documents(column: Any) -> None:
    assert counted(column) == counted(["a b", "c"])


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (bytearray(b"a"), "got bytearray; pass bytes(document)"),
        (memoryview(b"a"), "got memoryview; pass bytes(document)"),
        (pa.scalar("a"), "got StringScalar; for an Arrow array pass array.to_pylist()"),
        ({"text": "a"}, "got dict; for records pass their texts, such as dataset['text'] or record['text']"),
        (None, "got NoneType; leave out what is missing"),
        (float("nan"), "got float; leave out what is missing"),
        (5, "got int"),
    ],
)
def test_items_that_are_no_documents(item: object, said: str) -> None:
    for source in (["a", item], iter(["a", item])):
        with pytest.raises(TypeError) as caught:
            counted(source)
        assert str(caught.value) == f"expected documents as str or bytes, or paths, {said}"


# --- Names from files ---


def test_names_of_columns_are_shown_escaped_and_not_all(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    names = ["\x1b]0;owned\x07\u202e", *(f"column {i}" for i in range(2000))]
    pq.write_table(pa.table({name: ["a"] for name in names}), path)
    with pytest.raises(ValueError, match="expected a column 'text'") as caught:
        counted(path)
    assert r"got \x1b]0;owned\x07\u202e, column 0, column 1, " in str(caught.value)
    assert "column 8 and 1,991 more; --field" in str(caught.value)
    kind = pa.struct([(name, pa.int64()) for name in names])
    pq.write_table(pa.table({"text": pa.array([None], kind)}), path)
    with pytest.raises(
        ValueError, match="expected strings or bytes in the column 'text', got struct<"
    ) as caught:
        counted(path)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 400
