"""The command that starts a playground."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from bytemill.cli.playground import text_of
from support import command_line


def test_the_command_ends_quietly_with_ctrl_c() -> None:
    # A process in the background of a shell starts with SIGINT ignored.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from bytemill.cli import main; main()"
    )
    arguments = [sys.executable, "-c", program, "playground", "-", "-e", "gpt2", "--no-browser"]
    with subprocess.Popen(  # noqa: S603 - our own command
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=command_line.environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("grüße".encode())
        process.stdin.close()
        url = process.stdout.readline().decode().strip()
        with urlopen(url + "start", timeout=20) as response:  # noqa: S310 - of this machine
            assert json.loads(response.read()) == {"text": "grüße", "encoding": "gpt2", "compare": None}
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == b""


def test_a_link_of_the_command() -> None:
    link = "http://127.0.0.1:5/#v1=q1YqSa0oUbJSykjNyclXqFTSUUrNS85PycxLB4rFpOTmWMTEKCnVAgA"
    program = "from bytemill.cli import main; main()"
    arguments = [sys.executable, "-c", program, "playground", link, "--no-browser"]
    with subprocess.Popen(  # noqa: S603 - our own command
        arguments, stdout=subprocess.PIPE, env=command_line.environment()
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        process.kill()
    assert address.startswith("http://127.0.0.1:")
    assert not address.startswith("http://127.0.0.1:5/")
    assert address.partition("#")[2] == link.partition("#")[2]


def test_hosts_of_the_command() -> None:
    called = command_line.bytemill("playground", "--host", "0.0.0.0")  # noqa: S104 - refused
    assert called.code == 2
    assert "--allow-host" in called.err


def test_text_files_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("a\r\nü".encode())
    assert text_of(str(tmp_path / "a.txt")) == "a\r\nü"
    assert text_of("no such file") == "no such file"
    assert text_of("a\0" + "b" * 5000) == "a\0" + "b" * 5000
    assert text_of(None) is None
    for name in ("nofile.txt", "folder/none.jsonl", "none.md"):
        with pytest.raises(
            FileNotFoundError, match="no such file; to show this text itself, pass - and pipe the text in"
        ):
            text_of(name)
    assert text_of("a sentence about none.txt") == "a sentence about none.txt"
    (tmp_path / "b.txt").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"b.txt is not UTF-8: byte 0 is 0xff"):
        text_of(str(tmp_path / "b.txt"))
