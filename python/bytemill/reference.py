"""Executable definition of byte pair encoding: slow, readable code that every fast engine is tested against.

Read it from top to bottom. A *token* is a byte string with a number, its id. The 256 single bytes are
tokens; every further token is the *merge* of two others. *Training* finds the merges: it takes the pair of
adjacent tokens that occurs most often, makes it a token, and repeats. *Encoding* replays them on new text:
of all adjacent pairs that are a token together it merges the one with the lowest *rank*, and repeats. Before
either, a *pattern* cuts the text into *pieces*, roughly words, and no merge reaches across a cut. *Special
tokens* are cut out before that.

Nothing here is compiled or optimized.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from bytemill import special
from bytemill.errors import UnknownTokenError, VocabularyError
from bytemill.patterns import WHOLE_TEXT_PATTERN
from bytemill.splitting import Splitter, repair_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = [
    "ReferenceEncoding",
    "count_pairs",
    "encode_unigram",
    "encode_wordpiece",
    "merge",
    "merge_steps",
    "ranks_of_merges",
    "split",
    "train",
    "train_steps",
]

Pair: TypeAlias = tuple[int, int]
Word: TypeAlias = tuple[list[int], int]  # the ids of a piece, and its count
TieBreak: TypeAlias = Literal["first_seen", "smallest_pair"]

BYTE_TOKENS = [bytes([value]) for value in range(256)]


def split(text: str, splitter: Splitter) -> list[bytes]:
    """Cuts a text into its pieces, as UTF-8.

    Surrogates have no UTF-8 form: pairs of them are joined first, and lone ones become U+FFFD.
    """
    return [piece.encode() for piece in splitter.split(repair_surrogates(text))]


# --- Training ---


def count_pairs(
    ids: Sequence[int], counts: dict[Pair, int] | None = None, weight: int = 1
) -> dict[Pair, int]:
    """Counts the pairs of adjacent ids: [1, 2, 3, 1, 2] has (1, 2) twice, (2, 3) and (3, 1) once.

    Windows overlap: [1, 1, 1] has (1, 1) twice, though only one merge fits.

    Args:
        ids: The tokens of one piece.
        counts: Earlier counts, to which these are added in place.
        weight: Number of occurrences of the piece.
    """
    counts = {} if counts is None else counts
    for pair in pairwise(ids):
        counts[pair] = counts.get(pair, 0) + weight
    return counts


def merge(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replaces a pair by a new id, from left to right: [1, 1, 1, 2] with (1, 1) -> 9 becomes [9, 1, 2]."""
    merged = []
    position = 0
    while position < len(ids):
        if tuple(ids[position : position + 2]) == pair:
            merged.append(new_id)
            position += 2
        else:
            merged.append(ids[position])
            position += 1
    return merged


def train(
    data: str | Mapping[bytes, int] | Iterable[bytes],
    vocab_size: int,
    *,
    pattern: str | None = None,
    tie_break: TieBreak = "first_seen",
) -> list[Pair]:
    """Learns the merges that build a vocabulary.

    Args:
        data: A text; or pieces, as an iterable or as a mapping from piece to count.
        vocab_size: Number of tokens wanted, including the 256 bytes.
        pattern: The split pattern; without one a text is a single piece. Ignored if `data` is pieces.
        tie_break: Which of several pairs with the highest count is merged. "first_seen": the one that occurs
            first, reading the distinct pieces in order of appearance. "smallest_pair": the smallest (left,
            right).

    Returns:
        The merges in order: the i-th makes token 256 + i of two earlier ones. Fewer than wanted if no pair
        is left.

    Raises:
        ValueError: `vocab_size` is below 256, or `tie_break` is unknown.
        PatternError: The pattern does not compile or matches the empty string.

    Complexity:
        The number of merges times the size of the distinct pieces.
    """
    if isinstance(data, str):
        data = split(data, Splitter(WHOLE_TEXT_PATTERN if pattern is None else pattern))
    words = [(list(piece), count) for piece, count in Counter(data).items()]
    return [pair for pair, _ in train_steps(words, vocab_size, tie_break)]


def train_steps(
    words: list[Word], vocab_size: int, tie_break: TieBreak = "first_seen"
) -> Iterator[tuple[Pair, list[Word]]]:
    """Trains step by step, yielding each merge with the words as it leaves them; see `train`."""
    if vocab_size < len(BYTE_TOKENS):
        raise ValueError(f"vocab_size must be at least 256, a token for each byte, not {vocab_size}")
    if tie_break not in ("first_seen", "smallest_pair"):
        raise ValueError(f"tie_break must be 'first_seen' or 'smallest_pair', not {tie_break!r}")
    for new_id in range(len(BYTE_TOKENS), vocab_size):
        counts: dict[Pair, int] = {}
        for ids, weight in words:
            count_pairs(ids, counts, weight)
        if not counts:
            return
        # `max` returns the first of equals, and a dict keeps insertion order.
        pair = max(counts if tie_break == "first_seen" else sorted(counts), key=counts.__getitem__)
        words = [(merge(ids, pair, new_id), weight) for ids, weight in words]
        yield pair, words


def ranks_of_merges(merges: Iterable[Pair]) -> dict[bytes, int]:
    """Returns the vocabulary of a list of merges: token bytes to rank, which is also the id."""
    tokens = list(BYTE_TOKENS)
    for left, right in merges:
        tokens.append(tokens[left] + tokens[right])
    return {token: rank for rank, token in enumerate(tokens)}


# --- Encoding ---


def merge_steps(piece: bytes, ranks: Mapping[bytes, int]) -> Iterator[list[bytes]]:
    """Merges a piece step by step, yielding its parts: first the single bytes, then what each merge leaves.

    A step merges the one pair of neighbors whose joined bytes have the lowest rank, the leftmost of equals.
    It ends when no two neighbors joined are a token.

    Complexity:
        Quadratic in the length of the piece.
    """
    parts = [piece[i : i + 1] for i in range(len(piece))]
    yield parts
    while mergeable := [
        (rank, i)
        for i, (left, right) in enumerate(pairwise(parts))
        if (rank := ranks.get(left + right)) is not None
    ]:
        _, i = min(mergeable)
        parts = [*parts[:i], parts[i] + parts[i + 1], *parts[i + 2 :]]
        yield parts


# --- Models without merges: embedding models have these ---


def encode_wordpiece(
    word: str, ids: Mapping[str, int], *, unknown: str = "[UNK]", prefix: str = "##", longest: int = 100
) -> list[int]:
    """Encodes a word by WordPiece: the longest token that it begins with, then the same for the rest.

    Tokens behind the first have a prefix in front. A word that is not made of tokens from end to end is
    unknown as a whole, and so is a longer one: nothing goes back to try a shorter token.

    Args:
        word: The word.
        ids: Tokens and their IDs.
        unknown: The unknown token.
        prefix: Stands before each token but the first.
        longest: The most characters of a word.

    Raises:
        KeyError: The word is unknown, and the unknown token has no ID.

    Complexity:
        Quadratic in the length of the word.
    """
    if len(word) > longest:
        return [ids[unknown]]
    tokens: list[str] = []
    start = 0
    while start < len(word):
        before = prefix if start else ""
        ends = (end for end in range(len(word), start, -1) if before + word[start:end] in ids)
        end = next(ends, None)
        if end is None:
            return [ids[unknown]]
        tokens.append(before + word[start:end])
        start = end
    return [ids[token] for token in tokens]


def encode_unigram(
    word: str,
    tokens: Sequence[tuple[str, float]],
    *,
    unknown: int | None = 0,
    byte_fallback: bool = False,
) -> list[int]:
    """Encodes a word by Unigram: the tokens that it is made of whose scores have the greatest sum.

    Scores are logarithms of probabilities, so this is the most probable way to make the word. A character
    that is no token is unknown, with a score below all others; what is unknown in a row is one text.

    Args:
        word: The word.
        tokens: Tokens and their scores. The ID of a token is its place in the list, its last one.
        unknown: The ID of the unknown token.
        byte_fallback: Whether unknown text becomes the tokens `<0x00>` to `<0xFF>` of its bytes, if all are
            there.

    Raises:
        ValueError: The word needs the unknown token, and there is none.

    Complexity:
        Quadratic in the length of the word.
    """
    ids = {token: i for i, (token, _) in enumerate(tokens)}
    parts: list[tuple[str, bool]] = []
    for part in best_path(word, ids, tokens, unknown):
        is_unknown = ids.get(part) in (None, unknown)
        before = parts.pop()[0] if is_unknown and parts and parts[-1][1] else ""
        parts.append((before + part, is_unknown))
    found: list[int] = []
    for part, _ in parts:
        spelled = [ids.get(f"<0x{byte:02X}>") for byte in part.encode()]
        if part in ids:
            found.append(ids[part])
        elif byte_fallback and None not in spelled:
            found += [token for token in spelled if token is not None]
        elif unknown is not None:
            found.append(unknown)
    return found


def best_path(
    word: str, ids: Mapping[str, int], tokens: Sequence[tuple[str, float]], unknown: int | None
) -> list[str]:
    """Returns the tokens and the unknown characters of a word whose scores have the greatest sum.

    Of equal sums, the one whose last token is longest counts. Arguments and errors as `encode_unigram`.
    """
    unknown_score = min(score for _, score in tokens) - 10
    # For each end, the best sum of scores up to there, and where the last token starts.
    best: dict[int, tuple[float, int]] = {0: (0.0, 0)}
    for start, end in combinations(range(len(word) + 1), 2):
        token = ids.get(word[start:end])
        if token is None and end > start + 1:
            continue
        total = best[start][0] + (unknown_score if token is None else tokens[token][1])
        if end not in best or total > best[end][0]:
            best[end] = total, start
            if token is None and unknown is None:
                raise ValueError(f"the word {word!r} needs an unknown token, which there is not")
    path: list[str] = []
    end = len(word)
    while end > 0:
        start = best[end][1]
        path.insert(0, word[start:end])
        end = start
    return path


class ReferenceEncoding:
    """Encodes and decodes with a vocabulary, special tokens and a split pattern."""

    def __init__(
        self,
        mergeable_ranks: Mapping[bytes, int],
        special_tokens: Mapping[str, int] | None = None,
        pattern: str | None = None,
    ) -> None:
        """Builds an encoding.

        Args:
            mergeable_ranks: Token bytes to rank, which is both the id and the priority of the merge.
            special_tokens: Text to id.
            pattern: The split pattern; without one a text is a single piece.

        Raises:
            VocabularyError: A single byte is missing, two tokens share a rank, or a token is empty.
            PatternError: The pattern does not compile or matches the empty string.
        """
        self.mergeable_ranks = dict(mergeable_ranks)
        self.special_tokens = dict(special_tokens or {})
        self.splitter = Splitter(WHOLE_TEXT_PATTERN if pattern is None else pattern)
        self._token_bytes = {rank: token for token, rank in self.mergeable_ranks.items()}
        if len(self._token_bytes) != len(self.mergeable_ranks):
            raise VocabularyError("two tokens of the vocabulary have the same rank")
        if missing := [token for token in BYTE_TOKENS if token not in self.mergeable_ranks]:
            raise VocabularyError(f"the vocabulary has no token for the byte {missing[0]!r}")
        if b"" in self.mergeable_ranks or "" in self.special_tokens:
            raise VocabularyError("a token of the vocabulary is empty")
        for text, token in self.special_tokens.items():
            self._token_bytes.setdefault(token, text.encode())

    def encode_piece(self, piece: bytes) -> list[int]:
        """Encodes one piece: as a single token if it is one, else by merging its bytes."""
        if piece in self.mergeable_ranks:
            return [self.mergeable_ranks[piece]]
        *_, parts = merge_steps(piece, self.mergeable_ranks)
        return [self.mergeable_ranks[part] for part in parts]

    def encode_ordinary(self, text: str) -> list[int]:
        """Encodes a text in which special tokens are text like any other."""
        return [token for piece in split(text, self.splitter) for token in self.encode_piece(piece)]

    def encode(
        self,
        text: str,
        *,
        allowed_special: special.AllowedSpecial = frozenset(),
        disallowed_special: special.DisallowedSpecial = "all",
    ) -> list[int]:
        """Encodes a text with its special tokens.

        Args:
            text: Any string.
            allowed_special: Special tokens that become ids; of several at one offset the longest.
            disallowed_special: Strings that are an error; "all" for all special tokens not allowed.

        Raises:
            DisallowedSpecialTokenError: The text contains a disallowed string.
            TypeError: See `special.resolve`.
        """
        names = self.special_tokens.keys()

        def find(text: str, tokens: special.Tokens, start: int = 0) -> tuple[str, int] | None:
            return special.find_leftmost(text, names if tokens is None else names & tokens, start)

        allowed, disallowed = special.resolve(names, allowed_special, disallowed_special)
        text = repair_surrogates(text)
        special.check(text, disallowed, names)
        ids: list[int] = []
        start = 0
        while found := find(text, allowed, start):
            token, position = found
            ids += [*self.encode_ordinary(text[start:position]), self.special_tokens[token]]
            start = position + len(token)
        return ids + self.encode_ordinary(text[start:])

    def decode_bytes(self, tokens: Iterable[int]) -> bytes:
        """Joins the bytes of tokens, special ones included; `UnknownTokenError` for an unknown id."""
        tokens = list(tokens)
        if unknown := [token for token in tokens if token not in self._token_bytes]:
            raise UnknownTokenError(f"Invalid token for decoding: {unknown[0]}")
        return b"".join([self._token_bytes[token] for token in tokens])

    def decode(self, tokens: Iterable[int], errors: str = "replace") -> str:
        """Decodes tokens to text; `errors` as in `bytes.decode`."""
        return self.decode_bytes(tokens).decode(errors=errors)
