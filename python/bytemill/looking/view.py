"""The tokens of a text, to look at: in a terminal, in a notebook, as a page of its own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.arguments import check_type
from bytemill.core import Encoding
from bytemill.special import NO_TOKENS, AllowedSpecial, DisallowedSpecial

if TYPE_CHECKING:
    import os


__all__ = ["Token", "TokenView", "show"]


class Token(NamedTuple):
    """One token of a text.

    Attributes:
        id: Its id.
        value: Its bytes; of a special token, its text as UTF-8.
        special: Whether it is a special token.
    """

    id: int
    value: bytes
    special: bool


@dataclass(frozen=True, repr=False)
class TokenView:
    """The tokens of a text. Printed, it shows them; in a notebook it shows itself.

    Attributes:
        encoding: The name of the encoding.
        tokens: The tokens in their order.
        characters: How many characters they make; bytes that are not UTF-8 count as those that replace them.
    """

    encoding: str
    tokens: tuple[Token, ...]
    characters: int

    @property
    def byte_count(self) -> int:
        """The bytes of all tokens."""
        return sum(len(token.value) for token in self.tokens)

    @property
    def bytes_per_token(self) -> float:
        """How many bytes a token stands for; 0 for no tokens."""
        return self.byte_count / len(self.tokens) if self.tokens else 0.0

    def counts(self) -> list[tuple[str, str]]:
        """Gives what stands on top of every view, as pairs of what is counted and the figure."""
        return [
            ("tokens", f"{len(self.tokens):,}"),
            ("characters", f"{self.characters:,}"),
            ("bytes", f"{self.byte_count:,}"),
            ("bytes per token", f"{self.bytes_per_token:.2f}"),
        ]

    def terminal(self, *, colour: bool, ids: bool = True, width: int | None = None) -> str:
        """Gives the view as lines for a terminal, the counts first.

        Args:
            colour: Whether tokens are told apart by colours, rather than by separators.
            ids: Whether the id of each token stands below it.
            width: The columns of the terminal; `None` breaks lines only where the text does.

        Complexity:
            Linear in the text.
        """
        from bytemill.looking.terminal import rows

        heading = ", ".join(f"{figure} {what}" for what, figure in self.counts())
        return "\n".join(
            [f"{self.encoding}: {heading}", *rows(self.tokens, colour=colour, ids=ids, width=width)]
        )

    def page(self) -> str:
        """Gives the view as an HTML page that needs no other file and runs no script.

        Each token tells its id and bytes when pointed at; the page follows the light or dark theme of the
        system.
        """
        from bytemill.looking.page import page

        return page(self)

    def write_page(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file, which is replaced if it exists; readers never see half of it.

        Raises:
            OSError: The file cannot be written; nothing is left behind.
        """
        from bytemill.formats.atomic import write_atomically

        write_atomically(path, self.page().encode())

    def to_dict(self) -> dict[str, Any]:
        """Gives counts and tokens as what JSON has; the bytes of a token as hexadecimal digits.

        The text of a token is `None` where its bytes are not whole characters.
        """
        return {
            "encoding": self.encoding,
            "tokens": len(self.tokens),
            "characters": self.characters,
            "bytes": self.byte_count,
            "bytes_per_token": self.bytes_per_token,
            "token_list": [
                {
                    "id": token.id,
                    "bytes": token.value.hex(),
                    "text": text_of(token.value),
                    "special": token.special,
                }
                for token in self.tokens
            ],
        }

    def __str__(self) -> str:
        from bytemill.looking.terminal import columns, has_colours

        return self.terminal(colour=has_colours(sys.stdout), width=columns(sys.stdout))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from bytemill.looking.page import fragment

        return fragment(self)


def show(
    encoding: Encoding,
    text: str,
    *,
    allowed_special: AllowedSpecial = NO_TOKENS,
    disallowed_special: DisallowedSpecial = (),
) -> TokenView:
    """Shows how an encoding takes a text apart.

    Args:
        encoding: The encoding.
        text: Any string.
        allowed_special: The special tokens that become their ids, as in `Encoding.encode`.
        disallowed_special: What may not occur, as in `Encoding.encode`; nothing, unless said: special tokens
            are ordinary text.

    Returns:
        What can be printed, shown by a notebook, or written as a page.

    Raises:
        DisallowedSpecialTokenError, TypeError, PatternError: As `Encoding.encode`.

    Complexity:
        Linear in the text, after encoding it. Views are for reading: each token takes about a hundred bytes.
    """
    check_type("encoding", encoding, Encoding)
    ids = encoding.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
    values = encoding.decode_tokens_bytes(ids)
    tokens = tuple(
        Token(token_id, value, encoding.is_special_token(token_id))
        for token_id, value in zip(ids, values, strict=True)
    )
    return TokenView(encoding.name, tokens, len(encoding.decode(ids)))


def text_of(value: bytes) -> str | None:
    """Gives the text of a token, or `None` if its bytes are not whole characters."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
