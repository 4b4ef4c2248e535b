"""Training on a short text, merge by merge, for a terminal or a notebook."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from bytemill import reference
from bytemill._arguments import check_type, integer
from bytemill.inspection.displayed import Displayed
from bytemill.inspection.escapes import visible
from bytemill.inspection.layout import align_columns
from bytemill.inspection.notebook import fragment, span
from bytemill.inspection.traces import TrainingStep, checked, training_steps
from bytemill.patterns import PATTERNS
from bytemill.splitting import Splitter

if TYPE_CHECKING:
    from bytemill.reference import TieBreak

__all__ = ["TrainingView", "show_training"]


@dataclass(frozen=True, repr=False)
class TrainingView(Displayed):
    """The merges of a training run, a line for each; in a notebook also which other pairs were frequent.

    Attributes:
        steps: The merges in order.
        tie_break: The rule for pairs that occur equally often.
    """

    steps: tuple[TrainingStep, ...]
    tie_break: TieBreak

    @property
    def tokens(self) -> list[bytes]:
        """The vocabulary: the 256 single bytes, then a token for each merge."""
        found = list(reference.BYTE_TOKENS)
        for step in self.steps:
            left, right = step.pair
            found.append(found[left] + found[right])
        return found

    def to_dict(self) -> dict[str, Any]:
        """Returns the merges as JSON-compatible values; bytes as hexadecimal digits."""
        tokens = self.tokens
        return {
            "tie_break": self.tie_break,
            "merges": [
                {
                    "id": 256 + i,
                    "bytes": tokens[256 + i].hex(),
                    "pair": list(step.pair),
                    "count": step.times,
                    "ties": step.ties,
                    "tokens": step.tokens,
                }
                for i, step in enumerate(self.steps)
            ],
        }

    def __str__(self) -> str:
        tokens = self.tokens
        heading = ("id", "merge", "", "token", "count", "tied", "tokens left")
        rows = [
            (
                str(256 + i),
                visible(tokens[step.pair[0]]),
                visible(tokens[step.pair[1]]),
                visible(tokens[256 + i]),
                f"{step.times:,}",
                str(step.ties) if step.ties > 1 else "",
                f"{step.tokens:,}",
            )
            for i, step in enumerate(self.steps)
        ]
        return "\n".join(align_columns([heading, *rows], left=4))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Renders the merges for a notebook: one opens to show which pairs were as frequent."""
        tokens = self.tokens
        rows = []
        for i, step in enumerate(self.steps):
            left, right = (span(tokens[each], each) for each in step.pair)
            tied = f", {step.ties} pairs as often ({self.tie_break} decides)" if step.ties > 1 else ""
            others = ", ".join(
                f"{escape(visible(tokens[a]))} + {escape(visible(tokens[b]))}: {count:,}"
                for (a, b), count in step.others
            )
            made = f"{left} + {right} = {span(tokens[256 + i], 256 + i)}"
            rows.append(
                f"<details><summary>{256 + i}: {made} {step.times:,} times{tied}</summary>"
                f"<div>then {others or 'no other pair'}</div></details>"
            )
        return fragment("".join(rows))


def show_training(
    text: str, merges: int = 20, *, pattern: str = "cl100k", tie_break: TieBreak = "first_seen"
) -> TrainingView:
    """Learns merges from a short text by the definition, and returns a view of every step.

    Args:
        text: The text, at most 50,000 bytes.
        merges: The most merges, 1 to 512.
        pattern: The name of a pattern.
        tie_break: As `bytemill.reference.train`.

    Raises:
        TypeError: `text` is not a string, or `merges` not an integer.
        ValueError: An argument is out of these limits, or unknown.

    Complexity:
        The number of merges times the size of the distinct pieces.
    """
    check_type("text", text, str)
    merges = integer("merges", merges)
    checked(text, merges, pattern)
    pieces = Counter(reference.split(text, Splitter(PATTERNS[pattern])))
    words = [(list(piece), count) for piece, count in pieces.items()]
    return TrainingView(tuple(training_steps(words, merges, tie_break)), tie_break)
