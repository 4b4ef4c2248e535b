"""`truncate` and `split`."""

from __future__ import annotations

import json
from pathlib import Path

import bytemill
from support.command_line import bytemill as run

ENCODING = bytemill.get_encoding("o200k_base")
TEXT = "The quick brown fox, 1234 times: «naïve» 你好!\n" * 20


def test_truncate_drops_an_end() -> None:
    called = run("truncate", "-t", 50, given=TEXT)
    assert (called.code, called.out) == (0, ENCODING.truncate(TEXT, 50).text)
    assert TEXT.startswith(called.out)
    assert ENCODING.count(called.out) <= 50
    called = run("truncate", "-t", 50, "--side", "left", "-e", "gpt2", given=TEXT)
    assert called.out
    assert TEXT.endswith(called.out)
    assert run("truncate", "-t", 5000, given=TEXT).out == TEXT


def test_both_take_the_same_short_options() -> None:
    assert run("truncate", "-n", 50, given=TEXT) == run("truncate", "-t", 50, given=TEXT)
    assert run("split", "-n", 50, given=TEXT) == run("split", "-t", 50, given=TEXT)


def test_truncate_signals() -> None:
    assert run("truncate", "-t", 50, "--signal", given=TEXT).code == 3
    assert run("truncate", "-t", 5000, "--signal", given=TEXT).code == 0


def test_truncate_of_several_documents(tmp_path: Path) -> None:
    lines = '{"text": "hello world"}\n{"text": "hello"}\n'
    called = run("truncate", "-t", 1, "--field", "text", "--json", given=lines)
    assert [json.loads(line) for line in called.out.splitlines()] == [
        {"text": "hello", "tokens": 1, "truncated": True},
        {"text": "hello", "tokens": 1, "truncated": False},
    ]
    output = tmp_path / "out.txt"
    called = run("truncate", "-t", 1, "--field", "text", "-o", output, given=lines)
    assert called.code == 2
    assert "--json" in called.err
    assert not list(tmp_path.iterdir())
    assert run("truncate", "-t", 1, "--field", "text", given=lines).out == ""


def test_split_gives_lines() -> None:
    called = run("split", "-n", 30, given=TEXT)
    assert called.code == 0
    parts = [json.loads(line) for line in called.out.splitlines()]
    assert "".join(part["text"] for part in parts) == TEXT
    assert [part["part"] for part in parts] == list(range(1, len(parts) + 1))
    assert all(part["tokens"] == ENCODING.count(part["text"]) <= 30 for part in parts)
    assert {(part["file"], part["document"]) for part in parts} == {("-", 1)}


def test_split_with_overlap() -> None:
    parts = [
        json.loads(line)["text"]
        for line in run("split", "-n", 30, "--overlap", 5, given=TEXT).out.splitlines()
    ]
    assert parts == ENCODING.split(TEXT, 30, overlap=5)
    assert run("split", "-n", 5, "--overlap", 5, given=TEXT).code == 2


def test_split_into_files(tmp_path: Path) -> None:
    source = tmp_path / "book.md"
    source.write_text(TEXT, encoding="utf-8")
    folder = tmp_path / "parts"
    assert run("split", "-n", 100, source, "--folder", folder).code == 0
    expected = ENCODING.split(TEXT, 100)
    names = [f"book.{number:04}.txt" for number in range(1, len(expected) + 1)]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert [(folder / name).read_text(encoding="utf-8") for name in names] == expected
    assert run("split", "-n", 100, source, "--folder", folder, "-o", "x").code == 2
