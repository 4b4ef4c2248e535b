"""Charts as SVG: what all of them share, from colours and letters to the four files of each.

A chart is written as text, without a plotting library, so that equal results give equal bytes and a test can
tell whether it is up to date. The README and the site choose between the light and the dark file, and between
the wide one and the narrow one, which stays legible on a phone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from harness.suites import ROOT

ASSETS = ROOT / "docs" / "assets"

# The width of a chart, for a page and for a phone, and what is left free around it.
WIDE, NARROW = 820, 390
MARGIN = 16

# Ours is blue and others are grey, told apart by brightness too; and so are two rivals beside each other.
THEMES = {
    "light": {
        "text": "#1f2328",
        "faint": "#59636e",
        "line": "#d1d9e0",
        "ours": "#0969da",
        "other": "#afb8c1",
        "first rival": "#0969da",
        "second rival": "#d4a72c",
    },
    "dark": {
        "text": "#e6edf3",
        "faint": "#9198a1",
        "line": "#3d444d",
        "ours": "#4493f8",
        "other": "#57606a",
        "first rival": "#4493f8",
        "second rival": "#e3b341",
    },
}

FONT = "'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"

BOLD = ' font-weight="600"'
TO_THE_LEFT = ' text-anchor="end"'

Colours = Mapping[str, str]


def text(at: tuple[float, float], size: float, colour: str, content: str, more: str = "") -> str:
    """Returns an element of text."""
    style = f'x="{at[0]:.1f}" y="{at[1]:.1f}" font-size="{size}" fill="{colour}"'
    return f"<text {style}{more}>{escape(content)}</text>"


def bar(at: tuple[float, float], length: float, height: float, colour: str) -> str:
    """Returns a bar."""
    box = f'x="{at[0]:.1f}" y="{at[1]}" width="{length:.1f}" height="{height}" rx="2"'
    return f'<rect {box} fill="{colour}"/>'


def document(size: tuple[float, float], title: str, description: str, parts: Iterable[str]) -> str:
    """Returns a chart of some width and height; screen readers say its title and description."""
    width, height = size
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img" font-family="{FONT}">',
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>",
    ]
    return "\n".join([*lines, *parts, "</svg>", ""])


def files(name: str, draw: Callable[[Colours, int], str]) -> dict[Path, str]:
    """Returns the four files of a chart with what they hold: each theme, wide and narrow."""
    return {
        ASSETS / f"{name}-{theme}{ending}.svg": draw(colours, width)
        for theme, colours in THEMES.items()
        for width, ending in ((WIDE, ""), (NARROW, "-phone"))
    }


def write(charts: Mapping[Path, str]) -> None:
    """Writes the files."""
    for path, content in charts.items():
        path.write_text(content, encoding="utf-8")
