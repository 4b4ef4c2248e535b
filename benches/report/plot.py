"""The picture of the comparison: the time of other engines divided by ours, for each row."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from harness.record import Cell
from report.targets import TARGETS, TITLES, groups, ratio

# Distinguishable with any kind of colour vision.
COLOURS = {"tiktoken": "#0072B2", "gigatoken": "#E69F00"}

BAR = 0.36


def ratios(cells: Sequence[Cell], row: str, rival: str) -> list[float]:
    """Returns the ratio of each group of a row."""
    found = (ratio(group, rival) for (of, _, _), group in groups(cells).items() if of == row)
    return [each for each in found if each is not None]


def draw(cells: Sequence[Cell], path: Path) -> None:
    """Draws the median ratio of each row as a bar, each corpus as a dot, each target as a line.

    Raises:
        ImportError: matplotlib is not installed.
    """
    matplotlib = import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot = import_module("matplotlib.pyplot")
    shown = [row for row in TITLES if any(ratios(cells, row, rival) for rival in COLOURS)]
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.5 * len(shown)), layout="constrained")
    for side, (rival, colour) in enumerate(COLOURS.items()):
        for position, row in enumerate(shown):
            values = ratios(cells, row, rival)
            if not values:
                continue
            height = position + (side - 0.5) * BAR
            axes.barh(height, statistics.median(values) - 1, BAR, left=1, color=colour, alpha=0.75)
            axes.scatter(values, [height] * len(values), s=6, color="black", zorder=3)
            for target in TARGETS:
                if target.row == row and target.against == rival:
                    ends = [height - BAR / 2, height + BAR / 2]
                    axes.plot([target.bound] * 2, ends, color="black", linewidth=2)
        axes.barh(0, 0, color=colour, alpha=0.75, label=f"time of {rival} / time of bytemill")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(shown)), [TITLES[row] for row in shown])
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(import_module("matplotlib.ticker").FormatStrFormatter("%gx"))
    axes.set_xlabel("right of 1x bytemill is ahead; dots: texts and encodings; black lines: targets")
    figure.legend(loc="outside upper right", ncols=len(COLOURS))
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)
