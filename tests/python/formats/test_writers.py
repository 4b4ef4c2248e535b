"""Writing that fails or is killed: a file is as it was or whole, nothing is left, the error names it."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.command_line import environment
from support.faulty import ROOM, full_disk
from support.writers import WRITERS, Writer

FULL = os.environ.get("BYTEMILL_FULL") == "1"
OLD = b"what was there before"

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="limits, owners and forks as POSIX has them")

all_writers = pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Returns the contents of a folder; folders in it have none."""
    return {path.name: None if path.is_dir() else path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def folder(writer: Writer, tmp_path: Path) -> Path:
    """A folder with old files, once all is imported and made that writing needs."""
    for name in ("first", "folder"):
        (tmp_path / name).mkdir()
    writer.write(tmp_path / "first")
    written = contents(tmp_path / "first")
    assert tuple(sorted(written)) == tuple(sorted(writer.names))
    assert all(data is not None and len(data) > ROOM for data in written.values())
    for name in writer.names:
        (tmp_path / "folder" / name).write_bytes(OLD)
    return tmp_path / "folder"


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """Takes away the permission to write to a folder, for the superuser too."""
    user = os.geteuid()
    folder.chmod(0o555)
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if user == 0:
            os.seteuid(user)
        folder.chmod(0o755)


def names_one_of(error: OSError, folder: Path, writer: Writer) -> bool:
    """Returns whether a message names one of the files."""
    return any(str(folder / name) in str(error) for name in writer.names) and ".tmp" not in str(error)


@unix_only
@all_writers
def test_a_full_disk(writer: Writer, folder: Path) -> None:
    before = contents(folder)
    with full_disk(), pytest.raises(OSError, match="File too large") as caught:
        writer.write(folder)
    assert contents(folder) == before
    assert names_one_of(caught.value, folder, writer)


@unix_only
@all_writers
def test_an_unwritable_folder(writer: Writer, folder: Path) -> None:
    before = contents(folder)
    with unwritable(folder), pytest.raises(OSError, match="Permission denied") as caught:
        writer.write(folder)
    assert contents(folder) == before
    # Or the folder, where that is looked at first.
    assert str(folder) in str(caught.value)
    assert ".tmp" not in str(caught.value)


@unix_only
@all_writers
def test_a_disk_that_becomes_read_only(writer: Writer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There, removing files fails too, also those that do not exist: not the error to report."""

    def refuse(path: Path, **_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fspath(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    with full_disk(), pytest.raises(OSError, match="File too large") as caught:
        writer.write(folder)
    assert names_one_of(caught.value, folder, writer)
    assert "None" not in str(caught.value)


@all_writers
def test_a_folder_where_the_file_should_be(writer: Writer, folder: Path) -> None:
    for name in writer.names:
        (folder / name).unlink()
        (folder / name).mkdir()
        before = contents(folder)
        with pytest.raises(OSError, match="this is a folder") as caught:
            writer.write(folder)
        assert contents(folder) == before
        assert str(folder / name) in str(caught.value)
        (folder / name).rmdir()
        (folder / name).write_bytes(OLD)


@unix_only
@all_writers
def test_what_is_no_file_is_not_replaced(writer: Writer, folder: Path) -> None:
    for name in writer.names:
        path = folder / name
        path.unlink()
        os.mkfifo(path)
        before = sorted(folder.iterdir())
        with pytest.raises(OSError, match="this is a pipe or a device") as caught:
            writer.write(folder)
        assert str(path) in str(caught.value)
        assert path.is_fifo()
        assert sorted(folder.iterdir()) == before
        path.unlink()
        path.write_bytes(OLD)


@unix_only
@all_writers
def test_links_stay(writer: Writer, folder: Path) -> None:
    """To a file by way of another link, and to none yet."""
    (folder / "elsewhere").mkdir()
    for exists in (True, False):
        for name in writer.names:
            (folder / name).unlink()
            (folder / name).symlink_to(f"elsewhere/link-{name}")
            (folder / "elsewhere" / f"link-{name}").unlink(missing_ok=True)
            (folder / "elsewhere" / f"link-{name}").symlink_to(f"{name}-{exists}")
            if exists:
                (folder / "elsewhere" / f"{name}-{exists}").write_bytes(OLD)
        writer.write(folder)
        assert all((folder / name).is_symlink() for name in writer.names)
        for name in writer.names:
            written = folder / "elsewhere" / f"{name}-{exists}"
            assert written.read_bytes() != OLD
            assert not written.is_symlink()


@all_writers
def test_renaming_fails(writer: Writer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(self: Path, target: object) -> None:
        raise OSError(errno.EIO, "the disk is gone", str(self), None, str(target))

    before = contents(folder)
    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(OSError, match="the disk is gone") as caught:
        writer.write(folder)
    assert contents(folder) == before
    assert names_one_of(caught.value, folder, writer)
    assert "None" not in str(caught.value)


# Forks a process for each run, so that a run costs no start of Python, and kills it at a step or some time.
SCRIPT = """
import os, pathlib, random, sys, time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path[:0] = [entry for entry in os.environ["PYTHONPATH"].split(os.pathsep) if entry not in sys.path]
from support.killed import came_to_end
from support.writers import WRITERS

OLD = b"what was there before"
# Each has a way of its own to write.
FEW = ("save_gpt2", "minbpe, save", "counts in Parquet", "a page", "encode to an array")
folder, seconds = pathlib.Path(sys.argv[1]), float(sys.argv[2])


killed = 0
for number, (kind, writer) in enumerate(WRITERS.items()):
    if not seconds and kind not in FEW:
        continue
    whole = folder / f"{number}"
    whole.mkdir()
    writer.write(whole)
    start = time.perf_counter()
    writer.write(whole)
    lasts = time.perf_counter() - start
    chance = random.Random(number)
    times = [{"seconds": chance.uniform(1e-4, 1.2 * lasts)} for _ in range(int(seconds / lasts))]
    for when in times if seconds else [{"die_at": number} for number in range(1000)]:
        for name in writer.names:
            (folder / name).write_bytes(OLD)
        ended = came_to_end(lambda: writer.write(folder), folder=folder, **when)
        killed += not ended
        for name in writer.names:
            found = (folder / name).read_bytes()
            new = (whole / name).read_bytes()
            # Parquet and PNG have the time or version in them, in as many bytes.
            assert found == OLD or len(found) == len(new), (kind, name, when)
            assert not ended or found != OLD, (kind, name, when)
        others = {path.name for path in folder.iterdir() if path.is_file()} - {*writer.names}
        assert all(name.endswith(".tmp") for name in others) and not (ended and others), (kind, others)
        for name in others:
            (folder / name).unlink()
        if ended and "die_at" in when:
            break
    for name in writer.names:
        (folder / name).unlink()
print(killed)
"""


def killed(folder: Path, seconds: float) -> int:
    """Runs the script; gives how many runs were killed."""
    command = [sys.executable, "-c", SCRIPT, str(folder), str(seconds)]
    done = subprocess.run(  # noqa: S603 - our own script
        command, capture_output=True, text=True, check=False, timeout=1200, env=environment()
    )
    assert done.returncode == 0, done.stderr
    number: int = json.loads(done.stdout)
    return number


@unix_only
def test_killed_at_every_step(tmp_path: Path) -> None:
    # Opening and renaming each file, at least.
    assert killed(tmp_path, 0) >= 12


@unix_only
@pytest.mark.skipif(not FULL, reason="takes minutes: make test-exhaustive")
@pytest.mark.timeout(1500)
def test_killed_at_any_time(tmp_path: Path) -> None:
    assert killed(tmp_path, 10.0) > 10 * len(WRITERS)
