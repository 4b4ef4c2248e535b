"""Which tokens a text can become: some in a vocabulary may be dead weight.

A token comes about in two ways: a piece is the token (then merges are not asked), or merges make it inside a
piece. If merges make a token anywhere, they make it of its own bytes too: up to then nothing outside took
part, and what is lowest among all pairs is lowest among those inside. So these questions about a token alone
settle much:

- **Merged**: do merges make it of its own bytes?
- **Whole**: is it text, and does the pattern leave that text in one piece?
- **Possible**: do its bytes occur in any text at all, as UTF-8?

A token that is possible in no text, or neither merged nor whole, is *unreachable*: no text gives it. (A
pattern could cut a text that stands alone and leave it whole among others, by looking at what surrounds it.
The published ones do so with blanks only, and what they leave whole anywhere they leave whole alone.)

The converse is not claimed. A token that is merged but not whole, *cut*, comes only inside larger pieces,
where others may take its bytes first; the same holds for *fragments*, whose bytes are not whole characters.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, NamedTuple

from bytemill.errors import VocabularyError
from bytemill.looking.view import text_of

if TYPE_CHECKING:
    from bytemill.core import Encoding

__all__ = ["Reachability", "may_occur", "merged_parts", "reachability_of"]

CONTINUATION_BYTES = bytes(range(0x80, 0xC0))

# How surrogates would begin in UTF-8.
FIRST_SURROGATE, LAST_SURROGATE = b"\xed\xa0", b"\xed\xbf"

# A character has at most so many bytes after its first.
MOST_CONTINUATIONS = 3


class Reachability(NamedTuple):
    """The mergeable tokens that are not simply reached by the text that they stand for, as sorted ids.

    Attributes:
        unreachable: No text gives them.
        cut: The pattern cuts their text when it stands alone; merges inside larger pieces may make them.
        whole_only: Merges do not make them; they come where they are a whole piece.
        fragments: Their bytes are not whole characters; merges inside larger pieces may make them.
    """

    unreachable: list[int]
    cut: list[int]
    whole_only: list[int]
    fragments: list[int]


def reachability_of(encoding: Encoding) -> Reachability:
    """Finds out which tokens texts can become.

    Args:
        encoding: The encoding. Its special tokens take no part.

    Raises:
        PatternError: The engine of a custom pattern gives up on the text of a token.

    Complexity:
        That of encoding all tokens once; where the tokens are not all made by merges, their merging in plain
        Python too, which takes some 20 microseconds a token.
    """
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name for it
    texts = {token_id: text for token, token_id in ranks.items() if (text := text_of(token)) is not None}
    broken = {token_id: token for token, token_id in ranks.items() if token_id not in texts}
    encoded = encoding.encode_ordinary_batch(texts.values())
    cut = {token_id for token_id, ids in zip(texts, encoded, strict=True) if ids != [token_id]}
    unmerged = unmerged_tokens(encoding)
    impossible = {token_id for token_id, token in broken.items() if not may_occur(token)}
    unreachable = impossible | (unmerged & (cut | broken.keys()))
    return Reachability(
        unreachable=sorted(unreachable),
        cut=sorted(cut - unreachable),
        whole_only=sorted(unmerged - unreachable),
        fragments=sorted(broken.keys() - unreachable),
    )


def unmerged_tokens(encoding: Encoding) -> set[int]:
    """Gives the tokens that merges do not make of their own bytes."""
    try:
        encoding.merges()
    except VocabularyError:
        pass
    else:
        # Each comes apart in two under lower ranks; its own rank then joins these.
        return set()
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - as above
    return {token_id for token, token_id in ranks.items() if merged_parts(token, ranks) is None}


def merged_parts(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, ...] | None:
    """Gives the two parts that the last merge of a token joins; none for a single byte.

    `None` if merges do not make the token of its own bytes.

    Complexity:
        Quadratic in the bytes.
    """
    # Only here: it imports the regular expressions.
    from bytemill.reference import merge_steps

    before: list[bytes] = []
    for parts in merge_steps(token, ranks):
        if len(parts) == 1:
            return tuple(before)
        before = parts
    return None


def may_occur(token: bytes) -> bool:
    """Tells whether the UTF-8 of some text holds these bytes.

    A token may begin with the end of a character and end with the beginning of one.
    """
    rest = token.lstrip(CONTINUATION_BYTES)
    if len(token) - len(rest) > MOST_CONTINUATIONS:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(rest)
    except UnicodeDecodeError:
        return False
    # Of the beginnings of characters, Python takes those of surrogates too, which no text has.
    beginning, _ = decoder.getstate()
    return not FIRST_SURROGATE <= beginning[:2] <= LAST_SURROGATE
