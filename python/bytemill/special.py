"""The special-token policy: which special tokens are encoded, which are an error, which are ordinary text.

The arguments are resolved here for the compiled encoding and for the reference; only the reference searches
in Python. Throughout, a set of tokens that is `None` stands for *all special tokens of the encoding*: the
common cases ("all allowed", "all disallowed") then cost nothing, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from typing import Literal, NoReturn, TypeAlias

from bytemill.errors import DisallowedSpecialTokenError

__all__ = [
    "ALL",
    "NO_TOKENS",
    "AllowedSpecial",
    "DisallowedSpecial",
    "Tokens",
    "check",
    "find_leftmost",
    "kept",
    "raise_disallowed",
    "resolve",
    "resolve_for_core",
]

AllowedSpecial: TypeAlias = Literal["all"] | AbstractSet[str]
DisallowedSpecial: TypeAlias = Literal["all"] | Collection[str]

# Some special tokens of an encoding; None for all of them.
Tokens: TypeAlias = AbstractSet[str] | None

# The default arguments: calls with them are recognised by identity, which costs nothing.
NO_TOKENS: frozenset[str] = frozenset()
ALL: Literal["all"] = "all"


def resolve(
    special_tokens: AbstractSet[str], allowed: AllowedSpecial, disallowed: DisallowedSpecial
) -> tuple[Tokens, Tokens]:
    """Converts the two arguments of `encode` to two sets.

    Args:
        special_tokens: The special tokens of the encoding.
        allowed: "all", or a `set` or `frozenset`; members that are not special tokens have no effect.
        disallowed: "all" for every special token that is not allowed, or any collection of strings, special
            tokens or not. An empty collection and `None` disallow nothing. A string other than "all" is
            treated as the collection of its characters.

    Returns:
        (allowed, disallowed), each a set, or `None` for all special tokens. The two may overlap: a token
        that is allowed and explicitly disallowed is an error when met.

    Raises:
        TypeError: `allowed` is neither "all" nor a set; `disallowed` is not iterable.

    Complexity:
        Constant for "all" and for nothing; otherwise linear in the sets.
    """
    allowed_tokens: Tokens
    if isinstance(allowed, (set, frozenset)):
        allowed_tokens = allowed
    elif isinstance(allowed, str) and allowed == "all":
        allowed_tokens = None
    else:
        raise TypeError(
            f"allowed_special must be 'all', a set or a frozenset, not {type(allowed).__name__!r}"
        )

    if isinstance(disallowed, str) and disallowed == "all":
        if allowed_tokens is None:
            return None, NO_TOKENS
        return allowed_tokens, special_tokens - allowed_tokens if allowed_tokens else None
    return allowed_tokens, frozenset(disallowed) if disallowed else NO_TOKENS


def resolve_for_core(
    special_tokens: AbstractSet[str], allowed: AllowedSpecial, disallowed: DisallowedSpecial
) -> tuple[Tokens, Tokens]:
    """Same as `resolve` for the core: disallowed `None` is all special tokens *that are not allowed*.

    So a call that allows some of a thousand special tokens builds no set of all others.
    """
    if isinstance(disallowed, str) and disallowed == ALL:
        return resolve(special_tokens, allowed, NO_TOKENS)[0], None
    return resolve(special_tokens, allowed, disallowed)


def kept(allowed: AllowedSpecial, disallowed: DisallowedSpecial) -> tuple[AllowedSpecial, DisallowedSpecial]:
    """Returns arguments of `encode` for use after the call, or in another process.

    A caller may change a set later, and an iterator can be read only once. Calls that encode at once do
    without: the copy of a set of 256 tokens takes a twelfth of the time of a short text.
    """
    if isinstance(allowed, (set, frozenset)):
        allowed = frozenset(allowed)
    if not (isinstance(disallowed, str) and disallowed == ALL):
        disallowed = frozenset(disallowed) if disallowed else NO_TOKENS
    return allowed, disallowed


def check(text: str, disallowed: Tokens, special_tokens: AbstractSet[str]) -> None:
    """Raises if `text` contains disallowed text. The compiled core does this by itself, in one pass.

    Args:
        text: The text to be encoded, its surrogates repaired.
        disallowed: The result of `resolve`.
        special_tokens: The special tokens of the encoding.

    Raises:
        DisallowedSpecialTokenError: A disallowed string occurs: the leftmost one, the longest of those that
            start there.

    Complexity:
        One pass over the text for each disallowed string.
    """
    found = find_leftmost(text, special_tokens if disallowed is None else disallowed)
    if found:
        raise_disallowed(*found)


def raise_disallowed(token: str, start: int) -> NoReturn:
    """Raises the error for the disallowed `token` found at character `start` of a text."""
    raise DisallowedSpecialTokenError(token, start)


def find_leftmost(text: str, tokens: Iterable[str], start: int = 0) -> tuple[str, int] | None:
    """Finds the leftmost of some strings; if several start there, the longest.

    Args:
        text: The text to search.
        tokens: What to search for, in any order.
        start: Index of the first character to search.

    Returns:
        (token, index of its first character), or `None`.

    Complexity:
        One pass over the text for each token.
    """
    found = [(first, -len(token), token) for token in tokens if (first := text.find(token, start)) >= 0]
    if not found:
        return None
    first, _, token = min(found)
    return token, first
