"""The steps that encode texts: IDs, truncation, post-processing, padding."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from bytemill.hf.inputs import PAIR
from bytemill.hf.layout import Layout, shortened
from bytemill.hf.processing import processed
from bytemill.hf.sources import SourceText, SourceWords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.hf.engine import Engine
    from bytemill.hf.layout import Source
    from bytemill.hf.settings import Padding, Truncation

__all__ = ["Settings", "completed", "encoded"]


class Settings(NamedTuple):
    """How texts are encoded.

    Attributes:
        in_words: Whether texts are lists of words, each of which is encoded by itself.
        adds: Whether the tokens of the post-processor are added.
        finds_special: Whether special tokens in a text are those.
        truncation: How much of a text is kept; `None` for all.
        padding: What fills up; `None` for nothing.
    """

    in_words: bool
    adds: bool
    finds_special: bool
    truncation: Truncation | None
    padding: Padding | None


def encoded(engine: Engine, batch: list[list[Sequence[str]]], settings: Settings) -> list[Layout]:
    """Returns the layout of each element of a batch.

    Args:
        engine: What encodes.
        batch: One text, or two, for each element: each a list of parts that are encoded by themselves.
        settings: How.

    Raises:
        ValueError: Same as `completed`.
    """
    texts = [text for inputs in batch for parts in inputs for text in parts]
    finds_special = settings.finds_special
    rows = iter(engine.rows(texts, finds_special=finds_special)) if texts else iter(())
    layouts = []
    for inputs in batch:
        plain = []
        for number, parts in enumerate(inputs):
            source: Source
            if settings.in_words:
                own = list(islice(rows, len(parts)))
                source = SourceWords(engine, parts, own, finds_special=finds_special)
            else:
                source = SourceText(engine, parts[0], next(rows), finds_special=finds_special)
            plain.append(Layout.of(source, number))
        layouts.append(completed(engine, plain, settings))
    if settings.padding is not None:
        target = settings.padding.target(max((layout.size for layout in layouts), default=0))
        layouts = [layout.filled(settings.padding, target) for layout in layouts]
    return layouts


def completed(engine: Engine, layouts: list[Layout], settings: Settings) -> Layout:
    """Returns the layout of a text, or of two, truncated and post-processed.

    Raises:
        ValueError: `max_length` is too small, or the text that the strategy names cannot be truncated.
    """
    processor, truncation = engine.processor, settings.truncation
    if truncation is not None:
        is_pair = len(layouts) == PAIR
        extras = engine.extras(is_pair=is_pair) if settings.adds else 0
        if truncation.max_length < extras:
            raise ValueError(
                f"expected a max_length of at least {extras}, the tokens that are added, got "
                f"{truncation.max_length}"
            )
        layouts = shortened(layouts, truncation, truncation.max_length - extras)
    return processed(processor, layouts, adds=settings.adds)
