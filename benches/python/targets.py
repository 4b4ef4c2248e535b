"""What is measured, in words, and what this library promises of it: the rows, the targets, the verdicts."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from measuring import Cell

OURS = "bytemill"

# A row is the number by which it is chosen, and a word where several come of one number.
TITLES: dict[str, str] = {
    "1": "one long text to an array, first pass",
    "2": "one long text to an array, replay",
    "3": "4 KB documents to lists, replay",
    "4": "100-byte strings to lists, replay",
    "4 call": "one call with a short text, to a list",
    "5": "4 KB documents to lists, special tokens checked",
    "6": "4 KB documents to lists, never seen, fresh process",
    "7": "batch of 4 KB documents, 2 threads",
    "8": "one long text to an array, 2 threads",
    "9": "one long piece to an array, never seen",
    "9 replay": "one long piece to an array, seen before",
    "10": "load and encode a sentence, fresh process",
    "10 import": "import, fresh process",
    "11": "memory after loading",
    "11 growth": "memory added by encoding documents without end",
    "12 text": "decode a list to text",
    "12 bytes": "decode a list to bytes",
    "12 array": "decode an array to bytes",
    "12 batch": "decode a batch of lists to texts",
    "13": "count the ids of one long text",
}

# Rows whose figures are megabytes of memory.
IN_MEGABYTES = frozenset({"11", "11 growth"})

# Rows whose figures are seconds for one call, rather than bytes in a second.
PER_CALL = frozenset({"4 call", "10", "10 import"})

# The share of a target that every single corpus must reach.
FLOOR = 0.7


@dataclass(frozen=True, kw_only=True)
class Target:
    """What one row is to reach.

    Attributes:
        row: A key of `TITLES`.
        against: The contender whose time is divided by ours, or None: our own figure for one call, in
            seconds or megabytes.
        bound: The least ratio, or the greatest figure.
        at_most: Whether the bound is the greatest, also for a ratio.
        each: Whether every corpus must reach all of it, rather than their median, and each of them `FLOOR`.
    """

    row: str
    against: str | None = None
    bound: float
    at_most: bool = False
    each: bool = False


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a target is met.

    Attributes:
        row: As in the target; also `against`, `bound` and `at_most`.
        unit: "x" for a ratio, "s" or "MB".
        value: The median over the corpora, of the encoding that has the least favourable; None if nothing was
            measured.
        worst: The least favourable figure of all.
        where: The corpus and the encoding of that.
        met: Whether the target is met; None if nothing was measured.
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


TARGETS = [
    Target(row="1", against="gigatoken", bound=2.5),
    Target(row="1", against="tiktoken", bound=15),
    Target(row="2", against="gigatoken", bound=1.6),
    Target(row="2", against="tiktoken", bound=30),
    Target(row="3", against="gigatoken", bound=3),
    Target(row="3", against="tiktoken", bound=20),
    Target(row="4", against="gigatoken", bound=6),
    Target(row="4", against="tiktoken", bound=12),
    Target(row="4 call", bound=0.6e-6, at_most=True),
    Target(row="5", against="bytemill, encode_ordinary", bound=1 / 1.05),
    Target(row="6", against="gigatoken", bound=3),
    Target(row="6", against="tiktoken", bound=8),
    Target(row="7", against="bytemill, 1 thread", bound=1.8),
    Target(row="7", against="gigatoken", bound=2),
    Target(row="8", against="bytemill, 1 thread", bound=1.8),
    Target(row="9", against="tiktoken", bound=5, each=True),
    Target(row="9", against="gigatoken", bound=5, each=True),
    Target(row="9", against="bytemill, twice as long", bound=2.3, at_most=True),
    Target(row="10", bound=0.020, at_most=True),
    Target(row="10 import", bound=0.030, at_most=True),
    Target(row="11", bound=35, at_most=True),
    Target(row="11 growth", bound=64, at_most=True),
    Target(row="12 text", against="tiktoken", bound=3),
    Target(row="12 bytes", against="tiktoken", bound=3),
    Target(row="12 array", against="tiktoken", bound=8),
    Target(row="12 batch", against="tiktoken", bound=3),
    Target(row="13", against="bytemill, to an array", bound=1),
]

Group = Mapping[str, Cell]


def groups(cells: Iterable[Cell]) -> dict[tuple[str, str, str], dict[str, Cell]]:
    """The cells that may be compared, by row, corpus and encoding, and in a group by contender."""
    grouped: dict[tuple[str, str, str], dict[str, Cell]] = {}
    for cell in cells:
        grouped.setdefault((cell.row, cell.corpus, cell.encoding), {})[cell.contender] = cell
    return grouped


def ratio(group: Group, against: str) -> float | None:
    """How many times as long another contender takes as we do, or as much memory."""
    ours, theirs = group.get(OURS), group.get(against)
    if ours is None or theirs is None or ours.median is None or theirs.median is None or ours.median <= 0:
        return None
    return theirs.median / ours.median


def figures(target: Target, cells: Iterable[Cell]) -> Iterator[tuple[str, str, float]]:
    """What a target is about, as (corpus, encoding, ratio or figure)."""
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
    """Tells whether a target is met."""
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


def judge_all(cells: Iterable[Cell]) -> list[Verdict]:
    """The verdicts of all targets, in their order."""
    cells = list(cells)
    return [judge(target, cells) for target in TARGETS]
