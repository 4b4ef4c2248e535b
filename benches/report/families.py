"""The speeds of families of models, and the verdict on the general engine, from `harness.families`."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from harness.models import CANDIDATE, OURS, STATES, SUITE, Cell
from harness.suites import ROOT
from report.models import groups, medians, read_result
from report.page import commit_of

RESULT = ROOT / SUITE["families"]["result"]


def speeds(cells: Sequence[Cell]) -> dict[str, str]:
    """Returns MB/s of each family: to arrays and to lists, cold and warm."""
    found = {}
    for (name, _), contenders in groups(cells).items():
        ours = [medians(contenders[OURS, form]) for form in ("array", "list")]
        shown = ", ".join(" / ".join(f"{each[state]:.0f}" for state in STATES) for each in ours)
        equal = all(cell.ids_equal for form in ("array", "list") for cell in contenders[OURS, form])
        found[name] = shown if equal else "**ids differ**"
    return found


def times_candidate(cells: Sequence[Cell], kind: str) -> dict[str, dict[str, float]]:
    """Returns how many times as fast lists are as the release candidate's, for families of a kind.

    Families whose files it refuses, or encodes to other ids, are left out.
    """
    found = {}
    for (name, own), contenders in groups(cells).items():
        rivals = {cell.corpus: cell for cell in contenders.get((CANDIDATE, "list"), []) if cell.ids_equal}
        if own != kind or not rivals:
            continue
        ours = [cell for cell in contenders[OURS, "list"] if cell.corpus in rivals]
        found[name] = {
            state: statistics.median(
                getattr(cell, state) / getattr(rivals[cell.corpus], state) for cell in ours
            )
            for state in STATES
        }
    return found


def refused(cells: Sequence[Cell]) -> list[str]:
    """Returns the families whose files the release candidate refuses, or encodes to other ids."""
    rivals = {name: group.get((CANDIDATE, "list"), []) for (name, _), group in groups(cells).items()}
    return [name for name, own in rivals.items() if not own or not all(cell.ids_equal for cell in own)]


def verdicts(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields whether lists by the general engine reach the target, a line for each state of the text."""
    bounds = SUITE["targets"][f"{CANDIDATE}, general"]
    times = times_candidate(cells, "general")
    for state in STATES:
        bound = bounds[f"list, {state}"]
        short = {name: each[state] for name, each in times.items() if each[state] < bound}
        if not times:
            yield f"{state}: **not measured**"
            continue
        line = f"{state}: {len(times) - len(short)} of {len(times)} at least {bound} times {CANDIDATE}"
        missed = ", ".join(f"{name} {value:.1f}" for name, value in short.items())
        yield f"{line}: **missed** by {missed}" if short else f"{line}: met"


def lines(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields a line for each family, and the verdicts."""
    for name, shown in speeds(cells).items():
        yield f"{name}: {shown}"
    yield from verdicts(cells)


def recorded() -> list[Cell]:
    """Returns the cells of the recorded result; none if there is none."""
    return read_result(RESULT)[1] if RESULT.exists() else []


def source() -> str:
    """Returns when, of which commit and on what machine the result was measured."""
    result, _ = read_result(RESULT)
    return f"{result['date'][:10]}, commit {commit_of(result)}, on {result['machine']['cpu']}"
