"""Counts, vocabularies and ids of a cluster of Ray are those of one process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import bytemill
import bytemill.ray
from bytemill import jobs
from bytemill.shards import write_shards
from support.held_tasks import write_corpus
from support.ray_cluster import ray

pytest_plugins = ["support.ray_cluster"]
pytestmark = pytest.mark.timeout(180)

TEXTS = ["naïve 東京 😀", "", None, "the cat <|endoftext|>", "line\nbreaks\t" * 40]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("texts") / "corpus", files=6)


@pytest.fixture(scope="module")
def dataset(cluster: Any) -> Any:  # noqa: ARG001 - it is there
    return ray.data.from_arrow([table(number) for number in range(10)])


def table(number: int) -> pa.Table:
    texts = [None if text is None else f"{text} {number}" for text in TEXTS * 30]
    return pa.table({"text": texts, "row": [number * 1_000 + row for row in range(len(texts))]})


def all_texts() -> list[str]:
    return [text for number in range(10) for text in table(number)["text"].to_pylist() if text is not None]


@pytest.mark.parametrize("unit_bytes", [5_000, "1M"])
def test_counts_and_vocabulary_of_files(
    cluster: Any, corpus: Path, tmp_path: Path, unit_bytes: int | str
) -> None:
    work = tmp_path / "work"
    counts = bytemill.ray.count_pieces(
        corpus, "cl100k", to=work, special_tokens=["cat"], unit_bytes=unit_bytes, address=cluster.address
    )
    here = bytemill.count_pieces(corpus, "cl100k", special_tokens=["cat"], progress=False)
    assert dict(counts) == dict(here)
    plan = jobs.Plan.load(work)
    assert dict(bytemill.ray.count_pieces(plan, "cl100k", special_tokens=["cat"])) == dict(here)
    wanted = bytemill.train(here, 300, tie_break="greatest_bytes", name="mine", progress=False)
    for source in (work, plan, counts, here):
        mine = bytemill.ray.train(source, 300, tie_break="greatest_bytes", name="mine", memory="50M")
        assert (mine.sha256, mine.name) == (wanted.sha256, "mine")


@pytest.mark.parametrize("form", ["bin", "megatron"])
def test_shards_of_files(cluster: Any, corpus: Path, tmp_path: Path, form: str) -> None:
    encoding = bytemill.get_encoding("gpt2")
    options: dict[str, Any] = {"format": form, "append": "<|endoftext|>"}
    work = tmp_path / "work"
    written = bytemill.ray.write_shards(
        corpus, encoding, to=work, unit_bytes=20_000, address=cluster.address, **options
    )
    assert len(written.units) > 5
    here = write_shards(corpus, tmp_path / "here", encoding, **options)
    assert (written.documents, written.tokens) == (here.documents, here.tokens)
    assert joined(work / "shards") == joined(tmp_path / "here")


def test_the_command_line(cluster: Any, corpus: Path, tmp_path: Path) -> None:
    units = ["--work", tmp_path / "work", "--unit-bytes", "20k"]
    engine = [*units, "--engine", "ray", "--address", cluster.address]
    mine = tmp_path / "mine.bytemill"
    assert command_line("train", corpus, "--vocab-size", "300", "-o", mine, *engine).returncode == 0
    encoding = bytemill.Encoding.from_file(mine)
    assert encoding.sha256 == bytemill.train(corpus, 300, progress=False).sha256
    assert command_line("shard", corpus, "-e", mine, "--eos", "10", *engine).returncode == 0
    write_shards(corpus, tmp_path / "here", encoding, append=10)
    assert joined(tmp_path / "work" / "shards") == joined(tmp_path / "here")


def joined(folder: Path) -> bytes:
    """Returns the contents of all shards, one behind the other."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*.bin")))


def command_line(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "bytemill", *map(str, arguments)], check=False)  # noqa: S603


def test_training_warns_here(cluster: Any, tmp_path: Path) -> None:
    counts = bytemill.PieceCounts({b"abab": 3})
    with pytest.warns(UserWarning, match="training ended with 2 merges of 44: no pair is left"):
        assert bytemill.ray.train(counts, 300, address=cluster.address).n_vocab == 258
    with pytest.raises(ValueError, match="first_seen"):
        bytemill.ray.train(sorted_counts(tmp_path), 300, tie_break="first_seen")
    (tmp_path / "text.txt").write_text("text")
    plan = jobs.plan(tmp_path / "text.txt", tmp_path / "work")
    with pytest.raises(ValueError, match=r"expected all 1 units of counts to be done"):
        bytemill.ray.train(plan, 300)


def sorted_counts(folder: Path) -> bytemill.PieceCounts:
    bytemill.PieceCounts({b"abab": 3}).save(folder / "counts.parquet", sort=True)
    return bytemill.PieceCounts.merge_files([folder / "counts.parquet"])


@pytest.mark.parametrize("least_bytes", [1, 20_000, 256 << 20])
def test_counts_of_a_dataset(
    dataset: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least_bytes: int
) -> None:
    monkeypatch.setattr("bytemill.ray.sink.LEAST_BYTES", least_bytes)
    counts = bytemill.ray.count_pieces(dataset, to=tmp_path, column="text", special_tokens=["<|endoftext|>"])
    here = bytemill.count_pieces(all_texts(), special_tokens=["<|endoftext|>"], progress=False)
    assert dict(counts) == dict(here)
    assert not list(tmp_path.iterdir())
    empty = bytemill.ray.count_pieces(dataset.limit(0), to=tmp_path, column="text")
    assert len(empty) == 0


@pytest.mark.parametrize(
    "encoding",
    ["o200k_base", bytemill.train(["the cat sat"], 260, special_tokens=["<|endoftext|>"], progress=False)],
)
def test_ids_of_a_dataset(dataset: Any, encoding: bytemill.Encoding | str) -> None:
    encoder = bytemill.get_encoding(encoding) if isinstance(encoding, str) else encoding
    marked = bytemill.ray.encode(
        dataset,
        "text",
        encoding,
        into="ids",
        prepend=[7, 8],
        append="<|endoftext|>",
        allowed_special="all",
    )
    plain = bytemill.ray.encode(marked, "text", encoding, into="ids of text", num_cpus=1)
    assert plain.schema().types == [pa.string(), pa.int64(), *[pa.large_list(pa.uint32())] * 2]
    rows = sorted(plain.take_all(), key=lambda row: row["row"])
    assert len(rows) == 10 * 30 * len(TEXTS)
    for row in rows:
        if row["text"] is None:
            assert row["ids"] is row["ids of text"] is None
        else:
            assert [*row["ids of text"]] == encoder.encode_ordinary(row["text"])
            ids = encoder.encode(row["text"], allowed_special="all")
            assert [*row["ids"]] == [7, 8, *ids, encoder.encode_single_token("<|endoftext|>")]


def test_blocks_without_rows(dataset: Any, tmp_path: Path) -> None:
    some = dataset.map_batches(only_the_first_rows, batch_format="pyarrow")
    ids = bytemill.ray.encode(some, "text", "gpt2").take_all()
    assert sorted(row["row"] for row in ids) == [0, 1, 2]
    encoder = bytemill.get_encoding("gpt2")
    for row in ids:
        text = row["text"]
        assert row["input_ids"] is None if text is None else [*row["input_ids"]] == encoder.encode(text)
    counts = bytemill.ray.count_pieces(some, "gpt2", to=tmp_path, column="text")
    assert dict(counts) == dict(bytemill.count_pieces(all_texts()[:2], "gpt2", progress=False))
    assert bytemill.ray.encode(dataset.limit(0), "text", "gpt2").take_all() == []


def only_the_first_rows(table: pa.Table) -> pa.Table:
    import pyarrow.compute  # type: ignore[import-untyped]

    return table.filter(pyarrow.compute.less(table["row"], 3))


def test_ids_replace_a_column_and_are_written(dataset: Any, tmp_path: Path) -> None:
    ids = bytemill.ray.encode(dataset, "text", "gpt2", into="text").select_columns(["text"])
    ids.write_parquet(str(tmp_path))
    read = pq.read_table(tmp_path)
    assert read.schema.field("text").type.value_type == pa.uint32()
    total = sum(map(len, bytemill.get_encoding("gpt2").encode_ordinary_batch(all_texts())))
    assert sum(len(row) for row in read["text"].to_pylist() if row is not None) == total


def test_wrong_arguments(dataset: Any, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = bytemill.ray.count_pieces
    with pytest.raises(ValueError, match="expected to= and column= with a dataset"):
        count(dataset)
    with pytest.raises(ValueError, match="expected to= with files"):
        count(corpus)
    with pytest.raises(ValueError, match="column is for a dataset"):
        count(corpus, to=tmp_path, column="text")
    with pytest.raises(ValueError, match="expected a column 'txt', got a dataset with text, row"):
        count(dataset, to=tmp_path, column="txt")
    with pytest.raises(ValueError, match="expected a column 'txt', got a dataset with text, row"):
        bytemill.ray.encode(dataset, "txt", "gpt2")
    with pytest.raises(ValueError, match="append has the text 'no token'"):
        bytemill.ray.encode(dataset, "text", "gpt2", append="no token")
    with pytest.raises(ValueError, match="num_cpus must be 1 or more"):
        bytemill.ray.Executor(num_cpus=0)
    monkeypatch.setattr(ray.data.DataContext.get_current(), "max_errored_blocks", -1)
    with pytest.raises(ValueError, match="max_errored_blocks of 0"):
        count(dataset, to=tmp_path, column="text")
