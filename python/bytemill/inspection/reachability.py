"""Determine which tokens of a vocabulary a text can encode to; the others are unused entries.

A token arises in two ways: a whole piece is the token (then no merges are applied), or merges make it inside
a piece. If merges make a token anywhere, they also make it from its own bytes alone: until then no byte
outside took part, and the lowest rank among all pairs is also the lowest among the pairs inside. So three
properties of the token alone decide most cases:

- **Merged**: merges make it from its own bytes.
- **Whole**: it is text, and the pattern leaves that text in one piece.
- **Possible**: its bytes occur in the UTF-8 of some text.

A token that is not possible, or neither merged nor whole, is *unreachable*: no text encodes to it. (A pattern
with lookaround could cut a text that stands alone and leave it whole among others. The published ones do so
with whitespace only, and what they leave whole anywhere they leave whole alone.)

The converse is not claimed. A token that is merged but not whole, *cut*, arises only inside larger pieces,
where other merges may take its bytes first; the same holds for *fragments*, whose bytes are not whole
characters.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, NamedTuple

from bytemill.errors import VocabularyError
from bytemill.inspection.token_view import text_of

if TYPE_CHECKING:
    from bytemill.core import Encoding

__all__ = ["Reachability", "last_merge", "may_occur", "reachability_of"]

CONTINUATION_BYTES = bytes(range(0x80, 0xC0))

# The first two bytes of surrogates, if UTF-8 had them.
FIRST_SURROGATE, LAST_SURROGATE = b"\xed\xa0", b"\xed\xbf"

# Maximum number of bytes of a character after its first.
MAX_CONTINUATIONS = 3


class Reachability(NamedTuple):
    """Sorted ids of the mergeable tokens that their own text does not encode to by merges.

    Attributes:
        unreachable: No text encodes to them.
        cut: The pattern cuts their text when it stands alone; merges inside larger pieces may make them.
        whole_only: Merges do not make them; they arise only as a whole piece.
        fragments: Their bytes are not whole characters; merges inside larger pieces may make them.
        changed: The normalization of a SentencePiece model makes something else of their text; other texts
            may become them.
    """

    unreachable: list[int]
    cut: list[int]
    whole_only: list[int]
    fragments: list[int]
    changed: list[int]


def reachability_of(encoding: Encoding) -> Reachability:
    """Classifies the mergeable tokens of an encoding by reachability.

    Args:
        encoding: The encoding. Its special tokens are ignored.

    Raises:
        PatternError: The engine of a custom pattern gives up on the text of a token.

    Complexity:
        Encoding all tokens once; if merges do not make all of them, also merging each in pure Python, at some
        20 microseconds per token.
    """
    encoding._merging_bytes("reports of what text reaches")  # noqa: SLF001 - of this library
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
        changed=[],
    )


def unmerged_tokens(encoding: Encoding) -> set[int]:
    """Returns the ids of the tokens that merges do not make from their own bytes."""
    try:
        encoding.merges()
    except VocabularyError:
        pass
    else:
        # Every token splits in two under the lower ranks, and its own rank joins these two.
        return set()
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - as above
    return {token_id for token, token_id in ranks.items() if last_merge(token, ranks) is None}


def last_merge(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, ...] | None:
    """Returns the two parts that the last merge of a token joins; `()` for a single byte.

    Returns `None` if merges do not make the token from its own bytes.

    Complexity:
        Quadratic in the bytes.
    """
    # Imported here: it imports the `regex` package.
    from bytemill.reference import merge_steps

    before: list[bytes] = []
    for parts in merge_steps(token, ranks):
        if len(parts) == 1:
            return tuple(before)
        before = parts
    return None


def may_occur(token: bytes) -> bool:
    """Returns whether the UTF-8 of some text contains these bytes.

    A token may begin with the end of a character and end with the beginning of one.
    """
    rest = token.lstrip(CONTINUATION_BYTES)
    if len(token) - len(rest) > MAX_CONTINUATIONS:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(rest)
    except UnicodeDecodeError:
        return False
    # Python also accepts the first bytes of a surrogate as an incomplete character.
    incomplete, _ = decoder.getstate()
    return not FIRST_SURROGATE <= incomplete[:2] <= LAST_SURROGATE
