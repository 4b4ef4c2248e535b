"""The table of the page on stages, from the cells of `harness.stages`."""

from __future__ import annotations

from harness.record import Result
from harness.stages import STAGES
from report.page import between, commit_of

NAME = "stages"


def section(result: Result) -> str:
    """Returns the section of the page, between its marks."""
    names = [*STAGES, "other"]
    lines = [
        (
            f"{result['date'][:10]}, commit {commit_of(result)}, {result['encoding']}, one thread, "
            f"on {result['machine']['cpu']}."
        ),
        '`make bench-stages ARGS="--corpus DIR"` measures again.',
        "",
        f"| | text | MB/s | {' | '.join(names)} |",
        "|---" * (len(names) + 3) + "|",
    ]
    for cell in result["cells"]:
        parts = " | ".join(f"{cell['stages'][name]:.0%}" for name in names)
        lines.append(f"| {cell['row']} | {cell['corpus']} | {cell['speed']:.0f} | {parts} |")
    return between(NAME, "\n".join(lines) + "\n")
