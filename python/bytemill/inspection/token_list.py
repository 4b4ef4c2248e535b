"""List the tokens of a vocabulary in the order of their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytemill._arguments import integer
from bytemill._escapes import shortened
from bytemill._named import encoding_of
from bytemill.errors import UnknownTokenError
from bytemill.inspection.displayed import Displayed
from bytemill.inspection.escapes import visible
from bytemill.inspection.layout import align_columns
from bytemill.inspection.token_view import text_of

if TYPE_CHECKING:
    from bytemill.core import Encoding

__all__ = ["TokenList", "list_tokens"]


@dataclass(frozen=True)
class TokenList(Displayed):
    """Tokens in the order of their ids. Its `str` has a line for each: id, token, bytes.

    Attributes:
        encoding: Name of the encoding.
        tokens: The bytes of each token by its id.
    """

    encoding: str
    tokens: dict[int, bytes]

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as JSON-compatible values; bytes as hexadecimal digits."""
        return {
            "encoding": self.encoding,
            "tokens": [
                {"id": token_id, "bytes": value.hex(), "text": text_of(value)}
                for token_id, value in self.tokens.items()
            ],
        }

    def __str__(self) -> str:
        rows = [(str(token_id), visible(value), value.hex(" ")) for token_id, value in self.tokens.items()]
        rows = [("id", "token", "bytes"), *rows]
        width = max(len(row[0]) for row in rows)
        return "\n".join(align_columns([(f"{row[0]:>{width}}", *row[1:]) for row in rows], left=3))


def list_tokens(encoding: Encoding | str, first: int, last: int) -> TokenList:
    """Lists the tokens with ids from `first` to `last`; ids without a token are left out.

    Args:
        encoding: The encoding, or its name as in `show`.
        first: The first id.
        last: The last id; ids beyond the highest are left out.

    Raises:
        TypeError: An argument has the wrong type.
        UnknownTokenError: None of the ids belongs to a token.

    Complexity:
        Linear in the number of ids.
    """
    encoding = encoding_of(encoding)
    first, last = integer("first", first), integer("last", last)
    ids = range(max(first, 0), min(last, encoding.max_token_value) + 1)
    is_token = encoding._core_bpe.is_token  # noqa: SLF001 - of this library
    tokens = {i: encoding.decode_single_token_bytes(i) for i in ids if is_token(i)}
    if not tokens:
        raise UnknownTokenError(
            f"no token of {shortened(encoding.name)} has an id from {first} to {last}; "
            f"ids go from 0 to {encoding.max_token_value}"
        )
    return TokenList(encoding.name, tokens)
