"""Compare encodings by bytes per token, as a table and as a chart."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytemill._arguments import check_type
from bytemill._messages import import_optional, printable
from bytemill._named import encoding_of
from bytemill.documents.blocks import utf8
from bytemill.documents.sources import check_documents
from bytemill.inspection.notebook import Displayed
from bytemill.inspection.terminal import align_columns
from bytemill.io.atomic import check_writable, create, replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bytemill.core import Encoding

__all__ = ["Comparison", "Counts", "check_target", "compare", "draw"]

# Documents are batched until they have this many characters.
BATCH_CHARACTERS = 1 << 22

TOTAL = "together"


class Counts(NamedTuple):
    """Counts of one text, or of all texts together.

    Attributes:
        name: Name of the text.
        characters: Number of characters.
        size: Number of bytes as UTF-8.
        tokens: Number of tokens by each encoding.
    """

    name: str
    characters: int
    size: int
    tokens: tuple[int, ...]

    def bytes_per_token(self) -> list[float]:
        """Returns the mean bytes per token of each encoding; 0 where there are no tokens."""
        return [self.size / tokens if tokens else 0.0 for tokens in self.tokens]


@dataclass(frozen=True)
class Comparison(Displayed):
    """Token counts of several encodings. Its `str` is a table.

    Attributes:
        encodings: Names of the encodings.
        texts: Counts of each text.
    """

    encodings: tuple[str, ...]
    texts: tuple[Counts, ...]

    @property
    def together(self) -> Counts:
        """Counts of all texts together."""
        tokens = np.array([text.tokens for text in self.texts], dtype=np.int64).reshape(
            -1, len(self.encodings)
        )
        characters = sum(text.characters for text in self.texts)
        size = sum(text.size for text in self.texts)
        return Counts(TOTAL, characters, size, tuple(tokens.sum(axis=0).tolist()))

    def rows(self) -> list[Counts]:
        """Returns the rows of the table: each text, then the sum if there are several."""
        return [*self.texts, self.together] if len(self.texts) > 1 else list(self.texts)

    def to_dict(self) -> dict[str, Any]:
        """Returns all figures as JSON-compatible values."""
        return {"encodings": list(self.encodings), "texts": list(map(self._row, self.texts))} | {
            TOTAL: self._row(self.together)
        }

    def _row(self, counts: Counts) -> dict[str, Any]:
        return {
            "name": counts.name,
            "characters": counts.characters,
            "bytes": counts.size,
            "tokens": dict(zip(self.encodings, counts.tokens, strict=True)),
            "bytes_per_token": dict(zip(self.encodings, counts.bytes_per_token(), strict=True)),
        }

    def __str__(self) -> str:
        heading = ("bytes per token", "bytes", *map(printable, self.encodings))
        figures = [
            (printable(row.name), f"{row.size:,}", *(f"{ratio:.2f}" for ratio in row.bytes_per_token()))
            for row in self.rows()
        ]
        return "\n".join(align_columns([heading, *figures]))

    def write_chart(self, path: str | os.PathLike[str]) -> None:
        """Writes a bar chart of bytes per token to a PNG file, replacing it if it exists.

        Raises:
            ImportError: `matplotlib` is not installed.
            ValueError: There are no bars or too many for one image, or the name does not end in `.png`.
            OSError: The file cannot be written; no partial file is left.
        """
        draw(self, path)


def compare(
    encodings: Mapping[str, Encoding | str],
    texts: Mapping[str, Iterable[str]],
    *,
    num_threads: int | None = None,
) -> Comparison:
    """Counts the tokens of texts by several encodings.

    Args:
        encodings: Encodings, or names of encodings or models, by the name to show.
        texts: Documents by the name of the text they make up: any iterable, read once, some megabytes at a
            time. Special tokens in them are ordinary text.
        num_threads: Maximum number of threads; `None` for all processors.

    Raises:
        ValueError: There are no encodings, or `num_threads` is not positive.
        TypeError: `encodings` or `texts` is not a mapping, a text is a string rather than an iterable of
            documents, or a document is not a string.
        PatternError: The engine of a custom pattern gives up on a document.

    Complexity:
        Linear in the texts, times the number of encodings.
    """
    for name, argument in (("encodings", encodings), ("texts", texts)):
        check_type(name, argument, Mapping, "expected a name for each")
    if not encodings:
        raise ValueError("expected one encoding or more, got none")
    engines = [encoding_of(encoding, "an encoding") for encoding in encodings.values()]
    rows = tuple(count_text(name, documents, engines, num_threads) for name, documents in texts.items())
    return Comparison(tuple(encodings), rows)


def count_text(
    name: str, documents: Iterable[str], encodings: Sequence[Encoding], num_threads: int | None
) -> Counts:
    """Counts the tokens of one text by each encoding."""
    if isinstance(documents, str):
        raise TypeError(
            f"{name}: expected an iterable of documents, got str; one document is given as [document]"
        )
    check_documents(documents)
    characters = size = 0
    tokens = np.zeros(len(encodings), dtype=np.int64)
    for batch in sized_batches(documents):
        # As they are encoded: a pair of surrogates is one character.
        for data in map(utf8, batch):
            size += len(data)
            characters += len(data.decode())
        tokens += [int(encoding.count_batch(batch, num_threads=num_threads).sum()) for encoding in encodings]
    return Counts(name, characters, size, tuple(tokens.tolist()))


def sized_batches(documents: Iterable[str]) -> Iterator[list[str]]:
    """Yields lists of documents of at least `BATCH_CHARACTERS` together; the last may be shorter."""
    batch: list[str] = []
    size = 0
    for document in documents:
        check_type("a document", document, str)
        batch.append(document)
        size += len(document)
        if size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


# Bar chart of bytes per token: one group of bars per text, one bar per encoding.

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
