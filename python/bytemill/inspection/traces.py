"""How vocabularies are learned and how pieces merge, step by step, as plain values for views.

Both follow `bytemill.reference`, the definition, rather than the trainer: each step is recorded together with
what else was possible.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill import reference
from bytemill.patterns import PATTERNS
from bytemill.splitting import Splitter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytemill.reference import Pair, TieBreak, Word

__all__ = [
    "MOST_MERGES",
    "MOST_TEXT",
    "TrainingStep",
    "checked",
    "merge_trace",
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
