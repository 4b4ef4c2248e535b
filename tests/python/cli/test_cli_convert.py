"""`convert`: every format keeps the ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bytemill
from bytemill.cli import encoding_of
from support.command_line import bytemill as run

TEXT = "the lowest of the low, slower and slowest; " * 10


@pytest.fixture(scope="module")
def mine() -> bytemill.Encoding:
    return bytemill.train([TEXT], 270, pattern="gpt2", progress=False, name="mine")


@pytest.fixture
def mine_file(mine: bytemill.Encoding, tmp_path: Path) -> Path:
    path = tmp_path / "mine.bytemill"
    mine.save(path)
    return path


@pytest.mark.parametrize(
    ("output", "read"),
    [
        ("copy.bytemill", "copy.bytemill"),
        ("copy.model", "copy.model"),
        ("huggingface:folder", "folder"),
        ("huggingface:folder", "folder/tokenizer.json"),
        ("gpt2:folder", "folder"),
        ("new/tokenizer.json", "new"),
        ("new/vocab.bpe", "new/encoder.json"),
        ("new/merges.txt", "new/vocab.json"),
    ],
)
def test_formats(
    mine: bytemill.Encoding, mine_file: Path, output: str, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mine_file.parent)
    called = run("convert", mine_file, output, "--json")
    assert called.code == 0, called.err
    report = json.loads(called.out)
    assert (report["vocab_size"], report["sha256"]) == (270, mine.sha256)
    assert encoding_of(read).encode(TEXT) == mine.encode(TEXT)
    assert run("count", "-e", read, given=TEXT).out == f"{mine.count(TEXT)}\n"


def test_a_folder_is_preferred_to_a_family_of_models(
    mine: bytemill.Encoding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert encoding_of("gpt-4-mine") is bytemill.get_encoding("cl100k_base")
    mine.save_huggingface("gpt-4-mine")
    assert encoding_of("gpt-4-mine").sha256 == mine.sha256
    # But not to an encoding.
    mine.save_huggingface("gpt2")
    assert encoding_of("gpt2") is bytemill.get_encoding("gpt2")
    assert encoding_of("./gpt2").sha256 == mine.sha256


def test_a_file_without_a_pattern(mine: bytemill.Encoding, mine_file: Path, tmp_path: Path) -> None:
    bare, back = tmp_path / "mine.tiktoken", tmp_path / "back.bytemill"
    assert run("convert", mine_file, bare).code == 0
    called = run("convert", bare, back)
    assert called.code == 2
    assert "has no pattern" in called.err
    assert not back.exists()
    options = ["--pattern", "gpt2", "--special-token", "<|end|>", 300, "--name", "other"]
    assert run("convert", bare, back, *options).code == 0
    read = encoding_of(str(back))
    assert (read.name, read._special_tokens) == ("other", {"<|end|>": 300})
    assert read.encode(TEXT) == mine.encode(TEXT)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (
            "mine.txt",
            "expected a name that ends in .bytemill, .tiktoken, .model, a folder as huggingface:FOLDER or",
        ),
        ("no/such/folder/mine.bytemill", "there is no folder"),
        ("unknown:folder", "cannot tell the format"),
    ],
)
def test_outputs_that_mean_nothing(output: str, said: str) -> None:
    called = run("convert", "gpt2", output)
    assert called.code == 2
    assert said in called.err


def test_what_cannot_be_exact_is_refused(tmp_path: Path) -> None:
    called = run("convert", "o200k_base", f"gpt2:{tmp_path / 'folder'}")
    assert called.code == 2
    assert called.err.startswith("bytemill: error: ")
    assert not list(tmp_path.rglob("*.json"))
