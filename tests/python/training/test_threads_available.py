"""How many processors are for this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bytemill import _arguments
from bytemill._arguments import available_processors, thread_count


@pytest.fixture(autouse=True)
def without_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(_arguments, "CONTROL_GROUP", str(tmp_path / "none"))


@pytest.mark.parametrize(("given", "processors"), [("3", 3), (" 5 ", 5), ("4,2", 4)])
def test_a_scheduler_sets_the_number(monkeypatch: pytest.MonkeyPatch, given: str, processors: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert available_processors() == thread_count(None) == processors
    assert thread_count(7) == 7, "what is asked for is not changed"


@pytest.mark.parametrize("given", ["", "0", "-1", "many"])
def test_what_is_no_number_is_ignored(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    before = available_processors()
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert available_processors() == before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_affinity_counts() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert available_processors() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert available_processors() == len(before)


@pytest.mark.parametrize(
    ("contents", "most"),
    [("100000 100000", 1), ("50000 100000", 1), ("150000 100000", 2), ("max 100000", None)],
)
def test_a_container_has_a_quota(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, contents: str, most: int | None
) -> None:
    unlimited = available_processors()
    path = tmp_path / "cpu.max"
    path.write_text(contents + "\n")
    monkeypatch.setattr(_arguments, "CONTROL_GROUP", str(path))
    assert available_processors() == (unlimited if most is None else min(unlimited, most))


@pytest.mark.parametrize("contents", ["", "1", "a b", "1 0"])
def test_a_damaged_quota_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, contents: str) -> None:
    before = available_processors()
    path = tmp_path / "cpu.max"
    path.write_text(contents)
    monkeypatch.setattr(_arguments, "CONTROL_GROUP", str(path))
    assert available_processors() == before
