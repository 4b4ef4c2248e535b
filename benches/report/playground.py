"""The tables of the page on the playground, from the figures of `harness.playground`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness import record
from harness.playground import Figure
from harness.record import Result
from report.judged import Judged, at_most
from report.page import between, provenance

# The section of each result, and its command.
NAMES = {"playground.json": "playground", "static_page.json": "static-page"}


def table(figures: Sequence[Figure]) -> str:
    """Returns a Markdown table with a line for each figure."""
    lines = ["| | measured | an empty page |", "|---|---:|---:|"]
    for each in figures:
        floor = "" if each.floor is None else f"{each.floor:,.0f} {each.unit}"
        lines.append(f"| {each.name} | {each.value:,.0f} {each.unit} | {floor} |")
    return "\n".join(lines)


def read_result(path: Path) -> tuple[Result, list[Figure]]:
    """Reads a result and its figures."""
    result = record.read(path)
    return result, [Figure(**each) for each in result["figures"]]


def judged(figures: Sequence[Figure]) -> list[Judged]:
    """Returns the budgets of all figures."""
    return [
        at_most(each.name, each.value, each.budget, f"{each.value:,.0f} {each.unit}", f" {each.unit}")
        for each in figures
    ]


def section(name: str, result: Result, figures: Sequence[Figure]) -> str:
    """Returns a section of the page, between its marks."""
    load = f"The load average was {result['load']} at the end; `make bench-{name}` measures again."
    return between(name, f"{provenance(result)}\n{load}\n\n{table(figures)}\n")
