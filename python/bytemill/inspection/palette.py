"""Background colours of tokens in the terminal and on HTML pages.

Six light backgrounds for dark text, and the same hues as dark backgrounds for light text. Adjacent colours
differ in hue, and so do the last and the first, since the list is used cyclically.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COLOURS", "Colour"]


class Colour(NamedTuple):
    """One background colour.

    Attributes:
        terminal: Index in the 256-colour palette of terminals; text on it is black (16).
        light: "#rrggbb" for dark text.
        dark: The same hue for light text.
    """

    terminal: int
    light: str
    dark: str


COLOURS = (
    Colour(153, "#bcdcfb", "#1d4468"),  # blue
    Colour(223, "#fbe0a6", "#574010"),  # yellow
    Colour(157, "#bdebc4", "#1c4d2b"),  # green
    Colour(218, "#fbcbdc", "#642a44"),  # pink
    Colour(159, "#b5e8ea", "#124b50"),  # cyan
    Colour(183, "#dccff8", "#443070"),  # violet
)
