"""`truncate` and `split`."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
import zstandard

import bytemill
from support.command_line import bytemill as run
from support.faulty import ROOM, full_disk

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


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("x.en.txt", "x.en"),
        ("x.de.txt.gz", "x.de"),
        ("x", "x"),
        (".x.txt", ".x"),
        ("x.jsonl.zst", "x"),
        ("x.0001.txt", "x.0001"),
    ],
)
def test_parts_have_the_name_of_their_file(name: str, stem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    contents = b'{"text": "one two three"}' if ".jsonl" in name else b"one two three"
    if path.suffix == ".gz":
        contents = gzip.compress(contents)
    elif path.suffix == ".zst":
        contents = zstandard.compress(contents)
    path.write_bytes(contents)
    assert run("split", "-n", 2, path, "--folder", tmp_path / "parts").code == 0
    found = {part.name: part.read_text() for part in (tmp_path / "parts").iterdir()}
    assert found == {f"{stem}.0001.txt": "one two", f"{stem}.0002.txt": " three"}


def test_parts_of_several_files_are_told_apart(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    for name in ("x.en.txt", "x.de.txt", "x.txt", "x.md", "stdin.txt"):
        (tmp_path / name).write_text(name)
    files = [tmp_path / name for name in ("x.en.txt", "x.de.txt", "x.txt")]
    for pair in (["x.txt", "x.md"], ["x.txt", "x.txt"], ["x.txt", "x.en.txt", "x.txt"], ["-", "stdin.txt"]):
        paths = [name if name == "-" else tmp_path / name for name in pair]
        called = run("split", "-n", 9, *paths, "--folder", folder, given="text")
        assert called.code == 2
        assert "would both be called" in called.err
        assert not folder.exists()
    assert run("split", "-n", 9, *files, "--folder", folder).code == 0
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        f"{path.stem}.0001.txt": path.name for path in files
    }


def test_parts_of_an_earlier_run_are_not_mixed_with_others(tmp_path: Path) -> None:
    source, other, folder = tmp_path / "x.txt", tmp_path / "y.txt", tmp_path / "parts"
    source.write_text("one two three four")
    other.write_text("five")
    assert run("split", "-n", 1, source, "--folder", folder).code == 0
    before = {path: path.read_bytes() for path in folder.iterdir()}
    called = run("split", "-n", 3, other, source, "--folder", folder)
    assert called.code == 2
    assert f"{folder / 'x.0001.txt'}: the folder has parts with this name already" in called.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert run("split", "-n", 3, other, "--folder", folder).code == 0
    assert len([*folder.iterdir()]) == len(before) + 1
    (folder / "z.txt").write_text("no part")
    (tmp_path / "z.md").write_text("six")
    assert run("split", "-n", 3, tmp_path / "z.md", "--folder", folder).code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="limits as POSIX has them")
def test_a_part_that_cannot_be_written_leaves_whole_parts(tmp_path: Path) -> None:
    text = "a word " * ROOM
    short, source = tmp_path / "a.txt", tmp_path / "b.txt"
    short.write_text("a word")
    source.write_text(text)
    with full_disk():
        called = run("split", "-n", 10**6, short, source, "--folder", tmp_path / "parts")
    assert called.code == 2
    assert f"{tmp_path / 'parts' / 'b.0001.txt'}: File too large" in called.err
    assert {path.name: path.read_text() for path in (tmp_path / "parts").iterdir()} == {
        "a.0001.txt": "a word"
    }


def test_parts_end_behind_separators(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("One two three.\n\nFour five. Six seven eight nine ten eleven twelve.")
    called = run("split", "-n", 8, source, "--separator", r"\n\n", "--separator", ". ", "--separator", " ")
    parts = [json.loads(line)["text"] for line in called.out.splitlines()]
    assert parts == ENCODING.split(source.read_text(), 8, separators=["\n\n", ". ", " "])
    assert parts[0] == "One two three.\n\n"
    assert run("split", "-n", 8, source, "--separator", "").code == 2
