"""Writes the page that says where each figure of the README comes from: machine, date, commit and command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from harness import adoption
from harness.record import read
from harness.suites import suite
from report import page
from report.readme_chart import OURS, RESULTS, duration, panels

NAME = "readme"


class Row(NamedTuple):
    """A figure of the README, its value, the result that has it, and the command that measures it."""

    figure: str
    value: str
    result: Mapping[str, Any]
    command: str


def rows() -> Iterator[Row]:
    """Yields the figures, in the order of the README."""
    results = [read(RESULTS / f"{name}.json") for name in ("compare", "stream", "training")]
    encoding, stream, training = results
    drawn = panels(encoding, stream, training)
    commands = (
        "make bench-stream",
        'make bench-compare ARGS="--corpus DIR"',
        'make bench-compare ARGS="--corpus DIR"',
        'make bench-training ARGS="--corpus DIR"',
    )
    for panel, result, command in zip(drawn, (stream, encoding, encoding, training), commands, strict=True):
        longest = max(panel.seconds.values())
        others = ", ".join(
            f"{engine} {duration(seconds, longest)}" for engine, seconds in panel.rows if engine != OURS
        )
        value = f"{duration(panel.seconds[OURS], longest)}; {others}"
        yield Row(f"Chart: {panel.title}; {panel.subtitle}", value, result, command)
    new = drawn[0].seconds
    ratios = ", ".join(
        f"{engine} {seconds / new[OURS]:.1f}x"
        for engine, seconds in sorted(new.items(), key=lambda pair: -pair[1])
        if engine != OURS
    )
    yield Row("Half a gigabyte of new documents, one thread: times as fast as", ratios, stream, commands[0])
    settings = suite("models")["adoption"]
    result, calls = adoption.read_result(RESULTS.parents[1] / settings["result"])
    pairs = adoption.pairs(calls)
    for state, text in (("cold", "new text"), ("warm", "text it has seen")):
        ratio = min(getattr(before, state) / getattr(after, state) for before, after in pairs)
        yield Row(
            f"A transformers tokenizer, accelerated, on {text}: times as fast, least of {len(pairs)} models",
            f"{ratio:.0f}x",
            result,
            'make bench-adoption ARGS="--corpus DIR"',
        )


def section() -> str:
    """Returns the table, between its marks."""
    lines = ["| figure | value | measured | machine | command |", "|---|---|---|---|---|"]
    for figure, value, result, command in rows():
        machine = result["machine"]
        measured = f"{result['date'][:10]}, commit {page.commit_of(result)}"
        lines.append(
            f"| {figure} | {value} | {measured} | {machine['cpu']}, {machine['cores']} cores | `{command}` |"
        )
    return page.between(NAME, "\n".join(lines) + "\n")
