"""The table of the page on the playground, from the figures of `harness.playground`."""

from __future__ import annotations

from harness.playground import Figure
from harness.record import Result
from report.page import between, provenance

NAME = "playground"


def table(figures: list[Figure]) -> str:
    """Returns a Markdown table with a line for each figure."""
    lines = ["| | measured | an empty page | budget | |", "|---|---:|---:|---:|---|"]
    for each in figures:
        judged = "met" if each.met else "**missed**"
        floor = "" if each.floor is None else f"{each.floor:,.0f} {each.unit}"
        lines.append(
            f"| {each.name} | {each.value:,.0f} {each.unit} | {floor} | {each.budget:,.0f} {each.unit} "
            f"| {judged} |"
        )
    return "\n".join(lines)


def section(result: Result) -> str:
    """Returns the section of the page, between its marks."""
    figures = [Figure(**each) for each in result["figures"]]
    load = f"The load of the machine was {result['load']} when it ended; `make bench-playground` repeats it."
    return between(NAME, f"{provenance(result)}\n{load}\n\n{table(figures)}\n")
