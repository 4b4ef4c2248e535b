"""Background colours of tokens in the terminal and on HTML pages.

Six light backgrounds for dark text, and the same hues as dark backgrounds for light text. Neighbours
differ in hue and in lightness, and so do the last and the first, since the list is used cyclically: people
who see no red or no green tell them apart as well.
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
    Colour(117, "#dbecfd", "#002f56"),  # blue
    Colour(187, "#e3c994", "#5c4300"),  # yellow
    Colour(218, "#fee1e8", "#4e172c"),  # pink
    Colour(183, "#d3c2f7", "#4f3c6e"),  # violet
    Colour(123, "#adf9fd", "#003538"),  # cyan
    Colour(151, "#aadbb3", "#1f542e"),  # green
)
