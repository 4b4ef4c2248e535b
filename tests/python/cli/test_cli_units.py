"""`train --work` and `shard --work`: units give what one process does."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import fsspec  # type: ignore[import-untyped]
import pytest

import bytemill
from bytemill import jobs
from bytemill.cli.units import showing
from support.command_line import bytemill as run
from support.held_tasks import write_corpus
from support.stores import upload


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", files=2, lines=150)


def test_training_by_units(corpus: Path, tmp_path: Path) -> None:
    options = ["--vocab-size", 300, "--pattern", "gpt2", "--special-token", "cat", "--json"]
    whole = run("train", corpus, "-o", tmp_path / "whole.bytemill", *options)
    units = ["--work", tmp_path / "work", "--unit-bytes", "4k", "--threads", 1]
    for name in ("first", "again"):
        result = run("train", corpus, "-o", tmp_path / f"{name}.bytemill", *options, *units)
        assert result.code == 0, result.err
        assert json.loads(result.out)["sha256"] == json.loads(whole.out)["sha256"]
    assert len(list((tmp_path / "work" / "counts").iterdir())) > 2
    other = run("train", corpus, "-o", tmp_path / "other.bytemill", *options, *units, "--pattern", "cl100k")
    assert (other.code, "other options of counting" in other.err) == (2, True)


def test_shards_by_units(corpus: Path, tmp_path: Path) -> None:
    options = ["-e", "gpt2", "--eos", "<|endoftext|>", "--json"]
    assert run("shard", corpus, "-o", tmp_path / "whole", *options).code == 0
    units = ["--work", tmp_path / "work", "--unit-bytes", "4k", "--threads", 1]
    result = run("shard", corpus, *options, *units)
    assert result.code == 0, result.err
    report = json.loads(result.out)
    paths = sorted((tmp_path / "work" / "shards").rglob("*.bin"))
    assert report["units"] == len(paths) > 2
    assert report["directory"] == str(tmp_path / "work")
    whole = sorted((tmp_path / "whole").glob("*.bin"))
    assert b"".join(path.read_bytes() for path in paths) == b"".join(path.read_bytes() for path in whole)


def test_learning_is_a_task_of_the_cluster(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine that the command runs on need not have the memory."""
    given: list[dict[str, Any]] = []

    def train(plan: jobs.Plan, vocab_size: int, **options: Any) -> bytemill.Encoding:
        given.append({name: options.pop(name) for name in ("num_cpus", "memory", "address")})
        counts = jobs.count_pieces(plan, "gpt2", special_tokens=["cat"], executor=jobs.Local(1))
        return bytemill.train(counts, vocab_size, progress=False, **options)

    monkeypatch.setattr("bytemill.ray.train", train)
    monkeypatch.setattr("bytemill.ray.Executor", lambda **_: jobs.Local(1))
    options = ["--vocab-size", 300, "--pattern", "gpt2", "--special-token", "cat", "--json"]
    options += ["--pad-vocab-to", 64, "--tie-break", "greatest_bytes", "--name", "mine"]
    whole = run("train", corpus, "-o", tmp_path / "whole.bytemill", *options)
    engine = ["--work", tmp_path / "work", "--engine", "ray", "--threads", 3, "--memory", "64G"]
    result = run("train", corpus, "-o", tmp_path / "mine.bytemill", *options, *engine, "--address", "auto")
    assert given == [{"num_cpus": 3, "memory": 64 << 30, "address": "auto"}], result.err
    assert json.loads(result.out)["sha256"] == json.loads(whole.out)["sha256"]


@pytest.mark.usefixtures("memory_store")
def test_files_and_work_on_a_store(corpus: Path, tmp_path: Path) -> None:
    upload(corpus, "memory://corpus")
    training = ["--vocab-size", 300, "--json"]
    shards = ["-e", "gpt2", "--eos", "<|endoftext|>"]
    whole = run("train", corpus, "-o", tmp_path / "whole.bytemill", *training)
    assert run("shard", corpus, "-o", tmp_path / "whole", *shards).code == 0
    ids = (tmp_path / "whole" / "shard-000000.bin").read_bytes()
    for number, files in enumerate(("memory://corpus", "memory://corpus/*.jsonl")):
        result = run("train", files, "-o", tmp_path / "mine.bytemill", *training)
        assert json.loads(result.out)["sha256"] == json.loads(whole.out)["sha256"]
        work = ["--work", f"memory://work-{number}", "--threads", 1]
        result = run("train", files, "-o", tmp_path / "mine.bytemill", *training, *work)
        assert result.code == 0, result.err
        assert json.loads(result.out)["sha256"] == json.loads(whole.out)["sha256"]
        assert run("shard", files, *shards, *work).code == 0
        written = jobs.Manifest.load(f"memory://work-{number}").files
        with fsspec.open_files([f"memory://work-{number}/{name}" for name in written]) as opened:
            assert b"".join(file.read() for file in opened) == ids
        folder = tmp_path / f"shards-{number}"
        assert run("shard", files, "-o", folder, *shards).code == 0
        assert (folder / "shard-000000.bin").read_bytes() == ids
    missing = run("train", "memory://none/*.jsonl", "-o", tmp_path / "mine.bytemill", *training)
    assert (missing.code, "memory://none/*.jsonl" in missing.err) == (2, True), missing.err


def test_progress_of_units_on_a_terminal(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("bytemill.cli.reading.FIRST", 0)
    monkeypatch.setattr("bytemill.cli.reading.INTERVAL", 0)
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    plan = jobs.plan(corpus, tmp_path / "work", unit_bytes=4_000)
    units = len(plan.units)
    with showing(plan) as show:
        show(jobs.Progress("count", 1, units, plan.sizes[0]))
        show(jobs.Progress("count", units, units, sum(plan.sizes), 5_000_000, 0))
        show(jobs.Progress("shard", 1, units, plan.sizes[0]))
        show(jobs.Progress("shard", units, units, sum(plan.sizes), 5_000_000, 2_000_000))
        show(jobs.Progress("reduce", 2, 3, 0))
    lines = terminal.getvalue().split("\r\x1b[K")
    rates = r"5 MB of text, [\d,]+ MB/s"
    assert re.fullmatch(rf"counting, {units} of {units} done: {rates}, 100%, 0 s left", lines[2])
    [encoded] = [line for line in lines if line.startswith(f"encoding, {units} of")]
    assert re.fullmatch(rf"encoding, \d+ of \d+ done: {rates}, [\d,.]+ M tokens/s, 100%, 0 s left", encoded)
    assert lines[-2:] == ["adding up, 2 of 3 done", ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--engine", "ray"], "--engine ray needs --work FOLDER"),
        (["train", "--address", "auto"], "--address is for --engine ray"),
        (["train", "--work", "work", "--resume"], "--work resumes by itself"),
        (["train", "--resume", "s3://corpus/a.jsonl"], "--resume is for files of this machine"),
        (["train", "--work", "work", "--memory", "1G"], "--memory is for --engine ray"),
        (["train", "--work", "work", "--tie-break", "first_seen"], "needs the order of the text"),
        (["train", "--work", "work", "--kind", "sentencepiece"], "--work is for --kind bytes"),
        (["train", "--work", "work", "-"], "--work needs files"),
        (["shard"], "expected -o DIR, or --work FOLDER"),
        (["shard", "-o", "shards", "--work", "work"], "omit -o"),
        (["shard", "--work", "work", "--resume"], "--work resumes by itself"),
        (["shard", "--work", "work", "--name", "mine"], "--work resumes by itself"),
    ],
)
def test_options_that_exclude_each_other(corpus: Path, arguments: list[str], message: str) -> None:
    command, *options = arguments
    given = [] if "-" in options else [corpus]
    training = ["--vocab-size", 300, "-o", corpus.with_name("mine.bytemill")] if command == "train" else []
    result = run(command, *given, *training, *options)
    assert (result.code, message in result.err) == (2, True), result.err
    assert not list(corpus.parent.glob("mine*"))
