"""The chart of the README: no text lies over another or outside of the picture, in any theme and width."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from report import readme_chart

CHARTS = {path.name: content for path, content in readme_chart.charts().items()}
SVG = "{http://www.w3.org/2000/svg}"

# No font of the chart's list is wider for these texts: in ems for a letter, on average.
ADVANCE, BOLD_ADVANCE = 0.56, 0.6
# Of a line, above and below its baseline, in ems.
ASCENT, DESCENT = 0.8, 0.25


class Box(NamedTuple):
    """Where a text or a bar lies."""

    name: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Returns whether both have area in common."""
        beside = self.right <= other.left or other.right <= self.left
        return not beside and self.top < other.bottom and other.top < self.bottom


def boxes(content: str) -> tuple[list[Box], Box]:
    """Returns the boxes of all texts and bars, and that of the picture."""
    root = ET.fromstring(content)  # noqa: S314 - our own
    view = [float(number) for number in root.attrib["viewBox"].split()]
    found = []
    for element in root:
        place = element.attrib
        if element.tag == f"{SVG}text":
            label, size = element.text or "", float(place["font-size"])
            advance = BOLD_ADVANCE if "font-weight" in place else ADVANCE
            left, baseline, width = float(place["x"]), float(place["y"]), advance * size * len(label)
            left -= width if place.get("text-anchor") == "end" else 0
            box = Box(label, left, baseline - ASCENT * size, left + width, baseline + DESCENT * size)
            found.append(box)
        elif element.tag == f"{SVG}rect":
            x, y, width, height = (float(place[name]) for name in ("x", "y", "width", "height"))
            found.append(Box("a bar", x, y, x + width, y + height))
    return found, Box("the picture", view[0], view[1], view[0] + view[2], view[1] + view[3])


@pytest.mark.parametrize("name", CHARTS)
def test_nothing_overlaps_or_is_cut_off(name: str) -> None:
    found, picture = boxes(CHARTS[name])
    assert len(found) > 40
    for box in found:
        assert picture.left <= box.left, box
        assert box.right <= picture.right, box
        assert picture.top <= box.top, box
        assert box.bottom <= picture.bottom, box
    for first, second in itertools.combinations(found, 2):
        assert not first.overlaps(second), (first, second)


@pytest.mark.parametrize("name", CHARTS)
def test_panels_are_short_and_say_what_they_measure(name: str) -> None:
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", CHARTS[name])
    titles = [index for index, label in enumerate(labels) if label.startswith(("Encode", "Load", "Train"))]
    assert len(titles) == 4
    assert labels[1].startswith("cold:")
    assert sum(label.startswith("warm:") for label in labels) == 1
    for first, after in itertools.pairwise([*titles, len(labels)]):
        # A title, a line about it, and two texts for each engine.
        assert 2 <= (after - first - 2) / 2 <= readme_chart.MOST_ENGINES


def test_overlaps_are_found() -> None:
    content = CHARTS["speed-light.svg"]
    moved = re.sub(r'y="\d+\.\d"', 'y="90.0"', content, count=8)
    found, _ = boxes(moved)
    assert any(first.overlaps(second) for first, second in itertools.combinations(found, 2))


def test_themes_and_widths_are_there() -> None:
    assert {*CHARTS} == {f"speed-{theme}{end}.svg" for theme in ("light", "dark") for end in ("", "-phone")}
    assert CHARTS["speed-light.svg"] != CHARTS["speed-dark.svg"]
