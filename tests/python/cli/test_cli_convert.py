"""`convert`: every format keeps the ids."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import bytemill
from bytemill.cli import encoding_of
from bytemill.patterns import described_pattern
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
    written = [str(path.relative_to(mine_file.parent)) for path in mine_file.parent.rglob("*.*")]
    assert sorted(report["files"]) == sorted(set(written) - {mine_file.name})
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
    ("source", "usual"), [("gpt2", "gpt2"), ("gpt-4", "cl100k_base"), ("gpt-4-x", "cl100k_base")]
)
def test_an_encoding_given_by_name_is_changed(source: str, usual: str, tmp_path: Path) -> None:
    output = tmp_path / "mine.bytemill"
    called = run(
        "convert", source, output, "--special-token", "<|mine|>", 110_000, "--name", "mine", "--json"
    )
    assert called.code == 0, called.err
    assert json.loads(called.out)["name"] == "mine"
    read = encoding_of(str(output))
    assert read.name == "mine"
    special_tokens = bytemill.get_encoding(usual).definition.special_tokens
    assert read.definition.special_tokens == special_tokens | {"<|mine|>": 110_000}
    assert run("convert", source, output, "--special-token", "<|mine|>", 110_000).code == 0
    assert encoding_of(str(output)).name == usual
    called = run("convert", source, output, "--pattern", "gpt2")
    assert called.code == 2
    assert f"the encoding {source} has one" in called.err


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (
            "mine.txt",
            "expected a name that ends in .bytemill, .tiktoken, .model, a folder as huggingface:FOLDER or",
        ),
        ("no/such/folder/mine.bytemill", "there is no folder"),
        ("unknown:folder", "cannot tell the format"),
        ("new/", "expected huggingface:new or gpt2:new, got 'new/'"),
    ],
)
def test_outputs_that_mean_nothing(output: str, said: str) -> None:
    called = run("convert", "gpt2", output)
    assert called.code == 2
    assert said in called.err


@pytest.mark.parametrize(("suffix", "noted"), [("tiktoken", ["note"]), ("bytemill", [])])
def test_what_a_format_leaves_out_is_noted(suffix: str, noted: list[str], tmp_path: Path) -> None:
    called = run("convert", "gpt2", str(tmp_path / f"a.{suffix}"))
    assert called.code == 0
    assert re.findall(r"note(?=: .* holds neither the pattern nor the special tokens)", called.err) == noted


def test_what_cannot_be_exact_is_refused(tmp_path: Path) -> None:
    called = run("convert", "o200k_base", f"gpt2:{tmp_path / 'folder'}")
    assert called.code == 2
    assert called.err.startswith("bytemill: error: ")
    assert "which gives other pieces than the pattern 'o200k': tokenizer.json and .bytemill" in called.err
    assert not list(tmp_path.rglob("*.json"))


def test_a_folder_here_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    called = run("convert", "gpt2", "merges.txt")
    assert called.out.splitlines()[-1].split() == ["files", "merges.txt,", "vocab.json"]
    called = run("train", "--vocab-size", 260, "-o", "tokenizer.json", "--json", given=TEXT)
    assert json.loads(called.out)["name"] == tmp_path.name
    assert json.loads(called.out)["files"] == ["tokenizer.json", "tokenizer_config.json"]
    # With a dot in the name of the folder, which is no suffix.
    called = run("train", "--vocab-size", 260, "-o", "huggingface:mine.v2", "--json", given=TEXT)
    assert json.loads(called.out)["name"] == "mine.v2"


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "mine.tiktoken", "vocab.bpe", "mine.model"):
        (tmp_path / name).touch()
        called = run("convert", tmp_path / name, tmp_path / "mine.bytemill")
        assert called.code == 2
        assert f"{name}: expected a vocabulary, and the file is empty" in called.err


def test_a_file_without_splitting(tmp_path: Path) -> None:
    whole = bytemill.train([TEXT], 270, pattern=None, progress=False)
    whole.save_tiktoken(tmp_path / "whole.tiktoken")
    called = run("convert", tmp_path / "whole.tiktoken", tmp_path / "whole.bytemill", "--pattern", "none")
    assert called.code == 0, called.err
    assert bytemill.Encoding.from_file(tmp_path / "whole.bytemill").sha256 == whole.sha256


def test_patterns_in_messages_have_their_names(mine_file: Path, tmp_path: Path) -> None:
    called = run("convert", mine_file, tmp_path / "other.bytemill", "--pattern", "o200k")
    assert called.code == 2
    assert "has the pattern 'gpt2', and the pattern 'o200k' was given" in called.err
    assert described_pattern("x" * 100) == f"the pattern '{'x' * 60}'..."
    assert described_pattern(None) == "no pattern"


def test_a_folder_that_is_a_file_or_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told before the work."""
    (tmp_path / "file").touch()
    (tmp_path / "taken.bytemill").mkdir()

    def said(output: str) -> str:
        # Read before the outputs are looked at, this would be another error.
        called = run("train", "--field", "x", "--vocab-size", 300, "-o", output, given=b"no JSON")
        assert called.code == 2
        return called.err

    for output in ("huggingface:{}/file", "gpt2:{}/file/new", "{}/file/m.bytemill", "{}/file/tokenizer.json"):
        assert f"{tmp_path / 'file'}: expected a folder, and this is a file" in said(output.format(tmp_path))
    assert "taken.bytemill: expected the name of a file" in said(f"{tmp_path}/taken.bytemill")
    assert f"there is no folder '{tmp_path}/no' to write it to" in said(f"{tmp_path}/no/m.bytemill")
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    for output in ("huggingface:{}/new", "{}/m.bytemill"):
        assert f"{tmp_path}: no permission to write to this folder" in said(output.format(tmp_path))
