"""The reports of `make bench-compare` and `make bench-stages`: digests, ratios, targets, pages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from harness import capacity
from harness import stages as profile
from harness.encoding import MEASURE, SAMPLES
from harness.engines import LOADERS, Call
from harness.measure import IDS_DIFFER, Case, Contender, Limits, digest, measure
from harness.playground import Figure
from harness.record import Cell
from harness.suites import suite
from report import encoding as report
from report import page as pages
from report import playground, stages, target_page
from report.targets import TARGETS, TITLES, Target, judge, judge_all

ROOT = Path(__file__).parents[3]
RESULT = ROOT / "benches" / "results" / "compare.json"

CASE = Case(row="3", corpus="english", encoding="cl100k_base", state="replay", size=100)
AT_LEAST_TWO = Target(row="3", against="tiktoken", bound=2)


def cell(engine: str, median: float | None, **fields: object) -> Cell:
    values = {
        "row": "3",
        "corpus": "english",
        "encoding": "cl100k_base",
        "engine": engine,
        "contender": engine,
        "call": "encode_ordinary",
        "form": "list",
        "state": "replay",
        "threads": 1,
        "bytes": 1_000_000,
        "calls": 1,
        "median": median,
    }
    return Cell(**(values | fields))  # type: ignore[arg-type]


def corpora(**ratios: float) -> list[Cell]:
    return [
        each
        for corpus, ratio in ratios.items()
        for each in (cell("bytemill", 1.0, corpus=corpus), cell("tiktoken", ratio, corpus=corpus))
    ]


def test_the_page_on_encoding_shows_what_was_measured() -> None:
    result, cells = report.read_result(RESULT)
    page = (ROOT / "docs" / "benchmarks" / "encoding.md").read_text(encoding="utf-8")
    assert report.section(result, cells) in page, "run `make bench-report`"
    assert pages.with_section(page, report.section(result, cells), report.NAME) == page


def test_the_page_on_stages_shows_what_was_measured() -> None:
    result = json.loads((ROOT / "benches" / "results" / "stages.json").read_bytes())
    page = (ROOT / "docs" / "benchmarks" / "stages.md").read_text(encoding="utf-8")
    assert pages.with_section(page, stages.section(result), stages.NAME) == page, "run `make bench-stages`"
    for cell in result["cells"]:
        assert sum(cell["stages"].values()) == pytest.approx(1, abs=0.01)


def test_the_page_on_the_playground_shows_what_was_measured() -> None:
    page = (ROOT / "docs" / "benchmarks" / "playground.md").read_text(encoding="utf-8")
    least = {"playground": 20, "static-page": 10}
    for file, name in playground.NAMES.items():
        result, figures = playground.read_result(ROOT / "benches" / "results" / file)
        section = playground.section(name, result, figures)
        assert pages.with_section(page, section, name) == page, f"run `make bench-{name}`"
        assert len(figures) > least[name]
    late = [Figure("a", 3.0, 2, "ms", 1.0), Figure("b", 2.0, 2, "ms")]
    assert playground.table(late).splitlines()[2:] == ["| a | 3 ms | 1 ms |", "| b | 2 ms |  |"]
    assert [*map(str, playground.judged(late))] == [
        "a: 3 ms, at most 2 ms: missed",
        "b: 2 ms, at most 2 ms: met",
    ]


def test_the_page_of_targets_shows_what_was_measured() -> None:
    written = target_page.page()
    assert target_page.PATH.read_text(encoding="utf-8") == written, "run `make bench-report`"
    suites = list(target_page.suites())
    assert all(each.judged for each in suites)
    assert written.count("\n## ") == len({each.title for each in suites}) == len(suites)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "benchmarks").glob("*.md")), ids=lambda path: path.name
)
def test_pages_of_benchmarks_compare_and_do_not_judge(path: Path) -> None:
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    words = {word.strip("* ") for row in rows for word in row.split("|")}
    assert len(rows) > 8
    assert not words & {"met", "missed", "target", "budget"}


def test_a_ratio_is_shown_whether_it_has_a_target_or_not() -> None:
    cells = [*corpora(a=2.0, b=3.0, c=4.0), cell("gigatoken", 0.5, corpus="a")]
    title = TITLES["3"]
    assert f"| {title} | 1.0 MB/s | 0.3 MB/s | 2.0 MB/s | - | 3.00x (2.00x) | 0.50x (0.50x) |" in (
        report.comparison(cells)
    )
    assert f"- {title}: gigatoken in 1 of 1, by up to 2.00x." in report.unfavourable(cells)


def test_calls_of_this_library_are_compared_with_each_other() -> None:
    cells = [
        cell("bytemill", 1.0, row="8"),
        cell("bytemill", 1.5, row="8", contender="bytemill, 1 thread"),
    ]
    expected = f"| {TITLES['8']} | 1 thread | 1.50x | 1.50x, english, cl100k_base |"
    assert report.with_itself(cells).splitlines()[2:] == [expected]
    judged = next(each for each in report.judged(cells) if each.what.startswith(TITLES["8"]))
    assert str(judged) == (
        f"{TITLES['8']}, compared with bytemill, 1 thread: 1.50x, worst 1.50x (english, cl100k_base), "
        "at least 1.8x: missed"
    )


def test_available_parallelism_is_reported() -> None:
    assert 0 < capacity.parallelism(1) < 100
    summary = capacity.summary([1.9, 1.24, 1.504])
    assert summary == {"least": 1.24, "median": 1.5, "most": 1.9, "samples": 3}
    assert "by two independent processes: 1.50x (range 1.24x to 1.90x)" in capacity.sentence(summary)
    assert (capacity.summary([]), capacity.sentence({})) == ({}, "")


def test_functions_belong_to_stages() -> None:
    core = "_core.so: [.] bytemill::"
    assert profile.stage(core + "split::avx2::split_into") == "split"
    compiled = core + "cache::simd::compiled::<impl bytemill::cache::simd::Compiled for …::Avx2>"
    assert profile.stage(compiled + "::probe_short_keys") == "look up"
    assert profile.stage(compiled + "::hash_block") == "split"
    assert profile.stage(core + "cache::avx512::hash_block") == "split"
    assert profile.stage(core + "encode::hot_loop::compiled::by_avx512") == "split"
    assert profile.stage(core + "encode::hot_loop::EncodeSink<H,P>::flush") == "look up"
    assert profile.stage(core + "merge::avx2::merge") == "merge"
    assert profile.stage(core + "python::ids::interned::InternedIds::list") == "Python"
    assert profile.stage("[kernel.kallsyms]: [k] clear_page_erms") == "memory"
    assert profile.stage("libz.so: [.] deflate") == "other"
    parts = profile.shares({core + "merge::merge": 3, "libpython3.11.so: [.] list_dealloc": 1})
    assert (parts["merge"], parts["Python"], parts["split"]) == (0.75, 0.25, 0)


def test_the_recorded_verdicts_follow_from_the_recorded_figures() -> None:
    result, cells = report.read_result(RESULT)
    recorded = [(each["row"], each.get("against"), each.get("met")) for each in result["verdicts"]]
    assert recorded == [(each.row, each.against, each.met) for each in judge_all(cells)]


def test_every_target_is_about_a_row_and_has_one_verdict() -> None:
    assert all(target.row in TITLES for target in TARGETS)
    assert len({(target.row, target.against) for target in TARGETS}) == len(TARGETS)


@pytest.mark.parametrize(
    ("ratios", "value", "worst", "met"),
    [
        ({"a": 2.0, "b": 2.5, "c": 3.0}, 2.5, 2.0, True),
        ({"a": 1.4, "b": 2.5, "c": 3.0}, 2.5, 1.4, True),
        ({"a": 1.3, "b": 2.5, "c": 3.0}, 2.5, 1.3, False),
        ({"a": 1.9, "b": 1.9, "c": 9.0}, 1.9, 1.9, False),
    ],
)
def test_a_ratio_is_the_median_and_no_corpus_may_be_far_below(
    ratios: dict[str, float], value: float, worst: float, *, met: bool
) -> None:
    verdict = judge(AT_LEAST_TWO, corpora(**ratios))
    assert (verdict.value, verdict.worst, verdict.met, verdict.unit) == (value, worst, met, "x")


def test_the_least_favourable_encoding_decides() -> None:
    other = [cell("bytemill", 1.0, encoding="o200k_base"), cell("tiktoken", 1.5, encoding="o200k_base")]
    verdict = judge(AT_LEAST_TWO, [*corpora(a=3.0), *other])
    assert (verdict.value, verdict.where, verdict.met) == (1.5, "english, o200k_base", False)


def test_figures_of_our_own_are_for_one_call_and_the_greatest_counts() -> None:
    target = Target(row="4 call", bound=1e-6, at_most=True)
    cells = [
        cell("bytemill", 0.5, row="4 call", calls=1_000_000),
        cell("bytemill", 2.0, row="4 call", calls=1_000_000, corpus="other"),
    ]
    assert judge(target, cells[:1]).met is True
    verdict = judge(target, cells)
    assert (verdict.worst, verdict.met, verdict.unit) == (2e-6, False, "s")


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    assert judge(AT_LEAST_TWO, []).met is None
    assert judge(AT_LEAST_TWO, [cell("bytemill", None), cell("tiktoken", 1.0)]).met is None


def test_answers_are_equal_in_whatever_form() -> None:
    lists = [[1, 2], [], [3]]
    ragged = (np.array([1, 2, 3], dtype=np.uint32), np.array([0, 2, 2, 3]))
    assert digest(lists) == digest(ragged) == digest([np.array(ids, dtype=np.uint32) for ids in lists])
    assert digest([1, 2, 3]) == digest(np.array([1, 2, 3], dtype=np.uint32))
    assert digest("é") == digest("é".encode())
    answers = [lists, [1, 2, 3], [[1, 2, 3]], [1, 2], 3, "3", ["3"], ["", "3"]]
    # One text in a batch of one is the same as one text.
    assert len({digest(answer) for answer in answers}) == len(answers) - 1


def test_wrong_ids_and_failures_have_no_time() -> None:
    def fail() -> object:
        message = "no such text"
        raise ValueError(message)

    works = {"right": lambda: [1, 2], "wrong": lambda: [2, 1], "failing": fail}
    contenders = [
        Contender(engine=name, call=Call("encode", "list", work), work=work) for name, work in works.items()
    ]
    right, wrong, failing = measure(CASE, contenders, digest([1, 2]), Limits(rounds=3, seconds=60))
    assert (right.ids_equal, right.rounds, right.error) == (True, 3, None)
    assert right.median is not None
    assert (wrong.ids_equal, wrong.median, wrong.error) == (False, None, IDS_DIFFER)
    assert (failing.ids_equal, failing.median, failing.error) == (None, None, "ValueError: no such text")


def test_the_marks_must_be_in_the_page() -> None:
    begin, end = pages.marks("performance")
    assert pages.with_section(f"a\n{begin}old{end}b\n", "new\n", "performance") == "a\nnew\nb\n"
    with pytest.raises(ValueError, match="expected '<!-- performance: begin"):
        pages.with_section("a\n", "new\n", "performance")


def test_a_number_stays_beside_its_unit_in_tables() -> None:
    table = "| 4 KB documents | 1095 MB/s | 0.84 s | 2 sets |\n"
    expected = "| 4\u00a0KB documents | 1095\u00a0MB/s | 0.84\u00a0s | 2 sets |\n"
    assert pages.unbroken("4 KB\n" + table) == "4 KB\n" + expected


def test_the_suites_name_what_the_harness_has() -> None:
    rows = [row for row in suite("encoding")["rows"] if "measure" in row]
    ways = {way for engine in suite("engines").values() for way in engine}
    assert {row["measure"] for row in rows} <= MEASURE.keys()
    assert {row["input"] for row in rows if "input" in row} <= SAMPLES.keys()
    assert {each["way"] for row in rows for each in [row, *row.get("beside", ())] if "way" in each} <= ways
    assert suite("engines").keys() == LOADERS.keys()
