"""Describe a vocabulary: sizes, lengths, scripts and reachability of its tokens."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bytemill._backend import unicode_version
from bytemill._messages import printable, shortened
from bytemill._named import encoding_of
from bytemill.inspection.notebook import Displayed
from bytemill.inspection.reachability import Pieces, Reachability, reachability_of
from bytemill.inspection.terminal import align_columns, bar
from bytemill.inspection.token import visible
from bytemill.inspection.token_report import kinds_of
from bytemill.patterns import PATTERNS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bytemill.core import Encoding
    from bytemill.inspection.reachability import ModelFacts

__all__ = ["VocabularyReport", "holes_between", "report"]

# Limits of what is printed; `to_dict` has everything.
KINDS_SHOWN = 20
SPECIAL_SHOWN = 8
EXAMPLES_SHOWN = 6
EXAMPLE_CHARACTERS = 24
LONGEST = 5

# Lengths up to this have a line each, longer ones are grouped.
SINGLE_LENGTHS = 12
BAR_WIDTH = 40
ITEMS_WIDTH = 76
NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True)
class VocabularyReport(Displayed):
    """Description of a vocabulary. Its `str` is a page of text.

    Attributes:
        encoding: Name of the encoding.
        sha256: Digest of the encoding.
        n_vocab: Highest id plus one.
        mergeable_tokens: Number of mergeable tokens; of a SentencePiece model, of its normal pieces.
        special_tokens: Special tokens and their ids.
        holes: Ids without a token, as ranges of the first and the last.
        lengths: Number of mergeable tokens of each length in bytes, shortest first.
        longest: Ids of the longest mergeable tokens, longest first.
        kinds: Number of mergeable tokens of each kind, see `scripts`; most frequent first.
        reachability: Mergeable tokens that their own text does not encode to by merges.
        tokens: Bytes of the tokens in `longest` and `reachability`.
        pattern: The split pattern.
        pattern_name: Its name in `bytemill.patterns`, or `None`.
        unicode_version: Unicode version of the pattern's character classes; `None` for patterns that only the
            `regex` package supports, whose version applies, and for a SentencePiece model, which has no
            pattern.
        model: What a SentencePiece model has besides; `None` for others.
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
    model: ModelFacts | None = None

    @property
    def mean_length(self) -> float:
        """Mean number of bytes of a mergeable token."""
        total = sum(length * count for length, count in self.lengths.items())
        return total / self.mergeable_tokens if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Returns all figures as JSON-compatible values; tokens are ids."""
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
            **({} if self.model is None else {"model": self.model._asdict()}),
        }

    def __str__(self) -> str:
        return "\n".join(
            [
                shortened(self.encoding),
                "",
                *align_columns(self._facts(), left=2),
                "",
                *bar_chart(
                    "Length of mergeable tokens, in bytes", grouped(self.lengths), self.mergeable_tokens
                ),
                "",
                *bar_chart("What they are written in", most_frequent(self.kinds), self.mergeable_tokens),
            ]
        )

    def _facts(self) -> list[tuple[str, str]]:
        """Returns the rows at the top: names and figures."""
        missing = sum(last - first + 1 for first, last in self.holes)
        ranges = [str(first) if first == last else f"{first} to {last}" for first, last in self.holes]
        special = [f"{visible(text.encode())} ({token})" for text, token in self.special_tokens.items()]
        if len(special) > SPECIAL_SHOWN:
            special[SPECIAL_SHOWN:] = [f"and {len(special) - SPECIAL_SHOWN:,} more"]
        return [
            *fact("sha256", self.sha256),
            *fact("token IDs", f"{self.n_vocab:,}, from 0 to {self.n_vocab - 1}"),
            *fact(
                "mergeable tokens", f"{self.mergeable_tokens:,}, of {self.mean_length:.2f} bytes on average"
            ),
            *fact("special tokens", f"{len(self.special_tokens):,}", special),
            *fact("IDs without a token", f"{missing:,}", ranges),
            *fact("unreachable", *self._examples(self.reachability.unreachable)),
            *(self._facts_of_pattern() if self.model is None else self._facts_of_model(self.model)),
        ]

    def _facts_of_pattern(self) -> list[tuple[str, str]]:
        """Returns the rows about the pattern, and what depends on it."""
        unicode = self.unicode_version or "that of the regex package, which alone takes the pattern"
        return [
            *fact("cut by the pattern", *self._examples(self.reachability.cut)),
            *fact("only as whole pieces", *self._examples(self.reachability.whole_only)),
            *self._fact_of_longest(),
            *fact("pattern", self.pattern_name or "none of those with names", [printable(self.pattern)]),
            *fact("Unicode", unicode),
        ]

    def _facts_of_model(self, model: ModelFacts) -> list[tuple[str, str]]:
        """Returns the rows about types, scores and normalization."""
        types = [f"{name.replace('_', '-')} {count:,}" for name, count in model.types.items()]
        named = [f"{name} {token_id}" for name, token_id in model.named.items()]
        flags = [
            f"{name} {'yes' if value else 'no'}"
            for name, value in (
                ("space in front", model.add_dummy_prefix),
                ("extra spaces removed", model.remove_extra_whitespaces),
            )
        ]
        scores = f"{model.highest_score:g} to {model.lowest_score:g}"
        unknown = "the tokens of their bytes" if model.byte_fallback else "the unknown token"
        return [
            *fact("changed by normalization", *self._examples(self.reachability.changed)),
            *fact("with a character without a token", *self._examples(model.without_characters)),
            *self._fact_of_longest(),
            *fact("pieces", f"{sum(model.types.values()):,}", types),
            *fact("named", f"{len(model.named)}", named),
            *fact("scores", scores, [f"{model.equal_scores:,} merges share theirs with another"]),
            *fact("normalization", model.normalization, flags),
            *fact("characters without a token", f"become {unknown}"),
        ]

    def _fact_of_longest(self) -> list[tuple[str, str]]:
        longest = max(self.lengths, default=0)
        return fact("longest", f"{longest} bytes", list(map(self._example, self.longest)))

    def _examples(self, ids: list[int]) -> tuple[str, list[str]]:
        """Returns the number of tokens and the first few."""
        more = ["…"] if len(ids) > EXAMPLES_SHOWN else []
        return f"{len(ids):,}", [*map(self._example, ids[:EXAMPLES_SHOWN]), *more]

    def _example(self, token_id: int) -> str:
        text = visible(self.tokens[token_id])
        if len(text) > EXAMPLE_CHARACTERS:
            text = text[: EXAMPLE_CHARACTERS - 1] + "…"
        return f"{text} ({token_id})"


def report(encoding: Encoding | str) -> VocabularyReport:
    """Describes the vocabulary of an encoding.

    Args:
        encoding: The encoding, or its name as in `show`.

    Raises:
        TypeError, ValueError: `encoding` is not an encoding.
        PatternError: The engine of a custom pattern gives up on the text of a token.

    Complexity:
        Linear in the bytes of all tokens, some seconds for 200,000 of them; more if merges do not make all
        tokens, see `reachability`.
    """
    encoding = encoding_of(encoding)
    special_tokens = encoding._special_tokens  # noqa: SLF001 - tiktoken's names for them
    pattern = encoding._pat_str  # noqa: SLF001
    contents = encoding.definition.model
    model = None
    if contents is None:
        ranks = encoding._mergeable_ranks  # noqa: SLF001
        by_id = {token_id: token for token, token_id in ranks.items()}
        reachability = reachability_of(encoding)
    else:
        pieces = Pieces(encoding, contents)
        by_id = {token_id: encoding.decode_single_token_bytes(token_id) for token_id in pieces.normal()}
        reachability, model = pieces.reachability(), pieces.facts()
    longest = sorted(by_id, key=lambda token_id: (-len(by_id[token_id]), token_id))[:LONGEST]
    shown = [*longest, *(token_id for ids in reachability for token_id in ids)]
    shown += [] if model is None else model.without_characters
    return VocabularyReport(
        encoding=encoding.name,
        sha256=encoding.sha256,
        n_vocab=encoding.n_vocab,
        mergeable_tokens=len(by_id),
        special_tokens=dict(sorted(special_tokens.items(), key=lambda item: item[1])),
        holes=holes_between(encoding.vocab(), encoding.n_vocab),
        lengths=dict(sorted(Counter(map(len, by_id.values())).items())),
        longest=longest,
        kinds=dict(Counter(kinds_of(by_id.values())).most_common()),
        reachability=reachability,
        tokens={token_id: encoding.decode_single_token_bytes(token_id) for token_id in shown},
        pattern=pattern,
        pattern_name=next((name for name, known in PATTERNS.items() if known == pattern), None),
        unicode_version=None if model is not None else unicode_version(pattern),
        model=model,
    )


def fact(name: str, figure: str, items: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Returns the rows of one fact; items are wrapped into further rows without being broken."""
    joined = ", ".join(item.replace(" ", NO_BREAK_SPACE) for item in items)
    wrapped = textwrap.wrap(joined, ITEMS_WIDTH, break_long_words=False, break_on_hyphens=False)
    return [(name, figure), *(("", line.replace(NO_BREAK_SPACE, " ")) for line in wrapped)]


def holes_between(ids: Collection[int], n_vocab: int) -> list[tuple[int, int]]:
    """Returns the ranges of numbers below `n_vocab` that are not ids, as their first and last."""
    bounds = [-1, *sorted(ids), n_vocab]
    return [(before + 1, after - 1) for before, after in pairwise(bounds) if after > before + 1]


def grouped(lengths: dict[int, int]) -> dict[str, int]:
    """Returns the lines of the histogram: short lengths each, then ranges of doubling width."""
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


def most_frequent(kinds: dict[str, int]) -> dict[str, int]:
    """Returns the most frequent kinds, and the sum of all others."""
    shown = dict(list(kinds.items())[:KINDS_SHOWN])
    others = len(kinds) - len(shown)
    return shown | ({f"{others} others": sum(kinds.values()) - sum(shown.values())} if others else {})


def bar_chart(title: str, counts: dict[str, int], total: int) -> list[str]:
    """Returns a title, then a line with a bar for each count."""
    highest = max(counts.values(), default=1)
    rows = align_columns([(name, f"{count:,}", f"{count / total:.1%}") for name, count in counts.items()])
    bars = [bar(count / highest, BAR_WIDTH) for count in counts.values()]
    return [title, *(f"  {row}  {drawn}" for row, drawn in zip(rows, bars, strict=True))]
