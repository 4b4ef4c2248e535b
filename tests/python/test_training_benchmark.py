"""`make bench-training` on a small text: what it compares and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import compare_training
from trainers import DOCUMENT_CHARACTERS, documents


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
    monkeypatch.setattr(compare_training, "SLICE_CHARACTERS", 5_000)
    monkeypatch.setattr(compare_training, "SLICE_VOCABULARY", 270)
    corpus, result = tmp_path / "corpus", tmp_path / "result.json"
    corpus.mkdir()
    (corpus / "text.txt").write_bytes(Path(__file__).read_bytes() * 20)
    arguments = ["--corpus", str(corpus), "--large", str(corpus / "text.txt"), "--trainers", "reference"]
    jobs = ["--jobs", "large,counting,definition", "--rounds", "1", "--output", str(result)]
    assert compare_training.main([*arguments, *jobs]) == 0
    written = json.loads(result.read_text(encoding="utf-8"))
    assert str(tmp_path) not in result.read_text(encoding="utf-8")
    figures = written["figures"]
    assert [figure["job"] for figure in figures] == ["large"] * 3 + ["counting"] * 4 + ["definition"] * 2
    assert all(figure["seconds"] > 0 and figure["peak_megabytes"] > 1 for figure in figures)
    reference = figures[-1]
    assert (reference["contender"], reference["equal"], reference["tokens"]) == ("reference", True, 270)
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 2 + len(figures)
    assert len({line.count("|") for line in table}) == 1


def test_a_trainer_that_fails_has_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_training, "WORKER", tmp_path / "no worker")
    options = compare_training.parse_arguments(["--rounds", "2"])
    monkeypatch.setattr(options, "corpus", tmp_path)
    (tmp_path / "text.txt").write_text("text", encoding="utf-8")
    folder = tmp_path / "work"
    folder.mkdir()
    figures = list(compare_training.Comparison(options, folder).definition())
    assert [figure.seconds for figure in figures] == [None, None]
    assert all("can't open file" in (figure.error or "") for figure in figures)
    assert len(compare_training.table(figures).splitlines()) == 4
