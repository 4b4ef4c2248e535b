"""The table, targets and section on a stream of documents, from the cells of `harness.compare stream`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import record
from harness.record import Result
from harness.stream import SUITE, StreamCell
from report.judged import Judged, at_least
from report.page import between, provenance, times

NAME = "stream"
OURS = "bytemill"

METHOD = """Documents that all differ (help pages in 34 languages, C sources, a dictionary) are encoded in
batches of {batch:,}, to arrays where an engine has them, in a fresh process: the text is cold. Reading
them is not timed. Processes take turns, token IDs are compared with tiktoken's, and figures are medians.
Peak memory is that of the process, less that of one that only reads the documents. Slow engines get the
beginning of the stream.

Speed ratio = bytemill's speed / the engine's. Memory ratio = the engine's memory / bytemill's. Both are
for the same number of threads; above 1x, bytemill is ahead."""


def read_result(path: Path) -> tuple[Result, list[StreamCell]]:
    """Reads a result and its cells."""
    result = record.read(path)
    return result, [StreamCell(**cell) for cell in result["cells"]]


def of_threads(cells: Sequence[StreamCell], threads: int) -> Mapping[str, StreamCell]:
    """Returns the cells of a number of threads, by engine."""
    return {cell.engine: cell for cell in cells if cell.threads == threads}


def advantage(what: str, group: Mapping[str, StreamCell], engine: str) -> float | None:
    """Returns our speed divided by another engine's, or its memory divided by ours."""
    ours, theirs = group.get(OURS), group.get(engine)
    if ours is None or theirs is None:
        return None
    if what == "speed":
        return ours.speed / theirs.speed if ours.speed and theirs.speed else None
    return theirs.megabytes / ours.megabytes if ours.megabytes and theirs.megabytes else None


def table(cells: Sequence[StreamCell]) -> str:
    """Returns a Markdown table with a line for each engine."""
    heads = "engine | threads | text | speed | speed ratio | peak memory | memory ratio"
    lines = [f"| {heads} |", "|---" * 7 + "|"]
    for cell in cells:
        if cell.speed is None or cell.megabytes is None:
            lines.append(f"| {cell.engine} | {cell.threads} | | {cell.error} | | | |")
            continue
        group = of_threads(cells, cell.threads)
        ratios = [advantage(what, group, cell.engine) for what in ("speed", "memory")]
        faster, leaner = ("" if each is None or cell.engine == OURS else times(each) for each in ratios)
        text, memory = f"{cell.bytes / 1e6:.0f} MB", f"{cell.megabytes:.0f} MB"
        lines.append(
            f"| {cell.engine} | {cell.threads} | {text} | {cell.speed:,.1f} MB/s | {faster} "
            f"| {memory} | {leaner} |"
        )
    return "\n".join(lines)


def judged(cells: Sequence[StreamCell]) -> list[Judged]:
    """Returns the targets that were measured."""
    found = []
    for target in SUITE["targets"]:
        value = advantage(target["what"], of_threads(cells, target["threads"]), target["against"])
        if value is not None:
            what = (
                f"{target['what']} on {target['threads']} thread{'s' * (target['threads'] > 1)}, "
                f"compared with {target['against']}"
            )
            found.append(at_least(what, value, target["bound"], times(value)))
    return found


def section(result: Result, cells: Sequence[StreamCell]) -> str:
    """Returns the section of the page, between its marks."""
    method = METHOD.format(batch=SUITE["batch"])
    return between(
        NAME, f"{provenance(result)}\n`make bench-stream` measures again.\n\n{method}\n\n{table(cells)}\n"
    )
