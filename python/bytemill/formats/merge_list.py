"""Merge lists: when does merging by a list of pairs give the IDs that merging by rank gives?

A definition has tokens and ranks, which are also IDs; two adjacent symbols merge if their joined bytes are a
token: merging by *rank*. Other libraries have a list of pairs; two adjacent symbols merge if their pair is in
the list, the earliest pair first: merging by *list*. Both give the same IDs for every text if

1. each token of more than one byte, encoded with the ranks below its own, gives exactly two tokens;
2. the list has the pair of these two for each token, in the order of the IDs.

Proof: take any text during its encoding, where two adjacent symbols spell a token T. No merge has crossed
their outer ends, so the merges between these ends were those of T's bytes alone. While ranks below T's are
left, either the two symbols are T's pair of condition 1 or they do not occur; later they cannot occur either,
because the pair would have been merged in T's turn. So no other pair for T ever occurs: it does not matter
which others the list has, and where.

Some vocabularies have tokens that no merges make: they stand for a piece only where the piece is exactly the
token. If encoding such a token with all the others leaves three symbols or more, two adjacent symbols never
spell it, and the proof holds for the other tokens. Then a library that looks up whole pieces first gives the
same IDs too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias, TypeVar

from bytemill._backend import build_core
from bytemill.errors import VocabularyError
from bytemill.patterns import WHOLE_TEXT_PATTERN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bytemill._backend import CoreBPE

__all__ = ["BytePair", "Merges", "check_merges", "derived", "merges_of"]

BytePair: TypeAlias = tuple[bytes, bytes]
T = TypeVar("T")


class Merges(NamedTuple):
    """How the tokens of a vocabulary are made.

    Attributes:
        pairs: The two tokens that each token of more than one byte is made of, in the order of IDs.
        whole: The tokens that no merges make, which stand for whole pieces only.
    """

    pairs: dict[bytes, BytePair]
    whole: list[bytes]


def merges_of(ranks: dict[bytes, int]) -> Merges:
    """Finds how the tokens of a vocabulary are made; arguments, errors and complexity as `derived`."""
    merges, whole = derived(ranks, lambda core, _: core.merges())
    token_of_id = {token_id: token for token, token_id in ranks.items()}
    pairs = [(token_of_id[left], token_of_id[right]) for left, right in merges]
    return Merges({left + right: (left, right) for left, right in pairs}, whole)


def derived(ranks: dict[bytes, int], derive: Callable[[CoreBPE, list[bytes]], T]) -> tuple[T, list[bytes]]:
    """Returns what follows from the merges of a vocabulary, and the tokens that no merges make.

    Args:
        ranks: The ID of each mergeable token; all bytes are there.
        derive: Takes the core of the tokens that merges make, and the others in the order of IDs; raises
            `VocabularyError` if merges do not make one of its tokens of two others.

    Raises:
        VocabularyError: No merge list gives the same IDs, by the conditions of this module.

    Complexity:
        O(n log n) for n bytes of tokens; if no merges make some of them, quadratic in the length of each
        token, in Python.
    """
    whole: set[bytes] = set()
    while True:
        others = {token: rank for token, rank in ranks.items() if token not in whole} if whole else ranks
        core = core_of(others)
        in_order = sorted(whole, key=ranks.__getitem__)
        try:
            result = derive(core, in_order)
            break
        except VocabularyError:
            # Without these, others may be made of other pairs.
            found = {token for token in others if len(token) > 1 and len(parts_below(token, others)) != 2}  # noqa: PLR2004
            if not found:
                raise
            whole |= found
    for token in whole:
        if len(core.encode_single_piece(token)) < 3:  # noqa: PLR2004 - see the module
            raise VocabularyError(
                f"the token {token!r} with the id {ranks[token]} is made of a token with a higher id: "
                "merging by a list of pairs would give different token IDs than merging by rank"
            )
    return result, in_order


def core_of(ranks: dict[bytes, int]) -> CoreBPE:
    """Builds a core of mergeable tokens only."""
    return build_core(ranks, {}, WHOLE_TEXT_PATTERN)


def parts_below(token: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """Merges the bytes of a token by the ranks below its own."""
    limit = ranks[token]
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 1:
        rank, i = min((ranks.get(parts[i] + parts[i + 1], limit), i) for i in range(len(parts) - 1))
        if rank >= limit:
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts


def check_merges(
    ranks: dict[bytes, int], merges: Sequence[BytePair], source: str, *, whole_pieces: bool
) -> None:
    """Checks that merging by a list of pairs gives the same IDs as merging by rank.

    Args:
        ranks: The ID of each mergeable token; all bytes are there.
        merges: The list.
        source: The name of its file, for messages.
        whole_pieces: Whether the library that reads the list looks up whole pieces first.

    Raises:
        VocabularyError: A pair occurs twice or is not made of tokens, or both would not give the same IDs, by
            the conditions of this module.
    """
    indices: dict[BytePair, int] = {}
    for index, pair in enumerate(merges):
        for token in (*pair, pair[0] + pair[1]):
            if token not in ranks:
                refuse(source, f"merge {index}, of {pair[0]!r} and {pair[1]!r}: {token!r} is no token")
        if pair in indices:
            refuse(source, f"merge {index}, of {pair[0]!r} and {pair[1]!r}, is merge {indices[pair]} already")
        indices[pair] = index

    try:
        pairs, whole = merges_of(ranks)
    except VocabularyError as error:
        refuse(source, f"cannot be encoded exactly: {error}")
    if whole and not whole_pieces:
        refuse(source, f"no merges make the token {whole[0]!r} with the id {ranks[whole[0]]}")
    last: BytePair | None = None
    for token, pair in pairs.items():
        if pair not in indices:
            refuse(
                source,
                f"cannot be encoded exactly: by the order of ids the token {token!r} with the id "
                f"{ranks[token]} is made of {pair[0]!r} and {pair[1]!r}, which is not among the merges",
            )
        if last is not None and indices[last] > indices[pair]:
            made = last[0] + last[1]
            refuse(
                source,
                "cannot be encoded exactly: the order of the merges is not that of the ids: "
                f"{made!r} has the id {ranks[made]} and merge {indices[last]}, "
                f"{token!r} the id {ranks[token]} and merge {indices[pair]}",
            )
        last = pair


def refuse(source: str, reason: str) -> NoReturn:
    """Raises `VocabularyError` with the name of the file."""
    raise VocabularyError(f"{source}: {reason}")
