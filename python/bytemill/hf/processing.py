"""Post-processors of a `tokenizer.json`: which tokens they put around texts, which offsets they trim.

Each is a function of the encodings of a text, or of two, and follows what `tokenizers` does step by step.
"""

from __future__ import annotations

from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, NamedTuple, Protocol

from bytemill.errors import VocabularyError
from bytemill.hf.encoded import Columns, Layout, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bytemill.formats.json_file import Value

__all__ = ["Extra", "Frame", "Processor", "frame_of", "parse_processor", "processed", "trimmed"]

# How byte-level tokens spell a space.
SPACE = "\u0120"

# Unicode's, which lacks four control characters that Python strips.
WHITESPACE = "".join(c for c in map(chr, range(0x3001)) if c.isspace() and not "\x1c" <= c <= "\x1f")

BLANK = SPACE + WHITESPACE


class Processor(Protocol):
    """A step of post-processing."""

    def process(self, layouts: list[Layout], *, adds: bool) -> list[Layout]:
        """Returns the encodings of a text, or of two, with what it puts around them if it `adds` tokens."""
        ...

    def added(self, *, is_pair: bool) -> int:
        """Returns the number of tokens that it adds."""
        ...


def processed(processor: Processor | None, layouts: list[Layout], *, adds: bool) -> Layout:
    """Returns the encoding of a text, or of two, after post-processing."""
    if processor is None:
        if len(layouts) == 1:
            return layouts[0]
        return joined([layout.numbered(number) for number, layout in enumerate(layouts)])
    numbered = []
    for number, layout in enumerate(layouts):
        others = tuple(other.numbered(number) for other in layout.others)
        numbered.append(Layout(layout.runs, layout.ranges, others).numbered(number).typed(number))
    return joined(processor.process(numbered, adds=adds))


def joined(layouts: Iterable[Layout]) -> Layout:
    """Returns layouts, one after the other."""
    return reduce(Layout.joined, layouts, Layout())


class Trims(NamedTuple):
    """Leaves spaces out of offsets, as ByteLevel.

    Attributes:
        is_on: Whether it does.
        keeps_first: Whether a single space at the start of a text stays.
    """

    is_on: bool
    keeps_first: bool

    def process(self, layouts: list[Layout], *, adds: bool) -> list[Layout]:  # noqa: ARG002
        return [layout.numbered(number) for number, layout in enumerate(self.trimmed(layouts))]

    def added(self, *, is_pair: bool) -> int:  # noqa: ARG002
        return 0

    def trimmed(self, layouts: list[Layout]) -> list[Layout]:
        """Returns the encodings and their other parts without the spaces."""
        if not self.is_on:
            return layouts
        return [
            Layout(self.runs(layout), layout.ranges, tuple(self.trimmed([*layout.others])))
            for layout in layouts
        ]

    def runs(self, layout: Layout) -> tuple[Run, ...]:
        """Returns the runs of an encoding without the spaces."""
        return tuple(
            Run(TrimmedRun(run, self.keeps_first, is_first=not index), 0, run.size, *run[3:6])
            for index, run in enumerate(layout.runs)
        )


class TrimmedRun:
    """A run whose offsets leave spaces out."""

    def __init__(self, run: Run, keeps_first: bool, *, is_first: bool) -> None:
        """Takes a run, and whether it is the first."""
        self._run, self._keeps_first, self._is_first = run, keeps_first, is_first

    @cached_property
    def ids(self) -> Sequence[int]:
        """The IDs."""
        return self._run.source.ids[self._run.start : self._run.end]

    @cached_property
    def tokens(self) -> Sequence[str]:
        """The spellings."""
        return self._run.source.tokens[self._run.start : self._run.end]

    @cached_property
    def words(self) -> Sequence[int | None]:
        """The numbers of words."""
        return self._run.source.words[self._run.start : self._run.end]

    @cached_property
    def offsets(self) -> Sequence[tuple[int, int]]:
        """The start and end of each token, without the spaces."""
        return trimmed(self.tokens, self._run.offsets, keeps_first=self._keeps_first, is_first=self._is_first)


class Extra(NamedTuple):
    """A special token that is added to a text.

    Attributes:
        token_id: Its ID.
        token: Its spelling.
        type_id: The number of the sequence that it counts as part of.
    """

    token_id: int
    token: str
    type_id: int


def beside(extras: Sequence[Extra]) -> Layout:
    """Returns tokens that are added to texts, of one type."""
    ids, tokens = [extra.token_id for extra in extras], [extra.token for extra in extras]
    columns = Columns(ids, tokens, [(0, 0)] * len(ids), [None] * len(ids))
    return Layout.of(columns, extras[0].type_id if extras else 0, is_special=1)


class Around(NamedTuple):
    """Puts a token before the first text and one after each, as BERT and RoBERTa.

    Attributes:
        first: The token before.
        last: The token after.
        trims: How spaces are left out of offsets first.
        is_roberta: Whether `last` stands before a second text too, and all types are 0.
    """

    first: Extra
    last: Extra
    trims: Trims
    is_roberta: bool

    def process(self, layouts: list[Layout], *, adds: bool) -> list[Layout]:
        layouts = self.trims.trimmed(layouts)
        if self.is_roberta:
            layouts = [layout.typed(0) for layout in layouts]
        return [self._around(*pair) for pair in enumerate(layouts)] if adds else layouts

    def _around(self, number: int, layout: Layout) -> Layout:
        # A second text is what all after the first are.
        kind = int(number > 0 and not self.is_roberta)
        before = () if kind else (self.first if number == 0 else self.last,)
        layout = layout.typed(0) if self.is_roberta else layout
        runs = tuple(run._replace(is_special=0, attention=1) for run in layout.runs)
        inner = Layout(runs, {min(number, 1): (0, layout.size)})
        whole = joined([beside(before), inner, beside((self.last._replace(type_id=kind),))])
        others = tuple(self._around(number, other) for other in layout.others)
        return Layout(whole.runs, whole.ranges, others)

    def added(self, *, is_pair: bool) -> int:
        return 2 + is_pair * (1 + self.is_roberta)


class Slot(NamedTuple):
    """Where a template has a text.

    Attributes:
        number: Which one, 0 or 1.
        type_id: The number of the sequence that it counts as part of.
    """

    number: int
    type_id: int


class Template(NamedTuple):
    """Puts tokens around texts as templates say.

    Attributes:
        single: The template of one text.
        pair: That of two.
    """

    single: tuple[Slot | Layout, ...]
    pair: tuple[Slot | Layout, ...]

    def process(self, layouts: list[Layout], *, adds: bool) -> list[Layout]:
        if len(layouts) not in {1, 2}:
            raise VocabularyError(
                f"expected a template to get one text or two, got the {len(layouts)} parts of another one"
            )
        layouts = list(layouts)
        result = []
        for part in self.single if len(layouts) == 1 else self.pair:
            if isinstance(part, Slot):
                number = part.number
                layouts[number] = layouts[number].typed(part.type_id).numbered(number)
                result.append(layouts[number])
            elif adds:
                result.append(part)
        return result

    def added(self, *, is_pair: bool) -> int:
        template = self.pair if is_pair else self.single
        return sum(part.size for part in template if isinstance(part, Layout))


class Chain(NamedTuple):
    """One post-processor after the other."""

    steps: tuple[Processor, ...]

    def process(self, layouts: list[Layout], *, adds: bool) -> list[Layout]:
        for step in self.steps:
            layouts = step.process(layouts, adds=adds)
        return layouts

    def added(self, *, is_pair: bool) -> int:
        return sum(step.added(is_pair=is_pair) for step in self.steps)


class Frame(NamedTuple):
    """The tokens around one text, and its type.

    Attributes:
        before: The tokens put before it.
        after: The tokens put after it.
        type_id: The number of the sequence that the tokens of the text count as part of.
        is_simple: Whether all of these tokens count as special, and are as many as the post-processor says.
            Several that follow each other may take the tokens of the ones before for text.
        sequences: The number of texts that the encoding says it has: some count the tokens around one too.
    """

    before: tuple[Extra, ...]
    after: tuple[Extra, ...]
    type_id: int
    is_simple: bool
    sequences: int


def frame_of(processor: Processor | None, *, adds: bool) -> Frame:
    """Returns what a post-processor puts around a text; `VocabularyError` if it does not take one."""
    text = Columns([-1], [""], [(0, 0)], [0])
    layout = processed(processor, [Layout.of(text)], adds=adds)
    sides: tuple[list[Extra], list[Extra]] = ([], [])
    types = []
    is_simple = True
    for run in layout.runs:
        for token_id, token in zip(run.source.ids, run.source.tokens, strict=True):
            if token_id == -1:
                types.append(run.type_id)
            else:
                sides[bool(types)].append(Extra(token_id, token, run.type_id))
                is_simple &= bool(run.is_special)
    if len(types) != 1:
        raise VocabularyError(f"expected a post-processor to keep a text once, got it {len(types)} times")
    added = processor.added(is_pair=False) if processor is not None and adds else 0
    is_simple &= len(sides[0]) + len(sides[1]) == added
    return Frame(tuple(sides[0]), tuple(sides[1]), types[0], is_simple, len(layout.ranges) or 1)


# --- Files ---


def parse_processor(processor: Value) -> Processor | None:  # noqa: PLR0911 - one for each kind
    """Parses a post-processor; `VocabularyError` if it is unknown.

    The library goes by the entries, not by the type, in this order.
    """
    if processor.is_null:
        return None
    entries, kind = processor.object(), processor["type"].contents
    if {"sep", "cls", "trim_offsets", "add_prefix_space"} <= entries.keys():
        return around(processor, parse_trims(processor), is_roberta=True)
    if {"sep", "cls"} <= entries.keys():
        return around(processor, Trims(is_on=False, keeps_first=False), is_roberta=False)
    if kind == "ByteLevel":
        return parse_trims(processor)
    if {"single", "pair", "special_tokens"} <= entries.keys():
        return Template(parse_template(processor, "single", "A"), parse_template(processor, "pair", "AB"))
    if kind == "Sequence":
        steps = [parse_processor(step) for step in processor["processors"]]
        return Chain(tuple(step for step in steps if step is not None))
    return processor.refuse(
        f"expected TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel or Sequence, got {kind!r}"
    )


def parse_trims(processor: Value) -> Trims:
    """Parses how spaces are left out of offsets."""
    return Trims(processor["trim_offsets"].flag(), processor["add_prefix_space"].flag())


def around(processor: Value, trims: Trims, *, is_roberta: bool) -> Around:
    """Parses a token before and one after."""

    def extra(name: str) -> Extra:
        token, token_id = processor[name]
        return Extra(token_id.integer(), token.text(), 0)

    return Around(extra("cls"), extra("sep"), trims, is_roberta)


def parse_template(processor: Value, name: str, sequences: str) -> tuple[Slot | Layout, ...]:
    """Parses a template with some sequences in it."""
    parts: list[Slot | Layout] = []
    for part in processor[name]:
        if part["SpecialToken"].is_null:
            sequence = part["Sequence"]
            if sequence["id"].contents not in set(sequences):
                processor[name].refuse(f"expected the sequence {' or '.join(sequences)}")
            parts.append(Slot("AB".index(sequence["id"].text()), sequence["type_id"].integer()))
        else:
            parts.append(beside(extras(processor, part["SpecialToken"])))
    if name == "single" and sum(isinstance(part, Slot) for part in parts) != 1:
        processor[name].refuse("expected the sequence A once")
    return tuple(parts)


def extras(processor: Value, token: Value) -> list[Extra]:
    """Returns the tokens that a special token in a template stands for."""
    entry = processor["special_tokens"][token["id"].text()]
    pairs = zip(entry["ids"], entry["tokens"], strict=True)
    return [Extra(token_id.integer(), name.text(), token["type_id"].integer()) for token_id, name in pairs]


def trimmed(
    tokens: Sequence[str], offsets: Sequence[tuple[int, int]], *, keeps_first: bool, is_first: bool
) -> list[tuple[int, int]]:
    """Returns the offsets of tokens without the spaces at their ends.

    Args:
        tokens: The spellings of the tokens.
        offsets: The start and end of each, in characters.
        keeps_first: Whether a single space at the start of a text stays.
        is_first: Whether the first token counts as the start of a text.
    """
    result = list(offsets)
    for index, (leading, trailing) in enumerate(map(blanks, tokens)):
        if leading or trailing:
            start, end = result[index]
            if not (keeps_first and leading == 1 and ((is_first and index == 0) or start == 0)):
                start = end if end - start < leading else start + leading
            if 0 < trailing <= end:
                end = start if end - start < trailing else end - trailing
            result[index] = (start, end)
    return result


@lru_cache(maxsize=1 << 16)
def blanks(token: str) -> tuple[int, int]:
    """Returns how many blanks the spelling of a token starts and ends with."""
    size = len(token)
    return size - len(token.lstrip(BLANK)), size - len(token.rstrip(BLANK))
