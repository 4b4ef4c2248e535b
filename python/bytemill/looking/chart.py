"""Bytes per token as a picture: a group of bars for each text, a bar for each encoding."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from bytemill.files import imported
from bytemill.formats.atomic import create, replacing

if TYPE_CHECKING:
    from bytemill.looking.comparison import Comparison

__all__ = ["check_name", "draw"]

# Colours that are told apart with any kind of colour vision, after Okabe and Ito; taken by turns.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7f7f7f")
INK = "#22262b"
FAINT = "#8a929b"
RULE = "#e3e6ea"

# Inches: of the picture, of a bar, between groups, for title, legend and axis, and around all.
WIDTH = 9.0
BAR = 0.24
GAP = 0.22
FRAME = 1.6
MARGIN = 0.25
DOTS_PER_INCH = 160

# A picture of more bars is too high for those who show it.
MOST_BARS = 1000
LONGEST_NAME = 36
LEGEND_COLUMNS = 4


def check_name(path: str | os.PathLike[str]) -> None:
    """Refuses a name that says something else than what will be in the file."""
    if not os.fspath(path).lower().endswith(".png"):
        message = f"expected a name that ends in .png, as the chart is a PNG file, got {os.fspath(path)!r}"
        raise ValueError(message)


def draw(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Draws a comparison; see `Comparison.write_chart`."""
    check_name(path)
    texts, encodings = comparison.rows(), comparison.encodings
    bars = len(texts) * len(encodings)
    if not 0 < bars <= MOST_BARS:
        message = f"expected from 1 to {MOST_BARS} bars, got {len(texts)} texts by {len(encodings)} encodings"
        raise ValueError(message)
    # Without `pyplot`: that looks for a display and keeps every picture.
    figures = imported("matplotlib.figure", "charts")
    per_group = len(encodings) * BAR + GAP
    height = FRAME + len(texts) * per_group
    figure = figures.Figure(
        figsize=(WIDTH, height), dpi=DOTS_PER_INCH, facecolor="white", layout="constrained"
    )
    axes = figure.add_subplot()

    most = max(max(text.bytes_per_token()) for text in texts)
    for number, name in enumerate(encodings):
        places = [group * per_group + number * BAR for group in range(len(texts))]
        lengths = [text.bytes_per_token()[number] for text in texts]
        drawn = axes.barh(
            places, lengths, BAR * 0.86, color=COLOURS[number % len(COLOURS)], label=label_of(name)
        )
        axes.bar_label(drawn, fmt="%.2f", padding=4, fontsize=9, color=INK)

    middle = (len(encodings) - 1) * BAR / 2
    axes.set_yticks(
        [group * per_group + middle for group in range(len(texts))], [label_of(text.name) for text in texts]
    )
    axes.set_ylim(len(texts) * per_group - GAP / 2 - BAR / 2, -GAP / 2 - BAR / 2)
    axes.set_xlim(0, most * 1.09 or 1)
    axes.set_xlabel(
        "the longer the bar, the fewer tokens for the same text", color=FAINT, fontsize=9.5, labelpad=8
    )
    axes.tick_params(axis="y", length=0, labelsize=10, labelcolor=INK, pad=8)
    axes.tick_params(axis="x", length=0, labelsize=9, labelcolor=FAINT)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    figure.legend(
        title="Bytes per token",
        title_fontproperties={"size": 13, "weight": "bold"},
        loc="outside upper left",
        alignment="left",
        ncols=min(len(encodings), LEGEND_COLUMNS),
        frameon=False,
        fontsize=10,
        labelcolor=INK,
        handlelength=1.1,
        handleheight=1.0,
        columnspacing=1.6,
    )
    with replacing(path) as temporary, create(temporary) as file, warnings.catch_warnings():
        # Names in scripts that the font does not have are boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(file, format="png", bbox_inches="tight", pad_inches=MARGIN)


def label_of(name: str) -> str:
    """Gives a name as matplotlib takes it literally, and the end of a long one: that tells paths apart."""
    short = name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]
    # Dollars enclose formulas, and what begins with `_` is left out of legends.
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")
