"""Draws the comparison of encoding: time or memory of two rivals divided by ours, for each row, log scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.record import Cell
from report import svg
from report.encoding import RIVALS
from report.page import times
from report.svg import BOLD, MARGIN, TO_THE_LEFT, WIDE, Colours
from report.targets import TITLES, compared, groups, ratio

BAR, LINE = 9, 12  # height of a bar; from one bar of a row to the next
TITLE = 18  # of a row, above its bars, where it is not at their left
SPACE = 10  # between rows
NAMES, VALUES = 346, 46  # for the titles at the left of the bars; right of the bars
SLOTS = ("first rival", "second rival")


@dataclass(frozen=True)
class Ratios:
    """The ratios of a row to a rival: the one that the table shows, and that of each text and encoding."""

    shown: float
    each: Sequence[float]


Row = Mapping[str, Ratios]


def rows_of(cells: Sequence[Cell]) -> Mapping[str, Row]:
    """Returns the ratios by row and rival; rows without a rival are left out."""
    found: dict[str, dict[str, Ratios]] = {}
    for row in TITLES:
        of_row = [cell for cell in cells if cell.row == row]
        for rival in RIVALS:
            shown = compared(row, rival, of_row).value
            each = [value for group in groups(of_row).values() if (value := ratio(group, rival)) is not None]
            if shown is not None:
                found.setdefault(row, {})[rival] = Ratios(shown, each)
    return found


class Scale:
    """A logarithmic scale with a line for each power of ten."""

    def __init__(self, values: Sequence[float], left: float, width: float) -> None:
        """Covers all values by whole powers of ten, from `left` on."""
        self.first, self.last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.left, self.step = left, width / (self.last - self.first)

    def x(self, value: float) -> float:
        """Returns where a value lies."""
        return self.left + (math.log10(value) - self.first) * self.step

    def powers(self) -> list[float]:
        """Returns the values of the lines."""
        return [10.0**exponent for exponent in range(self.first, self.last + 1)]


def legend(top: float, colours: Colours, *, wide: bool) -> Iterator[str]:
    """Yields what colours and places mean."""
    left: float = MARGIN
    for rival, slot in zip(RIVALS, SLOTS, strict=True):
        yield svg.bar((left, top + 4), 24, BAR, colours[slot])
        yield svg.text((left + 32, top + 13), 13, colours["text"], f"{rival} / bytemill")
        left += 176
    notes = [
        "Bars: worst median of any encoding.",
        "Dots: each text and encoding.",
        "Right of 1x, bytemill is faster or takes less memory.",
    ]
    for number, line in enumerate([" ".join(notes)] if wide else notes):
        yield svg.text((MARGIN, top + 33 + 16 * number), 12, colours["faint"], line)


def bars(row: Row, top: float, scale: Scale, right: float, colours: Colours) -> Iterator[str]:
    """Yields the bars of a row, its dots and the ratios as text."""
    one = scale.x(1)
    for side, (rival, slot) in enumerate(zip(RIVALS, SLOTS, strict=True)):
        if rival not in row:
            continue
        shown, y = row[rival].shown, top + side * LINE
        start, end = sorted((one, scale.x(shown)))
        yield svg.bar((start, y), max(end - start, 1), BAR, colours[slot])
        for value in row[rival].each:
            place = f'cx="{scale.x(value):.1f}" cy="{y + BAR / 2}"'
            yield f'<circle {place} r="1.8" fill="{colours["text"]}" fill-opacity="0.6"/>'
        yield svg.text((right, y + 8.5), 11, colours["faint"], times(shown), TO_THE_LEFT)


def chart(rows: Mapping[str, Row], colours: Colours, width: int) -> str:
    """Returns the chart, with titles at the left of the bars or above them."""
    wide = width == WIDE
    left, right = MARGIN + (NAMES if wide else 0), width - MARGIN
    every = [value for row in rows.values() for found in row.values() for value in found.each]
    scale = Scale(every, left + 4, right - VALUES - left - 8)
    parts = list(legend(MARGIN, colours, wide=wide))
    above, y = (0 if wide else TITLE), MARGIN + (52 if wide else 84)
    for key, row in rows.items():
        baseline = y + (14 if wide else 12)
        place, more = ((left - 10, baseline), TO_THE_LEFT) if wide else ((left, baseline), BOLD)
        parts.append(svg.text(place, 12, colours["text"], TITLES[key], more))
        top = y + above
        # From one row to the next, or only beside the bars, where titles stand between.
        ends = (y - SPACE / 2, y + 2 * LINE + SPACE / 2) if wide else (top - 2, top + 2 * LINE)
        lines = " ".join(f"M{scale.x(value):.1f} {ends[0]}V{ends[1]}" for value in scale.powers())
        parts.append(f'<path d="{lines}" stroke="{colours["line"]}" fill="none"/>')
        parts.append(
            f'<path d="M{scale.x(1):.1f} {ends[0]}V{ends[1]}" stroke="{colours["faint"]}" fill="none"/>'
        )
        parts += bars(row, top, scale, right, colours)
        y += above + 2 * LINE + SPACE
    for value in scale.powers():
        middle = ' text-anchor="middle"'
        parts.append(svg.text((scale.x(value), y + 12), 11, colours["faint"], f"{value:g}x", middle))
    said = "; ".join(f"{TITLES[key]}: {in_words(row)}" for key, row in rows.items())
    title = "Time or memory of other engines divided by bytemill's"
    return svg.document((width, y + 12 + MARGIN), title, said, parts)


def in_words(row: Row) -> str:
    """Returns the ratios of a row, for screen readers."""
    return ", ".join(f"{rival} {times(found.shown)}" for rival, found in row.items())


def charts(cells: Sequence[Cell]) -> dict[Path, str]:
    """Returns the files of the chart with what they hold."""
    rows = rows_of(cells)
    return svg.files("compare", lambda colours, width: chart(rows, colours, width))
