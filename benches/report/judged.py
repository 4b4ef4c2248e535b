"""A target with what was measured: a line for a terminal, or of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Judged:
    """A target, as text.

    Attributes:
        what: What is measured.
        value: The measurement.
        bound: What it should be.
        met: Whether it is; `None` if nothing was measured.
    """

    what: str
    value: str
    bound: str
    met: bool | None

    @property
    def outcome(self) -> str:
        """Returns whether the target is met, as a word."""
        return {True: "met", False: "missed", None: "not measured"}[self.met]

    def __str__(self) -> str:
        """Returns a line for a terminal."""
        return f"{self.what}: {self.value}, {self.bound}: {self.outcome}"


def at_least(what: str, value: float, bound: float, shown: str, unit: str = "x") -> Judged:
    """Returns the verdict on a value, given also as text, that has a lower bound."""
    return Judged(what, shown, f"at least {bound:,}{unit}", value >= bound)


def at_most(what: str, value: float, bound: float, shown: str, unit: str) -> Judged:
    """Returns the verdict on a value, given also as text, that has an upper bound."""
    return Judged(what, shown, f"at most {bound:,}{unit}", value <= bound)


def table(judged: Iterable[Judged]) -> str:
    """Returns a Markdown table with a line for each target."""
    lines = ["| | measured | target | |", "|---|---|---|---|"]
    lines += [f"| {each.what} | {each.value} | {each.bound} | {each.outcome} |" for each in judged]
    return "\n".join(lines)
