"""How vocabularies are learned and how pieces merge, step by step, as plain values for views.

Both follow `bytemill.reference`, the definition, rather than the trainer: each step is recorded together with
what else was possible.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill import reference
from bytemill._arguments import check_type, integer
from bytemill._named import encoding_of
from bytemill.inspection.notebook import Displayed, fragment, rows_of_parts, span
from bytemill.inspection.terminal import Cell, align_columns, supports_colour
from bytemill.inspection.token import COLOURS, segments_of, visible
from bytemill.patterns import PATTERNS
from bytemill.splitting import Splitter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytemill.core import Encoding
    from bytemill.reference import Pair, TieBreak, Word
    from bytemill.results import PieceExplanation

__all__ = [
    "MOST_MERGES",
    "MOST_TEXT",
    "MergeView",
    "TrainingStep",
    "TrainingView",
    "checked",
    "merge_trace",
    "show_merges",
    "show_training",
    "training_steps",
    "training_trace",
]

# Limits of a trace: bytes of text, and merges. The definition takes time for both together.
MOST_TEXT = 50_000
MOST_MERGES = 512

# How many pairs besides the merged one a step lists.
RUNNERS_UP = 5

# How many possible merges of a step of a piece are listed.
MOST_CANDIDATES = 8


class TrainingStep(NamedTuple):
    """One merge of training.

    Attributes:
        pair: The merged pair of ids.
        times: How often it occurred.
        ties: How many pairs occurred as often, itself included.
        others: The most frequent other pairs with their counts.
        tokens: Number of tokens of the text after the merge.
    """

    pair: Pair
    times: int
    ties: int
    others: list[tuple[Pair, int]]
    tokens: int


def training_steps(words: list[Word], merges: int, tie_break: TieBreak) -> list[TrainingStep]:
    """Trains by the definition, and records what each step chose from.

    Args:
        words: The distinct pieces as byte values, and their counts.
        merges: The most merges.
        tie_break: As `bytemill.reference.train`.

    Complexity:
        The number of merges times the size of the distinct pieces.
    """
    steps = []
    before = words
    for pair, after in reference.train_steps(words, len(reference.BYTE_TOKENS) + merges, tie_break):
        counts: dict[Pair, int] = {}
        for ids, weight in before:
            reference.count_pairs(ids, counts, weight)
        top = counts[pair]
        ties = sum(count == top for count in counts.values())
        # The order of equals is that of the rule: the one that would come next stands first.
        order = counts if tie_break == "first_seen" else sorted(counts)
        rest = sorted((each for each in order if each != pair), key=counts.__getitem__, reverse=True)
        others = [(each, counts[each]) for each in rest[:RUNNERS_UP]]
        tokens = sum(len(ids) * weight for ids, weight in after)
        steps.append(TrainingStep(pair, top, ties, others, tokens))
        before = after
    return steps


def training_trace(text: str, merges: int, pattern: str, tie_break: TieBreak) -> dict[str, Any]:
    """Returns a training run as JSON-compatible values.

    Args:
        text: The text to learn from, at most `MOST_TEXT` bytes.
        merges: The most merges, at most `MOST_MERGES`.
        pattern: Name of a pattern.
        tie_break: As `bytemill.reference.train`.

    Returns:
        The distinct pieces in order of appearance (bytes in hexadecimal digits) with their counts, and for
        each merge its pair, count, ties, the most frequent other pairs, and the tokens that are left.

    Raises:
        ValueError: An argument is out of these limits, or unknown.
    """
    checked(text, merges, pattern)
    pieces = Counter(reference.split(text, Splitter(PATTERNS[pattern])))
    steps = training_steps([(list(piece), count) for piece, count in pieces.items()], merges, tie_break)
    return {
        "bytes": sum(len(piece) * count for piece, count in pieces.items()),
        "pieces": [[piece.hex(), count] for piece, count in pieces.items()],
        "merges": [
            {
                "pair": step.pair,
                "count": step.times,
                "ties": step.ties,
                "others": [[*pair, count] for pair, count in step.others],
                "tokens": step.tokens,
            }
            for step in steps
        ],
    }


def checked(text: str, merges: int, pattern: str) -> None:
    """Raises `ValueError` if training would take too long, or the pattern has no name."""
    size = len(text.encode(errors="replace"))
    if size > MOST_TEXT:
        raise ValueError(f"expected a text of at most {MOST_TEXT:,} bytes to learn from, got {size:,}")
    if not 1 <= merges <= MOST_MERGES:
        raise ValueError(f"expected 1 to {MOST_MERGES} merges, got {merges}")
    if pattern not in PATTERNS:
        raise ValueError(f"expected the name of a pattern, one of {', '.join(PATTERNS)}, got {pattern!r}")


def merge_trace(piece: bytes, ranks: Mapping[bytes, int]) -> dict[str, Any]:
    """Returns how a piece becomes tokens, as JSON-compatible values.

    Args:
        piece: A piece of a text.
        ranks: Token bytes to rank.

    Returns:
        The bytes in hexadecimal digits; for each merge the index of its left part, its rank, and the other
        merges that were possible as [index, rank]; whether the piece is a token that merges do not make; the
        ids.

    Complexity:
        Quadratic in the length of the piece.
    """
    steps = []
    parts = [piece[i : i + 1] for i in range(len(piece))]
    for after in list(reference.merge_steps(piece, ranks))[1:]:
        possible = [
            (index, rank)
            for index, (left, right) in enumerate(pairwise(parts))
            if (rank := ranks.get(left + right)) is not None
        ]
        index = next(i for i, part in enumerate(after) if part != parts[i])
        others = [each for each in possible if each[0] != index]
        steps.append({"index": index, "rank": ranks[after[index]], "others": others[:MOST_CANDIDATES]})
        parts = after
    whole = ranks.get(piece) if len(parts) > 1 else None
    ids = [ranks[part] for part in parts] if whole is None else [whole]
    return {"bytes": piece.hex(), "steps": steps, "whole": whole is not None, "ids": ids}


# The merge steps of a text: the parts of each piece after every merge.


@dataclass(frozen=True, repr=False)
class MergeView(Displayed):
    """The merge steps of a text. Its `str` lists the parts of each piece after every merge.

    Attributes:
        encoding: Name of the encoding.
        pieces: The pieces, as returned by `Encoding.explain`.
    """

    encoding: str
    pieces: tuple[PieceExplanation, ...]

    def terminal(self, *, colour: bool) -> str:
        """Returns a block of lines for each piece: its bytes, the parts after each merge, the ids at the end.

        Args:
            colour: Whether to mark parts by colours rather than separators.
        """
        return "\n\n".join(format_piece(piece, colour=colour) for piece in self.pieces)

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as JSON-compatible values; bytes as hexadecimal digits."""
        return {
            "encoding": self.encoding,
            "pieces": [
                {
                    "bytes": piece.piece.hex(),
                    "steps": [[part.hex() for part in parts] for parts in piece.steps],
                    "ids": piece.ids,
                }
                for piece in self.pieces
            ],
        }

    def __str__(self) -> str:
        return self.terminal(colour=supports_colour(sys.stdout))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Renders the view for a notebook: a row for each step."""
        return fragment("<hr>".join(rows_of_parts(piece.steps) for piece in self.pieces))


def show_merges(encoding: Encoding | str, text: str) -> MergeView:
    """Returns a view of the merge steps of a text.

    Args:
        encoding: The encoding, or its name as in `show`.
        text: Any string, usually a short one; special tokens are ordinary text.

    Raises:
        TypeError, PatternError: As `Encoding.encode_ordinary`.

    Complexity:
        Time and memory quadratic in the length of each piece.
    """
    encoding = encoding_of(encoding)
    return MergeView(encoding.name, tuple(encoding.explain(text)))


def format_piece(piece: PieceExplanation, *, colour: bool) -> str:
    """Returns the lines of one piece."""
    lines = [format_step(parts, colour=colour) for parts in piece.steps]
    return "\n".join([*lines[:-1], f"{lines[-1]}  {' '.join(map(str, piece.ids))}"])


def format_step(parts: list[bytes], *, colour: bool) -> str:
    """Returns one line with the parts of a piece.

    The colour of a part depends on its start offset, so that it stays the same while others merge; unless the
    part before it already has that colour.
    """
    cells = []
    start = 0
    previous = None
    for part in parts:
        colour_index = COLOURS[start % len(COLOURS)].terminal
        if colour_index == previous:
            colour_index = COLOURS[(start + 1) % len(COLOURS)].terminal
        cell = Cell(segments_of(part), colour_index)
        cells.append(cell.coloured() if colour else cell.plain())
        start += len(part)
        previous = colour_index
    return ("" if colour else "│").join(cells)


# Training on a short text, merge by merge, for a terminal or a notebook.


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
