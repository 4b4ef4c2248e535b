"""How the tokens of a text are spelled, as in `tokenizers`: that depends on what made them.

The model spells its tokens as its vocabulary does. An added token is spelled as it was found: in the text, or
in what normalizing made of it, with the white space that it took. Both may have the same id.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill._backend import NormalizerChain
    from bytemill.hf.added import AddedToken
    from bytemill.hf.engine import Engine

__all__ = ["respelled"]

# Unicode's white space, which Python's methods have more of.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def respelled(engine: Engine, text: str, ids: Sequence[int], offsets: Sequence[tuple[int, int]]) -> list[str]:
    """Returns the spelling of each token of a text.

    Args:
        engine: The tokenizer.
        text: The text.
        ids: The ids of the tokens.
        offsets: Where they stand in the text, in characters.
    """
    added, spellings = engine.added, engine.model_tokens
    tokens = [spellings[i] if i in spellings else added.text(i) for i in ids]
    # Tokens that are found in the text itself divide what is normalized.
    cuts = [(0, 0)]
    for index, (token_id, (start, end)) in enumerate(zip(ids, offsets, strict=True)):
        token = added.by_id.get(token_id)
        if token is not None and not token.normalized and is_found(token, text[start:end], token.content):
            tokens[index] = text[start:end]
            cuts.append((start, end))
    cuts.append((len(text), len(text)))
    gap, normalized = None, None
    for index, (token_id, (start, end)) in enumerate(zip(ids, offsets, strict=True)):
        token = added.by_id.get(token_id)
        if token is None or not token.normalized:
            continue
        # One character of the text may have become several tokens, of which the others are the model's.
        before = tokens[index - 1] if index and offsets[index - 1][1] > start else ""
        if index + 1 < len(ids) and offsets[index + 1][0] == start:
            continue
        number = bisect_left(cuts, (end, end), 1)
        around = cuts[number - 1][1], cuts[number][0]
        if gap != around or normalized is None:
            gap, normalized = around, Normalized(engine.chain, text[slice(*around)])
        found = normalized.part(start - gap[0], end - gap[0]).removeprefix(before)
        if is_found(token, found, added.text(token_id)):
            tokens[index] = found
    return tokens


def is_found(token: AddedToken, found: str, content: str) -> bool:
    """Returns whether a text is a content with the white space that a token may take."""
    at = found.find(content) if token.rstrip else found.rfind(content)
    before, after = found[: max(at, 0)], found[at + len(content) :]
    return (
        at >= 0
        and not (before.strip(WHITE_SPACE) if token.lstrip else before)
        and not (after.strip(WHITE_SPACE) if token.rstrip else after)
    )


class Normalized:
    """What normalizing makes of a text, with where each part of it comes from."""

    def __init__(self, chain: NormalizerChain, text: str) -> None:
        """Normalizes the text."""
        result, self._spans = chain.normalize_with_spans(text)
        self._bytes = result.encode()
        self._starts = list(accumulate((len(character.encode()) for character in text), initial=0))

    def part(self, start: int, end: int) -> str:
        """Returns what has become of the characters of a range."""
        low, high = (bisect_left(self._spans, (self._starts[at], 0)) for at in (start, end))
        return self._bytes[low:high].decode(errors="replace")
