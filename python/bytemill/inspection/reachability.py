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
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from bytemill._backend import Normalizer, SentencePieceModel
from bytemill.errors import VocabularyError
from bytemill.formats.sentencepiece_model import reference_of
from bytemill.inspection.token import text_of
from bytemill.reference_sentencepiece import BYTE_PIECES, MARK, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytemill.core import Encoding
    from bytemill.reference_sentencepiece import Piece, ReferenceModel

__all__ = ["ModelFacts", "Pieces", "Reachability", "last_merge", "may_occur", "reachability_of"]

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


# Describe the pieces of a SentencePiece model, and determine which of them a text can become.
#
# If merges make a piece anywhere, they also make it from its own characters alone: no merge that takes part
# reaches across its ends, and of those inside the order is the same. So merging its own text decides whether
# any text becomes it. The converse is not claimed: merges around it may take its characters first, and the
# normalization of the model may never leave such a text.

ASCII = 0x80


class ModelFacts(NamedTuple):
    """A SentencePiece model besides the texts of its tokens.

    Attributes:
        types: Number of pieces of each type: "normal", "unknown", "control", "user_defined", "unused" or
            "byte".
        named: Ids of the pieces "unk", "bos", "eos" and "pad", those that there are.
        highest_score: Score of the normal piece that merges first.
        lowest_score: Score of the normal piece that merges last.
        equal_scores: Number of normal pieces of several characters whose score another one has.
        without_characters: Ids of normal pieces with a character that is not a piece.
        normalization: Name of the rules of normalization.
        add_dummy_prefix: Whether normalization puts a space in front of a text.
        remove_extra_whitespaces: Whether it removes spaces at the ends and after spaces.
        byte_fallback: Whether characters without a token become the tokens of their bytes.
    """

    types: dict[str, int]
    named: dict[str, int]
    highest_score: float
    lowest_score: float
    equal_scores: int
    without_characters: list[int]
    normalization: str
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    byte_fallback: bool


class Pieces:
    """The pieces of an encoding that is a SentencePiece model."""

    def __init__(self, encoding: Encoding, contents: bytes) -> None:
        """Takes an encoding, and the bytes of its model."""
        self._encode = encoding._encode_single_piece  # noqa: SLF001 - tiktoken's name
        self.model = SentencePieceModel(contents)
        self.reference: ReferenceModel = reference_of(contents)
        self.pieces: list[Piece] = self.reference.pieces
        rules = self.reference.normalization
        self._escapes = rules.escape_whitespaces
        self._normalizer = Normalizer(
            self.model.normalizer_spec["precompiled_charsmap"],
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
            escape_whitespaces=rules.escape_whitespaces,
            user_defined_symbols=self.reference.user_defined,
        )

    def normal(self) -> list[int]:
        """Returns the ids of the pieces that merges make."""
        return [token_id for token_id, piece in enumerate(self.pieces) if piece.kind == Kind.NORMAL]

    def facts(self) -> ModelFacts:
        """Describes the model."""
        pieces = [self.pieces[token_id] for token_id in self.normal()]
        scores = Counter(piece.score for piece in pieces if len(piece.text) > 1)
        spec, trainer = self.model.normalizer_spec, self.model.trainer_spec
        named = {
            "unk": self.model.unk_id,
            "bos": self.model.bos_id,
            "eos": self.model.eos_id,
            "pad": self.model.pad_id,
        }
        return ModelFacts(
            types={kind.name.lower(): count for kind, count in sorted(self.count_types().items())},
            named={name: token_id for name, token_id in named.items() if token_id is not None},
            highest_score=max(scores, default=0.0),
            lowest_score=min(scores, default=0.0),
            equal_scores=sum(count for count in scores.values() if count > 1),
            without_characters=[
                token_id
                for token_id in self.normal()
                if any(character not in self.reference.ids for character in self.pieces[token_id].text)
            ],
            normalization=spec["name"] or ("user_defined" if spec["precompiled_charsmap"] else "identity"),
            add_dummy_prefix=spec["add_dummy_prefix"],
            remove_extra_whitespaces=spec["remove_extra_whitespaces"],
            byte_fallback=trainer["byte_fallback"],
        )

    def count_types(self) -> Counter[Kind]:
        """Returns the number of pieces of each type."""
        return Counter(piece.kind for piece in self.pieces)

    def reachability(self) -> Reachability:
        """Classifies the pieces that a text could become.

        Complexity:
            Merging each piece once; those that merges do not make again in pure Python.
        """
        made = {token_id for token_id in self.normal() if self.is_made(token_id)}
        idle = {
            token_id
            for token_id, piece in enumerate(self.pieces)
            if (piece.kind == Kind.BYTE and self.is_idle_byte(piece.text))
            or (piece.kind == Kind.USER_DEFINED and self.is_hidden(piece.text))
        }
        return Reachability(
            unreachable=sorted(idle | (set(self.normal()) - made)),
            cut=[],
            whole_only=[],
            fragments=[],
            changed=sorted(token_id for token_id in made if self.is_changed(self.pieces[token_id].text)),
        )

    def is_made(self, token_id: int) -> bool:
        """Returns whether merges make a normal piece from its own characters."""
        text = self.pieces[token_id].text
        if self.is_hidden(text):
            return False
        if any(symbol in text.encode() for symbol in self.reference.user_defined):
            return self.last_merge(text) is not None
        return self._encode(text.replace(MARK, " ") if self._escapes else text) == [token_id]

    def last_merge(self, text: str) -> tuple[str, ...] | None:
        """Returns the two symbols that the last merge of a text joins; `()` for a single character.

        Returns `None` if merges do not make it from its own characters.

        Complexity:
            Quadratic in the text.
        """
        before: list[str] = []
        for symbols in self.reference.merge_steps(text, {}):
            if len(symbols) == 1:
                return None if symbols[0].frozen else tuple(before)
            before = [symbol.text for symbol in symbols]
        return None

    def is_changed(self, text: str) -> bool:
        """Returns whether normalization makes something else of the text of a piece."""
        if self.reference.normalization.remove_extra_whitespaces and MARK * 2 in text:
            return True
        return self._normalizer.normalize(text.replace(MARK, " ") if self._escapes else text) != text

    def is_hidden(self, text: str) -> bool:
        """Returns whether no normalized text contains a piece: it has a space, which becomes a mark."""
        return self._escapes and " " in text

    def is_idle_byte(self, text: str) -> bool:
        """Returns whether no text becomes a byte piece: no character without a token has the byte."""
        byte = BYTE_PIECES.index(text)
        if byte < ASCII:
            return self.is_known(chr(byte)) or (self._escapes and chr(byte) == " ")
        return not may_occur(bytes([byte]))

    def is_known(self, character: str) -> bool:
        """Returns whether a character has a token of its own."""
        token_id = self.reference.ids.get(character)
        return token_id is not None and self.pieces[token_id].kind in (Kind.NORMAL, Kind.USER_DEFINED)

    def tokens_of(self, symbols: Iterable[str]) -> list[int]:
        """Returns the ids of symbols; none if one of them has no token."""
        found = [self.reference.ids.get(symbol, -1) for symbol in symbols]
        kinds = (Kind.NORMAL, Kind.UNUSED)
        return found if all(i >= 0 and self.pieces[i].kind in kinds for i in found) else []
