"""The tokens of a text, for a terminal, a notebook or an HTML page."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

from bytemill._arguments import token_limit
from bytemill._messages import shortened
from bytemill._named import encoding_of
from bytemill.inspection.notebook import Displayed, render_fragment, render_plain
from bytemill.inspection.token import Token, text_of
from bytemill.special import NO_TOKENS, AllowedSpecial, DisallowedSpecial

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from bytemill.core import Encoding

__all__ = ["NOTEBOOK_LIMIT", "PairView", "TokenView", "show", "show_both"]

# The most tokens in a notebook unless its reader asks for more: it keeps them in its file, 150 bytes each.
NOTEBOOK_LIMIT = 2_000


@dataclass(frozen=True, repr=False)
class TokenView(Displayed):
    """The tokens of a text. Its `str` shows them on a terminal, its `_repr_html_` in a notebook.

    Attributes:
        encoding: Name of the encoding.
        tokens: The tokens in order.
        characters: Number of characters they decode to; invalid bytes count as their replacements.
        notebook_limit: The most tokens that a notebook shows; pages and terminals show all.
    """

    encoding: str
    tokens: tuple[Token, ...]
    characters: int
    notebook_limit: int = NOTEBOOK_LIMIT

    @property
    def byte_count(self) -> int:
        """Number of bytes of all tokens."""
        return sum(len(token.value) for token in self.tokens)

    @property
    def bytes_per_token(self) -> float:
        """Mean number of bytes per token; 0 for no tokens."""
        return self.byte_count / len(self.tokens) if self.tokens else 0.0

    def counts(self) -> list[tuple[str, str]]:
        """Returns the heading of every view as (name, figure) pairs."""
        return [
            ("tokens", f"{len(self.tokens):,}"),
            ("characters", f"{self.characters:,}"),
            ("bytes", f"{self.byte_count:,}"),
            ("bytes per token", f"{self.bytes_per_token:.2f}"),
        ]

    def heading(self) -> str:
        """Returns the line above the tokens: the encoding and the counts."""
        counts = ", ".join(
            f"{figure} {name[:-1] if figure == '1' else name}" for name, figure in self.counts()
        )
        return f"{shortened(self.encoding)}: {counts}"

    def terminal(self, *, colour: bool, ids: bool = True, width: int | None = None) -> str:
        """Renders the view for a terminal, counts first.

        With colours, a text with letters from right to left stands below its tokens once more as it is
        written, its letters joined and every other token underlined.

        Args:
            colour: Whether to mark tokens by colours rather than separators.
            ids: Whether to show the id of each token below it.
            width: Columns of the terminal; with `None`, lines break only where the text does.

        Complexity:
            Linear in the text.
        """
        from bytemill.inspection.terminal import as_written, rows

        lines = rows(self.tokens, colour=colour, ids=ids, width=width)
        return "\n".join([self.heading(), *lines, *(as_written(self.tokens) if colour else [])])

    def page(self) -> str:
        """Renders the view as a self-contained HTML page without scripts.

        Hovering over a token shows its id and bytes; the page follows the light or dark theme of the system.
        """
        from bytemill.inspection.html import render_page

        return render_page(self)

    def write_page(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file atomically, replacing it if it exists.

        Raises:
            OSError: The file cannot be written; no partial file is left.
        """
        from bytemill.io.atomic import write_atomically

        write_atomically(path, self.page().encode())

    def to_dict(self) -> dict[str, Any]:
        """Returns counts and tokens as JSON-compatible values; the bytes of a token as hexadecimal digits.

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
        from bytemill.inspection.terminal import supports_colour, terminal_width

        return self.terminal(colour=supports_colour(sys.stdout), width=terminal_width(sys.stdout))

    __repr__ = __str__

    def _plain(self) -> str:
        return render_plain(self)

    def _repr_html_(self) -> str:
        """Renders the view for a notebook."""
        return render_fragment(self)


def show(
    encoding: Encoding | str,
    text: str,
    *,
    allowed_special: AllowedSpecial = NO_TOKENS,
    disallowed_special: DisallowedSpecial = (),
    notebook_limit: SupportsIndex = NOTEBOOK_LIMIT,
) -> TokenView:
    """Returns a view of the tokens of a text.

    Args:
        encoding: The encoding, or the name of an encoding or model.
        text: Any string.
        allowed_special: Special tokens that become their ids, as in `Encoding.encode`.
        disallowed_special: Special tokens that are an error, as in `Encoding.encode`. By default none:
            special tokens are ordinary text.
        notebook_limit: The most tokens that a notebook shows, 0 or more. It keeps them in its file, with up
            to 150 bytes of HTML each.

    Returns:
        A view that can be printed, shown by a notebook, or written as a page.

    Raises:
        DisallowedSpecialTokenError, TypeError, PatternError: As `Encoding.encode`.
        ValueError: `notebook_limit` is negative.

    Complexity:
        Encoding, plus time and memory linear in the text: each token takes about a hundred bytes.
    """
    encoding = encoding_of(encoding)
    limit = token_limit("notebook_limit", notebook_limit, 0)
    ids = encoding.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
    values = encoding.decode_tokens_bytes(ids)
    tokens = tuple(
        Token(token_id, value, encoding.is_special_token(token_id))
        for token_id, value in zip(ids, values, strict=True)
    )
    return TokenView(encoding.name, tokens, len(encoding.decode(ids)), limit)


# The tokens of a text by two encodings, one below the other, with a mark where their cuts differ.


@dataclass(frozen=True, repr=False)
class PairView(Displayed):
    """The tokens of a text by two encodings.

    A `▾` marks each token whose span of the text is not a token of the other encoding.

    Attributes:
        first: The tokens by the first encoding.
        second: The tokens by the second.
        differing: For each of both the indices of such tokens.
    """

    first: TokenView
    second: TokenView
    differing: tuple[tuple[int, ...], tuple[int, ...]]

    def headings(self) -> Iterator[tuple[TokenView, tuple[int, ...], str]]:
        """Yields each view, its differing tokens, and a heading with the counts."""
        for view, indices in zip((self.first, self.second), self.differing, strict=True):
            yield view, indices, f"{view.heading()}, {len(indices):,} cut elsewhere"

    def terminal(self, *, colour: bool, ids: bool = True, width: int | None = None) -> str:
        """Renders both for a terminal, counts first; arguments as `TokenView.terminal`.

        Complexity:
            Linear in the text.
        """
        from bytemill.inspection.terminal import rows

        blocks = [
            [heading, *rows(view.tokens, colour=colour, ids=ids, width=width, marked=frozenset(indices))]
            for view, indices, heading in self.headings()
        ]
        return "\n\n".join("\n".join(block) for block in blocks)

    def to_dict(self) -> dict[str, Any]:
        """Returns both as JSON-compatible values: as `TokenView.to_dict`, with the `differing` indices."""
        return {
            name: {**view.to_dict(), "differing": list(indices)}
            for name, (view, indices, _) in zip(("first", "second"), self.headings(), strict=True)
        }

    def __str__(self) -> str:
        from bytemill.inspection.terminal import supports_colour, terminal_width

        return self.terminal(colour=supports_colour(sys.stdout), width=terminal_width(sys.stdout))

    __repr__ = __str__

    def _plain(self) -> str:
        return "\n\n".join(
            render_plain(view, heading=heading, marked=frozenset(indices))
            for view, indices, heading in self.headings()
        )

    def _repr_html_(self) -> str:
        """Renders both for a notebook."""
        return "".join(
            render_fragment(view, heading=heading, marked=frozenset(indices))
            for view, indices, heading in self.headings()
        )


def show_both(
    first: Encoding | str,
    second: Encoding | str,
    text: str,
    *,
    notebook_limit: SupportsIndex = NOTEBOOK_LIMIT,
) -> PairView:
    """Returns a view of the tokens of a text by two encodings.

    Args:
        first: An encoding, or its name as in `show`.
        second: Another.
        text: Any string; special tokens are ordinary text.
        notebook_limit: The most tokens of each that a notebook shows, as in `show`.

    Returns:
        A view that can be printed or shown by a notebook.

    Raises:
        TypeError, PatternError: As `Encoding.encode`.
        ValueError: `notebook_limit` is negative.

    Complexity:
        That of `show` and `Encoding.encode_with_offsets`, twice.
    """
    first, second = encoding_of(first, "first"), encoding_of(second, "second")
    views = [show(encoding, text, notebook_limit=notebook_limit) for encoding in (first, second)]
    spans = [spans_of(encoding, text) for encoding in (first, second)]
    differing = (without(spans[0], spans[1]), without(spans[1], spans[0]))
    return PairView(views[0], views[1], differing)


def spans_of(encoding: Encoding, text: str) -> list[tuple[int, int]]:
    """Returns the first byte of each token of a text, and the one behind it."""
    _, starts, ends = encoding.encode_with_offsets(text, unit="byte", disallowed_special=())
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def without(spans: list[tuple[int, int]], others: list[tuple[int, int]]) -> tuple[int, ...]:
    """Returns the indices of the spans that are none of the others."""
    known = set(others)
    return tuple(i for i, span in enumerate(spans) if span not in known)
