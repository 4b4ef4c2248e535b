"""The speeds of families of models, and the targets of the general engine, from `harness.families`."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from harness.model_tasks import SUITE
from harness.models import STATES, Cell, groups, medians, read_result
from harness.suites import CANDIDATE, OURS, ROOT
from report.judged import Judged, at_least
from report.page import commit_of, times

RESULT = ROOT / SUITE["families"]["result"]


# What the name of a family without its added tokens of blanks ends in.
WITHOUT = " without its tokens of blanks"

# The columns of `speeds`.
COLUMNS = [f"{form}, {state}" for form in ("array", "list") for state in STATES]


def speeds(cells: Sequence[Cell]) -> dict[str, list[str]]:
    """Returns MB/s of each family, in the order of `COLUMNS`."""
    found = {}
    for (name, _), contenders in groups(cells).items():
        ours = [contenders[OURS, form] for form in ("array", "list")]
        equal = all(cell.ids_equal for group in ours for cell in group)
        found[name] = [
            f"{medians(group)[state]:.0f}" if equal else "**ids differ**"
            for group in ours
            for state in STATES
        ]
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


def shares(cells: Sequence[Cell]) -> dict[str, dict[str, float]]:
    """Returns how fast arrays are with added tokens of blanks, compared with none: the least of all texts."""
    arrays = {name: of[OURS, "array"] for (name, _), of in groups(cells).items()}
    found = {}
    for name, without in arrays.items():
        if not name.endswith(WITHOUT):
            continue
        family = {cell.corpus: cell for cell in arrays[name.removesuffix(WITHOUT)]}
        found[name.removesuffix(WITHOUT)] = {
            state: min(getattr(family[cell.corpus], state) / getattr(cell, state) for cell in without)
            for state in STATES
        }
    return found


def judged(cells: Sequence[Cell]) -> list[Judged]:
    """Returns the targets of lists by the general engine, for each family and state of the text."""
    bounds = SUITE["targets"][f"{CANDIDATE}, general"]
    return [
        at_least(
            f"{name}, list, {state}, compared with {CANDIDATE}", value, bounds[f"list, {state}"], times(value)
        )
        for name, of_states in times_candidate(cells, "general").items()
        for state, value in of_states.items()
    ] + [
        at_least(
            f"{name}, array, {state}, compared with the same file without its tokens of blanks",
            value,
            SUITE["targets"]["tokens of blanks"]["array"],
            times(value),
        )
        for name, of_states in shares(cells).items()
        for state, value in of_states.items()
    ]


def lines(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields a line for each family, then for each target."""
    for name, shown in speeds(cells).items():
        columns = "; ".join(f"{what}: {speed} MB/s" for what, speed in zip(COLUMNS, shown, strict=True))
        yield f"{name}: {columns}"
    yield from map(str, judged(cells))


def recorded() -> list[Cell]:
    """Returns the cells of the recorded result; none if there is none."""
    return read_result(RESULT)[1] if RESULT.exists() else []


def source() -> str:
    """Returns when, of which commit and on what machine the result was measured."""
    result, _ = read_result(RESULT)
    return f"{result['date'][:10]}, commit {commit_of(result)}, on {result['machine']['cpu']}"
