"""The section on tiers of the page on stages: times of this processor, and instructions by qemu."""

from __future__ import annotations

from harness.record import Result
from report.judged import Judged, at_least
from report.page import between, commit_of, times

NAME = "tiers"
STATES = ("first", "replay")

# The share of AVX2's speed that the portable vector tier should reach.
LEAST = 0.6


def section(times: Result, counts: Result) -> str:
    """Returns the section of the page, between its marks."""
    return between(NAME, "\n".join([*time_table(times), "", *count_table(counts)]) + "\n")


Ratios = dict[tuple[str, str], dict[tuple[str, str], float]]


def ratios(result: Result) -> Ratios:
    """Returns the time of AVX2 divided by that of each tier and state, by text and encoding."""
    cells = {(cell["corpus"], cell["encoding"], cell["tier"]): cell for cell in result["cells"]}
    tiers = [tier for tier in dict.fromkeys(cell["tier"] for cell in result["cells"]) if tier != "avx2"]
    columns = [(tier, state) for tier in sorted(tiers, reverse=True) for state in STATES]
    return {
        (corpus, encoding): {
            (tier, state): cells[corpus, encoding, "avx2"][state] / cells[corpus, encoding, tier][state]
            for tier, state in columns
        }
        for corpus, encoding in dict.fromkeys((corpus, encoding) for corpus, encoding, _ in cells)
    }


def judged(result: Result) -> list[Judged]:
    """Returns the target of the portable vector tier, in its worst text."""
    found = []
    for state in STATES:
        value, where = min((of_text["simd128", state], text) for text, of_text in ratios(result).items())
        what = f"simd128, {state}, time of AVX2 / its time"
        found.append(at_least(what, value, LEAST, f"worst {times(value)} ({', '.join(where)})"))
    return found


def time_table(result: Result) -> list[str]:
    """Returns the lines on time: that of AVX2 divided by that of each tier."""
    found = ratios(result)
    columns = next(iter(found.values()))
    lines = [
        (
            f"{result['date'][:10]}, commit {commit_of(result)}, on {result['machine']['cpu']}, at a load "
            f"average of {result['load']}. Ratio = CPU time of AVX2 / that of the tier: at 1, the tier is as "
            'fast as AVX2. `make bench-tiers ARGS="--corpus DIR"` measures again.'
        ),
        "",
        "| text | encoding | " + " | ".join(f"{tier}, {state}" for tier, state in columns) + " |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for (corpus, encoding), of_text in found.items():
        shown = " | ".join(f"{value:.2f}" for value in of_text.values())
        lines.append(f"| {corpus} | {encoding} | {shown} |")
    return lines


def count_table(result: Result) -> list[str]:
    """Returns the lines on instructions for each byte."""
    cells = {(cell["corpus"], cell["architecture"], cell["tier"]): cell for cell in result["cells"]}
    columns = list(dict.fromkeys((architecture, tier) for _, architecture, tier in cells))
    lines = [
        (
            f"{result['date'][:10]}, commit {commit_of(result)}, {result['encoding']}: instructions per byte "
            f"of the first {result['bytes'] // 1_000_000} MB of each text, cold (first) and warm (replay), "
            "counted by a plugin of qemu, without start-up. **Speed is not measured on ARM hardware.** "
            '`make bench-instructions ARGS="--corpus DIR"` counts again.'
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
