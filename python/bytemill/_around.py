"""Tokens to put around texts, as arguments: IDs, or texts of single tokens."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from bytemill._arguments import known_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Tokens", "ids_of", "mark_of"]

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


def ids_of(what: str, tokens: Tokens, encoding: HasTokens) -> list[int]:
    """Returns the IDs of the argument called `what`.

    Raises:
        TypeError: They are neither integers nor strings.
        ValueError: One is not a token of the encoding.

    Warns:
        UserWarning: A text is a word rather than a mark, such as "eos" for "<|endoftext|>".
    """
    if tokens is None:
        return []
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
                    f"{what} has {token!r}, which is an ordinary token of {encoding.name!r} (id {ids[-1]}) "
                    f"and occurs in texts too: {special_marks(encoding)}",
                    UserWarning,
                    stacklevel=4,
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
