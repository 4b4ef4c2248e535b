"""Describe one token of a vocabulary: its bytes, its parts, and whether it is reachable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bytemill._escapes import shortened
from bytemill._named import encoding_of
from bytemill.errors import UnknownTokenError
from bytemill.inspection.displayed import Displayed
from bytemill.inspection.escapes import visible
from bytemill.inspection.layout import align_columns
from bytemill.inspection.pieces import Pieces
from bytemill.inspection.reachability import last_merge, may_occur
from bytemill.inspection.scripts import kinds_of
from bytemill.inspection.token_view import text_of
from bytemill.reference_sentencepiece import Kind

if TYPE_CHECKING:
    from bytemill.core import Encoding

__all__ = ["Reach", "TokenReport", "report_token"]

# As in `reachability`; "whole" for a token whose own text encodes to it, "special" for a special token. The
# last four are those of pieces of SentencePiece models.
Reach: TypeAlias = Literal[
    "whole",
    "whole_only",
    "cut",
    "fragment",
    "unreachable",
    "special",
    "merged",
    "changed",
    "unused",
    "fallback",
]

MEANING: dict[Reach, str] = {
    "whole": "its own text encodes to it",
    "whole_only": "its own text encodes to it as a whole piece; merges do not make it",
    "cut": "the pattern cuts its text; merges inside larger pieces may make it",
    "fragment": "its bytes are not whole characters; merges inside larger pieces may make it",
    "unreachable": "no text encodes to it",
    "special": "its own text encodes to it where special tokens are allowed",
    "merged": "merges make it from its characters",
    "changed": "normalization changes its text; other texts may encode to it",
    "unused": "merges make it, and then it gives way to its parts",
    "fallback": "characters without a token encode to it",
}


@dataclass(frozen=True)
class TokenReport(Displayed):
    """Description of one token. Its `str` is a few lines of text.

    Attributes:
        encoding: Name of the encoding.
        id: Token id.
        value: Token bytes; of a special token, its text as UTF-8.
        kind: Script or class of its characters, see `scripts`.
        reach: How a text can encode to it.
        parts: Ids and bytes of the two tokens that the last merge joins; empty for a byte token, a special
            token, and one that merges do not make; of a SentencePiece model also where one of the two is not
            a token.
        piece: The piece of a SentencePiece model, with marks for spaces; `None` for other tokens.
        type: Its type: "normal", "unknown", "control", "user_defined", "unused" or "byte".
        score: Its score; the highest merges first.
    """

    encoding: str
    id: int
    value: bytes
    kind: str
    reach: Reach
    parts: tuple[tuple[int, bytes], ...]
    piece: str | None = None
    type: str | None = None
    score: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as JSON-compatible values; bytes as hexadecimal digits."""
        return {
            "encoding": self.encoding,
            "id": self.id,
            "bytes": self.value.hex(),
            "text": text_of(self.value),
            "kind": self.kind,
            "reach": self.reach,
            "parts": [token_id for token_id, _ in self.parts],
            **({} if self.piece is None else {"piece": self.piece, "type": self.type, "score": self.score}),
        }

    def __str__(self) -> str:
        joined = " + ".join(f"{visible(value)} ({token_id})" for token_id, value in self.parts)
        facts = [
            ("id", str(self.id)),
            ("token", visible(self.value)),
            ("bytes", f"{self.value.hex(' ')} ({len(self.value)})"),
            *([] if self.piece is None else self._facts_of_piece(self.piece)),
            ("written in", self.kind),
            *([("merged from", joined)] if joined else []),
            ("reached", MEANING[self.reach]),
        ]
        return "\n".join(align_columns(facts, left=2))

    def _facts_of_piece(self, piece: str) -> list[tuple[str, str]]:
        return [
            ("piece", visible(piece.encode())),
            ("type", str(self.type).replace("_", "-")),
            ("score", f"{self.score:g}"),
        ]


def report_token(encoding: Encoding | str, token_id: int) -> TokenReport:
    """Describes a token of an encoding.

    Args:
        encoding: The encoding, or its name as in `show`.
        token_id: Token id.

    Raises:
        TypeError: An argument has the wrong type.
        UnknownTokenError: The id belongs to no token.
        PatternError: The engine of a custom pattern gives up on its text.

    Complexity:
        Quadratic in its bytes.
    """
    encoding = encoding_of(encoding)
    if not encoding._core_bpe.is_token(token_id):  # noqa: SLF001 - of this library
        raise UnknownTokenError(
            f"no token of {shortened(encoding.name)} has the id {token_id}; "
            f"ids go from 0 to {encoding.max_token_value}"
        )
    value = encoding.decode_single_token_bytes(token_id)
    [kind] = kinds_of([value])
    contents = encoding.definition.model
    if contents is not None:
        return report_piece(encoding, Pieces(encoding, contents), token_id, value, kind)
    if encoding.is_special_token(token_id):
        return TokenReport(encoding.name, token_id, value, kind, "special", ())
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name for them
    parts = last_merge(value, ranks)
    merged = parts is not None
    text = text_of(value)
    whole = text is not None and encoding.encode_ordinary(text) == [token_id]
    reach: Reach
    if not may_occur(value) or not (merged or whole):
        reach = "unreachable"
    elif text is None:
        reach = "fragment"
    elif not whole:
        reach = "cut"
    else:
        reach = "whole" if merged else "whole_only"
    return TokenReport(encoding.name, token_id, value, kind, reach, tuple((ranks[p], p) for p in parts or ()))


def report_piece(encoding: Encoding, pieces: Pieces, token_id: int, value: bytes, kind: str) -> TokenReport:
    """Describes a token of an encoding that is a SentencePiece model."""
    if token_id >= len(pieces.pieces):
        return TokenReport(encoding.name, token_id, value, kind, "special", ())
    piece = pieces.pieces[token_id]
    merged = pieces.last_merge(piece.text) if piece.kind in (Kind.NORMAL, Kind.UNUSED) else None
    parts = tuple((part, encoding.decode_single_token_bytes(part)) for part in pieces.tokens_of(merged or ()))
    return TokenReport(
        encoding.name,
        token_id,
        value,
        kind,
        reach_of(pieces, token_id, is_made=merged is not None),
        parts,
        piece=piece.text,
        type=piece.kind.name.lower(),
        score=piece.score,
    )


def reach_of(pieces: Pieces, token_id: int, *, is_made: bool) -> Reach:
    """Returns how a text can become a piece."""
    text, _, kind = pieces.pieces[token_id]
    reach: Reach
    if kind == Kind.CONTROL:
        reach = "special"
    elif kind == Kind.BYTE:
        reach = "unreachable" if pieces.is_idle_byte(text) else "fallback"
    elif kind == Kind.UNKNOWN:
        reach = "unreachable" if pieces.reference.byte_fallback else "fallback"
    elif pieces.is_hidden(text):
        reach = "unreachable"
    elif kind == Kind.USER_DEFINED:
        reach = "whole"
    elif not is_made:
        reach = "unreachable"
    elif kind == Kind.UNUSED:
        reach = "unused"
    else:
        reach = "changed" if pieces.is_changed(text) else "merged"
    return reach
