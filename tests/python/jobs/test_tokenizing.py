"""Shards of units hold what those of one process hold, byte for byte, whatever happens to the tasks."""

from __future__ import annotations

import pickle
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import bytemill
from bytemill import jobs, shards
from bytemill.jobs.tokenizing import EncodingValue, shard_unit
from bytemill.shards.writer import ShardWriter
from support.executors import Fault, Interleaved, Twice, killed_once
from support.mixed_corpus import write_corpus

END = "<|endoftext|>"


ENCODING = bytemill.get_encoding("gpt2")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus")


def contents(work: Path) -> dict[str, bytes]:
    """Returns all that a job has written."""
    paths = [work / "manifest.json", *(work / "shards").rglob("*")]
    return {path.relative_to(work).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def files(folder: Path, manifest: jobs.Manifest, suffix: str) -> list[Path]:
    return [folder / name for name in manifest.files if name.endswith(suffix)]


def documents(path: Path) -> list[list[int]]:
    """Returns the documents of a shard of Megatron, of the ids in its `.bin`."""
    index = path.with_suffix(".idx").read_bytes()
    assert index[:9] == b"MMIDIDX\0\0"
    sequences, bounds = np.frombuffer(index, "<u8", 2, 18)
    lengths = np.frombuffer(index, "<i4", sequences, 34)
    starts = np.frombuffer(index, "<i8", bounds, 34 + 12 * int(sequences))
    ids = np.fromfile(path, {8: "<u2", 4: "<i4"}[index[17]])
    ends = np.cumsum(lengths)
    single = [ids[end - length : end].tolist() for length, end in zip(lengths, ends, strict=True)]
    return [list(chain.from_iterable(single[start:end])) for start, end in pairwise(starts)]


def values(path: Path) -> list[Any]:
    """Returns what a shard holds, in order."""
    found: list[Any]
    if path.suffix == ".parquet":
        found = pq.read_table(path).column("input_ids").to_pylist()
    elif path.suffix == ".npy":
        found = np.load(path).tolist()
    else:
        found = documents(path)
    return found


@pytest.mark.parametrize("unit_bytes", [500, 4_000, "1M"])
@pytest.mark.parametrize("shard_tokens", [700, None])
def test_ids_are_those_of_one_process(
    corpus: Path,
    tmp_path: Path,
    unit_bytes: int | str,
    shard_tokens: int | None,
) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=unit_bytes)
    options: Any = {"shard_tokens": shard_tokens, "prepend": 7, "append": END}
    manifest = jobs.write_shards(plan, ENCODING, **options, executor=jobs.Local(1))
    whole = shards.write_shards(corpus, tmp_path / "whole", ENCODING, **options)
    expected = b"".join(
        (tmp_path / "whole" / name).read_bytes() for each in whole.shards for name in each.files
    )
    assert b"".join(path.read_bytes() for path in files(tmp_path / "work", manifest, ".bin")) == expected
    assert (manifest.documents, manifest.tokens) == (whole.documents, whole.tokens)
    assert jobs.Manifest.load(tmp_path / "work") == manifest
    found = jobs.status(plan)
    assert (found.units_written, found.documents, found.tokens) == (
        len(plan.units),
        whole.documents,
        whole.tokens,
    )
    assert found.is_done


@pytest.mark.parametrize(("form", "suffix"), [("npy", ".npy"), ("megatron", ".bin"), ("parquet", ".parquet")])
def test_documents_are_those_of_one_process(
    corpus: Path,
    tmp_path: Path,
    form: Any,
    suffix: str,
) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=2_000)
    options: Any = {"format": form, "shard_tokens": 300}
    manifest = jobs.write_shards(plan, ENCODING, **options, executor=jobs.Local(1))
    whole = shards.write_shards(corpus, tmp_path / "whole", ENCODING, **options)
    names = [name for shard in whole.shards for name in shard.files if name.endswith(suffix)]
    expected = [value for name in names for value in values(tmp_path / "whole" / name)]
    found = [value for path in files(tmp_path / "work", manifest, suffix) for value in values(path)]
    assert found == expected
    assert len(expected) > 500


def test_the_same_plan_gives_the_same_bytes(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executors: list[jobs.Executor] = [
        jobs.Local(1),
        jobs.Local(2),
        Twice(1),
        Twice(2),
        Interleaved(monkeypatch),
    ]
    written = []
    for number, executor in enumerate(executors):
        plan = jobs.plan(corpus, tmp_path / str(number), unit_bytes=10_000)
        jobs.write_shards(plan, ENCODING, shard_tokens=500, append=END, executor=executor)
        written.append(contents(tmp_path / str(number)))
    assert len(written[0]) > 2 * len(plan.units)
    assert all(each == written[0] for each in written)


# The steps of a task at which it is killed, and one that it passes in each.
STEPS = ["bytemill.jobs.plan.Plan.check_sources", "bytemill.shards.writer.ShardWriter.run"]
STEPS += ["bytemill.shards.manifest.write_durably", "bytemill.jobs.work.facts_of", "pathlib.Path.rename"]
STEPS += ["bytemill.jobs.work.Work.commit", "bytemill.jobs.stores.FolderStore.publish"]
STEPS += ["bytemill.jobs.stores.FolderStore.write", "bytemill.jobs.stores.FolderStore.remove"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_goes_on(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    when: str,
) -> None:
    work = tmp_path / "work"
    for folder in (work, tmp_path / "undisturbed"):
        jobs.plan(corpus, folder, unit_bytes=10_000)
    write: Any = partial(jobs.write_shards, encoding=ENCODING, append=END, executor=jobs.Local(1))
    write(tmp_path / "undisturbed")
    killed_once(monkeypatch, Fault(step, when, 4), work, lambda: write(work))
    assert contents(work) == contents(tmp_path / "undisturbed")


def test_a_folder_of_a_process_that_died_is_replaced(corpus: Path, tmp_path: Path) -> None:
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)
    jobs.write_shards(plan, ENCODING, executor=jobs.Local(1))
    before = contents(tmp_path / "work")
    (tmp_path / "work" / "commits" / "shard-000001.json").unlink()
    (tmp_path / "work" / "shards" / "unit-000001" / "shard-000000.bin").write_bytes(b"damaged")
    jobs.write_shards(plan, ENCODING, executor=jobs.Local(1))
    assert contents(tmp_path / "work") == before


def test_a_late_task_whose_job_is_finished_is_no_error(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = jobs.plan(corpus, tmp_path / "work")
    save = ShardWriter.run
    calls = 0

    def finished_meanwhile(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            jobs.write_shards(plan, ENCODING, executor=jobs.Local(1))
        return save(*arguments, **options)

    monkeypatch.setattr(ShardWriter, "run", finished_meanwhile)
    jobs.write_shards(plan, ENCODING, executor=jobs.Local(1))
    assert calls == 2
    monkeypatch.undo()
    jobs.plan(corpus, tmp_path / "other")
    jobs.write_shards(tmp_path / "other", ENCODING, executor=jobs.Local(1))
    assert contents(tmp_path / "work") == contents(tmp_path / "other")


def test_other_shards_in_the_same_place_are_refused(corpus: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    jobs.plan(corpus, work)
    jobs.write_shards(work, ENCODING, append=END, executor=jobs.Local(1))
    wrong: list[Any] = [(ENCODING, {}), (ENCODING, {"append": END, "format": "npy"})]
    wrong.append((bytemill.get_encoding("r50k_base"), {"append": END}))
    for other, options in wrong:
        with pytest.raises(ValueError, match="of other options or of another encoding"):
            jobs.write_shards(work, other, **options, executor=jobs.Local(1))


def test_a_task_with_another_encoding_is_refused(corpus: Path, tmp_path: Path) -> None:
    class Mistaken:
        def run(self, task: Any, numbers: Any) -> Any:
            other = EncodingValue(bytemill.get_encoding("cl100k_base"))
            for number in numbers:
                shard_unit(task.args[0], number, encoding=other)
                yield number

    jobs.plan(corpus, tmp_path / "work")
    with pytest.raises(ValueError, match=r"expected the encoding gpt2 with the SHA-256 .*, got cl100k_base"):
        jobs.write_shards(tmp_path / "work", ENCODING, executor=Mistaken())


def test_a_process_unpickles_an_encoding_once() -> None:
    trained = bytemill.train(["the cat sat on the mat"] * 9, 264, progress=False)
    data = pickle.dumps(EncodingValue(trained))
    first, second = (pickle.loads(data) for _ in range(2))  # noqa: S301
    assert first is second
    assert first.value.sha256 == trained.sha256


def test_files_without_documents_are_an_error_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    jobs.plan(tmp_path / "empty.txt", tmp_path / "work")
    with pytest.raises(ValueError, match="expected documents, got none"):
        jobs.write_shards(tmp_path / "work", ENCODING, executor=jobs.Local(1))


def test_documents_without_ids_are_an_error_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text('{"text": ""}\n' * 3)
    jobs.plan(tmp_path / "empty.jsonl", tmp_path / "work")
    with pytest.raises(ValueError, match="expected documents with tokens, got 3 that are all empty"):
        jobs.write_shards(tmp_path / "work", ENCODING, executor=jobs.Local(1))


def test_arguments_are_checked_before_anything_is_stored(corpus: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    jobs.plan(corpus, work)
    wrong: Any = 5
    for call in (
        lambda: jobs.write_shards(work, ENCODING, progress=wrong),
        lambda: jobs.write_shards(work, ENCODING, executor=wrong),
        lambda: jobs.write_shards(work, ENCODING, dtype="int64"),
        lambda: jobs.count_pieces(work, progress=wrong),
        lambda: jobs.count_pieces(work, "("),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
        assert [path.name for path in work.iterdir()] == ["plan.json"]


def test_a_plan_that_keeps_invalid_bytes_has_no_shards(corpus: Path, tmp_path: Path) -> None:
    jobs.plan(corpus, tmp_path / "work", errors="keep")
    with pytest.raises(ValueError, match="errors must be one of strict, replace, not 'keep'"):
        jobs.write_shards(tmp_path / "work", ENCODING)


def test_an_output_that_has_changed_is_told_from_what_was_committed(corpus: Path, tmp_path: Path) -> None:
    jobs.plan(corpus, tmp_path / "work")
    manifest = jobs.write_shards(tmp_path / "work", ENCODING, executor=jobs.Local(1))
    (name, facts), *_ = manifest.units[0].files.items()
    assert facts.size == (tmp_path / "work" / name).stat().st_size
    (tmp_path / "work" / "manifest.json").write_text('{"units": 1}', encoding="utf-8")
    with pytest.raises(ValueError, match="expected a manifest"):
        jobs.Manifest.load(tmp_path / "work")
