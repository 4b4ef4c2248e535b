"""The page of all targets, with what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import adoption, models, record, sessions, wasm
from harness.suites import ROOT, suite
from report import encoding, families, playground, stream, tiers, training
from report.judged import Judged, table
from report.page import commit_of, unbroken

PATH = ROOT / "docs" / "internals" / "targets.md"
RESULTS = ROOT / "benches" / "results"

START = """\
# Speed targets

The project sets itself a target for most figures that it measures. Targets guide what is optimised next:
they are not promises to users, and some may be out of reach. They are written in `benches/suites/*.toml`,
and [the benchmarks](../benchmarks/encoding.md) show how bytemill compares with other engines.
`python -m benches report` writes this page from the recorded results; `python -m benches NAME` measures a
part again.
"""

OF_ENCODING = """Of a ratio, each encoding's median over the texts must reach the target, and every single
text {share:.0%} of it; for long pieces every text must reach it in full. Of bytemill's own figures, the
worst counts."""

OF_PLAYGROUND = """These are budgets of the page. A frame takes 16.7 ms, and the second frame after a key
comes after up to 33 ms on any page, so 32 ms for a text of 1 KB are out of reach."""


@dataclass(frozen=True)
class Suite:
    """The targets of a suite: a heading, how they are judged, the command that measures, the result."""

    title: str
    note: str
    command: str
    result: record.Result
    judged: Sequence[Judged]

    def section(self) -> str:
        """Returns the section of the page."""
        source = (
            f"{self.result['date'][:10]}, commit {commit_of(self.result)}, on {self.result['machine']['cpu']}"
        )
        note = f"{self.note}\n\n" if self.note else ""
        return f"## {self.title}\n\n{note}`make {self.command}`: {source}.\n\n{table(self.judged)}\n"


def suites() -> Iterator[Suite]:
    """Yields all suites that have targets."""
    settings = suite("encoding")
    result, cells = encoding.read_result(ROOT / settings["result"])
    note = OF_ENCODING.format(share=settings["floor"])
    yield Suite("Encoding", note, "bench-compare", result, encoding.judged(cells))
    result, of_stream = stream.read_result(ROOT / suite("stream")["result"])
    yield Suite("A stream of different documents", "", "bench-stream", result, stream.judged(of_stream))
    result, of_models = models.read_result(ROOT / suite("models")["result"])
    yield Suite("Models' own files", "", "bench-models", result, models.judged(of_models))
    result, of_families = models.read_result(families.RESULT)
    yield Suite("The general engine", "", "bench-families", result, families.judged(of_families))
    result, calls = adoption.read_result(ROOT / suite("models")["adoption"]["result"])
    yield Suite("Accelerated tokenizers", "", "bench-adoption", result, adoption.judged(calls))
    result, of_texts = sessions.read_result(RESULTS / "sessions.json")
    yield Suite("Texts that grow", "", "bench-sessions", result, sessions.judged(of_texts))
    for title, key, command in (
        ("Training", "result", "bench-training"),
        ("Training of SentencePiece models", "result of sentencepiece", "bench-training-models"),
    ):
        result, figures = training.read_result(ROOT / suite("training")[key])
        yield Suite(title, "", command, result, training.judged(figures))
    result = record.read(RESULTS / "tiers.json")
    yield Suite("Tiers", "", "bench-tiers", result, tiers.judged(result))
    result, of_wasm = wasm.read_result(RESULTS / "wasm.json")
    yield Suite("JavaScript", "", "bench-wasm", result, wasm.judged(of_wasm))
    result, of_page = playground.read_result(RESULTS / "playground.json")
    yield Suite("Playground", OF_PLAYGROUND, "bench-playground", result, playground.judged(of_page))
    result, of_static = playground.read_result(RESULTS / "static_page.json")
    yield Suite("Static page", OF_PLAYGROUND, "bench-static-page", result, playground.judged(of_static))


def page() -> str:
    """Returns the page."""
    return unbroken("\n".join([START, *(each.section() for each in suites())]))


def write() -> None:
    """Writes the page."""
    PATH.write_text(page(), encoding="utf-8")
