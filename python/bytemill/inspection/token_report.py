"""Describe one token of a vocabulary: its bytes, its parts, and whether it is reachable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bytemill._arguments import check_type
from bytemill.core import Encoding
from bytemill.errors import UnknownTokenError
from bytemill.inspection.escapes import visible
from bytemill.inspection.layout import align_columns
from bytemill.inspection.reachability import last_merge, may_occur
from bytemill.inspection.scripts import kinds_of
from bytemill.inspection.token_view import text_of

__all__ = ["Reach", "TokenReport", "report_token"]

# As in `reachability`; "whole" for a token whose own text encodes to it, "special" for a special token.
Reach: TypeAlias = Literal["whole", "whole_only", "cut", "fragment", "unreachable", "special"]

MEANING: dict[Reach, str] = {
    "whole": "its text becomes it",
    "whole_only": "its text becomes it as a whole piece; merges do not make it",
    "cut": "the pattern cuts its text; merges inside larger pieces may make it",
    "fragment": "its bytes are not whole characters; merges inside larger pieces may make it",
    "unreachable": "no text becomes it",
    "special": "its text becomes it where special tokens are allowed",
}


@dataclass(frozen=True)
class TokenReport:
    """Description of one token. Its `str` is a few lines of text.

    Attributes:
        encoding: Name of the encoding.
        id: Token id.
        value: Token bytes; of a special token, its text as UTF-8.
        kind: Script or class of its characters, see `scripts`.
        reach: How a text can encode to it.
        parts: Ids and bytes of the two tokens that the last merge joins; empty for a byte token, a special
            token, and one that merges do not make.
    """

    encoding: str
    id: int
    value: bytes
    kind: str
    reach: Reach
    parts: tuple[tuple[int, bytes], ...]

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
        }

    def __str__(self) -> str:
        joined = " + ".join(f"{visible(value)} ({token_id})" for token_id, value in self.parts)
        facts = [
            ("id", str(self.id)),
            ("token", visible(self.value)),
            ("bytes", f"{self.value.hex(' ')} ({len(self.value)})"),
            ("written in", self.kind),
            *([("merged from", joined)] if joined else []),
            ("reached", MEANING[self.reach]),
        ]
        return "\n".join(align_columns(facts, left=2))


def report_token(encoding: Encoding, token_id: int) -> TokenReport:
    """Describes a token of an encoding.

    Args:
        encoding: The encoding.
        token_id: Token id.

    Raises:
        TypeError: An argument has the wrong type.
        UnknownTokenError: The id belongs to no token.
        PatternError: The engine of a custom pattern gives up on its text.

    Complexity:
        Quadratic in its bytes.
    """
    check_type("encoding", encoding, Encoding)
    if not encoding._core_bpe.is_token(token_id):  # noqa: SLF001 - of this library
        raise UnknownTokenError(
            f"no token of {encoding.name} has the id {token_id}; ids go from 0 to {encoding.max_token_value}"
        )
    value = encoding.decode_single_token_bytes(token_id)
    [kind] = kinds_of([value])
    if encoding.is_special_token(token_id):
        return TokenReport(encoding.name, token_id, value, kind, "special", ())
    encoding._merging_bytes("reports of a token")  # noqa: SLF001 - of this library
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
