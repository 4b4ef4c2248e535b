"""How the tokens of a text are spelled, as in `tokenizers`: that depends on what made them.

The model spells its tokens as its vocabulary does, but the unknown token of a Unigram model as the text that
it stands for. An added token is spelled as it was found: in the text, or in what normalizing made of it, with
the white space that it took. All may have the same ID.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING
from unicodedata import category

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


# General categories of the characters of words, as regular expressions of Rust have them.
WORD = ("L", "M", "Nd", "Nl", "Pc")
JOINERS = "\u200c\u200d"


def respelled(
    engine: Engine,
    text: str,
    ids: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    *,
    finds_special: bool,
) -> list[str]:
    """Returns the spelling of each token of a text.

    Args:
        engine: The tokenizer.
        text: The text.
        ids: The IDs of the tokens.
        offsets: Where they stand in the text, in characters.
        finds_special: Whether special tokens in a text are those.
    """
    added, spellings = engine.added, engine.model_tokens
    tokens = [spellings[i] if i in spellings else added.text(i) for i in ids]
    sought = {
        token_id: token
        for token_id, token in added.by_id.items()
        if finds_special or token.content not in added.special_texts
    }
    # Tokens that are found in the text itself divide what is normalized.
    cuts = [(0, 0)]
    for index, (token_id, (start, end)) in enumerate(zip(ids, offsets, strict=True)):
        token = sought.get(token_id)
        if token is not None and not token.normalized and is_found(token, text, start, end):
            tokens[index] = text[start:end]
            cuts.append((start, end))
    cuts.append((len(text), len(text)))
    gap, normalized = None, None
    for index, (token_id, (start, end)) in enumerate(zip(ids, offsets, strict=True)):
        token = sought.get(token_id)
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
        low, high = normalized.range(start - gap[0], end - gap[0])
        low += len(before) if normalized.text.startswith(before, low, high) else 0
        if is_found(token, normalized.text, low, high, added.text(token_id)):
            tokens[index] = normalized.text[low:high]
    for index, unknown in engine.unknown_texts(text, finds_special=finds_special):
        tokens[index] = unknown
    return tokens


def is_found(token: AddedToken, text: str, start: int, end: int, content: str = "") -> bool:
    """Returns whether a range of a text is a token with the white space that it takes.

    Args:
        token: The token.
        text: The text.
        start: Where the range starts.
        end: Where it ends.
        content: What the token is in this text; by default, its content.
    """
    content = content or token.content
    at = text.find(content, start, end) if token.rstrip else text.rfind(content, start, end)
    if at < 0:
        return False
    after = at + len(content)
    if token.single_word and (is_word(text[at - 1 : at]) or is_word(text[after : after + 1])):
        return False
    left, right = text[start:at], text[after:end]
    return not (left.strip(WHITE_SPACE) if token.lstrip else left) and not (
        right.strip(WHITE_SPACE) if token.rstrip else right
    )


def is_word(character: str) -> bool:
    """Returns whether a character is one of a word; false for none."""
    return bool(character) and (character in JOINERS or category(character).startswith(WORD))


class Normalized:
    """A normalized text, with the source of each part of it.

    Attributes:
        text: The normalized text.
    """

    def __init__(self, chain: NormalizerChain, text: str) -> None:
        """Normalizes the text."""
        self.text, spans = chain.normalize_with_spans(text)
        # Where the character of the text starts that each one of the result is for.
        self._origins = [spans[at][0] for at in starts_of(self.text)[:-1]]
        self._starts = starts_of(text)

    def range(self, start: int, end: int) -> tuple[int, int]:
        """Returns what has become of the characters of a range."""
        return bisect_left(self._origins, self._starts[start]), bisect_left(self._origins, self._starts[end])


def starts_of(text: str) -> list[int]:
    """Returns where each character starts in UTF-8, and the end."""
    return list(accumulate((len(character.encode()) for character in text), initial=0))
