"""`make bench-training` on a small text: comparison, result and report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import compare, processes
from harness.record import Figure
from harness.suites import suite
from harness.trainers import DOCUMENT_CHARACTERS, documents
from harness.training import Comparison
from report import training as report


def test_documents(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    text = "a line of text\r\n" * 3_000 + "the last"
    path.write_bytes(text.encode())
    parts = list(documents(path))
    assert "".join(parts) == text
    assert len(parts) == 4
    assert all(abs(len(part) - DOCUMENT_CHARACTERS) < 20 for part in parts[:2])
    path.write_text("x" * 40_000 + "\n" + "y", encoding="utf-8")
    assert [len(part) for part in documents(path)] == [40_001, 1]


def test_a_small_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(suite("training"), "slice_characters", 5_000)
    jobs = {job["key"]: job for job in suite("training")["jobs"]}
    monkeypatch.setitem(jobs["definition"], "vocab_size", 270)
    # Each time is a few processes.
    monkeypatch.setitem(jobs["counting"], "times", 1)
    corpus, result = tmp_path / "corpus", tmp_path / "result.json"
    corpus.mkdir()
    (corpus / "text.txt").write_bytes(Path(__file__).read_bytes() * 20)
    arguments = [
        "training",
        "--corpus",
        str(corpus),
        "--large",
        str(corpus / "text.txt"),
        "--trainers",
        "reference",
    ]
    arguments += ["--jobs", "large,counting,definition", "--rounds", "1", "--output", str(result)]
    assert compare.main(arguments) == 0
    written = json.loads(result.read_text(encoding="utf-8"))
    assert str(tmp_path) not in result.read_text(encoding="utf-8")
    figures = written["figures"]
    assert [figure["job"] for figure in figures] == ["large"] * 4 + ["counting"] * 6 + ["definition"] * 2
    counted = [(each["contender"], each["threads"]) for each in figures if each["job"] == "counting"]
    assert counted == [("bytemill", 1), ("bytemill", 2), ("bytemill, 2 processes", 2)] * 2
    assert all(figure["seconds"] > 0 and figure["peak_megabytes"] > 1 for figure in figures)
    reference = figures[-1]
    assert (reference["contender"], reference["equal"], reference["tokens"]) == ("reference", True, 270)
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(table) == 3 * 2 + len(figures)


def test_a_trainer_that_fails_has_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORKER", "no_worker")
    options = compare.parse_arguments(["training", "--rounds", "2"])
    monkeypatch.setattr(options, "corpus", tmp_path)
    (tmp_path / "text.txt").write_text("text", encoding="utf-8")
    folder = tmp_path / "work"
    folder.mkdir()
    figures = list(Comparison(options, folder).measure("definition"))
    assert [figure.seconds for figure in figures] == [None, None]
    assert all("No module named no_worker" in (figure.error or "") for figure in figures)
    assert "No module named no_worker" in report.table(figures)
    assert report.judged(figures) == []


ROOT = Path(__file__).parents[3]


def test_the_page_on_training_shows_what_was_measured() -> None:
    result, figures = report.read_result(ROOT / "benches" / "results" / "training.json")
    page = (ROOT / "docs" / "benchmarks" / "training.md").read_text(encoding="utf-8")
    assert report.section(result, figures) in page, "run `make bench-training`"


def figure(job: str, contender: str, **fields: object) -> Figure:
    values = {"corpus": "english", "pattern": "cl100k", "bytes": 10**7, "threads": 1, "peak_megabytes": 100.0}
    return Figure(job=job, contender=contender, **(values | fields))  # type: ignore[arg-type]


def test_targets() -> None:
    figures = [
        figure("together", "bytemill, cl100k, smallest_pair", seconds=1.0, peak_megabytes=60.0),
        figure("together", "rustbpe", seconds=11.0, ratio=11.0, equal=True),
        figure("together", "tokenizers", seconds=9.0, ratio=9.0, equal=False),
        figure("small", "tokenizers", seconds=20.0, ratio=20.0, equal=True),
        figure("counting", "bytemill", seconds=0.04),
        figure("counting", "bytemill", seconds=0.02, threads=2),
        figure("counting", "bytemill, 2 processes", seconds=0.025, threads=2),
        figure("merging", "bytemill", seconds=2.0, tokens=100_000),
    ]
    together = "All texts together, 100,000 tokens"
    assert [*map(str, report.judged(figures))] == [
        f"{together}: time compared with the fastest, rustbpe: 11.0x, at least 10x: met",
        f"{together}: peak memory compared with the leanest, rustbpe: 1.67x, at least 2x: missed",
        "One text, 32,000 tokens: time compared with tokenizers: 20.0x, at least 25x: missed",
        "Counting alone: english, cl100k, one thread: 250 MB/s, at least 250 MB/s: met",
        (
            "Counting alone: english, cl100k, two threads compared with one: 2.00x; "
            "two processes with half of the text each: 1.60x, at least 1.8x: met"
        ),
        (
            "Merging alone, 100,000 tokens: english, one thread: 50,000 merges/s, "
            "at least 60,000 merges/s: missed"
        ),
    ]
