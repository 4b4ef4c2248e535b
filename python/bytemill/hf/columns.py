"""The columns that a call of a tokenizer of `transformers` returns: rows of IDs, masks, offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.hf.encoded import Encoded
from bytemill.hf.pipeline import encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bytemill.hf.calls import Call
    from bytemill.hf.engine import Engine
    from bytemill.hf.processing import Extra
    from bytemill.hf.settings import Padding

__all__ = ["Result", "result_of"]


class Result(NamedTuple):
    """The outcome of a call.

    Attributes:
        columns: Rows by name.
        size: The number of encodings.
        sequences: The number of texts in each.
        encodings: Makes the encodings.
    """

    columns: dict[str, list[Any]]
    size: int
    sequences: int
    encodings: Callable[[], list[Encoded]]


def result_of(engine: Engine, call: Call) -> Result | None:
    """Returns what a call returns; `None` if texts cannot be truncated so."""
    try:
        return plain_result(engine, call) if call.is_plain else full_result(engine, call)
    except ValueError:
        return None


def encodings_of(engine: Engine, call: Call) -> list[Encoded]:
    """Returns the encoding of each row."""
    layouts = encoded(engine, call.inputs, call.settings)
    return [
        Encoded(part) for layout in layouts for part in (layout.parts if call.with_overflow else [layout])
    ]


def full_result(engine: Engine, call: Call) -> Result:
    """Returns what any call returns."""
    layouts = encoded(engine, call.inputs, call.settings)
    parts = [layout.parts if call.with_overflow else (layout,) for layout in layouts]
    rows = [Encoded(part) for each in parts for part in each]
    columns: dict[str, Callable[[], list[Any]]] = {
        "input_ids": lambda: [row.ids for row in rows],
        "token_type_ids": lambda: [row.type_ids for row in rows],
        "attention_mask": lambda: [row.attention_mask for row in rows],
        "special_tokens_mask": lambda: [row.special_tokens_mask for row in rows],
        "offset_mapping": lambda: [row.offsets for row in rows],
        "length": lambda: [len(row) for row in rows],
        "overflow_to_sample_mapping": lambda: [i for i, each in enumerate(parts) for _ in each],
    }
    made = {name: make() for name, make in columns.items() if name in call.columns}
    # Others than `rows`, whose lists are the caller's now.
    return Result(made, len(rows), rows[0].n_sequences, lambda: [Encoded(row.layout) for row in rows])


def plain_result(engine: Engine, call: Call) -> Result:
    """Returns what a call with a row for each text returns, without a layout of each."""
    settings = call.settings
    before, after, type_id = engine.frames[settings.adds]
    texts = [parts[0] for (parts,) in call.inputs]
    rows = engine.rows(texts, finds_special=settings.finds_special)
    if settings.truncation is not None:
        room = settings.truncation.max_length - len(before) - len(after)
        keeps_end = settings.truncation.direction == "left"
        rows = [row if len(row) <= room else row[-room:] if keeps_end else row[:room] for row in rows]
    counts = [len(row) for row in rows]
    extras = len(before) + len(after)
    target = 0 if settings.padding is None else settings.padding.target(max(counts) + extras)

    def column(get: Callable[[Extra], int], rows: Iterable[list[int]], pad: int) -> list[list[int]]:
        first, last = [get(extra) for extra in before], [get(extra) for extra in after]
        if first or last:
            rows = (first + row + last for row in rows)
        return filled(rows, settings.padding, pad, target)

    pad_id, pad_type_id = (0, 0) if settings.padding is None else settings.padding[1:3]
    columns: dict[str, Callable[[], list[Any]]] = {
        "input_ids": lambda: column(lambda extra: extra.token_id, rows, pad_id),
        "token_type_ids": lambda: column(
            lambda extra: extra.type_id, ([type_id] * count for count in counts), pad_type_id
        ),
        "attention_mask": lambda: column(lambda _: 1, ([1] * count for count in counts), 0),
        "special_tokens_mask": lambda: column(lambda _: 1, ([0] * count for count in counts), 1),
        "length": lambda: [max(count + extras, target) for count in counts],
    }
    made = {name: make() for name, make in columns.items() if name in call.columns}
    return Result(made, len(rows), 1, lambda: encodings_of(engine, call))


def filled(rows: Iterable[list[int]], padding: Padding | None, pad: int, target: int) -> list[list[int]]:
    """Returns rows, filled up with a number to a length."""
    if padding is None:
        return list(rows)
    if padding.direction == "left":
        return [[pad] * (target - len(row)) + row for row in rows]
    return [row + [pad] * (target - len(row)) for row in rows]
