"""On a cluster of Spark, counts and ids are those of one process, whatever dies."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import bytemill
import bytemill.spark
from bytemill import jobs
from support.held_tasks import Hold, holding, outputs, write_corpus

pytest_plugins = ["support.spark_cluster"]
pytestmark = pytest.mark.timeout(180)

UNIT = 8_000
TEXTS = ["naïve 東京 😀", "", None, "the cat <|endoftext|>", "line\nbreaks\t" * 40] * 60


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("texts") / "corpus", files=6)


@pytest.fixture(scope="module")
def frame(session: Any) -> Any:
    rows = [
        (None if text is None else f"{text} {row}", None if text is None else text.encode(), row)
        for row, text in enumerate(TEXTS)
    ]
    return session.createDataFrame(rows, "text string, bytes binary, row long").repartition(5)


def here(corpus: Path, work: Path) -> tuple[dict[bytes, int], dict[str, str]]:
    """Returns the counts of one process, and the SHA-256 of all files of a job that one process did."""
    jobs.count_pieces(jobs.plan(corpus, work, unit_bytes=UNIT), executor=jobs.Local(1))
    return dict(bytemill.count_pieces(corpus, progress=False)), outputs(work)


@pytest.mark.parametrize("killed", ["worker", "executor"])
def test_a_process_that_is_killed(session: Any, corpus: Path, tmp_path: Path, killed: str) -> None:
    hold = Hold(tmp_path / "hold")
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=UNIT)
    executor = bytemill.spark.Executor(session)
    with ThreadPoolExecutor(1) as pool, holding(executor, hold):
        counting = pool.submit(jobs.count_pieces, plan, executor=executor)
        waiting = hold.wait_for(2)
        assert 0 < (jobs.status(plan).units_counted or 0) < len(plan.units)
        process = waiting[0].process
        # A worker is a child of a daemon of Python, whose parent is the executor.
        os.kill(process if killed == "worker" else parent(parent(process)), signal.SIGKILL)
        hold.wait_for(3)
        hold.open()
        counts = counting.result()
    assert (dict(counts), outputs(tmp_path / "work")) == here(corpus, tmp_path / "here")
    assert not list((tmp_path / "work" / "attempts").iterdir())


def parent(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(status.partition("PPid:")[2].split()[0])


def test_counts_of_a_frame(frame: Any, tmp_path: Path) -> None:
    for column in ("text", "bytes"):
        counts = bytemill.spark.count_pieces(
            frame, column, "cl100k", to=tmp_path, special_tokens=["<|endoftext|>"]
        )
        texts = [row[column] for row in frame.collect() if row[column] is not None]
        documents = [text if isinstance(text, str) else bytes(text) for text in texts]
        wanted = bytemill.count_pieces(documents, "cl100k", special_tokens=["<|endoftext|>"], progress=False)
        assert dict(counts) == dict(wanted)
        assert not list(tmp_path.iterdir())
    trained = [bytemill.train(each, 280, progress=False).sha256 for each in (counts, wanted)]
    assert trained[0] == trained[1]
    assert len(bytemill.spark.count_pieces(frame.limit(0), "text", to=tmp_path)) == 0


@pytest.mark.parametrize("name", ["o200k_base", "gpt2"])
def test_ids_of_a_frame(frame: Any, name: str) -> None:
    encoding = bytemill.get_encoding(name)
    marked = bytemill.spark.encode(
        frame, "text", encoding, prepend=[7, 8], append="<|endoftext|>", allowed_special="all"
    )
    both = bytemill.spark.encode(marked, "bytes", name, into="bytes")
    assert [field.simpleString() for field in both.schema.fields] == [
        "text:string",
        "bytes:array<int>",
        "row:bigint",
        "input_ids:array<int>",
    ]
    rows = both.collect()
    assert sorted(row.row for row in rows) == [*range(len(TEXTS))]
    for row in rows:
        if row.text is None:
            assert row.input_ids is row.bytes is None
        else:
            ids = encoding.encode(row.text, allowed_special="all")
            assert row.input_ids == [7, 8, *ids, encoding.eot_token]
            assert row.bytes == encoding.encode_ordinary(TEXTS[row.row] or "")


def test_wrong_arguments(frame: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected a column 'txt', got a frame with text, bytes, row"):
        bytemill.spark.count_pieces(frame, "txt", to=tmp_path)
    with pytest.raises(TypeError, match="expected a column of strings or bytes, got 'row' of bigint"):
        bytemill.spark.encode(frame, "row", "gpt2")
    with pytest.raises(TypeError, match="session must be a SparkSession, not Table"):
        bytemill.spark.Executor(pa.table({}))


def test_errors_of_a_task_are_raised_here(session: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b'{"text": "good"}\n{"text": "\xff"}\n')
    plan = jobs.plan(tmp_path / "bad.jsonl", tmp_path / "work")
    with pytest.raises(ValueError, match=r"bad\.jsonl"):
        jobs.count_pieces(plan, executor=bytemill.spark.Executor(session))
