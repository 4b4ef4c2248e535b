"""Draws the chart of the README from the recorded results: four jobs, linear scales, the time of each engine.

    python -m benches report readme

Panels stand in two columns, or in one for phones.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.suites import ROOT
from report import svg
from report.svg import BOLD, MARGIN, TO_THE_LEFT, WIDE, Colours

RESULTS = ROOT / "benches" / "results"

OURS = "bytemill"

GAP = 40  # between panels
NAMES, VALUES = 124, 62  # left of the bars; right of the longest bar
HEAD, BAR, STEP = 50, 16, 24  # title and subtitle; a bar; from one bar to the next

# More rows are harder to read than they tell: these, and the fastest of the others.
MOST_ENGINES = 5
ALWAYS_SHOWN = (OURS, "tiktoken", "tokenizers")


@dataclass(frozen=True)
class Panel:
    """One job: its title, a line about it, and the seconds of each engine."""

    title: str
    subtitle: str
    seconds: Mapping[str, float]

    @property
    def rows(self) -> list[tuple[str, float]]:
        """The engines that are shown with their seconds, the fastest first."""
        ranked = sorted(self.seconds.items(), key=lambda pair: pair[1])
        rest = [engine for engine, _ in ranked if engine not in ALWAYS_SHOWN]
        kept = [engine for engine in ALWAYS_SHOWN if engine in self.seconds]
        shown = {*kept, *rest[: MOST_ENGINES - len(kept)]}
        return [(engine, seconds) for engine, seconds in ranked if engine in shown]

    @property
    def height(self) -> float:
        """The height of the panel."""
        return HEAD + STEP * len(self.rows)


def of_stream(cells: Iterable[Mapping[str, Any]], megabytes: int) -> dict[str, float]:
    """Returns the seconds of each engine for some megabytes of the stream of documents, with one thread.

    Without the release of tokenizers: beside its 590 s the other bars could not be told apart.
    """
    names = {"tokenizers rc": "tokenizers 1.0 rc"}
    single = (cell for cell in cells if cell["threads"] == 1 and cell["engine"] != "tokenizers")
    return {names.get(cell["engine"], cell["engine"]): megabytes / cell["speed"] for cell in single}


def of_rate(cells: Iterable[Mapping[str, Any]], row: str, megabytes: int) -> dict[str, float]:
    """Returns the seconds of each engine for some megabytes, at its median speed over texts and encodings."""
    speeds: dict[str, list[float]] = {}
    for cell in cells:
        if cell["row"] == row and cell["contender"] == cell["engine"] and cell.get("median"):
            speeds.setdefault(cell["engine"], []).append(cell["bytes"] / cell["median"])
    return {engine: megabytes * 1e6 / statistics.median(of_one) for engine, of_one in speeds.items()}


def of_load(cells: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Returns the seconds until a sentence is encoded in a fresh process."""
    return {cell["engine"]: cell["median"] for cell in cells if cell["row"] == "10" and cell.get("median")}


def of_training(figures: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Returns the seconds of this library, of rustbpe, tokenizers and of the fastest other trainer.

    Only trainers that give the same vocabulary count.
    """
    large = [figure for figure in figures if figure["job"] == "large" and figure.get("seconds")]
    ours = next(figure["seconds"] for figure in large if figure["contender"].startswith(OURS))
    others = {figure["contender"]: figure["seconds"] for figure in large if figure.get("equal")}
    shown = {min(others, key=others.__getitem__), "rustbpe", "tokenizers"}
    return {OURS: ours} | {name: seconds for name, seconds in others.items() if name in shown}


def panels(
    encoding: Mapping[str, Any], stream: Mapping[str, Any], training: Mapping[str, Any]
) -> list[Panel]:
    """Returns the four panels."""
    cells = encoding["cells"]
    return [
        Panel(
            "Encode 1 GB of new documents",
            "cold: text never seen before, o200k, one thread",
            of_stream(stream["cells"], 1000),
        ),
        Panel(
            "Encode 100 MB to lists", "warm: 4 KB documents seen before, one thread", of_rate(cells, "3", 100)
        ),
        Panel("Load o200k_base", "fresh process, until a sentence is encoded", of_load(cells)),
        Panel("Train 100,000 tokens", "400 MB of text, two threads", of_training(training["figures"])),
    ]


def duration(seconds: float, longest: float) -> str:
    """Returns a time with two digits, in the unit that suits the longest of its panel."""
    value, unit = (seconds, "s") if longest >= 1 else (seconds * 1e3, "ms")
    return f"{value:.{0 if value >= 10 else 1 if value >= 1 else 2}f} {unit}"


def drawn(panel: Panel, left: float, top: float, width: float, colours: Colours) -> Iterator[str]:
    """Yields one panel as elements of SVG: names at the left, bars, times behind the bars."""
    yield svg.text((left, top + 16), 16, colours["text"], panel.title, BOLD)
    yield svg.text((left, top + 35), 12.5, colours["faint"], panel.subtitle)
    longest = panel.rows[-1][1]
    for index, (engine, seconds) in enumerate(panel.rows):
        y = top + HEAD + index * STEP
        length = max((width - NAMES - VALUES) * seconds / longest, 1.5)
        words, fill, weight = ("text", "ours", BOLD) if engine == OURS else ("faint", "other", "")
        yield svg.text((left + NAMES - 8, y + 12.5), 13, colours[words], engine, weight + TO_THE_LEFT)
        yield svg.bar((left + NAMES, y), length, BAR, colours[fill])
        at = (left + NAMES + length + 7, y + 12.5)
        yield svg.text(at, 13, colours[words], duration(seconds, longest), weight)


def in_words(panel: Panel) -> str:
    """Returns the figures of a panel, for screen readers."""
    longest = panel.rows[-1][1]
    return ", ".join(f"{engine} {duration(seconds, longest)}" for engine, seconds in panel.rows)


def chart(shown: list[Panel], colours: Colours, total: int) -> str:
    """Returns the whole chart, of some width."""
    columns = 2 if total == WIDE else 1
    width = (total - 2 * MARGIN - (columns - 1) * GAP) / columns
    said = "; ".join(f"{panel.title}: {in_words(panel)}" for panel in shown)
    parts: list[str] = []
    bottom: float = MARGIN
    for first in range(0, len(shown), columns):
        row = shown[first : first + columns]
        for column, panel in enumerate(row):
            parts += drawn(panel, MARGIN + column * (width + GAP), bottom, width, colours)
        bottom += max(panel.height for panel in row) + MARGIN
    return svg.document((total, bottom), "Time of four jobs, shorter is better", said, parts)


def charts() -> dict[Path, str]:
    """Returns the files of the chart with what they hold."""
    encoding, stream, training = (
        json.loads((RESULTS / name).read_text(encoding="utf-8"))
        for name in ("compare.json", "stream.json", "training.json")
    )
    shown = panels(encoding, stream, training)
    return svg.files("speed", lambda colours, width: chart(shown, colours, width))
