"""Shards when disks fail: only whole ones have names, the error names the file, and resuming gives all."""

from __future__ import annotations

import errno
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill.shards import write_shards
from support.faulty import full_disk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits as POSIX has them")

ENCODING = bytemill.get_encoding("gpt2")
FORMATS = ["bin", "npy", "megatron", "parquet"]
CHANCE = random.Random(1)  # noqa: S311 - the same every time
# What Parquet cannot compress much.
TEXTS = [" ".join(f"{CHANCE.random()}" for _ in range(200)) for _ in range(40)]


def write(folder: Path, form: Any, *, resume: bool = False) -> None:
    """Writes some shards."""
    write_shards(TEXTS, folder, ENCODING, format=form, shard_tokens=20_000, num_threads=1, resume=resume)


def contents(folder: Path) -> dict[str, bytes]:
    """Returns the contents of the files in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def whole(form: str, tmp_path: Path) -> dict[str, bytes]:
    """Returns the files of an undisturbed run."""
    write(tmp_path / "whole", form)
    return contents(tmp_path / "whole")


def assert_resumable(folder: Path, form: str, whole: dict[str, bytes]) -> None:
    """Only whole shards and the record are there, which says that there is more; then the rest is written."""
    left = contents(folder)
    record = json.loads(left.pop("provenance.json"))
    assert not record["complete"]
    assert all(whole[name] == data for name, data in left.items())
    write(folder, form, resume=True)
    assert contents(folder) == whole


@pytest.mark.parametrize("form", FORMATS)
def test_a_full_disk(form: str, whole: dict[str, bytes], tmp_path: Path) -> None:
    largest = max(len(data) for name, data in whole.items() if name != "provenance.json")
    room = len(whole["provenance.json"]) + 64
    # Full in the middle of a shard, and with its last byte.
    assert room < largest - 1
    for number, limit in enumerate((room, largest - 1)):
        folder = tmp_path / f"full{number}"
        with full_disk(limit), pytest.raises(OSError, match="File too large") as caught:
            write(folder, form)
        assert str(folder / "shard-") in str(caught.value)
        assert not [word for word in (".tmp", "None") if word in str(caught.value)]
        assert_resumable(folder, form, whole)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_fails(
    call: str, form: str, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any of the calls that make shards whole."""
    place: Any = os if call == "fsync" else Path
    works = getattr(place, call)
    for last in range(1, 100):
        folder = tmp_path / f"{last}"
        calls = 0

        def fail(*arguments: Any, last: int = last) -> Any:
            nonlocal calls
            calls += 1
            if calls > last:
                file = [str(arguments[0])] if call == "replace" else []
                raise OSError(errno.EIO, "the disk is gone", *file)
            return works(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(place, call, fail)
            try:
                write(folder, form)
            except OSError as error:
                assert str(folder) in str(error)  # noqa: PT017 - the last time there is none
            else:
                break
        assert_resumable(folder, form, whole)
    assert last > 4


@pytest.mark.parametrize("form", FORMATS)
def test_a_disk_that_becomes_read_only(
    form: str, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is that of writing, not that of removing what was begun."""

    def refuse(path: Path, **_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fspath(path))

    folder = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        with (
            full_disk(len(whole["provenance.json"]) + 64),
            pytest.raises(OSError, match="too large") as caught,
        ):
            write(folder, form)
    assert str(folder / "shard-") in str(caught.value)
    assert ".tmp" not in str(caught.value)
    write(folder, form, resume=True)
    assert contents(folder) == whole


@pytest.mark.parametrize("form", FORMATS)
def test_a_folder_where_a_shard_should_be(form: Any, whole: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    in_the_way = folder / max(whole.keys() - {"provenance.json"})

    def make_folder(_: object) -> None:
        in_the_way.mkdir(exist_ok=True)

    with pytest.raises(IsADirectoryError, match=in_the_way.name):
        write_shards(
            TEXTS, folder, ENCODING, format=form, shard_tokens=20_000, num_threads=1, progress=make_folder
        )
    in_the_way.rmdir()
    assert_resumable(folder, form, whole)
