"""Padded arrays of the shape (texts, length): token IDs, type IDs and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill._arguments import integer_type, thread_count
from bytemill.hf.encoded import Encoded
from bytemill.hf.pipeline import encoded, room_of
from bytemill.special import NO_TOKENS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np
    import numpy.typing as npt

    from bytemill.hf.engine import Engine
    from bytemill.hf.pipeline import Settings

    Arrays = dict[str, npt.NDArray[np.integer[Any]]]

__all__ = ["COLUMNS", "DTYPES", "check_dtype", "cuts_each_text", "is_plain", "padded", "plain"]

# The arrays, by name, with the attributes of an encoding that they hold.
COLUMNS = {
    "input_ids": "ids",
    "token_type_ids": "type_ids",
    "attention_mask": "attention_mask",
    "special_tokens_mask": "special_tokens_mask",
}

# What models take.
DTYPES = ("int64", "int32", "uint32")


def check_dtype(engine: Engine, settings: Settings, dtype: str) -> None:
    """Raises `ValueError` if a type cannot hold all numbers of rows: the core does not look at them again."""
    frame, padding = engine.frames[settings.adds], settings.padding
    numbers = [engine.encoding.max_token_value, frame.type_id]
    numbers += [
        number for extra in (*frame.before, *frame.after) for number in (extra.token_id, extra.type_id)
    ]
    if padding is not None:
        numbers += [padding.pad_id, padding.pad_type_id]
    integer_type(dtype, max(numbers))


def is_plain(engine: Engine, batch: Sequence[Sequence[Sequence[str]]], settings: Settings) -> bool:
    """Returns whether the core makes the rows: of single texts, each cut at its own end."""
    return cuts_each_text(engine, settings) and all(len(texts) == 1 for texts in batch)


def cuts_each_text(engine: Engine, settings: Settings) -> bool:
    """Returns whether single texts are whole, cut at their ends, and have only special tokens around them."""
    truncation = settings.truncation
    cuts = truncation is None or truncation.strategy != "only_second"
    return not settings.in_words and cuts and engine.frames[settings.adds].is_simple


def padded(
    engine: Engine,
    batch: list[list[Sequence[str]]],
    settings: Settings,
    *,
    columns: Collection[str] = tuple(COLUMNS),
    dtype: str = "int64",
    num_threads: int | None = None,
) -> Arrays:
    """Returns arrays of a batch, by the names of the columns.

    Args:
        engine: What encodes.
        batch: One text, or two, for each row: each a list of parts that are encoded by themselves.
        settings: How; without padding, rows are as long as the longest.
        columns: Names of `COLUMNS`.
        dtype: One of `DTYPES`.
        num_threads: The maximum number of threads; all processors by default.

    Raises:
        ValueError: Same as `encoded`; or a row is longer than the length that the padding names.
    """
    if is_plain(engine, batch, settings):
        texts = [texts[0][0] for texts in batch]
        return plain(engine, texts, settings, columns=columns, dtype=dtype, num_threads=num_threads)
    import numpy as np

    layouts = encoded(engine, batch, settings)
    length = max((layout.size for layout in layouts), default=0)
    target = length if settings.padding is None else settings.padding.target(length)
    for row, layout in enumerate(layouts):
        if layout.size > target:
            raise ValueError(
                f"text {row} has {layout.size} tokens, which is more than the {target} of a row: expected a "
                f"max_length of at most {target}, or a padding of at least {layout.size}"
            )
    rows = [Encoded(layout) for layout in layouts]
    shape = len(rows), target
    return {
        name: np.array([getattr(row, attribute) for row in rows], dtype).reshape(shape)
        for name, attribute in COLUMNS.items()
        if name in columns
    }


def plain(
    engine: Engine,
    texts: list[str],
    settings: Settings,
    *,
    columns: Collection[str],
    dtype: str,
    num_threads: int | None,
) -> Arrays:
    """Returns the arrays of single texts, each cut at its own end, from the core; arguments as `padded`.

    Raises:
        ValueError: Same as `padded`.
    """
    before, after, type_id, *_ = engine.frames[settings.adds]
    truncation, padding = settings.truncation, settings.padding
    room = None if truncation is None else room_of(truncation, len(before) + len(after))
    arrays: Arrays = engine.encoding._core_bpe.encode_padded(  # noqa: SLF001 - has no public name
        texts,
        None if settings.finds_special else NO_TOKENS,
        (
            [(extra.token_id, extra.type_id) for extra in before],
            [(extra.token_id, extra.type_id) for extra in after],
            type_id,
        ),
        (room, truncation is not None and truncation.direction == "left"),
        (
            None if padding is None else padding.length,
            1 if padding is None else padding.pad_to_multiple_of or 1,
            (0, 0) if padding is None else (padding.pad_id, padding.pad_type_id),
            padding is not None and padding.direction == "left",
        ),
        ("token_type_ids" in columns, "attention_mask" in columns, "special_tokens_mask" in columns),
        dtype,
        thread_count(num_threads),
    )
    return arrays
