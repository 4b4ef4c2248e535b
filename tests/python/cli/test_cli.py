"""The command line as a whole: help, errors, exit codes, names of encodings; and `count`."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
import zstandard

import bytemill
from bytemill.cli import COMMANDS, encoding_of, options, reading
from bytemill.cli.reading import Meter, documents, progress
from bytemill.documents.sources import Reading
from support.command_line import arguments, environment, started
from support.command_line import bytemill as run

ENCODING = bytemill.get_encoding("o200k_base")
TEXT = "The quick brown fox, 1234 times: «naïve» 你好 <|endoftext|>\n" * 40


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


# --- All commands ---


def test_help_lists_the_commands() -> None:
    called = run("--help")
    assert called.code == 0
    for name in ("count", "encode", "decode", "truncate", "split", "train", "convert", "verify", "bench"):
        assert f"\n  {name} " in called.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    called = run(name, "--help")
    assert called.code == 0
    assert called.out.startswith(f"Usage: bytemill {name} ")


def test_version() -> None:
    called = run("--version")
    assert called.code == 0
    assert called.out.startswith(f"bytemill {bytemill.__version__}, Unicode 16.0.0, tier ")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["count", "--no-such-option"], "No such option"),
        (["verify", "-e", "gpt2"], "The encoding is an argument here: bytemill verify ENCODING"),
        (["no-such-command"], "No such command 'no-such-command'"),
        (["count", "/no/such/file"], "/no/such/file: No such file or directory"),
        (["count", "/no/such/*.txt"], "no file matches"),
        (["count", "-e", "o200k_bass"], "'o200k_bass' is not an encoding, a model or a file"),
        (["count", "-e", "o200k_bass"], "(did you mean o200k_base?)"),
        (["count", "-e", "GPT-4o"], "(did you mean gpt-4o?)"),
        (["count", "-m", "GPT-4o"], "the model 'GPT-4o' (did you mean gpt-4o?)"),
        (["count", "-m", "cl100k_base"], "'cl100k_base' is an encoding, not a model: use -e cl100k_base"),
        (["count", "-e", "./gpt2"], "gpt2: No such file or directory"),
        (["count", "-e", "gpt-4-tokenizer.json"], "gpt-4-tokenizer.json: No such file or directory"),
        (["count", "-m", "no-such-model"], "no encoding is known for the model 'no-such-model'"),
        (["count", "-e", "gpt2", "-m", "gpt-4o"], "exclude each other"),
        (
            ["count", "--special", "error"],
            "standard input: the text contains the special token '<|endoftext|>': --special text",
        ),
        (["decode"], "expected token IDs as decimal numbers"),
    ],
)
def test_wrong_use_is_a_message_and_2(args: list[str], said: str) -> None:
    called = run(*args, given=TEXT)
    assert called.code == 2
    assert called.err.startswith("bytemill: error: ")
    assert said in called.err
    assert "Traceback" not in called.err


def test_without_a_command_the_help_is_the_message() -> None:
    called = run()
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith("Usage: bytemill [OPTIONS] COMMAND")


def test_encodings_and_models_are_listed() -> None:
    assert run("list", "encodings").out.splitlines() == bytemill.list_encoding_names()
    models = dict(line.split() for line in run("list", "models").out.splitlines())
    assert (models["gpt-4o"], models["gpt-4o-*"], models["ft:gpt-4*"]) == (
        "o200k_base",
        "o200k_base",
        "cl100k_base",
    )
    assert json.loads(run("list", "models", "--json").out) == models
    assert "gpt2           gpt2, gpt-2" in run("list").out.splitlines()
    assert json.loads(run("list", "--json").out)["models"] == models
    assert run("list", "encoders").code == 2


def test_helps_are_whole_sentences() -> None:
    listed = run("--help").out.partition("Commands:\n")[2].splitlines()
    assert len(listed) == 15
    assert all(re.fullmatch(r"  [a-z]+ +[A-Z].*[^.]\.", line) for line in listed)
    for line in listed:
        assert "\\b" not in run(line.split()[0], "--help").out


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX's full device")
def test_a_full_disk_is_a_message() -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(  # noqa: S603 - our own command
            arguments("count"),
            input=b"a",
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    assert (result.returncode, result.stderr) == (2, b"bytemill: error: No space left on device\n")


def test_a_name_that_cannot_be_written_is_in_the_message(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "ids.txt"
    assert run("encode", "-o", path, given="a").err == f"bytemill: error: {path}: No such file or directory\n"
    called = run("encode", "-o", tmp_path / "ids.jsonl.gz", given="a")
    assert called.code == 2
    assert "the output is not compressed" in called.err
    assert list(tmp_path.iterdir()) == []


def test_standard_input_may_be_compressed(tmp_path: Path) -> None:
    number = b"%d\n" % ENCODING.count(TEXT)
    for given in (gzip.compress(TEXT.encode()), zstandard.compress(TEXT.encode())):
        assert started("count", given=given).stdout == number
    lines = json.dumps({"text": TEXT}).encode()
    out = tmp_path / "out"
    result = started("shard", "--field", "text", "-o", out, "--json", given=gzip.compress(lines))
    assert json.loads(result.stdout)["tokens"] == ENCODING.count(TEXT)
    result = started("count", given=b"PAR1")
    assert result.returncode == 2
    assert b"give the name of the file" in result.stderr


def test_the_process_says_the_same() -> None:
    result = started("count", "--max", "3", given=TEXT.encode())
    assert (result.returncode, result.stdout) == (1, b"%d\n" % ENCODING.count(TEXT))
    assert started("--nonsense").returncode == 2


def test_the_package_has_the_command() -> None:
    project = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.scripts]\nbytemill = "bytemill.cli:main"\n' in project


def test_nothing_heavy_is_imported_to_count() -> None:
    script = (
        "import sys\nfrom bytemill.cli import main\n"
        "try: main(['count'])\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'pyarrow', 'regex', 'tiktoken', 'asyncio', 'bytemill.training'}\n"
        "print(*sorted(heavy & {*sys.modules}))"
    )
    result = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, "-c", script],
        input=b"hello world",
        capture_output=True,
        check=True,
        timeout=60,
        env=environment(),
    )
    assert result.stdout.split() == [b"2"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent to a process as POSIX has it")
def test_ctrl_c_is_130_and_leaves_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    output = tmp_path / "ids.bin"
    with subprocess.Popen(  # noqa: S603 - our own command
        arguments("encode", pipe, "-o", output), stderr=subprocess.PIPE, env=environment()
    ) as process:
        # It has opened the pipe and waits for input.
        with pipe.open("wb") as file:
            file.write(TEXT.encode())
            file.flush()
            deadline = time.monotonic() + 30
            while not list(tmp_path.glob("*.tmp")) and time.monotonic() < deadline:
                time.sleep(0.01)
            # A signal between Python's check and its wait does not wake it.
            for _ in range(6):
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                    break
            assert process.returncode == 130
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break differently")
def test_a_reader_that_leaves_is_no_error_message() -> None:
    with subprocess.Popen(  # noqa: S603 - our own command
        arguments("encode"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(TEXT.encode() * 100)
        process.stdin.close()
        assert process.wait(30) == 141
        assert process.stderr.read() == b""


# --- What names an encoding ---


def test_encodings_and_models_by_name() -> None:
    assert encoding_of("gpt2") is bytemill.get_encoding("gpt2")
    assert encoding_of("gpt-4") is bytemill.get_encoding("cl100k_base")
    assert encoding_of("gpt-4o-2024-05-13") is ENCODING
    with pytest.raises(ValueError, match="expected one of gpt2, "):
        encoding_of("gpt3")


# --- Documents ---


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_globs_do_not_follow_links_to_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d" / "e" / "f").mkdir(parents=True)
    (tmp_path / "d" / ".hidden").mkdir()
    for name in ("d/x.txt", "d/e/y.txt", "d/e/f/z.txt", "d/.hidden/x.txt", "d/a[1].txt"):
        (tmp_path / name).write_text("a")
    # Two that go round are 2 ** 40 paths.
    for name, target in (
        ("d/e/loop", ".."),
        ("d/e/f/loop", "../.."),
        ("linked", "d/e"),
        ("d/link.txt", "x.txt"),
    ):
        (tmp_path / name).symlink_to(target)
    everything = ["d/a[1].txt", "d/e/f/z.txt", "d/e/y.txt", "d/link.txt", "d/x.txt"]
    for pattern, expected in {
        "d/**": everything,
        "d/**/*": everything,
        "d/**/**": everything,
        "**/[yz].txt": ["d/e/f/z.txt", "d/e/y.txt"],
        f"{tmp_path}/**/z.*": [f"{tmp_path}/d/e/f/z.txt"],
        "d/*/**/f/*": ["d/e/f/z.txt"],
        "linked/**": ["linked/f/z.txt", "linked/y.txt"],
        "d/e/loop/*.txt": ["d/e/loop/a[1].txt", "d/e/loop/link.txt", "d/e/loop/x.txt"],
        "d/*": ["d/a[1].txt", "d/link.txt", "d/x.txt"],
    }.items():
        called = run("count", "--json", pattern)
        assert [each["file"] for each in json.loads(called.out)["files"]] == expected, pattern
    assert "no file matches" in run("count", "d/**/none").err


@pytest.mark.parametrize(
    "call",
    [
        ["count", ""],
        ["count", "a.txt", ""],
        ["encode", "a.txt", "-o", ""],
        ["split", "a.txt", "-n", "1", "--folder", ""],
        ["train", "a.txt", "--vocab-size", "256", "-o", ""],
        ["shard", "a.txt", "-o", ""],
        ["shard", "a.txt", "--work", ""],
        ["job", "plan", "a.txt", "--work", ""],
        ["job", "plan", "", "--work", "work"],
        ["inspect", "gpt2", "--file", ""],
        ["inspect", "gpt2", "a", "--html", ""],
        ["compare", "gpt2", "a.txt", "--chart", ""],
        ["convert", "gpt2", ""],
        ["convert", "", "x.bytemill"],
        ["verify", "gpt2", "", "--against", "tiktoken"],
        ["bench", ""],
    ],
)
def test_an_empty_name_is_refused(call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("a")
    called = run(*call)
    assert called.code == 2
    assert "expected the name of a file or folder, got ''" in called.err
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_an_empty_name_is_no_encoding() -> None:
    assert run("count", "-e", "", given="a").err.startswith("bytemill: error: '' is not an encoding, a model")


def test_documents_of_every_kind(tmp_path: Path) -> None:
    texts = ["one", "two\nlines", "三"]
    lines = "".join(json.dumps({"body": text}) + "\n" for text in texts).encode()
    (tmp_path / "a.jsonl").write_bytes(lines)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "c.jsonl.zst").write_bytes(zstandard.compress(lines))
    pq.write_table(pa.table({"body": texts}), tmp_path / "d.parquet")
    files = sorted(map(str, tmp_path.iterdir()))
    assert list(documents(files, Reading(field=("body",)))) == texts * 4
    (tmp_path / "e.txt").write_bytes(b"one\ntwo")
    assert list(documents([str(tmp_path / "e.txt")])) == ["one\ntwo"]
    assert list(documents([str(tmp_path / "e.txt")], Reading(lines=True))) == ["one\n", "two"]


def test_what_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"ok\ncaf\xe9\n")
    with pytest.raises(ValueError, match=r"latin.txt, line 2: expected UTF-8, got the byte 0xe9"):
        list(documents([str(path)], Reading(lines=True)))
    # In a part other than the first.
    path.write_bytes(b"word\n" * 500_000 + b"\xe9")
    called = run("count", path)
    assert called.code == 2
    assert "line 500001: expected UTF-8, got the byte 0xe9" in called.err


def test_progress_tells_rate_and_time_left() -> None:
    line = progress("a.txt", 30_000_000, 30_000_000, 0, 3.0, 40_000_000)
    assert line == "a.txt: 30 MB of text, 10 MB/s, 75%, 1 s left"
    assert progress("-", 30_000_000, 30_000_000, 0, 3.0, None) == "-: 30 MB of text, 10 MB/s"
    # Compressed files: the rate is that of the text, the time left that of the files.
    line = progress("shard 2", 30_000_000, 90_000_000, 21_000_000, 3.0, 40_000_000)
    assert line == "shard 2: 90 MB of text, 30 MB/s, 7.0 M tokens/s, 75%, 1 s left"


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_for_terminals(text_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "FIRST", 0.0)
    silent, terminal = io.StringIO(), Terminal()
    for stream in (silent, terminal):
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(documents([str(text_file)])) == [TEXT]
    assert silent.getvalue() == ""
    assert terminal.getvalue().startswith(f"\r\x1b[K{text_file}: 0 MB of text, ")
    # It is erased at the end.
    assert terminal.getvalue().endswith("\r\x1b[K")
    # Results on the same terminal are not overwritten.
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", Terminal())
    with Meter([str(text_file)], prints=True) as meter:
        assert list(documents([str(text_file)], meter=meter)) == [TEXT]
    assert terminal.getvalue() == ""


def test_mistakes_of_ours_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistake(_: str) -> bytemill.Encoding:
        raise AttributeError

    monkeypatch.setattr(options, "encoding_of", mistake)
    called = run("count", given="a")
    assert called.code == 2
    assert "Traceback" in called.err
    assert "please report it" in called.err


# --- count ---


def test_count_of_one_input_is_a_number(text_file: Path) -> None:
    expected = f"{ENCODING.count(TEXT)}\n"
    assert run("count", text_file).out == expected
    assert run("count", given=TEXT).out == expected
    assert run("count", "-", given=TEXT).out == expected
    assert run("count", "-e", "gpt2", given=TEXT).out == f"{bytemill.get_encoding('gpt2').count(TEXT)}\n"
    assert run("count", "-m", "gpt-4", given="hello world").out == "2\n"


def test_count_of_several_is_a_table(text_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello world")
    called = run("count", tmp_path / "*.txt")
    tokens = ENCODING.count(TEXT)
    size = len(TEXT.encode())
    rows = [line.split() for line in called.out.replace(",", "").splitlines()]
    assert rows == [
        ["tokens", "bytes", "file"],
        ["2", "11", str(other)],
        [str(tokens), str(size), str(text_file)],
        [str(tokens + 2), str(size + 11), "total"],
    ]


def test_count_as_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "hello world"}\n{"text": "hello"}\n')
    each = {"tokens": 3, "documents": 2, "bytes": 16}
    assert json.loads(run("count", "--json", path).out) == {
        "encoding": "o200k_base",
        **each,
        "files": [{"file": str(path), **each}],
    }


def test_count_takes_special_tokens_as_told() -> None:
    text = "a<|endoftext|>"
    assert run("count", given=text).out == f"{ENCODING.count(text)}\n"
    assert run("count", "--special", "allow", given=text).out == "2\n"
    assert run("count", "--special", "error", given="a").out == "1\n"


def test_count_by_token(text_file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello hello hello world")
    called = run("count", "--by-token", other)
    assert called.out.splitlines() == ["2  40617  b' hello'", "1   2375  b' world'", "1  24912  b'hello'"]
    called = run("count", "--by-token", "--json", text_file, other)
    result = json.loads(called.out)
    expected = ENCODING.count_by_token([TEXT, "hello hello hello world"])
    assert result["tokens"] == expected.sum()
    assert {int(token): count for token, count in result["counts"].items()} == {
        int(token): int(expected[token]) for token in expected.nonzero()[0]
    }
    assert (
        "199999"
        in json.loads(run("count", "--by-token", "--special", "allow", "--json", text_file).out)["counts"]
    )
    assert run("count", "--by-token", "--max", 3, other).code == 2
    assert run("count", "--by-token", tmp_path / "missing.txt").code == 2


def test_count_of_standard_input_as_json_lines() -> None:
    assert run("count", "--field", "a", given='{"a": "hello world"}\n').out == "2\n"


def test_count_in_parts_is_that_of_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    text = TEXT * 1000
    path.write_text(text, encoding="utf-8")
    assert run("count", path, "--threads", 2).out == f"{ENCODING.count(text)}\n"
    allowed = len(ENCODING.encode(text, allowed_special="all"))
    assert run("count", path, "--special", "allow").out == f"{allowed}\n"


def test_count_says_no_above_the_maximum() -> None:
    assert run("count", "--max", 2, given="hello world").code == 0
    called = run("count", "--max", 1, given="hello world")
    assert (called.code, called.out) == (1, "2\n")
    assert called.err == "bytemill: 2 tokens exceed the limit of 1\n"


@pytest.mark.parametrize("call", [["count"], ["encode"], ["inspect", "gpt2", "--file"]])
def test_a_special_token_that_is_an_error_is_named_with_its_file(call: list[str], text_file: Path) -> None:
    called = run(*call, text_file, "--special", "error")
    assert called.code == 2
    assert called.err.startswith(f"bytemill: error: {text_file}: the text contains the special token")


def test_count_goes_on_after_a_file_that_cannot_be_read(text_file: Path, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"\xe9")
    called = run("count", text_file, tmp_path / "none", text_file, tmp_path / "latin.txt")
    assert called.code == 2
    assert called.out.splitlines()[-1].split()[0] == f"{2 * ENCODING.count(TEXT):,}"
    assert len(called.err.splitlines()) == 2
