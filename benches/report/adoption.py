"""The table and targets on accelerated tokenizers of `transformers`, from `harness.adoption`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness import record
from harness.adoption import STATES, SUITE, Call
from harness.record import Result
from report.judged import Judged, at_least
from report.page import between, provenance, times

NAME = "adoption"

METHOD = """`tokenizer(texts)["input_ids"]` of a tokenizer of transformers, on {documents:,} documents of
4 KB in one call, before and after `bytemill.hf.accelerate`; both use all cores. Each run is a fresh
process: the text of its first call is cold, later calls are warm. Then `batch_decode` of the token IDs.
Times are medians of the rounds, in seconds. Token IDs and decoded texts were equal. All files are
stand-ins with cl100k's vocabulary, as above."""


def read_result(path: Path) -> tuple[Result, list[Call]]:
    """Reads a result and its calls."""
    result = record.read(path)
    return result, [Call(**call) for call in result["calls"]]


def pairs(calls: Sequence[Call]) -> list[tuple[Call, Call]]:
    """Returns the calls of each model before and after."""
    plain = {call.model: call for call in calls if not call.accelerated}
    return [(plain[call.model], call) for call in calls if call.accelerated]


def table(calls: Sequence[Call]) -> str:
    """Returns a Markdown table with a line for each model and kind of call."""
    lines = ["| model | call | before | after | before / after |", "|---" * 5 + "|"]
    for before, after in pairs(calls):
        model = after.model + ("" if after.equal else " (**ids differ**)")
        for state in STATES:
            old, new = getattr(before, state), getattr(after, state)
            call = "`batch_decode`" if state == "decoding" else f"`tokenizer(texts)`, {state}"
            lines.append(f"| {model} | {call} | {old:.2f} s | {new:.3f} s | {times(old / new)} |")
            model = ""
    return "\n".join(lines)


def judged(calls: Sequence[Call]) -> list[Judged]:
    """Returns the target for each model."""
    found = []
    for before, after in pairs(calls):
        ratio = before.cold / after.cold
        what = f"{after.model}, cold, time before / after"
        found.append(at_least(what, ratio, SUITE["bound"], times(ratio)))
    return found


def section(result: Result, calls: Sequence[Call]) -> str:
    """Returns the section of the page, between its marks."""
    method = METHOD.format(documents=SUITE["documents"])
    return between(
        NAME,
        f'{provenance(result)}\n`make bench-adoption ARGS="--corpus DIR"` measures again.\n\n{method}\n\n'
        f"{table(calls)}\n",
    )
