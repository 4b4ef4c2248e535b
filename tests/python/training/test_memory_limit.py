"""Training and counting within a memory limit: the same as without, and no file is left behind."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import pickle
import random
import sys
import tempfile
from pathlib import Path
from typing import get_args

import pytest

from bytemill import PieceCounts
from bytemill.training import TieBreak, count_pieces, train
from support.subprocesses import run

LEAST = 1 << 20

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits as POSIX has them")


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Some 4 MB, most pieces of which occur once: several times what the least limit has room for."""
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyzäß中"
    common = ["".join(rng.choices(letters, k=3)) for _ in range(300)]

    def word() -> str:
        if rng.random() < 0.4:
            return rng.choice(common)
        return "".join(rng.choices(letters, k=rng.choice([5, 6, 8, 30])))

    return [" ".join(word() for _ in range(2_000)) for _ in range(200)]


@pytest.fixture(scope="module")
def counts(texts: list[str]) -> PieceCounts:
    return count_pieces(texts, num_threads=1, progress=False)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("num_threads", [1, 2, 7])
def test_the_same_is_counted(
    texts: list[str], counts: PieceCounts, num_threads: int, directory: Path
) -> None:
    limited = count_pieces(texts, num_threads=num_threads, memory_limit=LEAST, progress=False)
    assert limited.memory_usage() <= LEAST < counts.memory_usage()
    assert len(limited) == len(counts)
    assert list(limited) == list(counts)
    assert limited.total() == counts.total()
    assert limited.most_common(1000) == counts.most_common(1000)
    assert list(pickle.loads(pickle.dumps(limited))) == list(counts)  # noqa: S301 - our own
    assert limited.memory_usage() <= LEAST
    if sys.platform == "linux":
        assert list(directory.iterdir()) == []
    del limited
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("tie_break", get_args(TieBreak))
def test_the_same_is_learned(texts: list[str], counts: PieceCounts, tie_break: TieBreak) -> None:
    expected = train(counts, 2000, tie_break=tie_break, progress=False)
    limited = train(texts, 2000, tie_break=tie_break, memory_limit=LEAST, progress=False)
    assert limited.merges() == expected.merges()


def test_limited_counts_add_up(texts: list[str], counts: PieceCounts) -> None:
    parts = [count_pieces(part, memory_limit=LEAST, progress=False) for part in (texts[:50], texts[50:])]
    assert list(parts[0] + parts[1]) == list(counts)
    unlimited = PieceCounts()
    for part in parts:
        unlimited += part
    assert unlimited.memory_usage() <= LEAST
    assert list(unlimited) == list(counts)
    again = PieceCounts(list(counts), memory_limit=LEAST)
    assert list(again) == list(counts)


def test_nothing_needs_no_file() -> None:
    counts = PieceCounts(memory_limit=LEAST)
    assert (len(counts), list(counts), counts.total()) == (0, [], 0)


@pytest.mark.parametrize("limit", [LEAST - 1, 0, -1])
def test_limits_that_are_too_small(limit: int) -> None:
    message = f"expected a memory_limit of at least 1048576 bytes, got {limit}"
    for call in (
        lambda: count_pieces(["a"], memory_limit=limit),
        lambda: train(["a"], 256, memory_limit=limit),
        lambda: PieceCounts(memory_limit=limit),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_limits_with_units() -> None:
    texts = ["words of words"]
    for limit in ("2G", "1MiB", "1024 k", 10**23):
        assert PieceCounts(memory_limit=limit).total() == 0
        assert count_pieces(texts, memory_limit=limit, progress=False).total() == 3
        assert train(texts, 258, memory_limit=limit, progress=False).n_vocab == 258
    with pytest.raises(
        ValueError, match="memory_limit: expected a number of bytes such as 512M or 2G, got 'much'"
    ):
        count_pieces(texts, memory_limit="much")
    with pytest.raises(ValueError, match="at least 1048576 bytes, got 1K"):
        count_pieces(texts, memory_limit="1K")
    with pytest.raises(TypeError, match=r"memory_limit must be a number of bytes .* not 2.5"):
        count_pieces(texts, memory_limit=2.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1])
def test_numbers_of_threads(threads: int) -> None:
    for call in (
        lambda: count_pieces(["a"], num_threads=threads),
        lambda: train(["a"], 256, num_threads=threads),
    ):
        with pytest.raises(ValueError, match=f"num_threads must be 1 or more.*not {threads}"):
            call()


def test_counts_have_a_limit_of_their_own(counts: PieceCounts) -> None:
    with pytest.raises(ValueError, match="pass it to count_pieces"):
        train(counts, 256, memory_limit=LEAST)


def test_a_directory_that_is_gone(texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(OSError, match="expected room in the directory for temporary files"):
        train(texts, 2000, memory_limit=LEAST, progress=False)
    counts = PieceCounts(memory_limit=LEAST)
    counts.add(["kept"])
    with pytest.raises(OSError, match="temporary files"):
        counts.add(texts)
    assert dict(counts)[b"kept"] == 1


SCRIPT = """
import os, resource, random, signal, sys, tempfile, threading
import bytemill

tempfile.tempdir = {directory!r}
rng = random.Random(2)

def texts(number):
    for _ in range(number):
        yield " ".join("%x" % rng.getrandbits(60) for _ in range(5000))

{what}

assert os.listdir({directory!r}) == [], os.listdir({directory!r})
"""


@unix_only
def test_a_full_disk(tmp_path: Path) -> None:
    what = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    bytemill.train(texts(60), 1000, pattern="gpt2", memory_limit=1 << 20, progress=False)
except OSError as error:
    assert error.errno == 27, error  # File too large: what there is instead of a full disk
    assert "raise the limit" in str(error), error
else:
    sys.exit("no error")
"""
    run(SCRIPT.format(directory=str(tmp_path), what=what))


@unix_only
def test_ctrl_c_leaves_no_file(tmp_path: Path) -> None:
    what = """
# How soon it stops is tested in test_interrupt.py.
counts = bytemill.PieceCounts(memory_limit=1 << 20)
try:
    for number, text in enumerate(texts(100_000)):
        if number == 30:
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
        counts.add([text], num_threads=2)
except KeyboardInterrupt:
    pass
else:
    sys.exit("it was not interrupted")
assert len(counts) > 0
"""
    run(SCRIPT.format(directory=str(tmp_path), what=what))


@unix_only
def test_a_process_that_is_killed(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("files have names elsewhere")
    what = """
child = os.fork()
if child == 0:
    counts = bytemill.count_pieces(texts(60), memory_limit=1 << 20, progress=False)
    assert counts.memory_usage() <= 1 << 20
    os.kill(os.getpid(), signal.SIGKILL)
_, status = os.waitpid(child, 0)
assert os.WTERMSIG(status) == signal.SIGKILL, status
"""
    run(SCRIPT.format(directory=str(tmp_path), what=what))
