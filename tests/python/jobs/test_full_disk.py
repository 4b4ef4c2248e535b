"""Jobs on a full disk: the error names a file of the work folder, and the next run gives all."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill import jobs
from support.executors import Twice
from support.faulty import full_disk
from support.mixed_corpus import write_corpus

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits as POSIX has them")

ENCODING = bytemill.get_encoding("gpt2")


def write(work: Path, form: Any) -> None:
    jobs.write_shards(work, ENCODING, format=form, shard_tokens=500, executor=jobs.Local(1))


STEPS: dict[str, Callable[[Path], object]] = {
    "count": lambda work: jobs.count_pieces(work, "gpt2", executor=jobs.Local(1)),
    "twice": lambda work: jobs.count_pieces(work, "gpt2", executor=Twice(1)),
    **{form: lambda work, form=form: write(work, form) for form in ("bin", "npy", "megatron", "parquet")},  # type: ignore[misc]
    "compact": lambda work: jobs.compact(work, shard_tokens=2_000, executor=jobs.Local(1)),
}


def contents(work: Path) -> dict[str, bytes]:
    paths = [path for path in work.rglob("*") if path.is_file()]
    return {path.relative_to(work).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("room", [0, 60, 250, 1_000])
def test_a_full_disk(tmp_path: Path, step: str, room: int) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    for folder in ("work", "whole"):
        jobs.plan(corpus, tmp_path / folder, unit_bytes=20_000)
        if step == "compact":
            write(tmp_path / folder, "npy")
    STEPS[step](tmp_path / "whole")
    with full_disk(room), pytest.raises(OSError, match="File too large") as caught:
        STEPS[step](tmp_path / "work")
    assert caught.value.errno == errno.EFBIG
    assert str(tmp_path / "work") in str(caught.value.filename)
    before = jobs.status(tmp_path / "work")
    assert step == "compact" or not before.is_done
    STEPS[step](tmp_path / "work")
    assert contents(tmp_path / "work") == contents(tmp_path / "whole")
    assert not any(name.endswith(".tmp") for name in contents(tmp_path / "work"))
