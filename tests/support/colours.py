"""How different colours look, to all kinds of eyes.

Deficiencies are simulated as by Machado, Oliveira and Fernandes (2009) at full severity, on linear light;
distances are those of OKLab, times 100: about 2 is just noticeable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

__all__ = ["EYES", "contrast", "distance", "linear", "nearest_neighbours", "parsed"]

Triple = tuple[float, float, float]
Matrix = tuple[Triple, Triple, Triple]

EYES: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def parsed(colour: str) -> tuple[int, int, int]:
    """Returns the three values of "#rrggbb"."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def linear(colour: Sequence[int]) -> Triple:
    """Returns the light of an sRGB colour."""
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (value / 255 for value in colour)
    )
    return red, green, blue


def product(matrix: Matrix, vector: Triple) -> Triple:
    """Returns a matrix times a vector."""
    first, second, third = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return first, second, third


def oklab(light: Triple) -> Triple:
    """Returns linear light in OKLab."""
    cones = product(
        (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        ),
        light,
    )
    red, green, blue = (max(value, 0.0) ** (1 / 3) for value in cones)
    return product(
        (
            (0.2104542553, 0.7936177850, -0.0040720468),
            (1.9779984951, -2.4285922050, 0.4505937099),
            (0.0259040371, 0.7827717662, -0.8086757660),
        ),
        (red, green, blue),
    )


def distance(one: Sequence[int], other: Sequence[int], eye: str) -> float:
    """Returns how different two colours look to an eye."""

    def seen(colour: Sequence[int]) -> Triple:
        red, green, blue = (min(max(value, 0.0), 1.0) for value in product(EYES[eye], linear(colour)))
        return oklab((red, green, blue))

    return 100 * math.dist(seen(one), seen(other))


def nearest_neighbours(colours: Sequence[Sequence[int]]) -> float:
    """Returns the smallest distance of neighbours in a cycle of colours, to any eye."""
    return min(distance(one, other, eye) for one, other in pairwise([*colours, colours[0]]) for eye in EYES)


def contrast(one: str, other: str) -> float:
    """Returns the contrast ratio of the Web Content Accessibility Guidelines."""

    def luminance(colour: str) -> float:
        red, green, blue = linear(parsed(colour))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
