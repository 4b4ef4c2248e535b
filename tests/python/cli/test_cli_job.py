"""`job`: units counted by commands are the counts of one process."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import bytemill
from support.command_line import bytemill as run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    lines = [json.dumps({"body": f"the {number}th lowest of the low"}) for number in range(300)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_an_array_counts_what_one_process_does(corpus: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    planned = run("job", "plan", corpus, "--work", work, "--field", "body", "--unit-bytes", "4k", "--json")
    assert planned.code == 0, planned.err
    units = json.loads(planned.out)["units"]
    assert units > 2
    for unit in range(units - 1):
        counted = run("job", "count", "--work", work, "--unit", unit, "--pattern", "gpt2", "--json")
        assert json.loads(counted.out)["units_counted"] == unit + 1
    assert run("job", "status", "--work", work).code == 1
    missing = run("job", "reduce", "--work", work, "-o", tmp_path / "counts.parquet")
    assert missing.code == 2
    assert f"unit {units - 1}" in missing.err
    rest = run("job", "count", "--work", work, "--pattern", "gpt2", "--processes", 1)
    assert rest.code == 0, rest.err
    assert run("job", "status", "--work", work).code == 0
    assert run("job", "reduce", "--work", work, "--part", 7).err.count("expected a part from 0 to 0, got 7")
    part = run("job", "reduce", "--work", work, "--part", 0, "--json")
    assert (json.loads(part.out)["parts"], json.loads(part.out)["parts_merged"]) == (1, 1), part.err
    assert run("job", "reduce", "--work", work, "--processes", 1).code == 0
    merged = run("job", "reduce", "--work", work, "-o", tmp_path / "counts.parquet")
    assert merged.code == 0, merged.err
    expected = bytemill.count_pieces(corpus, "gpt2", field="body", progress=False)
    assert dict(bytemill.PieceCounts.load(tmp_path / "counts.parquet")) == dict(expected)
    trained = run("train", tmp_path / "counts.parquet", "--vocab-size", 300, "-o", tmp_path / "a.bytemill")
    assert trained.code == 0, trained.err
    learned = bytemill.train(expected, 300)
    assert bytemill.Encoding.from_file(tmp_path / "a.bytemill").sha256 == learned.sha256


def test_training_from_files_of_counts(tmp_path: Path) -> None:
    special = ["<|endoftext|>"]
    texts = [["the lowest of the low<|endoftext|>"] * 5, ["slower and slowest"] * 5]
    for number, part in enumerate(texts):
        counts = bytemill.count_pieces(part, "cl100k", special_tokens=special, progress=False)
        counts.save(tmp_path / f"{number}.arrow")
    files = sorted(tmp_path.glob("*.arrow"))
    (tmp_path / "text.txt").write_text("a text", encoding="utf-8")

    def train(*arguments: object) -> Any:
        return run("train", *arguments, "--vocab-size", 270, "-o", tmp_path / "mine.bytemill")

    trained = train(*files, "--pattern", "cl100k", "--special-token", special[0])
    assert trained.code == 0, trained.err
    expected = bytemill.train(
        [text for part in texts for text in part],
        270,
        pattern="cl100k",
        special_tokens=special,
        progress=False,
    )
    found = bytemill.Encoding.from_file(tmp_path / "mine.bytemill")
    assert found.sha256 == expected.sha256
    # Both are those of the counts if they are not given.
    assert train(*files).code == 0
    assert bytemill.Encoding.from_file(tmp_path / "mine.bytemill").sha256 == expected.sha256
    for arguments, reason in (
        (["--pattern", "gpt2"], "counts of different patterns"),
        (["--special-token", "<|other|>"], "counts of different special tokens"),
        (["--field", "piece"], "the files are counts of pieces: --field, --lines and --errors"),
        (["--lines"], "the files are counts of pieces: --field, --lines and --errors"),
        (["--resume"], "the files are counts of pieces: --resume"),
        (["--work", tmp_path / "work"], "the files are counts of pieces: --work"),
        ([tmp_path / "text.txt"], "expected counts in Parquet or Arrow IPC format"),
    ):
        refused = train(*files, *arguments)
        assert refused.code == 2, arguments
        assert reason in " ".join(refused.err.split()), refused.err


def test_counts_are_no_documents(tmp_path: Path) -> None:
    bytemill.count_pieces(["a text"], progress=False).save(tmp_path / "counts.parquet")
    for field in (None, "piece"):
        with pytest.raises(ValueError, match=r"expected documents, got counts of pieces.*PieceCounts\.load"):
            bytemill.train(tmp_path / "counts.parquet", 300, field=field, progress=False)


def test_an_array_writes_what_one_process_does(corpus: Path, tmp_path: Path) -> None:
    work, encoding = tmp_path / "work", ["-e", "gpt2", "--eos", "<|endoftext|>", "--shard-tokens", 500]
    planned = run("job", "plan", corpus, "--work", work, "--field", "body", "--unit-bytes", "4k", "--json")
    units = json.loads(planned.out)["units"]
    for unit in range(units):
        assert not (work / "manifest.json").exists()
        written = run("job", "shard", "--work", work, "--unit", unit, *encoding, "--json")
        assert json.loads(written.out)["units_written"] == unit + 1, written.err
    manifest = json.loads((work / "manifest.json").read_bytes())
    names = [name for unit in manifest["units"] for name in unit["files"]]
    assert run("shard", corpus, "-o", tmp_path / "whole", "--field", "body", *encoding).code == 0
    whole = sorted((tmp_path / "whole").glob("*.bin"))
    assert len(names) > len(whole) > units
    expected = b"".join(path.read_bytes() for path in whole)
    assert b"".join((work / name).read_bytes() for name in names) == expected
    again = run("job", "shard", "--work", work, *encoding, "--processes", 1)
    assert (again.code, again.err) == (0, "")
    for number in range(len(whole)):
        assert not (work / "compacted" / "manifest.json").exists()
        compacted = run("job", "compact", "--work", work, "--shard", number, *encoding[-2:], "--json")
        assert json.loads(compacted.out) == {
            "shards": len(whole),
            "shards_written": number + 1,
            "directory": str(work / "compacted"),
        }, compacted.err
    found = [path.read_bytes() for path in sorted((work / "compacted").glob("*.bin"))]
    assert found == [path.read_bytes() for path in whole]
    assert (work / "compacted" / "manifest.json").exists()
    again = run("job", "compact", "--work", work, *encoding[-2:], "--processes", 1)
    assert again.code == 0, again.err
    other = run("job", "shard", "--work", work, *encoding[:2])
    assert other.code == 2
    assert "other options" in other.err
    assert run("job", "status", "--work", work).code == 0


def test_documents_that_run_together_are_a_warning(corpus: Path, tmp_path: Path) -> None:
    run("job", "plan", corpus, "--work", tmp_path / "work", "--field", "body")
    written = run("job", "shard", "--work", tmp_path / "work", "-e", "gpt2", "--unit", 0)
    assert written.code == 0
    assert "--eos" in written.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["count", "--unit", "1", "--processes", "2"], "leave out --processes"),
        (["count", "--threads", "2"], "--threads is for --unit"),
        (["count", "--unit", "7"], "expected a unit from 0 to 0, got 7"),
        (["count", "--pattern", "("], "pattern"),
        (["shard", "--unit", "7", "-e", "gpt2"], "expected a unit from 0 to 0, got 7"),
        (["reduce", "--part", "1", "--processes", "2"], "leave out --processes"),
        (["reduce"], "first of them unit 0"),
        (["compact", "--shard", "1", "--processes", "2"], "leave out --processes"),
        (["compact"], "manifest.json"),
        (["status", "--json", "more"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_is_an_error(corpus: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    work = tmp_path / "work"
    assert run("job", "plan", corpus, "--work", work, "--field", "body").code == 0
    called = run("job", *arguments, "--work", work)
    assert called.code == 2
    assert message in called.err


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "arguments",
    [
        ["count", "--unit", "5"],
        ["count", "--special-token", ""],
        ["count", "--special-token", "\udce9"],
        ["count", "--pattern", "("],
        ["shard", "--unit", "5", "-e", "gpt2"],
        ["shard", "--dtype", "int64", "-e", "gpt2"],
        ["shard", "--eos", "none of them", "-e", "gpt2"],
        ["shard", "--eos", "99999999", "-e", "gpt2"],
    ],
)
def test_arguments_are_checked_before_anything_is_stored(
    corpus: Path, tmp_path: Path, arguments: list[str]
) -> None:
    work = tmp_path / "work"
    assert run("job", "plan", corpus, "--work", work, "--field", "body").code == 0
    before = contents(work)
    assert run("job", *arguments, "--work", work).code == 2
    assert contents(work) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reduce", "--part", "5"], "expected a part from 0 to 0, got 5"),
        (["reduce", "-o", "counts.txt"], "cannot tell the format of 'counts.txt'"),
        (["reduce", "-o", "missing/counts.parquet"], "there is no folder 'missing'"),
        (["reduce", "-o", ""], "expected the name of a file or folder, got ''"),
        (["compact", "--shard", "5"], "expected a shard from 0 to 0, got 5"),
    ],
)
def test_arguments_of_later_steps_are_checked_before_anything_is_stored(
    corpus: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    work = tmp_path / "work"
    for step in (["plan", corpus, "--field", "body"], ["count", "--unit", 0], ["shard", "--unit", 0]):
        assert run("job", *step, "--work", work).code == 0
    before = contents(work)
    called = run("job", *arguments, "--work", work)
    assert called.code == 2
    assert message in called.err
    assert contents(work) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "--vocab-size", "100", "-o", "m.bytemill"],
        ["train", "--vocab-size", "300", "-o", "merges.txt"],
        ["train", "--vocab-size", "300", "-o", "m.bytemill", "--engine", "ray"],
        ["train", "--vocab-size", "300", "-o", "m.bytemill", "--tie-break", "first_seen"],
        ["shard", "--dtype", "int64", "-e", "gpt2"],
        ["shard", "--eos", "none of them", "-e", "gpt2"],
        ["shard", "--name", "other"],
        ["shard", "--engine", "ray"],
        ["job", "plan", "--unit-bytes", "0"],
    ],
)
def test_a_folder_of_work_is_made_once_all_arguments_are_checked(
    corpus: Path, tmp_path: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert run(*arguments, corpus, "--field", "body", "--work", tmp_path / "work").code == 2
    assert [*tmp_path.iterdir()] == [corpus]


def test_a_file_is_no_folder_of_work(corpus: Path) -> None:
    called = run("job", "plan", corpus, "--work", corpus)
    assert (called.code, called.out) == (2, "")
    assert called.err == f"bytemill: error: {corpus}: expected a folder, and this is a file\n"


def test_without_a_step_the_help_is_the_message() -> None:
    called = run("job")
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith("Usage: bytemill job [OPTIONS] COMMAND")


def test_a_folder_without_a_plan_is_an_error(tmp_path: Path) -> None:
    called = run("job", "status", "--work", tmp_path)
    assert called.code == 2
    assert "plan.json" in called.err
