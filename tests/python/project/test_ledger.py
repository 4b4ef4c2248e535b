"""Tests of `make ledger` on a few kilobytes: rows are recorded, runs resume, differences are found."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bytemill.cli.comparing import ASPECTS
from programs import ledger
from programs.ledger import Opened, entries
from report import ledger as report
from report import page as pages
from support import derived_text
from support.derived_text import WAYS, Chunk, alternate_chunks, chunks_of, text_of
from support.examples import ROOT
from support.texts import patchwork

SIZE = 10_000
NAMES = ["tiktoken, cl100k_base", "flags"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "CHUNK_BYTES", SIZE)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "one.txt").write_text(patchwork(1, 8_000) + "the question is quick " * 300, encoding="utf-8")
    (folder / "two.bin").write_bytes(b"\xff<|endoftext|> unique " * 700)
    (folder / "empty").write_bytes(b"")
    return folder


Run = Callable[..., int]


@pytest.fixture
def run(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(size: str, *names: str) -> int:
        rows = ["--rows", *(names or NAMES)]
        output = ["--output", str(tmp_path / "rows")]
        monkeypatch.setattr(sys, "argv", ["ledger", str(corpus), "--size", size, *output, *rows])
        return ledger.main()

    return run


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "rows").read_text(encoding="utf-8").splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}


# --- The text -----------------------------------------------------------------------------------------------


def test_chunks(corpus: Path) -> None:
    paths = sorted(corpus.iterdir())
    whole = b"".join(path.read_bytes() for path in paths)
    number = -(-len(whole) // SIZE)
    chunks = [*islice(chunks_of(paths, SIZE), 20 * number)]
    assert [chunk.number for chunk in chunks] == [*range(20 * number)]
    assert [chunk.turn for chunk in chunks] == [turn for turn in range(20) for _ in range(number)]
    assert b"".join(derived_text.read(part) for chunk in chunks[:number] for part in chunk.parts) == whole
    texts = [text_of(chunk) for chunk in chunks]
    assert [text_of(chunk) for chunk in chunks] == texts
    assert len({*texts}) == len(texts)
    assert min(len(text) for chunk, text in zip(chunks, texts, strict=True) if chunk.size == SIZE) > 2_000


def test_readers_alternate_between_files_and_derived_text(corpus: Path) -> None:
    paths = sorted(corpus.iterdir())
    parts = [*derived_text.cut(paths, SIZE)]
    number = len(parts)
    readers = [[*islice(alternate_chunks(paths, SIZE, reader, 3), 4 * number)] for reader in range(3)]
    numbers = Counter(chunk.number for chunks in readers for chunk in chunks)
    assert {*numbers.values()} == {1}
    for chunks in readers:
        as_they_are = [chunk for chunk in chunks if chunk.turn == 0]
        assert as_they_are == chunks[: 2 * number : 2]
        assert sorted(chunk.parts for chunk in as_they_are) == sorted(parts)
    assert len({chunks[0].parts for chunks in readers}) == 3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("data", [b"", b"a", b"\xff", "\u4f60\u597d, \U0001f600".encode() * 50])
def test_every_way_takes_any_bytes(way: Callable[..., str], data: bytes) -> None:
    texts = [way(data, np.random.default_rng(seed)) for seed in range(5)]
    assert [way(data, np.random.default_rng(seed)) for seed in range(5)] == texts


# --- The rows -----------------------------------------------------------------------------------------------


def test_rows_have_names_of_their_own() -> None:
    names = Counter(entry.name for entry in entries())
    assert names.most_common(1)[0][1] == 1
    assert {*NAMES} <= {*names}
    assert all(entry.families for entry in entries())


def test_a_run_goes_on_where_it_was(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("30kB") == 0
    first = rows_of(tmp_path)
    assert [*first] == NAMES
    for row in first.values():
        assert row["chunks"] == 2
        assert row["bytes"] >= 15_000
        assert 0 < row["bytes_derived"] < row["bytes"]
        assert row["documents"] > 2
        for aspect in ASPECTS:
            assert row[aspect]["compared"] > 0
            assert row[aspect]["differences"] == 0
        assert row["found"] == []
    assert [row["file"] for row in first.values()] == ["real", "stand-in"]
    assert [row["kind"] for row in first.values()] == ["BPE by rank", "BPE by list"]
    assert run("30kB") == 0
    assert rows_of(tmp_path) == first
    assert run("90kB") == 0
    second = rows_of(tmp_path)
    for name, row in second.items():
        assert row["chunks"] > first[name]["chunks"]
        for key in ("bytes", "bytes_derived", "documents"):
            assert row[key] > first[name][key]
        assert row["token_ids"]["compared"] > first[name]["token_ids"]["compared"]
    assert "0 differences" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("changed", ["encoders", "corpus", "oracle", "files"])
def test_a_row_of_something_else_begins_anew(run: Run, tmp_path: Path, changed: str) -> None:
    assert run("30kB") == 0
    rows = rows_of(tmp_path)
    altered = [{**row, changed: "another"} for row in rows.values()]
    (tmp_path / "rows").write_text("".join(json.dumps(row) + "\n" for row in altered), encoding="utf-8")
    assert run("45kB", "flags") == 0
    again = rows_of(tmp_path)
    assert again["flags"][changed] == rows["flags"][changed]
    assert again[NAMES[0]][changed] == "another"
    # From the beginning, the sums are those of one run.
    (tmp_path / "rows").unlink()
    assert run("45kB", "flags") == 0
    ignored = {"date", "seconds"}
    once, anew = (
        {key: value for key, value in row.items() if key not in ignored}
        for row in (rows_of(tmp_path)["flags"], again["flags"])
    )
    assert once == anew


def test_an_interrupted_run_records_what_it_has_done(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0

    def interrupted(chunk: Chunk) -> str:
        nonlocal read
        read += 1
        if read == 3:
            raise KeyboardInterrupt
        return text_of(chunk)

    assert run("50kB", "flags") == 0
    whole = rows_of(tmp_path)["flags"]
    (tmp_path / "rows").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(ledger, "text_of", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run("50kB", "flags")
    assert rows_of(tmp_path)["flags"]["chunks"] == 2
    assert run("50kB", "flags") == 0
    found = rows_of(tmp_path)["flags"]
    for key in ("chunks", "bytes", "bytes_derived", "documents", *ASPECTS):
        assert found[key] == whole[key]


def test_a_difference_is_recorded_with_a_short_text(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other library takes another last token where a text has two letters."""

    def spoilt(opened: Opened) -> Opened:
        spans = opened.other.spans
        assert spans is not None

        def other_spans(text: str) -> Any:
            found = spans(text)
            return found._replace(ids=[*found.ids[:-1], 7]) if "qu" in text else found

        return opened._replace(other=opened.other._replace(spans=other_spans))

    def altered(entry: ledger.Entry) -> ledger.Entry:
        return entry._replace(open=lambda place: spoilt(entry.open(place)))

    whole = [altered(entry) if entry.name == "flags" else entry for entry in entries()]
    monkeypatch.setattr(ledger, "entries", lambda: whole)
    assert run("30kB") == 1
    rows = rows_of(tmp_path)
    assert rows[NAMES[0]]["found"] == []
    row = rows["flags"]
    assert row["token_ids"]["differences"] > 0
    found = {each["aspect"]: each for each in row["found"]}
    assert found["token_ids"]["text"] == "qu"
    assert found["token_ids"]["theirs"] == [*found["token_ids"]["ours"][:-1], 7]
    assert {"token_ids", "offsets", "sessions"} <= {*found}
    assert json.dumps(found["token_ids"]) in capsys.readouterr().out
    # It stays what it was found to be.
    assert run("30kB") == 1


@pytest.mark.parametrize("size", ["", "10", "GB", "1.5GB", "-1GB", "10gb"])
def test_other_sizes_are_refused(run: Run, size: str) -> None:
    with pytest.raises(SystemExit) as caught:
        run(size)
    assert caught.value.code == 2


def test_it_wants_text(run: Run, corpus: Path) -> None:
    for path in corpus.iterdir():
        path.unlink()
    with pytest.raises(SystemExit) as caught:
        run("10kB")
    assert caught.value.code == 2


# --- The page -----------------------------------------------------------------------------------------------


def test_the_page_shows_the_rows() -> None:
    rows = report.read_rows(report.RESULT)
    page = report.PAGE.read_text(encoding="utf-8")
    assert pages.with_section(page, report.section(rows), report.NAME) == page, "run `make bench-report`"
    assert sorted(row["name"] for row in rows) == sorted(entry.name for entry in entries())
    assert (ROOT / "docs" / "ledger.md") == report.PAGE


def test_a_row_on_the_page() -> None:
    tally = {"compared": 1_234_567, "differences": 0}
    row: dict[str, Any] = {
        "name": "some",
        "families": "Some 1, 2",
        "kind": "WordPiece",
        "files": {"tokenizer.json": "0123456789abcdef"},
        "file": "stand-in",
        "oracle": "tokenizers 1.0",
        "encoders": "00112233",
        "commit": "fedcba9876543210",
        "dirty": False,
        "date": "2026-01-02T03:04:05+00:00",
        "bytes": 2_345_678,
        "bytes_derived": 1_000_000,
        "documents": 99,
        "seconds": 3.0,
        "token_ids": tally,
        "offsets": None,
        "decoded_text": tally,
        "streams": {"compared": 5_000, "differences": 3},
        "sessions": tally,
        "found": [{"aspect": "streams", "text": "a|b", "ours": "a", "theirs": "b"}],
    }
    lines = [*report.lines([row])]
    assert "## tokenizers 1.0: WordPiece" in lines
    assert (
        "| some | Some 1, 2 | stand-in 01234567 | 2.3 | 99 | 1,234,567 | none | 1,234,567 | "
        "**5,000: 3 differ** | 1,234,567 |" in lines
    )
    assert any("**3 differences**" in line for line in lines)
    assert lines[2] == (
        "Compared in all rows: token IDs 1,234,567; offsets 0; decoded text 1,234,567; streams 5,000; "
        "sessions 1,234,567."
    )
    assert any(r"`'a\x7cb'`" in line for line in lines)
