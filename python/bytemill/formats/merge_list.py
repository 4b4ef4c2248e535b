"""Merge lists: when does merging by a list of pairs give the IDs that merging by rank gives?

A definition has tokens and ranks, which are also IDs; two adjacent symbols merge if their joined bytes are a
token: merging by *rank*. Other libraries have a list of pairs; two adjacent symbols merge if their pair is in
the list, the earliest pair first: merging by *list*. The core says which pairs a list needs, and in which
order; the proof is in `src/merge/agreement.rs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

from bytemill._backend import build_core
from bytemill.errors import VocabularyError
from bytemill.formats.json_file import brief
from bytemill.patterns import WHOLE_TEXT_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["BytePair", "Merges", "check_merges", "indices_of", "merges_of"]

BytePair: TypeAlias = tuple[bytes, bytes]


class Merges(NamedTuple):
    """How the tokens of a vocabulary are made.

    Attributes:
        pairs: The two tokens that each token of more than one byte is made of, in the order of IDs.
        whole: The tokens that no merges make, which stand for whole pieces only.
    """

    pairs: dict[bytes, BytePair]
    whole: list[bytes]


def merges_of(ranks: dict[bytes, int]) -> Merges:
    """Finds how the tokens of a vocabulary are made.

    Args:
        ranks: The ID of each mergeable token; all bytes are there.

    Raises:
        VocabularyError: No merge list gives the same IDs.

    Complexity:
        O(n log n) for n bytes of tokens.
    """
    token_of_id = {token_id: token for token, token_id in ranks.items()}
    listed = build_core(ranks, {}, WHOLE_TEXT_PATTERN).listed_merges()
    pairs = {token_of_id[made]: (token_of_id[left], token_of_id[right]) for made, left, right in listed}
    whole = [token for token in ranks if len(token) > 1 and token not in pairs]
    return Merges(pairs, sorted(whole, key=ranks.__getitem__))


def indices_of(merges: Iterable[BytePair], source: str) -> dict[BytePair, int]:
    """Returns the index of each pair in a list; `VocabularyError` with the file if one is there twice."""
    indices: dict[BytePair, int] = {}
    for index, pair in enumerate(merges):
        if pair in indices:
            refuse(source, f"merge {index}, of {pair[0]!r} and {pair[1]!r}, is merge {indices[pair]} already")
        indices[pair] = index
    return indices


def check_merges(
    ranks: dict[bytes, int], indices: Mapping[BytePair, int], source: str, *, whole_pieces: bool
) -> None:
    """Checks that merging by a list of pairs gives the same IDs as merging by rank.

    Args:
        ranks: The ID of each mergeable token; all bytes are there.
        indices: The index of each pair in the list.
        source: The name of its file, for messages.
        whole_pieces: Whether the library that reads the list looks up whole pieces first.

    Raises:
        VocabularyError: A pair is not made of tokens, or both would not give the same IDs.
    """
    for pair, index in indices.items():
        for token in (*pair, pair[0] + pair[1]):
            if token not in ranks:
                refuse(source, f"merge {index}, of {pair[0]!r} and {pair[1]!r}: {token!r} is no token")
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
    raise VocabularyError(f"{source}: {brief(reason)}")
