"""The report of `make bench-adoption`: the page shows what was measured, and the targets."""

from __future__ import annotations

from pathlib import Path

from harness import adoption as report
from harness.adoption import Call, documents

ROOT = Path(__file__).parents[3]


def test_the_page_shows_what_was_measured() -> None:
    result, calls = report.read_result(ROOT / "benches" / "results" / "adoption.json")
    page = (ROOT / "docs" / "benchmarks" / "models.md").read_text(encoding="utf-8")
    assert report.section(result, calls) in page, "run `make bench-adoption`"
    assert all(call.equal for call in calls)


def call(*, accelerated: bool, seconds: float) -> Call:
    return Call(
        model="Llama 3",
        accelerated=accelerated,
        bytes=4_000_000,
        cold=seconds,
        warm=seconds / 2,
        decoding=seconds,
        rounds=1,
        equal=True,
    )


def test_targets() -> None:
    calls = [call(accelerated=False, seconds=3.0), call(accelerated=True, seconds=0.25)]
    what = "Llama 3, cold, time before / after"
    assert [*map(str, report.judged(calls))] == [f"{what}: 12.0x, at least 6x: met"]
    calls[1] = call(accelerated=True, seconds=1.0)
    assert [*map(str, report.judged(calls))] == [f"{what}: 3.00x, at least 6x: missed"]
    assert report.table(calls).splitlines()[2:] == [
        "| Llama 3 | `tokenizer(texts)`, cold | 3.00 s | 1.000 s | 3.00x |",
        "|  | `tokenizer(texts)`, warm | 1.50 s | 0.500 s | 3.00x |",
        "|  | `batch_decode` | 3.00 s | 1.000 s | 3.00x |",
    ]


def test_documents(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("wörter " * 400_000, encoding="utf-8")
    parts = documents(tmp_path)
    assert len(parts) == 1000
    assert max(len(part.encode()) for part in parts) <= 4096
