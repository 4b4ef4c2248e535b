"""The charts: no text lies over another or outside of the picture, in any theme and width."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from harness.record import Cell
from report import encoding, ratio_chart, readme_chart, readme_page
from support.examples import ROOT

RESULT = Path(__file__).parents[3] / "benches" / "results" / "compare.json"
OF_README = {path.name: content for path, content in readme_chart.charts().items()}
OF_RATIOS = ratio_chart.charts(encoding.read_result(RESULT)[1])
CHARTS = OF_README | {path.name: content for path, content in OF_RATIOS.items()}
SVG = "{http://www.w3.org/2000/svg}"

# No font of the chart's list is wider for these texts: in ems for a letter, on average.
ADVANCE, BOLD_ADVANCE = 0.56, 0.6
# Of a line, above and below its baseline, in ems.
ASCENT, DESCENT = 0.8, 0.25


class Box(NamedTuple):
    """Where a text, a bar or a dot lies."""

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
    """Returns the boxes of all texts, bars and dots, and that of the picture."""
    root = ET.fromstring(content)  # noqa: S314 - our own
    view = [float(number) for number in root.attrib["viewBox"].split()]
    found = []
    for element in root:
        place = element.attrib
        if element.tag == f"{SVG}text":
            label, size = element.text or "", float(place["font-size"])
            advance = BOLD_ADVANCE if "font-weight" in place else ADVANCE
            left, baseline, width = float(place["x"]), float(place["y"]), advance * size * len(label)
            left -= width * {"end": 1, "middle": 0.5}.get(place.get("text-anchor", ""), 0)
            box = Box(label, left, baseline - ASCENT * size, left + width, baseline + DESCENT * size)
            found.append(box)
        elif element.tag == f"{SVG}rect":
            x, y, width, height = (float(place[name]) for name in ("x", "y", "width", "height"))
            found.append(Box("a bar", x, y, x + width, y + height))
        elif element.tag == f"{SVG}circle":
            x, y, r = (float(place[name]) for name in ("cx", "cy", "r"))
            found.append(Box("a dot", x - r, y - r, x + r, y + r))
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
        # Dots lie over bars and over each other.
        on_bars = {first.name, second.name} <= {"a bar", "a dot"} and "a dot" in (first.name, second.name)
        assert on_bars or not first.overlaps(second), (first, second)


@pytest.mark.parametrize("name", OF_README)
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
    assert {*CHARTS} == {
        f"{name}-{theme}{end}.svg"
        for name in ("speed", "compare")
        for theme in ("light", "dark")
        for end in ("", "-phone")
    }
    for name in ("speed", "compare"):
        assert CHARTS[f"{name}-light.svg"] != CHARTS[f"{name}-dark.svg"]


def test_the_chart_of_ratios_shows_what_was_measured() -> None:
    for path, content in OF_RATIOS.items():
        assert path.read_text(encoding="utf-8") == content, "run `make bench-report`"


def cell(engine: str, median: float, **fields: object) -> Cell:
    values: dict[str, object] = {"row": "3", "corpus": "english", "encoding": "cl100k_base", "engine": engine}
    values |= {"contender": engine, "call": "encode", "form": "list", "state": "replay", "threads": 1}
    values |= {"bytes": 1_000_000, "calls": 1, "median": median}
    return Cell(**(values | fields))  # type: ignore[arg-type]


def test_a_bar_goes_to_the_side_of_the_faster_engine() -> None:
    cells = [cell("bytemill", 1.0), cell("tiktoken", 20.0), cell("gigatoken", 0.5)]
    rows = ratio_chart.rows_of(cells)
    assert {rival: found.shown for rival, found in rows["3"].items()} == {"tiktoken": 20, "gigatoken": 0.5}
    content = next(iter(ratio_chart.charts(cells).values()))
    # The middle of the text below the line of 1x.
    one = float(re.search(r'x="([\d.]+)"[^>]*>1x<', content)[1])  # type: ignore[index]
    # After those of the legend.
    faster, slower = [box for box in boxes(content)[0] if box.name == "a bar"][2:]
    assert faster.left == pytest.approx(one, abs=0.1)
    assert slower.right == pytest.approx(one, abs=0.1)
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", content)
    assert {"0.1x", "1x", "10x", "100x", "20.0x", "0.50x"} <= {*labels}


def test_figures_of_the_readme_are_those_of_its_page() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    values = {row.figure: row.value for row in readme_page.rows()}
    (new,) = (value for figure, value in values.items() if figure.startswith("Half a gigabyte"))
    for engine, factor in re.findall(r"([a-z0-9. ]+?) ([\d.]+)x", new):
        stated = f"{float(factor):.0f}" if float(factor) > 2 else factor
        assert f"{stated} times as fast as {engine.strip()}" in readme
    accelerated = [value.removesuffix("x") for figure, value in values.items() if "accelerated" in figure]
    assert (
        f"{accelerated[0]} times as fast on new text and {accelerated[1]} times as fast on text it has seen"
        in readme
    )
    page = (ROOT / "docs" / "benchmarks" / "readme.md").read_text(encoding="utf-8")
    assert readme_page.section() in page
