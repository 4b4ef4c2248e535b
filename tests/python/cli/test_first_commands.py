"""The commands that people type first work, or say what to type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bytemill
from bytemill import inspection
from bytemill.cli import COMMANDS
from support.command_line import bytemill as run

ENCODING = bytemill.get_encoding("o200k_base")

# Texts that could be names: of encodings, models, patterns, files, or of a model of the Hub.
NAMES = ("o200k_bass", "GPT-5x", "text", "llama3", "notes.txt", "no/such", "./no such", "mine.bytemill")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs the tests where there are no files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        "hello world",
        "hello",
        "llamas are great",
        "either/or, she said",
        "how are you?",
        "日本語",
        "a " * 3000,
    ],
)
def test_inspect_shows_a_text_alone(text: str) -> None:
    called = run("inspect", text)
    assert called.code == 0, called.err
    assert called.out == inspection.show(ENCODING, text).terminal(colour=False) + "\n"
    assert run("inspect", text, "--merges").out == run("inspect", "o200k_base", text, "--merges").out


@pytest.mark.parametrize("name", NAMES)
def test_inspect_takes_no_name_for_a_text(name: str) -> None:
    called = run("inspect", name)
    assert called.code == 2
    assert called.out == ""
    assert name.removeprefix("./") in called.err


def test_inspect_says_how_to_show_what_looks_like_a_name(folder: Path) -> None:
    assert "to show a text: bytemill inspect -e o200k_base o200k_bass\n" in run("inspect", "o200k_bass").err
    assert (
        "to show a text: bytemill inspect -e o200k_base 'the quick'\n" in run("inspect", "the", "quick").err
    )
    assert "expected one TEXT, got 2: quote a text" in run("inspect", "the", "quick", "fox").err
    assert 'bytemill inspect "hello world"' in run("inspect").err
    (folder / "notes.txt").write_text("some text", encoding="utf-8")
    assert "to show its text: bytemill inspect --file notes.txt\n" in run("inspect", "notes.txt").err


def test_inspect_has_a_default_encoding_in_every_form(folder: Path) -> None:
    (folder / "notes.txt").write_text("some text", encoding="utf-8")
    expected = run("inspect", "o200k_base", "some text").out
    assert run("inspect", "--file", "notes.txt").out == expected
    assert run("inspect", "-", given="some text").out == expected
    assert run("inspect", "--id", 5).out == run("inspect", "o200k_base", "--id", 5).out
    assert run("inspect", "--ids", "5-9").out == run("inspect", "o200k_base", "--ids", "5-9").out


@pytest.mark.parametrize(
    "arguments", [["24912", "2375"], ["24912,2375"], ["24912 2375"], ["[24912, 2375]"], ["[24912,", "2375]"]]
)
def test_decode_takes_ids(arguments: list[str]) -> None:
    called = run("decode", *arguments)
    assert (called.code, called.out) == (0, "hello world"), called.err
    assert run("decode", *arguments, "--json").out == '{"text": "hello world"}\n'
    assert run("decode", "-e", "gpt2", "31373").out == "hello"


def test_decode_prefers_files(folder: Path) -> None:
    (folder / "24912").write_text("2375\n", encoding="utf-8")
    assert run("decode", "24912").out == " world"
    assert "2375: No such file" in run("decode", "24912", "2375").err


@pytest.mark.parametrize(
    "arguments",
    [["24912", "x"], ["hello"], ["+5"], ["5", "--format", "bin"], ["5", "--dtype", "uint16"], ["٣"]],
)
def test_decode_says_how_to_decode_ids(arguments: list[str]) -> None:
    called = run("decode", *arguments)
    assert (called.code, called.out) == (2, "")
    assert "to decode IDs themselves: bytemill decode 24912 2375" in called.err


def test_decode_names_an_id_that_is_none() -> None:
    assert "the arguments: 999999 is not a token ID of o200k_base" in run("decode", "24912", "999999").err


@pytest.mark.parametrize("command", [["count"], ["encode"], ["truncate", "-n", "3"], ["split", "-n", "3"]])
@pytest.mark.parametrize("text", ["hello world", "hello", "how are you?", "[x] y", "a.b c", "日本語 " * 1000])
def test_other_commands_say_how_to_pass_a_text(command: list[str], text: str) -> None:
    called = run(*command, text)
    assert (called.code, called.out) == (2, "")
    assert f"itself: echo TEXT | bytemill {command[0]}" in called.err
    assert len(called.err) < 600


@pytest.mark.parametrize("name", ["notes.txt", "data/notes.jsonl.gz", "*.txt"])
def test_names_of_files_get_no_hint(name: str) -> None:
    assert "echo" not in run("count", name).err


def test_a_model_that_is_not_there_says_how_to_get_it() -> None:
    assert "hf download Qwen/Qwen3-8B tokenizer.json" in run("count", "-e", "qwen3", given="a").err


def test_short_options_of_the_group() -> None:
    assert run("-V").out == run("--version").out
    assert run("-h").out == run("--help").out
    assert "A fast, exact tokenizer" in run("--help").out


@pytest.mark.parametrize("group", [[], ["job"]])
def test_the_help_of_each_command_fits_its_line(group: list[str]) -> None:
    called = run(*group, "--help")
    listed = called.out.partition("Commands:\n")[2].splitlines()
    assert len(listed) >= 6
    for line in listed:
        assert re.fullmatch(r"  \S+ +.*\.", line), line
        assert not line.endswith("..."), line
    assert group or len(listed) == len(COMMANDS)
