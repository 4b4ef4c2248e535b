"""Names of files and folders that are not UTF-8: every command takes, stores and shows them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import bytemill
from bytemill import jobs
from bytemill.cli import COMMANDS
from bytemill.formats.json_file import json_bytes
from bytemill.shards import write_shards
from bytemill.shards.manifest import load
from support.command_line import arguments, environment, started
from support.command_line import bytemill as run

TEXT = "some words and some more words\n"

pytestmark = pytest.mark.skipif(
    sys.platform in {"win32", "darwin"}, reason="file systems there have names of Unicode only"
)


@pytest.fixture
def name(tmp_path: Path) -> str:
    """A file of text, in a folder, neither of whose names is UTF-8: the path without the suffix."""
    folder = tmp_path / os.fsdecode(b"m\xfcll")
    folder.mkdir()
    name = str(folder / os.fsdecode(b"caf\xe9"))
    Path(f"{name}.txt").write_text(TEXT)
    Path(f"{name}.ids").write_text("15496 995\n")
    return name


# `@` stands for the path of the fixture. Of each command, calls that follow each other.
CALLS = {
    "count": [["count", "@.txt", "@.txt"], ["count", "@.txt", "--json"]],
    "encode": [["encode", "@.txt", "-o", "@.npy", "-e", "gpt2"], ["decode", "@.npy", "-e", "gpt2", "--json"]],
    "decode": [["decode", "@.ids", "-e", "gpt2", "-o", "@.out"]],
    "truncate": [["truncate", "@.txt", "-n", "2", "--json", "-o", "@.out"]],
    "split": [["split", "@.txt", "-n", "2"], ["split", "@.txt", "-n", "2", "--folder", "@.parts"]],
    "train": [
        ["train", "@.txt", "--vocab-size", "260", "-o", "@.bytemill", "--resume"],
        ["count", "@.txt", "-e", "@.bytemill", "--json"],
        ["train", "@.txt", "--vocab-size", "260", "--pattern", "gpt2", "-o", "@.model", "-o", "gpt2:@.gpt2"],
        ["train", "@.txt", "--vocab-size", "260", "-o", "@/tokenizer.json"],
        ["train", "@.txt", "--vocab-size", "260", "-o", "@.bytemill", "--work", "@.work", "--threads", "1"],
        ["train", "@.txt", "--vocab-size", "16", "-o", "@.model", "--kind", "sentencepiece"],
    ],
    "shard": [
        ["shard", "@.txt", "-o", "@.shards", "-e", "gpt2"],
        ["shard", "@.txt", "-o", "@.shards", "-e", "gpt2", "--resume"],
        ["shard", "@.txt", "-o", "@.shards", "-e", "gpt2", "--name", "caf\udce9"],
    ],
    "job": [
        ["job", "plan", "@.txt", "--work", "@.work"],
        ["job", "plan", "@.txt", "--work", "@.work", "--json"],
        ["job", "count", "--work", "@.work", "--processes", "1"],
        ["job", "reduce", "--work", "@.work", "--processes", "1", "-o", "@.parquet"],
        ["job", "shard", "--work", "@.work", "--processes", "1", "--eos", "<|endoftext|>"],
        ["job", "compact", "--work", "@.work", "--processes", "1"],
        ["job", "status", "--work", "@.work"],
    ],
    "inspect": [
        ["inspect", "gpt2", "--file", "@.txt", "--html", "@.html"],
        ["inspect", "gpt2", "--file", "@.txt", "-o", "@.out"],
    ],
    "compare": [["compare", "gpt2", "@.txt"], ["compare", "gpt2", "@.txt", "--json"]],
    "convert": [
        ["convert", "gpt2", "@.bytemill"],
        ["convert", "@.bytemill", "@/tokenizer.json", "--json"],
        ["convert", "@/tokenizer.json", "gpt2:@"],
    ],
    "verify": [
        ["convert", "gpt2", "@/tokenizer.json"],
        ["verify", "@/tokenizer.json", "@.txt", "--against", "hf"],
    ],
    "bench": [["bench", "@.txt", "--rounds", "1", "--threads", "1"]],
}


def test_every_command_that_reads_files_is_here() -> None:
    assert {*COMMANDS} - {*CALLS} == {"list", "playground"}


@pytest.mark.parametrize("command", CALLS)
def test_any_name_is_taken_stored_and_shown(command: str, name: str) -> None:
    for call in CALLS[command]:
        called = run(*[argument.replace("@", name) for argument in call])
        assert (called.code, called.err) == (0, ""), call
        assert "caf�" not in called.out
        if "--json" in call and called.out.startswith("{"):
            assert "file" not in (record := json.loads(called.out)) or record["file"] == f"{name}.txt"
    for path in Path(name).parent.rglob("*.json"):
        json.loads(path.read_bytes())


def test_names_come_back_from_what_is_stored(name: str) -> None:
    path, folder = Path(f"{name}.txt"), Path(f"{name}.shards")
    written = write_shards(path, folder, bytemill.get_encoding("gpt2"))
    assert load(folder / "provenance.json") == written
    assert [source.path for source in written.sources] == [str(path)]
    assert write_shards(path, folder, bytemill.get_encoding("gpt2"), resume=True) == written
    work = f"{name}.work"
    made = jobs.plan(path, work)
    assert jobs.Plan.load(work) == made
    assert [*made.sources] == [str(path)]


@pytest.mark.parametrize("encoding", ["utf-8:strict", "latin-1:strict", "utf-8:surrogateescape"])
@pytest.mark.parametrize("call", [["count", "@.txt", "@.txt"], ["count", "@.none"], ["compare", "@.txt"]])
def test_any_output_takes_any_name(call: list[str], encoding: str, name: str) -> None:
    import subprocess

    result = subprocess.run(  # noqa: S603 - our own command
        arguments(*[argument.replace("@", name) for argument in call]),
        capture_output=True,
        check=False,
        env={**environment(), "PYTHONIOENCODING": encoding},
    )
    assert result.returncode == (2 if "@.none" in call else 0)
    assert rb"m\udcfcll/caf\udce9." in result.stdout + result.stderr
    assert b"Traceback" not in result.stderr


def test_names_do_not_control_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "\x1b]0;a\x07\x1b[31mb\nc\u202e.txt"
    path.write_text(TEXT)
    for called in (run("count", path, path), run("count", f"{path}.none"), run("encode", f"{path}.none")):
        assert r"\x1b]0;a\x07\x1b[31mb" in called.out + called.err
        assert not {"\x1b", "\u202e"} & {*called.out, *called.err}
    assert json.loads(run("count", path, "--json").out)["files"][0]["file"] == str(path)


@pytest.mark.parametrize("found", [".", "*", "**", "./*"])
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (["count", "@"], "1"),
        (["count", "@", "--json"], '"file": "./-"'),
        (["encode", "@", "-e", "gpt2"], "87"),
        (["truncate", "@", "-n", "9"], "x"),
        (["split", "@", "-n", "9"], '"text": "x"'),
        (["compare", "gpt2", "@"], "./-"),
    ],
)
def test_a_file_that_is_found_is_not_standard_input(
    call: list[str], expected: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-").write_text("x")
    called = run(*[argument.replace("@", found) for argument in call], given="standard input")
    assert called.code == 0, called.err
    assert expected in called.out


def test_the_name_of_an_encoding_is_text(name: str) -> None:
    assert run("train", f"{name}.txt", "--vocab-size", 260, "-o", f"{name}.bytemill").code == 0
    assert bytemill.Encoding.from_file(f"{name}.bytemill").name == r"caf\xe9"


@pytest.mark.parametrize(
    "call",
    [
        ["train", "@.txt", "--vocab-size", "300", "-o", "@.bytemill", "--special-token", "\udce9"],
        ["train", "@.txt", "--vocab-size", "300", "-o", "@.bytemill", "--pattern", "\\w+|[\udce9]"],
        ["train", "@.txt", "--vocab-size", "300", "-o", "@.bytemill", "--name", "\udce9"],
        ["shard", "@.txt", "-o", "@.shards", "--eos", "\udce9"],
    ],
)
def test_arguments_that_must_be_text_are_refused(call: list[str], name: str) -> None:
    before = sorted(Path(name).parent.iterdir())
    result = started(*[argument.replace("@", name) for argument in call])
    assert result.returncode == 2
    assert rb"\udce9" in result.stderr
    assert b"Traceback" not in result.stderr
    assert sorted(Path(name).parent.iterdir()) == before


@pytest.mark.parametrize(
    "text", ["café", "\udce9", "a\\\udce9b", '"\udc80\udcff"', "\ud800x", "\\udce9", "\U0001f600\udcf0"]
)
def test_json_has_every_string(text: str) -> None:
    assert json.loads(json_bytes({text: [text]})) == {text: [text]}
    assert json_bytes("café") == '"café"'.encode()
