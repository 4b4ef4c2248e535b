"""What a vocabulary holds, in figures."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bytemill.arguments import check_type
from bytemill.compiled import unicode_version
from bytemill.core import Encoding
from bytemill.looking.layout import bar, table
from bytemill.looking.reachability import Reachability, reachability_of
from bytemill.looking.scripts import kinds_of
from bytemill.looking.visible import plain, printable
from bytemill.patterns import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["VocabularyReport", "report"]

# How much of long lists is printed; `to_dict` has all of it.
KINDS_SHOWN = 20
SPECIAL_SHOWN = 8
EXAMPLES_SHOWN = 6
EXAMPLE_CHARACTERS = 24
LONGEST = 5

# Lengths up to this have a line of their own, longer ones share them.
SINGLE_LENGTHS = 12
BAR_WIDTH = 40
ITEMS_WIDTH = 76
NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True)
class VocabularyReport:
    """What a vocabulary holds. Printed, it is a page of text.

    Attributes:
        encoding: The name of the encoding.
        sha256: Its digest.
        n_vocab: The highest id plus one.
        mergeable_tokens: How many tokens are mergeable.
        special_tokens: The special tokens and their ids.
        holes: The ids that belong to no token, as ranges of the first and the last.
        lengths: How many mergeable tokens have each length in bytes, the shortest first.
        longest: The ids of the longest mergeable tokens, the longest first.
        kinds: How many mergeable tokens are written in what, see `scripts`; the most frequent first.
        reachability: The mergeable tokens that are not simply reached by their own text.
        tokens: The bytes of the tokens that `longest` and `reachability` name.
        pattern: The pattern.
        pattern_name: Its name in `bytemill.patterns`, or `None`.
        unicode_version: The version of Unicode that the pattern is read with; `None` if that is up to the
            `regex` package, for patterns that only this takes.
    """

    encoding: str
    sha256: str
    n_vocab: int
    mergeable_tokens: int
    special_tokens: dict[str, int]
    holes: list[tuple[int, int]]
    lengths: dict[int, int]
    longest: list[int]
    kinds: dict[str, int]
    reachability: Reachability
    tokens: dict[int, bytes]
    pattern: str
    pattern_name: str | None
    unicode_version: str | None

    @property
    def mean_length(self) -> float:
        """How many bytes a mergeable token has in the mean, each counted once."""
        return sum(length * count for length, count in self.lengths.items()) / self.mergeable_tokens

    def to_dict(self) -> dict[str, Any]:
        """Gives all figures as what JSON has; tokens are ids."""
        return {
            "encoding": self.encoding,
            "sha256": self.sha256,
            "n_vocab": self.n_vocab,
            "mergeable_tokens": self.mergeable_tokens,
            "special_tokens": self.special_tokens,
            "holes": [list(hole) for hole in self.holes],
            "lengths": {str(length): count for length, count in self.lengths.items()},
            "mean_length": self.mean_length,
            "longest": self.longest,
            "kinds": self.kinds,
            **self.reachability._asdict(),
            "pattern": self.pattern,
            "pattern_name": self.pattern_name,
            "unicode_version": self.unicode_version,
        }

    def __str__(self) -> str:
        return "\n".join(
            [
                self.encoding,
                "",
                *table(self._facts(), left=2),
                "",
                *section(
                    "Length of mergeable tokens, in bytes", grouped(self.lengths), self.mergeable_tokens
                ),
                "",
                *section("What they are written in", shortened(self.kinds), self.mergeable_tokens),
            ]
        )

    def _facts(self) -> list[tuple[str, str]]:
        """What can be said in few lines: names and figures."""
        missing = sum(last - first + 1 for first, last in self.holes)
        ranges = [str(first) if first == last else f"{first} to {last}" for first, last in self.holes]
        special = [f"{plain(text.encode())} ({token})" for text, token in self.special_tokens.items()]
        if len(special) > SPECIAL_SHOWN:
            special[SPECIAL_SHOWN:] = [f"and {len(special) - SPECIAL_SHOWN:,} more"]
        reach = self.reachability
        unicode = self.unicode_version or "that of the regex package, which alone takes the pattern"
        return [
            *lines("sha256", self.sha256),
            *lines("ids", f"{self.n_vocab:,}, from 0 to {self.n_vocab - 1}"),
            *lines(
                "mergeable tokens", f"{self.mergeable_tokens:,}, of {self.mean_length:.2f} bytes in the mean"
            ),
            *lines("special tokens", f"{len(self.special_tokens):,}", special),
            *lines("ids without a token", f"{missing:,}", ranges),
            *lines("unreachable", *self._examples(reach.unreachable)),
            *lines("cut by the pattern", *self._examples(reach.cut)),
            *lines("only as whole pieces", *self._examples(reach.whole_only)),
            *lines("longest", f"{max(self.lengths)} bytes", list(map(self._example, self.longest))),
            *lines("pattern", self.pattern_name or "none of those with names", [printable(self.pattern)]),
            *lines("Unicode", unicode),
        ]

    def _examples(self, ids: list[int]) -> tuple[str, list[str]]:
        """How many tokens, and what some of them are."""
        more = ["…"] if len(ids) > EXAMPLES_SHOWN else []
        return f"{len(ids):,}", [*map(self._example, ids[:EXAMPLES_SHOWN]), *more]

    def _example(self, token_id: int) -> str:
        shape = plain(self.tokens[token_id])
        if len(shape) > EXAMPLE_CHARACTERS:
            shape = shape[: EXAMPLE_CHARACTERS - 1] + "…"
        return f"{shape} ({token_id})"


def report(encoding: Encoding) -> VocabularyReport:
    """Finds out what a vocabulary holds.

    Args:
        encoding: The encoding.

    Raises:
        TypeError: It is no encoding.
        PatternError: The engine of a custom pattern gives up on the text of a token.

    Complexity:
        Linear in the bytes of all tokens, some seconds for 200,000 of them; more where not all tokens
        are made by merges, see `reachability`.
    """
    check_type("encoding", encoding, Encoding)
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's names for them
    special_tokens = encoding._special_tokens  # noqa: SLF001
    pattern = encoding._pat_str  # noqa: SLF001
    by_id = {token_id: token for token, token_id in ranks.items()}
    longest = sorted(by_id, key=lambda token_id: (-len(by_id[token_id]), token_id))[:LONGEST]
    reachability = reachability_of(encoding)
    named = [*longest, *(token_id for ids in reachability for token_id in ids)]
    return VocabularyReport(
        encoding=encoding.name,
        sha256=encoding.sha256,
        n_vocab=encoding.n_vocab,
        mergeable_tokens=len(ranks),
        special_tokens=dict(sorted(special_tokens.items(), key=lambda item: item[1])),
        holes=holes_between({*ranks.values(), *special_tokens.values()}, encoding.n_vocab),
        lengths=dict(sorted(Counter(map(len, ranks)).items())),
        longest=longest,
        kinds=dict(Counter(kinds_of(ranks)).most_common()),
        reachability=reachability,
        tokens={token_id: by_id[token_id] for token_id in named},
        pattern=pattern,
        pattern_name=next((name for name, known in PATTERNS.items() if known == pattern), None),
        unicode_version=unicode_version(pattern),
    )


def lines(name: str, figure: str, items: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Gives the lines of one fact; items follow on lines of their own, each in one of them."""
    whole = ", ".join(item.replace(" ", NO_BREAK_SPACE) for item in items)
    wrapped = textwrap.wrap(whole, ITEMS_WIDTH, break_long_words=False, break_on_hyphens=False)
    return [(name, figure), *(("", line.replace(NO_BREAK_SPACE, " ")) for line in wrapped)]


def holes_between(ids: set[int], n_vocab: int) -> list[tuple[int, int]]:
    """Gives the ranges of numbers below `n_vocab` that are no ids, as their first and last."""
    borders = [-1, *sorted(ids), n_vocab]
    return [(before + 1, after - 1) for before, after in pairwise(borders) if after > before + 1]


def grouped(lengths: dict[int, int]) -> dict[str, int]:
    """Gives the lines of the histogram: short lengths each, then ranges that double."""
    groups: Counter[str] = Counter()
    for length, count in lengths.items():
        if length <= SINGLE_LENGTHS:
            groups[str(length)] += count
            continue
        first, last = SINGLE_LENGTHS + 1, 2 * SINGLE_LENGTHS
        while length > last:
            first, last = last + 1, 2 * last
        groups[f"{first} to {last}"] += count
    return dict(groups)


def shortened(kinds: dict[str, int]) -> dict[str, int]:
    """Gives the most frequent kinds, and the number of all others."""
    shown = dict(list(kinds.items())[:KINDS_SHOWN])
    others = len(kinds) - len(shown)
    return shown | ({f"{others} others": sum(kinds.values()) - sum(shown.values())} if others else {})


def section(title: str, counts: dict[str, int], whole: int) -> list[str]:
    """Gives a title, and a line with a bar for each count."""
    most = max(counts.values(), default=1)
    lines = table([(name, f"{count:,}", f"{count / whole:.1%}") for name, count in counts.items()])
    bars = [bar(count / most, BAR_WIDTH) for count in counts.values()]
    return [title, *(f"  {line}  {drawn}" for line, drawn in zip(lines, bars, strict=True))]
