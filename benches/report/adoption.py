"""The table and verdicts on accelerated tokenizers of `transformers`, from `harness.adoption`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness import record
from harness.adoption import STATES, SUITE, Call
from harness.record import Result
from report.page import between, provenance

NAME = "adoption"

METHOD = """`tokenizer(texts)["input_ids"]` of a tokenizer of transformers, on {documents:,} documents of 4 KB
in one call, before and after `bytemill.hf.accelerate`; both use all cores. Each run is a fresh process: its
first call has text that it has never seen (cold), those after it are warm. Then `batch_decode` of the ids.
Seconds are medians of the rounds. Ids and decoded texts were the same."""


def read_result(path: Path) -> tuple[Result, list[Call]]:
    """Reads a result and its calls."""
    result = record.read(path)
    return result, [Call(**call) for call in result["calls"]]


def pairs(calls: Sequence[Call]) -> list[tuple[Call, Call]]:
    """Returns the calls of each model before and after."""
    plain = {call.model: call for call in calls if not call.accelerated}
    return [(plain[call.model], call) for call in calls if call.accelerated]


def table(calls: Sequence[Call]) -> str:
    """Returns a Markdown table with a line for each model."""
    lines = ["| model | cold | warm | `batch_decode` |", "|---" * 4 + "|"]
    for before, after in pairs(calls):
        times = [(getattr(before, state), getattr(after, state)) for state in STATES]
        shown = " | ".join(f"{old:.2f} s to {new:.3f} s: {old / new:.1f}x" for old, new in times)
        same = "" if after.equal else " (**ids differ**)"
        lines.append(f"| {after.model}{same} | {shown} |")
    return "\n".join(lines)


def verdicts(calls: Sequence[Call]) -> list[str]:
    """Returns whether the target is met, a line for each model."""
    lines = []
    for before, after in pairs(calls):
        times, bound = before.cold / after.cold, SUITE["bound"]
        met = "met" if times >= bound else "**missed**"
        lines.append(f"{after.model}: cold, times the one before: {times:.1f}x: at least {bound}x {met}")
    return lines


def section(result: Result, calls: Sequence[Call]) -> str:
    """Returns the section of the page, between its marks."""
    judged = "\n".join(f"- {line}" for line in verdicts(calls))
    method = METHOD.format(documents=SUITE["documents"])
    return between(
        NAME,
        f'{provenance(result)}\n`make bench-adoption ARGS="--corpus DIR"` repeats it.\n\n{method}\n\n'
        f"{table(calls)}\n\n{judged}\n",
    )
