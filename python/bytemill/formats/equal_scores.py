"""Pieces with equal scores: when a list of merges says what SentencePiece does with them.

SentencePiece merges the leftmost of the pairs whose pieces have the highest score; a list has an order
between these pairs too. The pieces of equal scores that models have are runs of one character, above all
spaces.
Where no other piece has two of that character side by side, a run in a text is merged by itself. Whether both
ways then choose the same pair each time, whatever the length of the run, is tried out: from some length on,
the start of a run is done, and the rest is merged as a shorter run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["division_order", "tied"]

# Runs that are longer before they repeat are not tried out.
LIMIT = 300


def division_order(left: str, right: str) -> tuple[int, int]:
    """Returns the order of pairs whose pieces have the same score: those with longer left parts first."""
    return -len(left), -len(right)


def tied(scores: Mapping[str, float]) -> tuple[str, str] | None:
    """Returns two pieces with the same score whose order decides about IDs; `None` if there are none.

    Args:
        scores: The score of each piece that merges make.
    """
    groups: dict[float, list[str]] = {}
    for text, score in scores.items():
        groups.setdefault(score, []).append(text)
    for texts in groups.values():
        runs: dict[str, set[int]] = {}
        for text in texts:
            runs.setdefault(text[0] if set(text) == {text[0]} else text, set()).add(len(text))
        if len(texts) == 1:
            continue
        for start, lengths in runs.items():
            others = {text for text in scores if start * 2 in text} - {start * length for length in lengths}
            if len(start) > 1 or others or not same_choices(lengths):
                other = next((text for text in texts if text != texts[0]), texts[0])
                return texts[0], other
    return None


def same_choices(lengths: Iterable[int]) -> bool:
    """Returns whether the leftmost pair is the first in the list too, in runs of every length.

    Args:
        lengths: How long the runs are that are pieces.
    """
    known = frozenset(lengths)
    longest = repetition(known)
    return longest is not None and all(same_in(count, known) for count in range(2, longest + 3))


def pairs(parts: list[int], known: frozenset[int]) -> list[int]:
    """Returns where a pair of parts is a piece."""
    return [place for place in range(len(parts) - 1) if parts[place] + parts[place + 1] in known]


def same_in(count: int, known: frozenset[int]) -> bool:
    """Returns whether both rules choose the same pairs in a run of `count` equal characters."""
    parts = [1] * count
    while found := pairs(parts, known):
        place = found[0]
        if place != min(found, key=lambda place: (-parts[place], -parts[place + 1], place)):
            return False
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return True


def repetition(known: frozenset[int]) -> int | None:
    """Returns how many characters of an endless run are read until its merging repeats."""
    sizes = known | {1}
    done = {size for size in sizes if not any(size + other in known for other in sizes)}
    parts: list[int] = []
    seen: set[tuple[int, ...]] = set()
    for count in range(LIMIT):
        last = max((place + 1 for place, size in enumerate(parts) if size in done), default=0)
        parts = parts[last:]
        if tuple(parts) in seen:
            return count
        seen.add(tuple(parts))
        parts.append(1)
        while found := pairs(parts, known):
            parts[found[0] : found[0] + 2] = [parts[found[0]] + parts[found[0] + 1]]
    return None
