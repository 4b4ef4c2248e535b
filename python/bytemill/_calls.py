"""The arguments of an encoding's methods: tokens around texts, special tokens, batches, places in texts."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import pairwise
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from bytemill._arguments import check_no_bytes, known_ids
from bytemill.definition import ID_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from bytemill._backend import CoreBPE

__all__ = [
    "Tokens",
    "batches",
    "copied_rows",
    "extended",
    "first_characters",
    "ids_of",
    "last_characters",
    "mark_of",
    "string_indices",
    "warn_of_ambiguity",
]


# Token IDs, or texts of single tokens.
Tokens: TypeAlias = "int | str | Sequence[int | str] | None"

END_OF_TEXT = "<|endoftext|>"


class HasTokens(Protocol):
    """An encoding."""

    name: str
    _core_bpe: Any

    @property
    def special_tokens_set(self) -> set[str]:
        """The texts of the special tokens."""

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Returns the ID of a token; `KeyError` for other texts."""


def ids_of(what: str, tokens: Tokens, encoding: HasTokens, *, stacklevel: int = 3) -> list[int]:
    """Returns the IDs of the argument called `what`; `stacklevel` is that of its warning.

    Raises:
        TypeError: They are neither integers nor strings; or bytes, whose items would be IDs.
        ValueError: One is not a token of the encoding.

    Warns:
        UserWarning: A text is a word rather than a mark, such as "eos" for "<|endoftext|>".
    """
    if tokens is None:
        return []
    check_no_bytes(what, tokens)
    given = [tokens] if isinstance(tokens, str) or not isinstance(tokens, Iterable) else tokens
    ids: list[int] = []
    for token in given:
        if isinstance(token, str):
            try:
                ids.append(encoding.encode_single_token(token))
            except KeyError:
                mark = mark_of(encoding)
                such = "" if mark is None else f", such as {mark!r}"
                raise ValueError(
                    f"{what} has the text {token!r}, which is not a token of {encoding.name!r}: expected "
                    f"one{such}, or an id"
                ) from None
            if token.isalpha() and token not in encoding.special_tokens_set:
                warnings.warn(
                    f"{what} has {token!r}, which is an ordinary token of {encoding.name!r} (ID {ids[-1]}) "
                    f"and occurs in texts too: {special_marks(encoding)}",
                    UserWarning,
                    stacklevel=stacklevel,
                )
        else:
            ids.append(token)
    return known_ids(what, ids, encoding._core_bpe.is_token)  # noqa: SLF001 - of this package


def mark_of(encoding: HasTokens) -> str | None:
    """Returns the text of a special token to put between documents, the end of text if there is one."""
    if END_OF_TEXT in encoding.special_tokens_set:
        return END_OF_TEXT
    return min(encoding.special_tokens_set, key=encoding.encode_single_token, default=None)


def special_marks(encoding: HasTokens) -> str:
    """Returns what to say of the special tokens of an encoding."""
    mark = mark_of(encoding)
    return "it has no special tokens" if mark is None else f"a special token of it is {mark!r}"


# Adding special tokens to a vocabulary.


def extended(
    special_tokens: Mapping[str, int], added: Mapping[str, int], core: CoreBPE, n_vocab: int
) -> dict[str, int]:
    """Returns special tokens with those added to them.

    Args:
        special_tokens: Each special token's id.
        added: The id of each special token to add, or of one that is there already.
        core: The core with the other tokens.
        n_vocab: The number of ids that are in use.

    Raises:
        ValueError: An id belongs to another token or is out of range, a special token has another id already,
            or it is the empty string.
        TypeError: They are no mapping, a special token is not a string, or its id not an integer.
    """
    if not isinstance(added, Mapping):
        raise TypeError(
            f"expected special tokens as a mapping of their texts to their IDs, got {type(added).__name__}"
        )
    together = dict(special_tokens)
    owners = {token_id: text for text, token_id in special_tokens.items()}
    for text, number in added.items():
        if not isinstance(text, str) or not hasattr(number, "__index__"):
            raise TypeError(
                f"expected special tokens as strings with integers as IDs, got {text!r}: {number!r}"
            )
        token_id = index(number)
        if together.get(text) == token_id:
            continue
        if problem := clash(text, token_id, together, owners, core):
            free = f"; IDs from {n_vocab} on are free" if problem.startswith("that is the id") else ""
            raise ValueError(f"cannot add the special token {text!r} with the id {token_id}: {problem}{free}")
        together[text], owners[token_id] = token_id, text
    return together


def clash(
    text: str, token_id: int, special_tokens: Mapping[str, int], owners: Mapping[int, str], core: CoreBPE
) -> str | None:
    """Returns why a special token cannot be added, if it cannot."""
    if not text:
        return "expected at least one character, or it would be found everywhere"
    if text in special_tokens:
        return f"it has the id {special_tokens[text]} already"
    if not 0 <= token_id < ID_LIMIT:
        return f"expected an id from 0 to {ID_LIMIT - 1}"
    if token_id in owners:
        return f"that is the id of {owners[token_id]!r}"
    if core.is_token(token_id):
        return f"that is the id of the token {core.decode_single_token_bytes(token_id)!r}"
    return None


# Indices into strings in which a pair of surrogates counts as one character, as the core counts.


# Two surrogates that stand for one character.
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def string_indices(text: str, characters: Sequence[int]) -> list[int]:
    """Returns the index in a string that is preceded by each number of characters.

    Complexity:
        O(text), or O(1) for each index if the text is ASCII.
    """
    if text.isascii():
        return list(characters)
    pairs = [pair.start() - before for before, pair in enumerate(PAIR.finditer(text))]
    return [count + bisect_left(pairs, count) for count in characters]


def first_characters(text: str, count: int) -> str:
    """Returns the first `count` characters of a text, which has at least `count`."""
    return text[: string_indices(text[: 2 * count], [count])[0]]


def last_characters(text: str, count: int) -> str:
    """Returns the last `count` characters of a text, which has at least `count`."""
    # A pair takes two indices of the string, so the characters are in this part of it.
    end = text[max(0, len(text) - 2 * count) :]
    return end[string_indices(end, [len(PAIR.sub("_", end)) - count])[0] :]


# Batches of texts that come one after the other.


# A batch is complete once its texts have so many characters: enough work to keep all threads busy.
MOST_CHARACTERS = 1 << 24


def batches(texts: Iterable[str], batch_size: int) -> Iterator[list[str]]:
    """Yields the texts in lists of `batch_size`, or fewer that have about 16 million characters."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        # The core refuses what is not a string.
        characters += len(text) if isinstance(text, str) else 0
        if len(batch) == batch_size or characters >= MOST_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def copied_rows(
    ids: npt.NDArray[np.integer], offsets: npt.NDArray[np.int64]
) -> Iterator[npt.NDArray[np.uint32]]:
    """Yields the ids of each text, copied: a view would keep the ids of the whole batch in memory."""
    start = 0
    for end in offsets[1:].tolist():
        yield ids[start:end].astype("uint32")
        start = end


# Warnings of special tokens that are ambiguous in text or in ids.


def warn_of_ambiguity(
    mergeable_ranks: Mapping[bytes, int], special_tokens: Mapping[str, int], stacklevel: int = 3
) -> None:
    """Warns of ambiguous special tokens, by default at the caller of the function that calls this one.

    tiktoken builds such encodings without a warning. In text it then takes one of the special tokens that
    match, in an unspecified order; of two tokens with one id it decodes the mergeable one.

    Args:
        mergeable_ranks: Each mergeable token's id.
        special_tokens: Each special token's id.
        stacklevel: That of the warnings.

    Warns:
        UserWarning: A special token is the beginning of another, or has the id of a mergeable token.

    Complexity:
        Linear in the tokens, plus sorting the special ones.
    """
    for token, successor in pairwise(sorted(special_tokens)):
        # In sorted order, a string is followed directly by those that begin with it.
        if successor.startswith(token):
            warnings.warn(
                f"the special token {token!r} is the beginning of {successor!r}: "
                "where both match, the longer one wins",
                UserWarning,
                stacklevel=stacklevel,
            )
    warn_of_shared_ids(mergeable_ranks, special_tokens, stacklevel + 1)


def warn_of_shared_ids(
    mergeable_ranks: Mapping[bytes, int], special_tokens: Mapping[str, int], stacklevel: int = 3
) -> None:
    """Warns of special tokens that have the ID of a mergeable token; arguments as `warn_of_ambiguity`."""
    ids = set(special_tokens.values())
    if not ids.isdisjoint(mergeable_ranks.values()):
        shared = sorted(ids.intersection(mergeable_ranks.values()))
        warnings.warn(
            f"special tokens share the IDs {shared} with mergeable tokens, and decode to those",
            UserWarning,
            stacklevel=stacklevel,
        )
