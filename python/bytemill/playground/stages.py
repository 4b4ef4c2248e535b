"""The stages of a text on its way to ids, each with the lines of `bytemill.reference` that define it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill import reference

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["STAGES", "Stage", "definition_of"]


class Stage(NamedTuple):
    """One step that a text goes through, and the place of its definition.

    Attributes:
        function: The function of the reference.
        first: How the first of its lines that say so begins, without indentation.
        lines: The number of those lines.
        about: A sentence about it.
    """

    function: Callable[..., Any]
    first: str
    lines: int
    about: str


ENCODING = reference.ReferenceEncoding

# In the order in which a text goes through them; then those of training.
STAGES = {
    "text": Stage(
        ENCODING.encode,
        "text = repair_surrogates(text)",
        1,
        "A text is any string; what has no UTF-8 form is repaired first.",
    ),
    "special": Stage(
        ENCODING.encode,
        "while found := find(text, allowed, start):",
        4,
        "Special tokens that are allowed are cut out, and become their ids. The text between them is "
        "ordinary text.",
    ),
    "pieces": Stage(
        reference.split,
        "return [piece.encode()",
        1,
        "The pattern of the encoding cuts the text into pieces, roughly words. No merge crosses a cut.",
    ),
    "bytes": Stage(
        reference.merge_steps, "parts = [piece[i : i + 1]", 2, "A piece starts as single bytes of its UTF-8."
    ),
    "merges": Stage(
        reference.merge_steps,
        "_, i = min(mergeable)",
        3,
        "Of all neighbours that are a token together, those of lowest rank are merged, again and again.",
    ),
    "ids": Stage(
        ENCODING.encode_piece,
        "if piece in self.mergeable_ranks:",
        4,
        "Each part that is left is a token, and its rank is its id. A piece that is a token is taken whole.",
    ),
    "training": Stage(
        reference.train_steps,
        "for new_id in range(",
        10,
        "Training merges the pair that occurs most often, and counts again.",
    ),
}


def definition_of(stage: str) -> dict[str, Any]:
    """Returns the lines that define a stage, as JSON-compatible values.

    Raises:
        KeyError: There is no such stage.
    """
    if stage not in STAGES:
        raise KeyError(f"there is no stage {stage!r}")
    function, first, count, about = STAGES[stage]
    lines, start = inspect.getsourcelines(function)
    marked = next(i for i, line in enumerate(lines) if line.strip().startswith(first))
    return {
        "about": about,
        "file": f"bytemill/{Path(reference.__file__).name}",
        "start": start,
        "lines": [line.rstrip("\n") for line in lines],
        "marked": [start + marked, start + marked + count - 1],
    }
