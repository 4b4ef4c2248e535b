"""The commands `inspect` and `compare`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import bytemill
from bytemill import inspection
from bytemill.cli import main

O200K = bytemill.get_encoding("o200k_base")


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin)


def output(*arguments: str, stdin: str | bytes | None = None) -> str:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def complaint(*arguments: str, stdin: str | bytes | None = None) -> str:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("bytemill: error: ")
    return result.stderr


# --- inspect ------------------------------------------------------------------------------------------------


def test_a_text() -> None:
    view = inspection.show(O200K, "hello wörld")
    assert output("inspect", "o200k_base", "hello wörld") == view.terminal(colour=False) + "\n"
    assert output("inspect", "gpt-4o", "hello wörld") == view.terminal(colour=False) + "\n"
    assert output("inspect", "o200k_base", "-", stdin="hello wörld") == view.terminal(colour=False) + "\n"
    assert "24912" not in output("inspect", "o200k_base", "hello", "--no-ids")
    assert json.loads(output("inspect", "o200k_base", "hello wörld", "--json")) == view.to_dict()


def test_no_text_is_a_text() -> None:
    assert output("inspect", "o200k_base", "").startswith("o200k_base: 0 tokens")
    assert output("inspect", "o200k_base", "-", stdin="").startswith("o200k_base: 0 tokens")


def test_colours_that_are_asked_for() -> None:
    view = inspection.show(O200K, "hello")
    assert output("inspect", "o200k_base", "hello", "--colour", "always") == view.terminal(colour=True) + "\n"
    assert output("inspect", "o200k_base", "hello", "--color", "never") == view.terminal(colour=False) + "\n"


def test_the_encoding_may_be_an_option() -> None:
    expected = output("inspect", "gpt2", "hello")
    assert output("inspect", "-e", "gpt2", "hello") == output("inspect", "hello", "-m", "gpt2") == expected
    assert output("inspect", "-e", "gpt2", "--id", "64") == output("inspect", "gpt2", "--id", "64")
    assert "name an encoding" in complaint("inspect")
    assert "-e or -m names the encoding already" in complaint("inspect", "-e", "gpt2", "gpt2", "a")
    assert "quote a text" in complaint("inspect", "gpt2", "a", "b")


def test_files_as_in_other_commands(files: Path) -> None:
    text = "hello world\n" * 3
    expected = output("inspect", "gpt2", text)
    assert output("inspect", "gpt2", "--file", "a.txt") == expected
    assert output("inspect", "gpt2", "--file", "a.txt", "-o", "view.txt") == ""
    assert (files / "view.txt").read_text(encoding="utf-8") == expected
    line = output("inspect", "gpt2", "hello world\n")
    assert output("inspect", "gpt2", "--file", "a.txt", "--lines") == "\n".join([line] * 3)
    first, second = (output("inspect", "gpt2", each, "--json") for each in ("schöne", "Grüße"))
    assert output("inspect", "gpt2", "--file", "b.jsonl", "--field", "text", "--json") == first + second
    assert "--html shows one document, got 3" in complaint(
        "inspect", "gpt2", "--file", "a.txt", "--lines", "--html", "page.html"
    )
    assert "TEXT and --file exclude" in complaint("inspect", "gpt2", "a", "--file", "a.txt")
    assert "are for --file" in complaint("inspect", "gpt2", "a", "--lines")
    assert "nope.txt: No such file" in complaint("inspect", "gpt2", "--file", "nope.txt")


@pytest.mark.usefixtures("files")
def test_a_text_that_is_the_name_of_a_file_has_a_note() -> None:
    result = run("inspect", "gpt2", "a.txt")
    assert result.exit_code == 0
    assert result.stderr == (
        "bytemill: note: the text is the name of a file: --file a.txt shows the contents\n"
    )
    assert run("inspect", "gpt2", "b.txt").stderr == ""


def test_special_tokens() -> None:
    text = "a<|endoftext|>"
    assert "199999" not in output("inspect", "o200k_base", text)
    assert "199999" in output("inspect", "o200k_base", text, "--special", "allow")
    assert "<|endoftext|>" in complaint("inspect", "o200k_base", text, "--special", "error")


def test_a_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert output("inspect", "o200k_base", "-", "--html", str(path), stdin="hello\n") == ""
    assert path.read_text(encoding="utf-8") == inspection.show(O200K, "hello\n").page()


def test_merges() -> None:
    view = inspection.show_merges(O200K, "hello")
    assert output("inspect", "o200k_base", "hello", "--merges") == view.terminal(colour=False) + "\n"
    coloured = output("inspect", "o200k_base", "hello", "--merges", "--colour", "always")
    assert coloured == view.terminal(colour=True) + "\n"
    assert json.loads(output("inspect", "o200k_base", "hello", "--merges", "--json")) == view.to_dict()
    assert "give TEXT" in complaint("inspect", "gpt2", "--merges")
    assert "--merges excludes --html" in complaint("inspect", "gpt2", "a", "--merges", "--html", "page.html")
    assert "--html and --json" in complaint("inspect", "gpt2", "a", "--json", "--html", "page.html")
    assert "ordinary text" in complaint("inspect", "gpt2", "a", "--merges", "--special", "allow")


def test_a_vocabulary() -> None:
    encoding = bytemill.get_encoding("gpt2")
    assert output("inspect", "gpt2") == f"{inspection.report(encoding)}\n"
    assert json.loads(output("inspect", "gpt2", "--json")) == inspection.report(encoding).to_dict()


def test_one_token() -> None:
    assert output("inspect", "o200k_base", "--id", "2375") == f"{inspection.report_token(O200K, 2375)}\n"
    assert json.loads(output("inspect", "o200k_base", "--id", "2375", "--json"))["text"] == " world"
    assert "has the id 200019; IDs go from 0 to 200018" in complaint(
        "inspect", "o200k_base", "--id", "200019"
    )


def test_wrong_use_of_inspect(tmp_path: Path) -> None:
    assert "exclude each other" in complaint("inspect", "gpt2", "a", "--id", "1")
    assert "give TEXT" in complaint("inspect", "gpt2", "--html", "page.html")
    assert "is not an encoding" in complaint("inspect", "no_such_encoding", "a")
    assert "UTF-8" in complaint("inspect", "gpt2", "-", stdin=b"a\xff")
    missing = tmp_path / "missing" / "page.html"
    assert "missing" in complaint("inspect", "gpt2", "a", "--html", str(missing))


def test_output_that_takes_few_signs() -> None:
    result = CliRunner(charset="latin-1").invoke(main, ["inspect", "gpt2", "é你", "--no-ids"])
    assert result.exit_code == 0
    assert "é\\u2502" in result.stdout_bytes.decode("latin-1")


# --- compare ------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("hello world\n" * 3, encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"text": "schöne"}\n{"text": "Grüße"}\n', encoding="utf-8")
    return tmp_path


def test_files_by_encodings(files: Path) -> None:
    table = output("compare", "a.txt", "b.jsonl")
    encodings = {name: bytemill.get_encoding(name) for name in ("gpt2", "cl100k_base", "o200k_base")}
    expected = inspection.compare(encodings, {"a.txt": ["hello world\n" * 3], "b.jsonl": ["schöne", "Grüße"]})
    assert table == f"{expected}\n"
    found = json.loads(output("compare", "-e", "gpt2", "-e", "gpt-4o", "*.txt", "--json", "--threads", "1"))
    assert found["encodings"] == ["gpt2", "gpt-4o"]
    assert [text["name"] for text in found["texts"]] == ["a.txt"]
    assert json.loads(output("compare", "-e", "gpt2", "--json", stdin="hello"))["texts"][0]["bytes"] == 5
    assert sorted(path.name for path in files.iterdir()) == ["a.txt", "b.jsonl"]


def test_encodings_may_come_first(files: Path) -> None:
    bytemill.get_encoding("gpt2").save_tiktoken("mine.tiktoken")
    bytemill.get_encoding("gpt2").save("mine.bytemill")
    (files / "r50k_base").write_text("a file of text")
    for arguments, encodings, names in (
        (["gpt2", "gpt-4o", "mine.bytemill", "a.txt"], ["gpt2", "gpt-4o", "mine.bytemill"], ["a.txt"]),
        (["-e", "gpt2", "cl100k_base", "a.txt"], ["gpt2", "cl100k_base"], ["a.txt"]),
        (["gpt2", "r50k_base", "a.txt"], ["gpt2"], ["r50k_base", "a.txt"]),
        (["gpt2"], ["gpt2"], ["-"]),
        (["gpt2", "-", "a.txt"], ["gpt2"], ["-", "a.txt"]),
    ):
        found = json.loads(output("compare", "--json", *arguments))
        assert found["encodings"] == encodings
        assert [text["name"] for text in found["texts"]] == names
    # Its pattern is unknown.
    assert "mine.tiktoken has no pattern: bytemill convert" in complaint("compare", "mine.tiktoken", "a.txt")


@pytest.mark.usefixtures("files")
def test_a_file_without_a_pattern_is_converted_as_the_message_says() -> None:
    bytemill.get_encoding("cl100k_base").save_tiktoken("mine.tiktoken")
    message = complaint("inspect", "mine.tiktoken", "a")
    assert "pattern=" not in message
    command = message.split(": bytemill ")[1].split(" writes")[0].replace("NAME", "cl100k")
    assert command == "convert mine.tiktoken mine.bytemill --pattern cl100k"
    output(*command.split())
    assert output("inspect", "mine.bytemill", "a b", "--no-ids").endswith("\na│·b\n")


def test_chart(files: Path) -> None:
    table = output("compare", "a.txt", "--chart", "chart.png")
    assert table.startswith("bytes per token")
    assert (files / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_chart_without_matplotlib(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    (files / "bad.txt").write_bytes(b"\xff")
    result = run("compare", "bad.txt", "--chart", "chart.png")
    # It is told before any text is read.
    assert (result.exit_code, result.stdout) == (2, "")
    assert "pip install matplotlib" in result.stderr
    assert "bad.txt" not in result.stderr


def test_a_chart_that_cannot_be_written(files: Path) -> None:
    (files / "bad.txt").write_bytes(b"\xff")
    (files / "folder.png").mkdir()
    for chart, said in (
        ("missing/chart.png", "there is no folder 'missing' to write it to"),
        ("a.txt/chart.png", "expected a folder, and this is a file"),
        ("folder.png", "expected the name of a file, and this is a folder"),
    ):
        message = complaint("compare", "bad.txt", "--chart", chart)
        assert said in message
        assert "bad.txt" not in message


@pytest.mark.usefixtures("files")
def test_wrong_use_of_compare() -> None:
    message = complaint("compare", "gpt2", "gpt-5", "llama3", "a.txt")
    assert message == "bytemill: error: llama3: neither an encoding nor a file\n"
    assert "gpt4o: neither an encoding nor a file (did you mean gpt-4o?)" in complaint("compare", "gpt4o")
    assert "missing.txt: No such file" in complaint("compare", "a.txt", "missing.txt")
    assert "is not an encoding" in complaint("compare", "-e", "no_such_encoding", "a.txt")
    assert "no file matches" in complaint("compare", "*.csv")
    assert "ends in .png" in complaint("compare", "a.txt", "--chart", "chart.svg")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a word " * 1000, "neither an encoding nor a file"),
        ("x" * 5000, "neither an encoding nor a file"),
        ("and/or " * 1000, "No such file or directory"),
        ("x" * 5000 + ".txt", "No such file or directory"),
    ],
)
def test_a_long_text_is_not_repeated_by_compare(text: str, reason: str) -> None:
    assert complaint("compare", "gpt2", text) == f"bytemill: error: {text[:200]}: {reason}\n"
    assert len(complaint("compare", text)) < 300


def test_folders_are_compared_by_their_files(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_bytes(b"hello")
    (tmp_path / "texts" / "b.txt").write_bytes(b"world")
    (tmp_path / "mine").mkdir()
    bytemill.train(["low lower"], 260, progress=False).save_huggingface(tmp_path / "mine" / "tokenizer.json")
    compared = output("compare", "gpt2", str(tmp_path / "mine"), str(tmp_path / "texts"), "--json")
    for name in ("gpt2", "mine", "a.txt", "b.txt"):
        assert name in compared
    (tmp_path / "none").mkdir()
    assert "none: the folder holds no files" in complaint("compare", str(tmp_path / "none"))
