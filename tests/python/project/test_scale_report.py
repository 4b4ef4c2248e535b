"""The report of `make bench-scale`, and the texts that it measures with."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
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
    assert {row["bytes"] for row in rows if row["stage"].startswith(("read", "sort", "load"))} == {size}
    assert len({row["bytes"] for row in rows if row["stage"].startswith("encode")}) == 1
    assert all(row["seconds"] > 0 for row in rows)
    assert all(row["ids_equal"] for row in rows if "tokenizers" in row["stage"])
    grown = scale.growth(sources, tmp_path / "texts")
    assert grown[-1]["pieces"] == next(row["pieces"] for row in rows if "pieces" in row)
    once = [row for row in grown if row["text"] == "once"]
    assert once[-1]["bytes"] == sum(path.stat().st_size for path in sources)
    equal = [{"stage": "count", "sha256": "a"}, {"stage": "count", "sha256": "a"}, {"stage": "read"}]
    assert scale.differences(equal) == []
    assert scale.differences([*equal, {"stage": "count", "sha256": "b"}]) == ["count"]


def result() -> dict[str, Any]:
    size = {"bytes": 10**9, "seconds": 2.0}
    engine = {"engine": "Local(1)", "bytes": 10**9}
    units = {**size, "unit_bytes": 10**9, "units": 1, "cpu_seconds": 8.0}
    return {
        "date": "2026-01-02T03:04",
        "machine": MACHINE,
        "source": {"commit": "c" * 40, "dirty": False},
        "stages": [
            {**size, "stage": "read, split, count", "cpu_seconds": 6.4},
            {**size, "stage": "load", "cpu_seconds": 3.0, "pieces": 10**6},
            {**size, "stage": "read, encode, write", "cpu_seconds": 12.8},
        ],
        "growth": [
            {"text": name, "bytes": 5 * 10**8 * doubled, "pieces": 10**6 * doubled, "total": 10**8}
            for name in ("once", "mixed")
            for doubled in (1, 2)
        ],
        "runs": [
            {**units, "stage": "count units"},
            {**units, "stage": "add up", "run_bytes": 2 * 10**7, "rows": 2 * 10**6, "cpu_seconds": 1.0},
        ],
        "training": [{"vocab_size": 50_000, "pieces": 10**6, "seconds": 3.0, "cpu_seconds": 4.0}],
        "engines": [
            {**engine, "stage": "empty units", "units": 200, "seconds": 1.0, "driver_megabytes": 0.5},
            {
                **engine,
                "stage": "count",
                "units": 5,
                "seconds": 7.0,
                "cpu_seconds": 6.0,
                "peak_megabytes": 1_000,
            },
            {**engine, "stage": "shards", "seconds": 9.0, "cpu_seconds": 8.0, "peak_megabytes": 900},
        ],
        "sums": [{"seconds": 1.5, "cpu_seconds": 1.4, "peak_megabytes": 50, "pieces": 77}],
        "all_equal": True,
        "arguments": {"load_average": [1, 2, 3]},
    }


def test_the_model_multiplies_what_was_measured() -> None:
    assert report.exponent(report.of_text(result(), "once")) == 1
    lines = report.model(result(), report.Cluster(nodes=10, cores=10, read=1, unit=2, power=0.5))
    # 1 TB: 500 units; 6,400 CPU seconds on 100 cores, reading takes 100 s; 2,000 M pieces, 2 µs to load and
    # 3 µs to learn from each; runs of 4 M rows.
    assert (
        "| 1 TB, 1.00 | 500 | 2,000 M | 20 GB | 100 s | 10 s | 4,000 s | 6,000 s | 128 s | 171 min |" in lines
    )
    # 2 M pieces in 1 GB, and sqrt(1,000) times as many in 1 TB.
    assert any(line.startswith("| 1 TB, 0.50 | 500 | 63 M |") for line in lines)
    assert any("has not been measured" in line for line in lines)


def test_the_page_has_all_that_was_measured() -> None:
    arguments = {"large": 10, "vocab_size": 50_000, "load_average": [1, 2, 3]}
    large = {**result(), "arguments": arguments}
    row = {"engine": "one process", "stage": "count", "bytes": 10**10, "seconds": 99.0, "pieces": 5}
    row |= {"cpu_seconds": 190.0, "peak_megabytes": 2_345, "folder_bytes": 25 * 10**9}
    large["large"] = [{**row, "sha256": "d" * 64}]
    page = report.page_of(result(), large)
    assert "| one process | count | 99 | 190 | 2,345 | 5 distinct pieces | `dddddddd` |" in page
    assert "25.0 GB of disk" in page
    assert "are equal" in page
    assert "NOT EQUAL" in report.large_section({**large, "all_equal": False})
    assert "| Local(1) | 5.0 | 2.5 | 7.0 | 6.00 | 9.0 | 8.00 | 1,000 |" in page
    assert "| `PieceCounts.merge_files` | 1.5 | 1.4 |  | 77 |" in page
    assert "results are NOT EQUAL" in report.section({**result(), "all_equal": False})


def test_all_processes_are_measured() -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", MEASURED, WORKER],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    cpu_seconds, peak_megabytes = json.loads(done.stdout)
    assert cpu_seconds > 0.7
    assert peak_megabytes > 100


# The shell of the worker ends at once, and nobody waits for the worker but the reader of its output.
MEASURED = """
import json, subprocess, sys
from harness.process_tree import Usage, adopt_orphans
adopt_orphans()
with Usage() as usage:
    subprocess.run(["/bin/sh", "-c", '("$0" -c "$1" &) | cat', sys.executable, sys.argv[1]], check=True)
print(json.dumps([usage.cpu_seconds, usage.peak_megabytes]))
"""

# Works for a second, with 100 MB.
WORKER = """
import time
held = bytearray(b"x" * 100_000_000)
end = time.process_time() + 1
while time.process_time() < end:
    pass
"""
