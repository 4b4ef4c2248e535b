"""The tokens of a text by two encodings, one below the other, with a mark where their cuts differ."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bytemill._named import encoding_of
from bytemill.inspection.displayed import Displayed
from bytemill.inspection.token_view import NOTEBOOK_LIMIT, TokenView, show

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import SupportsIndex

    from bytemill.core import Encoding

__all__ = ["PairView", "show_both"]


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
        from bytemill.inspection.notebook import render_plain

        return "\n\n".join(
            render_plain(view, heading=heading, marked=frozenset(indices))
            for view, indices, heading in self.headings()
        )

    def _repr_html_(self) -> str:
        """Renders both for a notebook."""
        from bytemill.inspection.notebook import render_fragment

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
