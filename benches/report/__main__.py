"""Writes the generated parts of the pages, and the pictures, from the recorded results.

    python -m benches report [NAME ...]

NAME is encoding, stream, training, stages, tiers, models, adoption, sessions, playground, wasm, scale,
ledger, readme or targets; without one it writes all. The targets, which are of all results, are written every
time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from harness import adoption, models, sessions, wasm
from harness.record import read
from harness.suites import ROOT, suite
from report import (
    encoding,
    ledger,
    page,
    playground,
    ratio_chart,
    readme_chart,
    readme_page,
    scale,
    stages,
    stream,
    svg,
    target_page,
    tiers,
    training,
)

RESULTS = ROOT / "benches" / "results"
PAGES = ROOT / "docs" / "benchmarks"


def write_encoding() -> None:
    """Writes the page on encoding and its chart."""
    settings = suite("encoding")
    result, cells = encoding.read_result(ROOT / settings["result"])
    page.rewrite(ROOT / settings["page"], encoding.section(result, cells), encoding.NAME)
    svg.write(ratio_chart.charts(cells))


def write_stream() -> None:
    """Writes the section on a stream of documents."""
    settings = suite("stream")
    result, cells = stream.read_result(ROOT / settings["result"])
    page.rewrite(ROOT / settings["page"], stream.section(result, cells), stream.NAME)


def write_training() -> None:
    """Writes the page on training."""
    settings = suite("training")
    for key, name in (("result", training.NAME), ("result of sentencepiece", training.OF_MODELS)):
        result, figures = training.read_result(ROOT / settings[key])
        page.rewrite(ROOT / settings["page"], training.section(result, figures, name), name)


def write_stages() -> None:
    """Writes the page on stages."""
    page.rewrite(PAGES / "stages.md", stages.section(read(RESULTS / "stages.json")), stages.NAME)


def write_tiers() -> None:
    """Writes the section on tiers, of the page on stages."""
    results = [read(RESULTS / name) for name in ("tiers.json", "instructions.json")]
    page.rewrite(PAGES / "stages.md", tiers.section(*results), tiers.NAME)


def write_models() -> None:
    """Writes the page on models' own files."""
    settings = suite("models")
    result, cells = models.read_result(ROOT / settings["result"])
    page.rewrite(ROOT / settings["page"], models.section(result, cells), models.NAME)


def write_adoption() -> None:
    """Writes the section on accelerated tokenizers."""
    settings = suite("models")
    result, calls = adoption.read_result(ROOT / settings["adoption"]["result"])
    page.rewrite(ROOT / settings["page"], adoption.section(result, calls), adoption.NAME)


def write_sessions() -> None:
    """Writes the page on texts that grow."""
    result, figures = sessions.read_result(RESULTS / "sessions.json")
    page.rewrite(PAGES / "sessions.md", sessions.section(result, figures), sessions.NAME)


def write_playground() -> None:
    """Writes the page on the playground."""
    for file, name in playground.NAMES.items():
        result, figures = playground.read_result(RESULTS / file)
        page.rewrite(PAGES / "playground.md", playground.section(name, result, figures), name)


def write_wasm() -> None:
    """Writes the page on WebAssembly."""
    result, figures = wasm.read_result(RESULTS / "wasm.json")
    page.rewrite(PAGES / "javascript.md", wasm.section(result, figures), wasm.NAME)


def write_scale() -> None:
    """Writes the page on scale, of what is recorded."""
    results = [RESULTS / name for name in ("scale.json", "scale_large.json")]
    if all(path.exists() for path in results):
        text = scale.page_of(*map(read, results))
        (PAGES / "scale.md").write_text(text, encoding="utf-8")


def write_ledger() -> None:
    """Writes the page of the ledger."""
    page.rewrite(ledger.PAGE, ledger.section(ledger.read_rows(ledger.RESULT)), ledger.NAME)


def write_readme() -> None:
    """Writes the chart of the README, and the page on its figures."""
    svg.write(readme_chart.charts())
    page.rewrite(PAGES / "readme.md", readme_page.section(), readme_page.NAME)


WRITERS: dict[str, Callable[[], None]] = {
    "encoding": write_encoding,
    "stream": write_stream,
    "training": write_training,
    "stages": write_stages,
    "tiers": write_tiers,
    "models": write_models,
    "adoption": write_adoption,
    "sessions": write_sessions,
    "playground": write_playground,
    "wasm": write_wasm,
    "scale": write_scale,
    "ledger": write_ledger,
    "readme": write_readme,
    "targets": target_page.write,
}


def main(arguments: Sequence[str]) -> None:
    """Writes the chosen pages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*WRITERS, []], help="what to write (default: all)")
    for name in dict.fromkeys([*(parser.parse_args(arguments).names or WRITERS), "targets"]):
        WRITERS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
