"""Training oracle in plain Python; every trainer is tested against it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bytemill.formats import data_gym
from bytemill.reference import Pair, count_pairs, merge

BYTE_TOKENS = [bytes([byte]) for byte in range(256)]
HUGGINGFACE_ORDER = {token: i for i, token in enumerate(data_gym.BYTE_TOKENS)}


def preference(tie_break: str, tokens: Sequence[bytes]) -> Callable[[Pair], object]:
    """Returns the key by which the minimum of several pairs with the same count is chosen."""
    if tie_break == "smallest_pair":
        return lambda pair: pair
    if tie_break == "huggingface":  # by ids too, with other ids of the byte tokens
        ids = [HUGGINGFACE_ORDER.get(token, i) for i, token in enumerate(tokens)]
        return lambda pair: (ids[pair[0]], ids[pair[1]])
    if tie_break == "greatest_bytes":  # of two where one is a prefix of the other, the longer is greater
        order = [(*(-byte for byte in token), 1) for token in tokens]
        return lambda pair: (order[pair[0]], order[pair[1]])
    assert tie_break == "first_seen"
    return lambda _: 0  # `min` returns the first of equals, and pairs are in order of first occurrence


def train(  # noqa: PLR0913 - as many as the trainer has
    pieces: Mapping[bytes, int],
    merges: int,
    *,
    tie_break: str = "smallest_pair",
    min_frequency: int = 0,
    max_token_length: int | None = None,
    initial: tuple[Sequence[bytes], Sequence[Pair]] = (BYTE_TOKENS, ()),
) -> tuple[list[Pair], list[list[int]]]:
    """Learns up to a number of merges; returns them, and the ids of each piece."""
    tokens, given = list(initial[0]), list(initial[1])
    words = [([tokens.index(piece[i : i + 1]) for i in range(len(piece))], n) for piece, n in pieces.items()]
    learned: list[Pair] = []
    while given or len(learned) < merges:
        if given:
            best = given.pop(0)
        else:
            counts: dict[Pair, int] = {}
            for ids, weight in words:
                count_pairs(ids, counts, weight)
            fits = [p for p in counts if len(tokens[p[0]] + tokens[p[1]]) <= (max_token_length or 1 << 60)]
            prefer = preference(tie_break, tokens)
            best = min(fits, key=lambda pair: (-counts[pair], prefer(pair)), default=(0, 0))
            if not fits or counts[best] < max(min_frequency, 1):
                break
            learned.append(best)
        words = [(merge(ids, best, len(tokens)), weight) for ids, weight in words]
        tokens.append(tokens[best[0]] + tokens[best[1]])
    return learned, [ids for ids, _ in words]


def token_bytes(merges: Sequence[Pair], byte_tokens: Sequence[bytes] = BYTE_TOKENS) -> list[bytes]:
    """Returns the tokens of a list of merges, in the order of their ids."""
    tokens = list(byte_tokens)
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    assert len(set(tokens)) == len(tokens), "two tokens have the same bytes"
    return tokens
