"""`Call`: what a call of a tokenizer of `transformers` asks for, if it is known here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill.hf.arguments import Padding, Truncation, inputs_of
from bytemill.hf.encoded import Encoded
from bytemill.hf.padded import COLUMNS, is_plain, padded
from bytemill.hf.pipeline import Settings, encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bytemill.hf.engine import Engine
    from bytemill.hf.processing import Extra

__all__ = ["DEFAULTS", "Call", "Result", "call_of", "result_of"]

# The arguments of `_encode_plus` and what they are if they are not given.
DEFAULTS: dict[str, Any] = {
    "text_pair": None,
    "add_special_tokens": True,
    "padding_strategy": "do_not_pad",
    "truncation_strategy": "do_not_truncate",
    "max_length": None,
    "stride": 0,
    "is_split_into_words": False,
    "pad_to_multiple_of": None,
    "padding_side": None,
    "return_tensors": None,
    "return_token_type_ids": None,
    "return_attention_mask": None,
    "return_overflowing_tokens": False,
    "return_special_tokens_mask": False,
    "return_offsets_mapping": False,
    "return_length": False,
    "verbose": True,
    "split_special_tokens": None,
}

# The columns that a tokenizer returns by itself if a model takes them.
MODEL_INPUTS = ("token_type_ids", "attention_mask")

# How deep texts may be in lists: a batch of pairs of lists of words.
DEPTH = 3


class Call(NamedTuple):
    """The texts of a call, and how they are asked to be encoded.

    Attributes:
        inputs: One text, or two, for each element: each a list of parts that are encoded by themselves.
        is_batch: Whether these are the elements of a batch, not the one text or pair that was given.
        settings: How they are encoded.
        columns: The names of the columns of the result.
        with_overflow: Whether the other parts of truncated texts are rows too.
    """

    inputs: list[list[Sequence[str]]]
    is_batch: bool
    settings: Settings
    columns: frozenset[str]
    with_overflow: bool

    def is_plain(self, engine: Engine) -> bool:
        """Returns whether each text is one row by itself, without offsets."""
        if self.with_overflow or "offset_mapping" in self.columns:
            return False
        return is_plain(engine, self.inputs, self.settings)


def call_of(tokenizer: Any, engine: Engine, text: Any, options: dict[str, Any]) -> Call | None:
    """Returns what a call asks for; `None` if that is not known here, or no valid call.

    Args:
        tokenizer: The tokenizer of `transformers`.
        engine: What stands in for the one behind it.
        text: The text or texts.
        options: The arguments of `_encode_plus`.
    """
    # `apply_chat_template` of transformers 5.24 always passes it: for nothing, unless it is true.
    is_marked = options.pop("sanitize_control_tokens", False)
    if is_marked or options.keys() != DEFAULTS.keys():
        return None
    in_words, adds = options["is_split_into_words"], options["add_special_tokens"]
    splits = options["split_special_tokens"]
    splits = tokenizer.split_special_tokens if splits is None else splits
    # `tokenizers` refuses anything else.
    if {type(in_words), type(adds), type(splits)} != {bool}:
        return None
    columns = columns_of(tokenizer, options)
    try:
        elements, is_batch = elements_of(text, options["text_pair"], in_words)
        inputs = [inputs_of(element, in_words) for element in elements]
        settings = Settings(
            in_words,
            adds,
            not splits,
            truncation_of(tokenizer, engine, options),
            padding_of(tokenizer, options),
        )
    except (TypeError, ValueError, OverflowError):
        return None
    has_encodings = engine.is_traced or (engine.snapshot is not None and "offset_mapping" not in columns)
    if not inputs or not has_encodings:
        return None
    return Call(inputs, is_batch, settings, columns, bool(options["return_overflowing_tokens"]))


def elements_of(text: Any, pair: Any, in_words: bool) -> tuple[list[Any], bool]:
    """Returns texts and pairs, and whether they are the elements of a batch.

    Raises:
        TypeError: These are no texts.
        ValueError: The numbers of texts differ.
    """
    for each in (text, "" if pair is None else pair):
        if not is_text(each):
            raise TypeError(f"expected texts, got {each!r:.60}")
    if isinstance(text, str) or (in_words and (not text or isinstance(text[0], str))):
        return [(text, pair)] if pair else [text], False
    if pair is None:
        return list(text), True
    if isinstance(pair, str):
        raise TypeError("expected as many second texts as first ones, got one")
    return list(zip(text, pair, strict=True)), True


def is_text(value: Any, depth: int = DEPTH) -> bool:
    """Returns whether this is a text, or lists whose first elements are."""
    if not isinstance(value, (list, tuple)):
        return isinstance(value, str)
    return not value or (depth > 0 and is_text(value[0], depth - 1))


def truncation_of(tokenizer: Any, engine: Engine, options: dict[str, Any]) -> Truncation | None:
    """Returns how much of a text a call keeps.

    Raises:
        TypeError: A value is not an integer.
        ValueError: A value is out of range, or the library ignores or refuses it.
    """
    if options["truncation_strategy"] == "do_not_truncate":
        return None
    most, stride = options["max_length"], options["stride"]
    check_integers(most, stride)
    extras = engine.extras(is_pair=False)
    if most - extras <= stride:
        raise ValueError(f"expected a max_length above {extras + stride}, got {most}")
    strategy, side = options["truncation_strategy"], tokenizer.truncation_side
    return Truncation(most, stride, strategy, side).checked(extras)


def padding_of(tokenizer: Any, options: dict[str, Any]) -> Padding | None:
    """Returns what a call fills up with.

    Raises:
        TypeError: A value is not an integer, or there is no token to fill up with.
        ValueError: A value is out of range.
    """
    strategy, multiple = options["padding_strategy"], options["pad_to_multiple_of"]
    side = options["padding_side"]
    if strategy == "do_not_pad":
        return None
    if strategy not in {"longest", "max_length"}:
        raise ValueError(f"expected padding to the longest text or to max_length, got {strategy!r}")
    length = options["max_length"] if strategy == "max_length" else None
    check_integers(
        *(number for number in (length, multiple) if number is not None),
        tokenizer.pad_token_id,
        tokenizer.pad_token_type_id,
    )
    return Padding(
        tokenizer.padding_side if side is None else side,
        tokenizer.pad_token_id,
        tokenizer.pad_token_type_id,
        tokenizer.pad_token,
        length,
        multiple,
    ).checked()


def check_integers(*numbers: Any) -> None:
    """Raises `TypeError` if a number is not an integer, and `ValueError` if it is negative."""
    for number in numbers:
        if type(number) is not int:
            raise TypeError(f"expected an integer, got {number!r:.60}")
        if number < 0:
            raise ValueError(f"expected an integer of 0 or more, got {number}")


def columns_of(tokenizer: Any, options: dict[str, Any]) -> frozenset[str]:
    """Returns the names of the columns that a call returns."""
    columns = {"input_ids"}
    for name in MODEL_INPUTS:
        given = options[f"return_{name}"]
        if name in tokenizer.model_input_names if given is None else given:
            columns.add(name)
    wished = {
        "special_tokens_mask": "return_special_tokens_mask",
        "offset_mapping": "return_offsets_mapping",
        "length": "return_length",
        "overflow_to_sample_mapping": "return_overflowing_tokens",
    }
    return frozenset(columns | {name for name, option in wished.items() if options[option]})


# The columns that a call of a tokenizer of `transformers` returns: rows of IDs, masks, offsets.


class Result(NamedTuple):
    """The outcome of a call.

    Attributes:
        columns: Rows by name.
        size: The number of encodings.
        sequences: The number of texts in each.
        encodings: Makes the encodings: `Encoded`, or those of `tokenizers` itself.
    """

    columns: dict[str, Any]
    size: int
    sequences: int
    encodings: Callable[[], list[Any]]


def result_of(engine: Engine, call: Call, *, in_arrays: bool) -> Result | None:
    """Returns what a call returns; `None` if texts cannot be truncated so.

    Args:
        engine: What encodes.
        call: The call.
        in_arrays: Whether its columns become tensors: they are arrays then, where rows have one length.
    """
    try:
        # Without padding, rows may differ in length, which the original method refuses.
        is_even = call.settings.padding is not None or len(call.inputs) == 1
        plain = call.is_plain(engine)
        if in_arrays and is_even and plain and call.columns <= COLUMNS.keys():
            result = array_result(engine, call)
        else:
            result = plain_result(engine, call) if plain else full_result(engine, call)
    except ValueError:
        return None
    if engine.snapshot is None:
        return result
    return result._replace(encodings=lambda: encodings_of(engine, call))


def encodings_of(engine: Engine, call: Call) -> list[Any]:
    """Returns the encoding of each row."""
    if engine.snapshot is not None:
        return engine.snapshot.encodings(call.inputs, call.settings, with_overflow=call.with_overflow)
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


def array_result(engine: Engine, call: Call) -> Result:
    """Returns what a call with a row for each text returns, as arrays.

    Raises:
        ValueError: A row is longer than the padding, or texts cannot be truncated so.
    """
    columns = padded(engine, call.inputs, call.settings, columns=call.columns)
    sequences = engine.frames[call.settings.adds].sequences
    return Result(dict(columns), len(call.inputs), sequences, lambda: encodings_of(engine, call))


def plain_result(engine: Engine, call: Call) -> Result:
    """Returns what a call with a row for each text returns, without a layout of each."""
    settings = call.settings
    before, after, type_id, _, sequences = engine.frames[settings.adds]
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
    return Result(made, len(rows), sequences, lambda: encodings_of(engine, call))


def filled(rows: Iterable[list[int]], padding: Padding | None, pad: int, target: int) -> list[list[int]]:
    """Returns rows, filled up with a number to a length."""
    if padding is None:
        return list(rows)
    if padding.direction == "left":
        return [[pad] * (target - len(row)) + row for row in rows]
    return [row + [pad] * (target - len(row)) for row in rows]
