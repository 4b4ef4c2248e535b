"""Post-processors of a `tokenizer.json`: which tokens they put around a text, which offsets they trim."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.formats.json_file import Value

__all__ = ["Extra", "Frame", "parse_frame", "trimmed"]

# How byte-level tokens spell a space.
SPACE = "\u0120"

# Unicode's, which lacks four control characters that Python strips.
WHITESPACE = "".join(c for c in map(chr, range(0x3001)) if c.isspace() and not "\x1c" <= c <= "\x1f")


class Extra(NamedTuple):
    """A token beside a text.

    Attributes:
        token_id: Its id.
        token: Its spelling.
        type_id: The number of the sequence that it counts as part of.
    """

    token_id: int
    token: str
    type_id: int


class Frame(NamedTuple):
    """The tokens that are put around one text, and the spaces that its offsets leave out.

    Attributes:
        before: The tokens put before it.
        after: The tokens put after it.
        type_id: The number of the sequence that the tokens of the text count as part of.
        trims: For each time that spaces are left out of offsets, whether a single one at the start of the
            text is not.
        pair_extras: The number of tokens that are added to a pair of texts.
    """

    before: tuple[Extra, ...] = ()
    after: tuple[Extra, ...] = ()
    type_id: int = 0
    trims: tuple[bool, ...] = ()
    pair_extras: int = 0


def parse_frame(processor: Value) -> Frame:  # noqa: PLR0911 - one for each kind
    """Parses a post-processor; `VocabularyError` if it is unknown.

    The library goes by the entries, not by the type, in this order.
    """
    if processor.is_null:
        return Frame()
    entries, kind = processor.object(), processor["type"].contents
    if {"sep", "cls", "trim_offsets", "add_prefix_space"} <= entries.keys():
        trims = (processor["add_prefix_space"].flag(),) if processor["trim_offsets"].flag() else ()
        return around(processor, trims, 4)
    if {"sep", "cls"} <= entries.keys():
        return around(processor, (), 3)
    if kind == "ByteLevel":
        return Frame(
            trims=(processor["add_prefix_space"].flag(),) if processor["trim_offsets"].flag() else ()
        )
    if {"single", "pair", "special_tokens"} <= entries.keys():
        return parse_template(processor)
    if kind == "Sequence":
        frame = Frame()
        for step in processor["processors"]:
            frame = nested(parse_frame(step), frame)
        return frame
    return processor.refuse(
        f"expected TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel or Sequence, got {kind!r}"
    )


def around(processor: Value, trims: tuple[bool, ...], pair_extras: int) -> Frame:
    """Returns the frame of a token before and one after."""

    def extra(name: str) -> Extra:
        token, token_id = processor[name]
        return Extra(token_id.integer(), token.text(), 0)

    return Frame((extra("cls"),), (extra("sep"),), 0, trims, pair_extras)


def parse_template(processor: Value) -> Frame:
    """Returns the frame of a template."""
    before: list[Extra] = []
    after: list[Extra] = []
    type_id: int | None = None
    for part in processor["single"]:
        if part["SpecialToken"].is_null:
            sequence = part["Sequence"]
            if type_id is not None or sequence["id"].contents != "A":
                processor["single"].refuse("expected the sequence A once")
            type_id = sequence["type_id"].integer()
        else:
            (before if type_id is None else after).extend(extras(processor, part["SpecialToken"]))
    if type_id is None:
        processor["single"].refuse("expected the sequence A once, got none")
    tokens = (part["SpecialToken"] for part in processor["pair"])
    pair_extras = sum(len(extras(processor, token)) for token in tokens if not token.is_null)
    return Frame(tuple(before), tuple(after), type_id, (), pair_extras)


def extras(processor: Value, token: Value) -> list[Extra]:
    """Returns the tokens that a special token in a template stands for."""
    entry = processor["special_tokens"][token["id"].text()]
    pairs = zip(entry["ids"], entry["tokens"], strict=True)
    return [Extra(token_id.integer(), name.text(), token["type_id"].integer()) for token_id, name in pairs]


def nested(outer: Frame, inner: Frame) -> Frame:
    """Returns the frame of a processor after another one."""
    if outer == Frame(trims=outer.trims):
        return inner._replace(trims=inner.trims + outer.trims)

    def retyped(extras: tuple[Extra, ...]) -> tuple[Extra, ...]:
        return tuple(extra._replace(type_id=outer.type_id) for extra in extras)

    return Frame(
        outer.before + retyped(inner.before),
        retyped(inner.after) + outer.after,
        outer.type_id,
        inner.trims + outer.trims,
        inner.pair_extras + outer.pair_extras,
    )


def trimmed(
    tokens: Sequence[str], offsets: Sequence[tuple[int, int]], *, keeps_first: bool
) -> list[tuple[int, int]]:
    """Returns the offsets of tokens without the spaces at their ends.

    Args:
        tokens: The spellings of the tokens.
        offsets: The start and end of each, in characters.
        keeps_first: Whether a single space at the start of a text stays.
    """
    blank = SPACE + WHITESPACE
    result = []
    for index, (token, (start, end)) in enumerate(zip(tokens, offsets, strict=True)):
        leading = len(token) - len(token.lstrip(blank))
        trailing = len(token) - len(token.rstrip(blank))
        if keeps_first and leading == 1 and (index == 0 or start == 0):
            leading = 0
        start = min(start + leading, end)  # noqa: PLW2901 - moved
        if 0 < trailing <= end:
            end = max(end - trailing, start)  # noqa: PLW2901 - moved
        result.append((start, end))
    return result
