"""Bar chart of bytes per token: one group of bars per text, one bar per encoding."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

from bytemill._escapes import printable
from bytemill._optional import import_optional
from bytemill.io.atomic import check_writable, create, replacing

if TYPE_CHECKING:
    from bytemill.inspection.comparison import Comparison

__all__ = ["check_target", "draw"]

# Distinguishable with any kind of colour vision, after Okabe and Ito; used cyclically.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7f7f7f")
TEXT = "#22262b"
MUTED = "#8a929b"
GRID = "#e3e6ea"

# Inches: image width, bar height, gap between groups, room for title, legend and axis, outer margin.
WIDTH = 9.0
BAR = 0.24
GAP = 0.22
FRAME = 1.6
MARGIN = 0.25
DOTS_PER_INCH = 160

# Image viewers reject images that are much higher.
MAX_BARS = 1000
MAX_LABEL = 36
LEGEND_COLUMNS = 4


def check_target(path: str | os.PathLike[str]) -> None:
    """Raises now what drawing a chart would raise after the work before it.

    Raises:
        ValueError: The name does not end in `.png`, the only format written.
        OSError: There can be no file of that name.
        ImportError: `matplotlib` is not installed.
    """
    if not os.fspath(path).lower().endswith(".png"):
        raise ValueError(
            f"expected a name that ends in .png, as the chart is a PNG file, got {os.fspath(path)!r}"
        )
    check_writable(path)
    import_optional("matplotlib.figure", "charts")


def draw(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Draws a comparison into a PNG file; see `Comparison.write_chart`."""
    check_target(path)
    texts, encodings = comparison.rows(), comparison.encodings
    if not 0 < len(texts) * len(encodings) <= MAX_BARS:
        raise ValueError(
            f"expected from 1 to {MAX_BARS} bars, got {len(texts)} texts by {len(encodings)} encodings"
        )
    # Not `pyplot`, which looks for a display and keeps a reference to every figure.
    figures = import_optional("matplotlib.figure", "charts")
    per_group = len(encodings) * BAR + GAP
    height = FRAME + len(texts) * per_group
    figure = figures.Figure(
        figsize=(WIDTH, height), dpi=DOTS_PER_INCH, facecolor="white", layout="constrained"
    )
    axes = figure.add_subplot()

    longest = max(max(text.bytes_per_token()) for text in texts)
    for index, name in enumerate(encodings):
        heights = [group * per_group + index * BAR for group in range(len(texts))]
        lengths = [text.bytes_per_token()[index] for text in texts]
        bars = axes.barh(
            heights, lengths, BAR * 0.86, color=COLOURS[index % len(COLOURS)], label=label_of(name)
        )
        axes.bar_label(bars, fmt="%.2f", padding=4, fontsize=9, color=TEXT)

    middle = (len(encodings) - 1) * BAR / 2
    axes.set_yticks(
        [group * per_group + middle for group in range(len(texts))], [label_of(text.name) for text in texts]
    )
    axes.set_ylim(len(texts) * per_group - GAP / 2 - BAR / 2, -GAP / 2 - BAR / 2)
    axes.set_xlim(0, longest * 1.09 or 1)
    axes.set_xlabel(
        "the longer the bar, the fewer tokens for the same text", color=MUTED, fontsize=9.5, labelpad=8
    )
    axes.tick_params(axis="y", length=0, labelsize=10, labelcolor=TEXT, pad=8)
    axes.tick_params(axis="x", length=0, labelsize=9, labelcolor=MUTED)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
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
        labelcolor=TEXT,
        handlelength=1.1,
        handleheight=1.0,
        columnspacing=1.6,
    )
    with replacing(path) as temporary, create(temporary) as file, warnings.catch_warnings():
        # The font draws boxes for the scripts that it lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(file, format="png", bbox_inches="tight", pad_inches=MARGIN)


def label_of(name: str) -> str:
    """Returns a name escaped for matplotlib; of a long one the end, which is what distinguishes paths."""
    name = printable(name)
    short = name if len(name) <= MAX_LABEL else "…" + name[1 - MAX_LABEL :]
    # Dollars delimit formulas, and legends omit labels that begin with `_`.
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")
