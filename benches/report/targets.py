"""Judges the figures by the targets of `suites/encoding.toml`."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from harness.record import Cell
from harness.suites import suite

SUITE = suite("encoding")
OURS: str = SUITE["own"]

TITLES: dict[str, str] = {row["key"]: row["title"] for row in SUITE["rows"]}

# Rows in megabytes of memory, and rows in seconds per call; the others are in bytes per second.
IN_MEGABYTES = frozenset(row["key"] for row in SUITE["rows"] if row.get("unit") == "MB")
PER_CALL = frozenset(row["key"] for row in SUITE["rows"] if row.get("per_call"))

# The share of a target that every single corpus must reach.
FLOOR: float = SUITE["floor"]


@dataclass(frozen=True, kw_only=True)
class Target:
    """The target of a row.

    Attributes:
        row: A key of `TITLES`.
        against: The contender whose time is divided by ours; `None` for our own figure per call, in seconds
            or megabytes.
        bound: Lower bound of the ratio, or upper bound of the figure.
        at_most: Whether `bound` is an upper bound.
        each: Whether every corpus must reach it, rather than the median of all, and each of them `FLOOR` of
            it.
    """

    row: str
    against: str | None = None
    bound: float
    at_most: bool = False
    each: bool = False


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The result for a target, whose first fields it repeats.

    Attributes:
        unit: "x" for a ratio, "s" or "MB".
        value: Median over the corpora, in the least favourable encoding; `None` if nothing was measured.
        worst: Least favourable figure of all.
        where: Corpus and encoding of that.
        met: Whether the target is met; `None` if nothing was measured.
    """

    row: str
    against: str | None
    bound: float
    at_most: bool
    unit: str
    value: float | None = None
    worst: float | None = None
    where: str | None = None
    met: bool | None = None


TARGETS = [Target(row=row["key"], **target) for row in SUITE["rows"] for target in row.get("targets", ())]

Group = Mapping[str, Cell]


def groups(cells: Iterable[Cell]) -> dict[tuple[str, str, str], dict[str, Cell]]:
    """Groups comparable cells by row, corpus and encoding, and in a group by contender."""
    grouped: dict[tuple[str, str, str], dict[str, Cell]] = {}
    for cell in cells:
        grouped.setdefault((cell.row, cell.corpus, cell.encoding), {})[cell.contender] = cell
    return grouped


def ratio(group: Group, against: str) -> float | None:
    """Returns the time, or memory, of another contender divided by ours."""
    ours, theirs = group.get(OURS), group.get(against)
    if ours is None or theirs is None or ours.median is None or theirs.median is None or ours.median <= 0:
        return None
    return theirs.median / ours.median


def figures(target: Target, cells: Iterable[Cell]) -> Iterator[tuple[str, str, float]]:
    """Yields the figures of a target as (corpus, encoding, ratio or figure)."""
    for (row, corpus, encoding), group in groups(cells).items():
        if row != target.row:
            continue
        if target.against is not None:
            figure = ratio(group, target.against)
        else:
            ours = group.get(OURS)
            figure = None if ours is None or ours.median is None else ours.median / ours.calls
        if figure is not None:
            yield corpus, encoding, figure


def judge(target: Target, cells: Iterable[Cell]) -> Verdict:
    """Returns whether a target is met."""
    cells = [cell for cell in cells if cell.row == target.row]
    found = list(figures(target, cells))
    unit = "x" if target.against is not None else "MB" if target.row in IN_MEGABYTES else "s"
    verdict = Verdict(
        row=target.row, against=target.against, bound=target.bound, at_most=target.at_most, unit=unit
    )
    if not found:
        return verdict
    of_encoding: dict[str, list[float]] = {}
    for _, encoding, figure in found:
        of_encoding.setdefault(encoding, []).append(figure)
    medians = [statistics.median(of_one) for of_one in of_encoding.values()]
    if target.at_most:
        value = max(medians)
        corpus, encoding, worst = max(found, key=lambda each: each[2])
        met = worst <= target.bound
    else:
        value = min(medians)
        corpus, encoding, worst = min(found, key=lambda each: each[2])
        met = value >= target.bound and worst >= target.bound * (1 if target.each else FLOOR)
    return replace(verdict, value=value, worst=worst, where=f"{corpus}, {encoding}", met=met)


def compared(row: str, against: str, cells: Iterable[Cell]) -> Verdict:
    """Returns how a row compares with another contender, whether there is a target or not."""
    return judge(Target(row=row, against=against, bound=1), cells)


def judge_all(cells: Iterable[Cell]) -> list[Verdict]:
    """Returns the verdicts of all targets in order."""
    cells = list(cells)
    return [judge(target, cells) for target in TARGETS]
