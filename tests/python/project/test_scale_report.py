"""The report of `make bench-scale`, and the texts that it measures with."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from harness import scale, scale_text
from report import scale as report

MACHINE = {"cpu": "some", "cores": 2, "memory_gigabytes": 8, "system": "Linux", "python": "CPython"}


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for number, path in enumerate(paths):
        lines = [f"line {line} of text {number}: naïve 東京\n" for line in range(200)]
        path.write_text("".join(lines), encoding="utf-8")
    return paths


def test_texts_are_the_same_again(
    sources: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scale_text, "FILE_BYTES", 30_000)
    digests = []
    for name in ("first", "second"):
        sizes = scale_text.write_texts(sources, tmp_path / name, 100_000)
        files = sorted((tmp_path / name).iterdir())
        assert [path.stat().st_size for path in files] == sizes
        assert 100_000 <= sum(sizes) < 120_000
        digests.append([hashlib.sha256(path.read_bytes()).hexdigest() for path in files])
    assert digests[0] == digests[1]
    assert len(set(digests[0])) == 4
    texts = [json.loads(line)["text"] for line in files[0].read_text(encoding="utf-8").splitlines()]
    names = [text[-scale_text.NAME :] for text in texts]
    assert len(set(names)) == len(names)
    assert all(line in sources[0].read_text() + sources[1].read_text() for line in texts[0].splitlines()[:-1])


def test_stages_are_measured_and_results_compared(sources: list[Path], tmp_path: Path) -> None:
    scale_text.write_texts(sources, tmp_path / "texts", 50_000)
    size = scale.size_of(tmp_path / "texts")
    rows = scale.stages(tmp_path / "texts", tmp_path)
    assert {row["bytes"] for row in rows} == {size}
    assert all(row["seconds"] > 0 for row in rows)
    grown = scale.growth(tmp_path / "texts")
    assert grown[-1]["pieces"] == next(row["pieces"] for row in rows if "pieces" in row)
    equal = [{"stage": "count", "sha256": "a"}, {"stage": "count", "sha256": "a"}, {"stage": "read"}]
    assert scale.differences(equal) == []
    assert scale.differences([*equal, {"stage": "count", "sha256": "b"}]) == ["count"]


def result() -> dict[str, Any]:
    size = {"bytes": 10**9, "seconds": 2.0}
    units = {**size, "unit_bytes": 10**9, "units": 1, "cpu_seconds": 8.0}
    return {
        "date": "2026-01-02T03:04",
        "machine": MACHINE,
        "source": {"commit": "c" * 40, "dirty": False},
        "stages": [
            {**size, "stage": "read, split, count", "cpu_seconds": 6.4},
            {**size, "stage": "read, encode, write", "cpu_seconds": 12.8},
        ],
        "growth": [
            {"bytes": 5 * 10**8, "pieces": 10**6, "total": 10**8},
            {"bytes": 10**9, "pieces": 2 * 10**6, "total": 2 * 10**8},
        ],
        "runs": [
            {**units, "stage": "count units"},
            {**units, "stage": "add up", "run_bytes": 2 * 10**7, "rows": 2 * 10**6, "cpu_seconds": 1.0},
        ],
        "training": [{"vocab_size": 50_000, "pieces": 10**6, "seconds": 3.0, "cpu_seconds": 4.0}],
        "engines": [
            {"engine": "Local(1)", "stage": "empty units", "units": 200, "seconds": 1.0},
            {"engine": "Local(1)", "stage": "count", "seconds": 7.0},
            {"engine": "Local(1)", "stage": "shards", "seconds": 9.0},
        ],
        "sums": [{"seconds": 1.5, "pieces": 77}],
    }


def test_the_model_multiplies_what_was_measured() -> None:
    assert report.exponent(result()["growth"]) == 1
    lines = report.model(result(), report.Cluster(nodes=10, cores=10, read=1, unit=2))
    # 1 TB: 500 units; 6,400 CPU seconds on 100 cores, reading takes 100 s; 2,000 M pieces; runs of 4 M rows.
    assert "| 1 TB | 500 | 100 s | 2,000 M | 20 GB | 10 s | 100 min | 128 s |" in lines
    assert any("Nobody has measured this" in line for line in lines)


def test_the_page_has_all_that_was_measured() -> None:
    large = {**result(), "arguments": {"large": 10, "vocab_size": 50_000}, "all_equal": True}
    row = {"engine": "one process", "stage": "count", "bytes": 10**10, "seconds": 99.0, "pieces": 5}
    large["large"] = [{**row, "sha256": "d" * 64}]
    page = report.page_of(result(), large)
    assert "| one process | count | 99 | 5 different pieces | `dddddddddddddddd` |" in page
    assert "are equal" in page
    assert "NOT EQUAL" in report.large_section({**large, "all_equal": False})
    assert "| Local(1) | 5.0 | 7.0 | 9.0 |" in page
    assert "| merge_files | 1.5 | 77 |" in page
