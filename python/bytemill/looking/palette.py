"""The colours of tokens: one list for the terminal, for pages and for charts.

Six light backgrounds, which dark letters are easy to read on, and six dark ones for light letters. Neighbours
are of different hues, as are the last and the first, since the colours are taken by turns.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COLOURS", "Colour"]


class Colour(NamedTuple):
    """One background.

    Attributes:
        terminal: Its number in the palette of 256 colours that terminals have; letters on it are black (16).
        light: As "#rrggbb", below dark letters.
        dark: The same hue below light letters.
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
