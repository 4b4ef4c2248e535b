"""The stream of `make bench-stream`: its documents, the comparison of ids, the section of the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import stream as streams
from harness.engines import LOADERS
from harness.stream_documents import LEAST_BYTES, stream, text_of_page
from harness.suites import CANDIDATE
from report import page as pages
from report import stream as report

ROOT = Path(__file__).parents[3]
PAGE = "<html><head>no</head><body><p>one &amp; two</p>\n\n \n<p>three<!-- no --></p></body></html>"


def cell(engine: str, threads: int, speed: float, megabytes: float) -> streams.StreamCell:
    return streams.StreamCell(
        engine=engine,
        threads=threads,
        bytes=10**6,
        speed=speed,
        megabytes=megabytes,
        rounds=1,
        ids_equal=True,
    )


def test_the_text_of_a_page_is_what_a_reader_sees() -> None:
    assert text_of_page(PAGE) == "one & two\n\nthree"


def test_documents_differ_and_folders_take_turns(tmp_path: Path) -> None:
    for folder, letter in (("a", "x"), ("b", "y")):
        (tmp_path / folder).mkdir()
        for number in range(8):
            # Two files with the same text, and one that is too short.
            text = letter * (LEAST_BYTES + number // 2) if number < 7 else letter
            (tmp_path / folder / f"{number}.txt").write_text(text, encoding="utf-8")
    folders = [tmp_path / "a", tmp_path / "b"]
    documents = list(stream(folders, 10**6))
    assert documents == list(stream(folders, 10**6))
    assert len(set(documents)) == len(documents) == 8
    assert {document[0] for document in documents[:2]} == {"x", "y"}
    assert sum(map(len, stream(folders, 2 * LEAST_BYTES))) < 3 * LEAST_BYTES + 8


def test_batches_end_with_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(streams.SUITE, "batch", 2)
    path = tmp_path / "stream.jsonl"
    path.write_text("".join(json.dumps(letter) + "\n" for letter in "abcde"), encoding="utf-8")
    assert list(streams.batches(path, None)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(streams.batches(path, 9)) == [["a", "b"], ["c"]]


def test_ids_agree_as_far_as_both_engines_came() -> None:
    assert streams.agrees(["1", "2", "3"], ["1", "2", "3"])
    assert not streams.agrees(["1", "2", "3"], ["1", "2", "4"])
    # The second batch of the shorter run is not whole.
    assert streams.agrees(["1", "x"], ["1", "2", "3"])
    assert not streams.agrees(["0", "2"], ["1", "2", "3"])
    assert not streams.agrees(["1"], ["1", "2"])


def test_targets_are_judged() -> None:
    cells = [
        cell("bytemill", 1, 300, 100),
        cell("gigatoken", 1, 150, 200),
        cell("tokenizers rc", 1, 120, 900),
    ]
    assert [*map(str, report.judged(cells))] == [
        "speed on 1 thread, compared with gigatoken: 2.00x, at least 2.0x: met",
        "speed on 1 thread, compared with tokenizers rc: 2.50x, at least 3.0x: missed",
        "memory on 1 thread, compared with gigatoken: 2.00x, at least 3.0x: missed",
    ]
    failed = streams.StreamCell(engine="tiktoken", threads=1, ids_equal=False, error="ids differ")
    assert "ids differ" in report.table([*cells, failed])


def test_the_suite_names_what_the_harness_has() -> None:
    engines = set(streams.SUITE["engines"])
    assert engines - {CANDIDATE} <= LOADERS.keys()
    assert {target["against"] for target in streams.SUITE["targets"]} <= engines


def test_the_page_shows_what_was_measured() -> None:
    result, cells = report.read_result(ROOT / streams.SUITE["result"])
    page = (ROOT / streams.SUITE["page"]).read_text(encoding="utf-8")
    assert pages.with_section(page, report.section(result, cells), report.NAME) == page, (
        "run `make bench-report`"
    )
