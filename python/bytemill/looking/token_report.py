"""One token of a vocabulary: its bytes, its parts, and whether a text can become it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bytemill.arguments import check_type
from bytemill.core import Encoding
from bytemill.errors import UnknownTokenError
from bytemill.looking.layout import table
from bytemill.looking.reachability import may_occur, merged_parts
from bytemill.looking.scripts import kinds_of
from bytemill.looking.view import text_of
from bytemill.looking.visible import plain

__all__ = ["Reach", "TokenReport", "report_token"]

# As in `reachability`; "whole" for a token that its own text becomes, "special" for a special token.
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
    """One token. Printed, it is a few lines of text.

    Attributes:
        encoding: The name of the encoding.
        id: The id.
        value: The bytes; of a special token, its text as UTF-8.
        kind: What it is written in, see `scripts`.
        reach: Whether a text can become it.
        parts: The ids of the two tokens that the last merge joins; empty for a byte token, a special token,
            and one that merges do not make.
    """

    encoding: str
    id: int
    value: bytes
    kind: str
    reach: Reach
    parts: tuple[tuple[int, bytes], ...]

    def to_dict(self) -> dict[str, Any]:
        """Gives all of it as what JSON has; bytes as hexadecimal digits."""
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
        joined = " + ".join(f"{plain(value)} ({token_id})" for token_id, value in self.parts)
        facts = [
            ("id", str(self.id)),
            ("token", plain(self.value)),
            ("bytes", f"{self.value.hex(' ')} ({len(self.value)})"),
            ("written in", self.kind),
            *([("merged from", joined)] if joined else []),
            ("reached", MEANING[self.reach]),
        ]
        return "\n".join(table(facts, left=2))


def report_token(encoding: Encoding, token_id: int) -> TokenReport:
    """Finds out what a token is.

    Args:
        encoding: The encoding.
        token_id: Its id.

    Raises:
        TypeError: An argument is of a wrong type.
        UnknownTokenError: The id belongs to no token.
        PatternError: The engine of a custom pattern gives up on its text.

    Complexity:
        Quadratic in its bytes.
    """
    check_type("encoding", encoding, Encoding)
    if not encoding._core_bpe.is_token(token_id):  # noqa: SLF001 - of this library
        message = (
            f"no token of {encoding.name} has the id {token_id}; ids go from 0 to {encoding.max_token_value}"
        )
        raise UnknownTokenError(message)
    value = encoding.decode_single_token_bytes(token_id)
    [kind] = kinds_of([value])
    if encoding.is_special_token(token_id):
        return TokenReport(encoding.name, token_id, value, kind, "special", ())
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name for them
    parts = merged_parts(value, ranks)
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
