"""The section on tiers of the page on stages: times of this processor, and instructions by qemu."""

from __future__ import annotations

from harness.record import Result
from report.page import between, commit_of

NAME = "tiers"
STATES = ("first", "replay")


def section(times: Result, counts: Result) -> str:
    """Returns the section of the page, between its marks."""
    return between(NAME, "\n".join([*time_table(times), "", *count_table(counts)]) + "\n")


def time_table(result: Result) -> list[str]:
    """Returns the lines on time: that of AVX2 divided by that of each tier."""
    cells = {(cell["corpus"], cell["encoding"], cell["tier"]): cell for cell in result["cells"]}
    tiers = [tier for tier in dict.fromkeys(cell["tier"] for cell in result["cells"]) if tier != "avx2"]
    columns = [(tier, state) for tier in sorted(tiers, reverse=True) for state in STATES]
    lines = [
        (
            f"{result['date'][:10]}, commit {commit_of(result)}, on {result['machine']['cpu']}, at a load of "
            f"{result['load']}: the processor time of AVX2 divided by that of the tier, so that 1 is as "
            'fast. The target of `simd128` is 0.6. `make bench-tiers ARGS="--corpus DIR"` repeats it.'
        ),
        "",
        "| text | encoding | " + " | ".join(f"{tier}, {state}" for tier, state in columns) + " |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for corpus, encoding in dict.fromkeys((corpus, encoding) for corpus, encoding, _ in cells):
        fast = cells[corpus, encoding, "avx2"]
        ratios = [f"{fast[state] / cells[corpus, encoding, tier][state]:.2f}" for tier, state in columns]
        lines.append(f"| {corpus} | {encoding} | {' | '.join(ratios)} |")
    return lines


def count_table(result: Result) -> list[str]:
    """Returns the lines on instructions for each byte."""
    cells = {(cell["corpus"], cell["architecture"], cell["tier"]): cell for cell in result["cells"]}
    columns = list(dict.fromkeys((architecture, tier) for _, architecture, tier in cells))
    lines = [
        (
            f"{result['date'][:10]}, commit {commit_of(result)}, {result['encoding']}: instructions for "
            f"each byte of the first {result['bytes'] // 1_000_000} MB of a text, a first pass and a replay, "
            "counted by a plugin of qemu, with start-up subtracted. **Speed is not measured on ARM "
            'hardware.** `make bench-instructions ARGS="--corpus DIR"` repeats it.'
        ),
        "",
        "| text | " + " | ".join(f"{architecture}, {tier}" for architecture, tier in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for corpus in dict.fromkeys(corpus for corpus, _, _ in cells):
        for state in STATES:
            counts = [f"{cells[(corpus, *column)][state]:.1f}" for column in columns]
            lines.append(f"| {corpus}, {state} | {' | '.join(counts)} |")
    return lines
