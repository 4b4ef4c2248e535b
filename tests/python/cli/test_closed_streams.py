"""Closed standard streams: what needs one says so and ends with 2, all else does its work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bytemill
from bytemill.cli import COMMANDS
from support.command_line import arguments, environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="closed by a shell of POSIX")

TEXT = "some words and some more words\n"

# Of each command, a call that prints its result, and one that writes it to files.
PRINTS = {
    "count": ["count", "a.txt", "-e", "gpt2"],
    "encode": ["encode", "a.txt", "-e", "gpt2"],
    "decode": ["decode", "ids.txt", "-e", "gpt2"],
    "truncate": ["truncate", "a.txt", "-n", "2"],
    "split": ["split", "a.txt", "-n", "2"],
    "list": ["list"],
    "inspect": ["inspect", "gpt2", "some words"],
    "playground": ["playground", "--no-browser"],
    "compare": ["compare", "gpt2", "a.txt"],
    "verify": ["verify", "gpt2", "a.txt", "--against", "tiktoken"],
    "bench": ["bench", "a.txt", "--rounds", "1", "--threads", "1", "--alone"],
}
WRITES = {
    "encode": ["encode", "a.txt", "-e", "gpt2", "-o", "out.npy"],
    "decode": ["decode", "ids.txt", "-e", "gpt2", "-o", "out.txt"],
    "truncate": ["truncate", "a.txt", "-n", "2", "-o", "out.txt"],
    "split": ["split", "a.txt", "-n", "2", "--folder", "out"],
    "train": ["train", "a.txt", "--vocab-size", "260", "-o", "out.bytemill"],
    "shard": ["shard", "a.txt", "-e", "gpt2", "-o", "out"],
    "job": ["job", "plan", "a.txt", "--work", "out"],
    "inspect": ["inspect", "gpt2", "some words", "--html", "out.html"],
    "convert": ["convert", "gpt2", "out.bytemill"],
}
READS = {
    "count": ["count", "-e", "gpt2"],
    "encode": ["encode", "-e", "gpt2", "-o", "out.txt"],
    "decode": ["decode", "-e", "gpt2"],
    "truncate": ["truncate", "-n", "2"],
    "split": ["split", "-n", "2", "--folder", "out"],
    "train": ["train", "--vocab-size", "260", "-o", "out.bytemill"],
    "shard": ["shard", "-e", "gpt2", "-o", "out"],
    "inspect": ["inspect", "gpt2", "-"],
    "playground": ["playground", "--no-browser", "-"],
    "compare": ["compare", "gpt2"],
    "verify": ["verify", "gpt2", "--against", "tiktoken"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a text and its ids."""
    monkeypatch.chdir(tmp_path)
    ids = bytemill.get_encoding("gpt2").encode(TEXT)
    Path("a.txt").write_text(TEXT)
    Path("ids.txt").write_text(" ".join(map(str, ids)))
    return tmp_path


def called(call: list[str], *closed: str) -> subprocess.CompletedProcess[bytes]:
    """Runs the command in a shell that closes streams, such as `2>&-`."""
    return subprocess.run(  # noqa: S603 - our own command
        ["/bin/sh", "-c", f'exec "$@" {" ".join(closed)}', "sh", *arguments(*call)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
        env=environment(),
    )


def test_every_command_is_here() -> None:
    assert {*PRINTS} | {*WRITES} == {*COMMANDS}


@pytest.mark.parametrize("command", PRINTS)
def test_a_result_that_cannot_be_printed_is_an_error(command: str) -> None:
    result = called(PRINTS[command], ">&-")
    assert result.returncode == 2
    assert result.stderr.startswith(b"bytemill: error: standard output is closed")
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize("command", WRITES)
def test_files_are_written_without_any_stream(command: str, folder: Path) -> None:
    before = {*folder.iterdir()}
    result = called(WRITES[command], "<&-", ">&-", "2>&-")
    assert result.returncode == 0
    assert {*folder.iterdir()} > before


@pytest.mark.parametrize("command", [name for name in PRINTS if name != "playground"])
def test_only_messages_are_lost_without_standard_error(command: str) -> None:
    result = called(PRINTS[command], "2>&-")
    assert result.returncode == 0
    assert result.stdout


@pytest.mark.parametrize("command", READS)
def test_what_cannot_be_read_is_an_error(command: str, folder: Path) -> None:
    before = {*folder.iterdir()}
    result = called(READS[command], "<&-")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(b"bytemill: error: standard input is closed")
    assert b"Traceback" not in result.stderr
    assert {*folder.iterdir()} == before


def test_processes_of_a_job_have_no_streams_either(folder: Path) -> None:
    for call in (
        ["job", "plan", "a.txt", "--work", "out"],
        ["job", "count", "--work", "out", "--processes", "2"],
        ["job", "shard", "--work", "out", "-e", "gpt2", "--processes", "2"],
    ):
        assert called(call, "<&-", ">&-", "2>&-").returncode == 0
    assert (folder / "out" / "manifest.json").exists()


def test_wrong_use_is_2_without_standard_error() -> None:
    for call in (["count", "none.txt"], ["count", "--none"], ["train"], ["job"], []):
        assert called(call, "2>&-").returncode == 2


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads Linux's list of open files")
def test_no_file_gets_the_number_of_a_closed_stream() -> None:
    """A library that prints a message would write it into that file."""
    script = (
        "import os\nfrom bytemill.cli.output import prepare\nprepare()\n"
        "file = open('file', 'wb')\n"
        "links = [os.readlink(f'/proc/self/fd/{i}') for i in range(3)]\n"
        "open('report', 'w').write(f'{file.fileno()} {links}')"
    )
    result = subprocess.run(  # noqa: S603 - our own script
        ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", script],
        check=False,
        env=environment(),
    )
    assert result.returncode == 0
    number, _, links = Path("report").read_text().partition(" ")
    assert int(number) > 2
    assert links == str([os.devnull] * 3)
