"""`bytemill count --follow`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import pytest

import bytemill
from support.command_line import arguments, environment
from support.command_line import bytemill as run

TEXT = "Never tokenize twice. Größe 東京 🙂\n"


def tokens(text: str) -> int:
    return bytemill.get_encoding("o200k_base").count(text)


def next_line(stream: IO[bytes] | None) -> str:
    assert stream is not None
    return stream.readline().decode().strip()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent to a process as POSIX has it")
def test_a_file_that_grows_and_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(b"")
    data = TEXT.encode()
    with subprocess.Popen(  # noqa: S603 - our own command
        arguments("count", "--follow", "--json", path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        found = [json.loads(next_line(process.stdout))]
        assert found == [{"encoding": "o200k_base", "tokens": 0, "bytes": 0}]
        # Also inside of a character.
        cut = data.index("ß".encode()) + 1
        for part, whole in ((data[:cut], data[: cut - 1]), (data[cut:], data), (data * 3, data * 4)):
            with path.open("ab") as file:
                file.write(part)
            counted = json.loads(next_line(process.stdout))
            assert counted["tokens"] == tokens(whole.decode())
        assert counted["bytes"] == 4 * len(data)
        os.truncate(path, 0)
        assert "was made shorter" in next_line(process.stderr)
        assert json.loads(next_line(process.stdout))["tokens"] == 0
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


def test_standard_input_as_it_comes() -> None:
    with subprocess.Popen(  # noqa: S603 - our own command
        arguments("count", "--follow"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        for number in range(1, 4):
            process.stdin.write(TEXT.encode())
            process.stdin.flush()
            assert next_line(process.stdout) == str(tokens(TEXT * number))
        process.stdin.close()
        assert process.wait(10) == 0


def test_limits_and_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode() * 100)
    done = run("count", "--follow", "--max", "3", path)
    assert done.code == 1
    assert done.out.strip() == str(tokens(TEXT * 100))
    assert "tokens exceed the limit of 3" in done.err
    path.write_bytes(b"a\xff")
    done = run("count", "--follow", path)
    assert (done.code, "is not UTF-8" in done.err) == (2, True)
    done = run("count", "--follow", "--errors", "replace", "--max", "1", path)
    assert done.code == 1
    done = run("count", "--follow", path, path)
    assert (done.code, "--follow counts one text" in done.err) == (2, True)
    done = run("count", "--follow", "-", given=b"\xc3")
    assert (done.code, "unexpected end of data" in done.err) == (2, True)
    done = run("count", "--follow", "-", given=b"")
    assert (done.code, done.out) == (0, "0\n")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no names in folders there")
def test_a_pipe_with_a_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a pipe"
    os.mkfifo(path)
    # With a reader, the writer need not wait for one.
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(path, os.O_WRONLY)
    os.write(writer, TEXT.encode())
    ending = threading.Timer(0.3, os.close, [writer])
    ending.start()
    done = run("count", "--follow", path)
    ending.join()
    os.close(reader)
    assert (done.code, done.out) == (2, "")
    assert "expected a file that grows, got a pipe or a device: pass it as standard input" in done.err
    assert f"bytemill count --follow < '{path}'" in done.err
    assert run("count", "--follow", tmp_path / "none").code == 2
