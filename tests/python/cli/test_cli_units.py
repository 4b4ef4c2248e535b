"""`train --work` and `shard --work`: units give what one process does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import bytemill as run
from support.held_tasks import write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", files=2, lines=150)


def test_training_by_units(corpus: Path, tmp_path: Path) -> None:
    options = ["--vocab-size", 300, "--pattern", "gpt2", "--special-token", "cat", "--json"]
    whole = run("train", corpus, "-o", tmp_path / "whole.bytemill", *options)
    units = ["--work", tmp_path / "work", "--unit-size", "4k", "--threads", 1]
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
    units = ["--work", tmp_path / "work", "--unit-size", "4k", "--threads", 1]
    result = run("shard", corpus, *options, *units)
    assert result.code == 0, result.err
    report = json.loads(result.out)
    paths = sorted((tmp_path / "work" / "shards").rglob("*.bin"))
    assert report["units"] == len(paths) > 2
    assert report["directory"] == str(tmp_path / "work")
    whole = sorted((tmp_path / "whole").glob("*.bin"))
    assert b"".join(path.read_bytes() for path in paths) == b"".join(path.read_bytes() for path in whole)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--engine", "ray"], "--engine ray needs --work FOLDER"),
        (["train", "--address", "auto"], "--address is for --engine ray"),
        (["train", "--work", "work", "--resume"], "--work goes on by itself"),
        (["train", "--work", "work", "--kind", "sentencepiece"], "--work is for merges of bytes"),
        (["train", "--work", "work", "-"], "--work needs files"),
        (["shard"], "expected -o DIR, or --work FOLDER"),
        (["shard", "-o", "shards", "--work", "work"], "leave out -o"),
        (["shard", "--work", "work", "--resume"], "--work goes on by itself"),
        (["shard", "--work", "work", "--name", "mine"], "--work goes on by itself"),
    ],
)
def test_options_that_exclude_each_other(corpus: Path, arguments: list[str], message: str) -> None:
    command, *options = arguments
    given = [] if "-" in options else [corpus]
    training = ["--vocab-size", 300, "-o", corpus.with_name("mine.bytemill")] if command == "train" else []
    result = run(command, *given, *training, *options)
    assert (result.code, message in result.err) == (2, True), result.err
    assert not list(corpus.parent.glob("mine*"))
