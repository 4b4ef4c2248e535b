"""Compacted shards are those of one process, byte for byte."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import bytemill
from bytemill import jobs, shards
from support.executors import Fault, Interleaved, Twice, killed_once
from support.mixed_corpus import write_corpus

ENCODING = bytemill.get_encoding("gpt2")
END = "<|endoftext|>"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus")


def written(corpus: Path, work: Path, **options: Any) -> jobs.Plan:
    """Returns a plan whose shards are written, of many units."""
    plan = jobs.plan(corpus, work, unit_bytes=8_000)
    jobs.write_shards(plan, ENCODING, **options, executor=jobs.Local(1))
    return plan


def contents(
    folder: Path, suffixes: tuple[str, ...] = (".bin", ".idx", ".npy", ".parquet")
) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in suffixes}


# Without a mark at their ends, some documents have no ids.
@pytest.mark.parametrize(("shard_tokens", "append"), [(333, None), (333, END), (3_000, None), (None, None)])
@pytest.mark.parametrize(
    ("form", "chunk"), [("bin", 1 << 22), ("npy", 100), ("megatron", 1 << 22), ("megatron", 100)]
)
def test_files_are_those_of_one_process(  # noqa: PLR0913, PLR0917
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: Any,
    chunk: int,
    shard_tokens: int | None,
    append: str | None,
) -> None:
    monkeypatch.setattr("bytemill.shards.token_ranges.CHUNK", chunk)
    monkeypatch.setattr("bytemill.shards.source_blocks.BLOCK_BYTES", 3_000)
    plan = written(corpus, tmp_path / "work", format=form, append=append, shard_tokens=500)
    files = jobs.compact(plan, shard_tokens=shard_tokens, executor=jobs.Local(1))
    whole = shards.write_shards(
        corpus, tmp_path / "whole", ENCODING, format=form, append=append, shard_tokens=shard_tokens
    )
    expected = contents(tmp_path / "whole")
    assert len(expected) == sum(len(shard.files) for shard in whole.shards)
    assert contents(tmp_path / "work" / "compacted") == expected
    assert list(files) == [f"compacted/{name}" for shard in whole.shards for name in shard.files]


@pytest.mark.parametrize("shard_tokens", [4, None])
@pytest.mark.parametrize("form", ["bin", "megatron"])
def test_units_whose_documents_are_all_empty(form: Any, shard_tokens: int | None, tmp_path: Path) -> None:
    corpus, work = tmp_path / "corpus.jsonl", tmp_path / "work"
    texts = ["", "", "the cat sat", "", "on the mat", "the end", "", ""]
    corpus.write_text("".join(f'{{"text": "{text}"}}\n' for text in texts))
    plan = jobs.plan(corpus, work, unit_bytes=1)
    # What is written is taken from its commit the second time.
    for _ in range(2):
        manifest = jobs.write_shards(plan, ENCODING, format=form, executor=jobs.Local(1))
        assert [unit.documents for unit in manifest.units] == [1] * len(texts)
        assert [unit.tokens for unit in manifest.units] == [len(ENCODING.encode(text)) for text in texts]
    # No program can map a file of no bytes.
    assert all(path.stat().st_size for path in work.glob("shards/*/*"))
    assert [bool(unit.files) for unit in manifest.units] == [bool(text) for text in texts]
    jobs.compact(plan, shard_tokens=shard_tokens, executor=jobs.Local(1))
    shards.write_shards(corpus, tmp_path / "whole", ENCODING, format=form, shard_tokens=shard_tokens)
    assert contents(work / "compacted") == contents(tmp_path / "whole")


@pytest.mark.parametrize("shard_tokens", [333, 3_000, None])
def test_parquet_has_the_documents_of_one_process(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard_tokens: int | None
) -> None:
    monkeypatch.setattr("bytemill.shards.token_files.ParquetFile.GROUP", 200)
    plan = written(corpus, tmp_path / "work", format="parquet")
    files = jobs.compact(plan, shard_tokens=shard_tokens, executor=jobs.Local(1))
    shards.write_shards(corpus, tmp_path / "whole", ENCODING, format="parquet", shard_tokens=None)
    tables = [pq.read_table(tmp_path / "work" / name).column("input_ids").to_pylist() for name in files]
    expected = pq.read_table(tmp_path / "whole" / "shard.parquet").column("input_ids").to_pylist()
    assert [document for table in tables for document in table] == expected
    assert len(files) == 1 if shard_tokens is None else len(files) > 1
    if shard_tokens is not None:
        assert all(sum(map(len, table)) >= shard_tokens * 0.8 for table in tables[:-1])


def test_the_executor_changes_nothing(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executors: list[jobs.Executor] = [jobs.Local(1), jobs.Local(2), Twice(1), Interleaved(monkeypatch)]
    found = []
    for number, executor in enumerate(executors):
        plan = written(corpus, tmp_path / str(number), format="megatron")
        jobs.compact(plan, shard_tokens=900, executor=executor)
        found.append(contents(tmp_path / str(number) / "compacted", (".bin", ".idx", ".json")))
    assert len(found[0]) > 9
    assert all(each == found[0] for each in found)


STEPS = ["bytemill.shards.token_files.MegatronFile.close", "bytemill.jobs.work.facts_of"]
STEPS += ["bytemill.jobs.work.Work.commit", "bytemill.jobs.stores.FolderStore.publish"]
STEPS += ["bytemill.jobs.stores.FolderStore.write", "bytemill.jobs.stores.FolderStore.remove"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_goes_on(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, when: str
) -> None:
    work = tmp_path / "work"
    plan = written(corpus, work, format="megatron", append=END)
    shards.write_shards(corpus, tmp_path / "whole", ENCODING, format="megatron", append=END, shard_tokens=900)
    killed_once(
        monkeypatch,
        Fault(step, when, 3),
        work,
        lambda: jobs.compact(plan, shard_tokens=900, executor=jobs.Local(1)),
    )
    assert contents(work / "compacted") == contents(tmp_path / "whole")


def test_what_is_not_written_or_has_changed_is_refused(corpus: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    jobs.plan(corpus, work)
    with pytest.raises(FileNotFoundError, match=r"manifest\.json"):
        jobs.compact(work)
    jobs.write_shards(work, ENCODING, executor=jobs.Local(1))
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="shard_tokens must be positive"):
            jobs.compact(work, shard_tokens=wrong)
    jobs.compact(work, shard_tokens=4_000, executor=jobs.Local(1))
    with pytest.raises(ValueError, match="compacted shards of another size"):
        jobs.compact(work, shard_tokens=4_001)
    (work / "commits" / "compact-000000.json").unlink()
    with (work / "shards" / "unit-000000" / "shard-000000.bin").open("ab") as file:
        file.write(b"more")
    with pytest.raises(ValueError, match="bytes that were committed"):
        jobs.compact(work, shard_tokens=4_000, executor=jobs.Local(1))


def test_shards_that_have_changed_are_in_no_manifest(corpus: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    jobs.plan(corpus, work)
    jobs.write_shards(work, ENCODING, executor=jobs.Local(1))
    (work / "manifest.json").unlink()
    shard = work / "shards" / "unit-000000" / "shard-000000.bin"
    shard.write_bytes(b"")
    with pytest.raises(ValueError, match=r"shard-000000\.bin: expected the \d+ bytes that were committed"):
        jobs.write_shards(work, ENCODING, executor=jobs.Local(1))
    shard.unlink()
    with pytest.raises(FileNotFoundError, match=r"shard-000000\.bin"):
        jobs.write_shards(work, ENCODING, executor=jobs.Local(1))
    assert not (work / "manifest.json").exists()


def test_a_work_folder_without_hard_links_is_refused(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(OSError, match=r"expected a work folder on a file system with hard links"):
        jobs.plan(corpus, tmp_path / "work")


@pytest.mark.parametrize("number", [np.int64(3_000), np.array(3_000)])
def test_a_size_may_be_any_integer(corpus: Path, tmp_path: Path, number: Any) -> None:
    """One of an array was changed by what counts down from it, without an end."""
    plan = written(corpus, tmp_path / "work", shard_tokens=500)
    files = jobs.compact(plan, shard_tokens=number, executor=jobs.Local(1))
    assert len(files) > 1
    assert jobs.compact(plan, shard_tokens=3_000, executor=jobs.Local(1)) == files
