"""minbpe's two files: `.model`, to be loaded again, and `.vocab`, for people.

The lines of `.model` are the version, the pattern, the number of special tokens, then text and ID of each,
then two IDs for each merge. So a pattern of several lines cannot be written, nor a special token with
whitespace.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bytemill.definition import ID_LIMIT, Definition, tokens_by_id
from bytemill.errors import PatternError, VocabularyError
from bytemill.formats.dialects import check_python
from bytemill.formats.json_file import MOST_PATTERN_BYTES, brief
from bytemill.formats.lines import text_lines
from bytemill.formats.merge_list import check_merges, indices_of, merges_of
from bytemill.patterns import WHOLE_TEXT_PATTERN

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Model",
    "Pair",
    "definition_of",
    "escape_controls",
    "format_model",
    "format_vocab",
    "hidden_tokens",
    "model_of",
    "parse_model",
    "rendered",
]

Pair: TypeAlias = tuple[int, int]

VERSION = "minbpe v1"

# What ends a line of a file that Python reads as text: fewer characters than for `str.splitlines`.
LINE_BREAK = re.compile(r"\r\n?|\n")

BYTES = 256

# Bytes that all tokens of a file may have together, beside as many as the file has: a merge can double the
# longest token.
MOST_TOKEN_BYTES = 1 << 24


class Model(NamedTuple):
    """The contents of a `.model` file.

    Attributes:
        pattern: The regular expression that splits text; empty for none.
        special_tokens: The ID of each special token.
        merges: The new ID of each pair, in the order of the merges.
    """

    pattern: str
    special_tokens: dict[str, int]
    merges: dict[Pair, int]


def format_model(model: Model) -> bytes:
    """Returns the contents of a `.model` file; `ValueError` if it cannot hold the model."""
    if model.pattern != model.pattern.strip() or LINE_BREAK.search(model.pattern):
        raise ValueError(
            f"the pattern {model.pattern!r} cannot be written: expected one line without blanks at its ends"
        )
    for text in model.special_tokens:
        if text.split() != [text]:
            raise ValueError(f"the special token {text!r} cannot be written: expected one without blanks")
    special = [f"{text} {token_id}" for text, token_id in model.special_tokens.items()]
    merges = [f"{left} {right}" for left, right in model.merges]
    lines = [VERSION, model.pattern, str(len(special)), *special, *merges]
    return "".join(f"{line}\n" for line in lines).encode()


def parse_model(contents: bytes, source: str) -> Model:
    """Parses the contents of a `.model` file.

    Raises:
        VocabularyError: It is malformed; the message has file, line and reason.
    """
    model = Model("", {}, {})
    special = 0
    try:
        lines = [*text_lines(LINE_BREAK.sub("\n", contents.decode()))]
    except UnicodeDecodeError as error:
        raise VocabularyError(f"Error parsing {source}: expected text in UTF-8: {error}") from error
    for number, line in enumerate([*lines, *[""] * (3 - len(lines))], start=1):
        text = line.strip()
        try:
            if number == 1:
                check_version(text)
            elif number == 2:  # noqa: PLR2004 - the second line
                model = model._replace(pattern=parse_pattern(text))
            elif number == 3:  # noqa: PLR2004 - the third line
                special = int(line)
            elif number <= 3 + special:
                text, token_id = text.split()
                model.special_tokens[text] = parse_id(token_id)
            else:
                model.merges[parse_merge(line, model.merges)] = BYTES + len(model.merges)
        except ValueError as error:
            raise VocabularyError(
                f"Error parsing line {brief(repr(line))} in {source}: line {number}: {brief(str(error))}"
            ) from error
    if len(model.special_tokens) < special:
        raise VocabularyError(
            f"Error parsing {source}: expected {special} special tokens, got {len(model.special_tokens)}"
        )
    check_lengths(model, MOST_TOKEN_BYTES + len(contents), source)
    return model


def check_lengths(model: Model, most: int, source: str) -> None:
    """Raises `VocabularyError` if the tokens of a model have more bytes together than `most`."""
    lengths = [1] * BYTES
    total = 0
    for left, right in model.merges:
        lengths.append(lengths[left] + lengths[right])
        total += lengths[-1]
        if total > most:
            number = 3 + len(model.special_tokens) + len(lengths) - BYTES
            raise VocabularyError(
                f"Error parsing {source}: line {number}: expected tokens of at most {most} bytes together"
            )


def check_version(line: str) -> None:
    """Raises `ValueError` if this is not the first line of a `.model` file."""
    if line != VERSION:
        raise ValueError(f"expected {VERSION!r}")


def parse_pattern(line: str) -> str:
    """Parses the line of the pattern; `ValueError` if it is too long."""
    if len(line.encode()) > MOST_PATTERN_BYTES:
        raise ValueError(f"expected a pattern of at most {MOST_PATTERN_BYTES} bytes")
    return line


def parse_id(number: str) -> int:
    """Parses the ID of a special token; `ValueError` if it is not an ID."""
    token_id = int(number)
    if not 0 <= token_id < ID_LIMIT:
        raise ValueError(f"expected an id from 0 to {ID_LIMIT - 1}")
    return token_id


def parse_merge(line: str, merges: Mapping[Pair, int]) -> Pair:
    """Parses the line of a merge, given those before; `ValueError` with the reason if it is malformed."""
    left, right = map(int, line.split())
    if (left, right) in merges:
        raise ValueError("the pair is merged already")
    if not (0 <= left < BYTES + len(merges) and 0 <= right < BYTES + len(merges)):
        raise ValueError(f"expected two IDs from 0 to {BYTES + len(merges) - 1}")
    return left, right


def definition_of(model: Model, name: str, source: str) -> Definition:
    """Returns the definition that gives the same IDs as minbpe.

    Args:
        model: The contents of the file.
        name: The name of the encoding, which the file does not have.
        source: The name of the file, for messages.

    Raises:
        VocabularyError: There is none: two merges make the same bytes, the order in which minbpe looks for
            special tokens matters, or the pattern may mean something else to it; the message has the file.
    """
    if model.pattern:
        try:
            check_python(model.pattern)
        except PatternError as error:
            raise VocabularyError(f"Error parsing {source}: line 2: {brief(str(error))}") from error
    tokens = [bytes([byte]) for byte in range(BYTES)]
    ranks = {token: token_id for token_id, token in enumerate(tokens)}
    for (left, right), new_id in model.merges.items():
        token = tokens[left] + tokens[right]
        if token in ranks:
            raise VocabularyError(
                f"{source}: IDs {ranks[token]} and {new_id} are both of {brief(repr(token))}"
            )
        ranks[token] = new_id
        tokens.append(token)
    definition = Definition(name, model.pattern or WHOLE_TEXT_PATTERN, ranks, model.special_tokens)
    definition.check(source)
    merges = indices_of(((tokens[left], tokens[right]) for left, right in model.merges), source)
    check_merges(ranks, merges, source, whole_pieces=False)
    tokens_by_id(model.special_tokens.items(), source)
    for later, earlier in hidden_tokens(list(model.special_tokens)).items():
        text, hidden = brief(repr(earlier)), brief(repr(later))
        raise VocabularyError(
            f"{source}: cannot be encoded exactly: minbpe never finds the special token {hidden}, "
            f"which begins with {text} and comes after it in the file"
        )
    return definition


def hidden_tokens(texts: list[str]) -> dict[str, str]:
    """Returns the special tokens that minbpe never finds, each with an earlier one that it begins with.

    minbpe takes the first of the alternatives that match, an encoding the longest. Of the others both find
    the same.

    Complexity:
        O(n log n) comparisons for n texts.
    """
    hidden: dict[str, str] = {}
    # In alphabetical order, a text is behind those that it begins with, the longest of them last.
    beginnings: list[tuple[str, int]] = []
    for text, place in sorted(zip(texts, range(len(texts)), strict=True)):
        while beginnings and not text.startswith(beginnings[-1][0]):
            beginnings.pop()
        if beginnings and beginnings[-1][1] < place:
            hidden[text] = beginnings[-1][0]
        else:
            # What begins with this text and with an earlier one is hidden: places descend.
            beginnings.append((text, place))
    return hidden


def model_of(definition: Definition) -> Model:
    """Returns the model with which minbpe gives the same IDs.

    Raises:
        VocabularyError: minbpe would give different token IDs.
        PatternError: The pattern may mean something else to it.
    """
    name, pattern, ranks, special_tokens, *_ = definition
    refusal = f"the encoding {name!r} cannot be written for minbpe"
    in_order = sorted(ranks, key=ranks.__getitem__)
    if in_order[:BYTES] != [bytes([byte]) for byte in range(BYTES)] or ranks[in_order[-1]] != len(ranks) - 1:
        raise VocabularyError(
            f"{refusal}: expected the ids 0 to 255 for the bytes in their order, and then one for each merge "
            "without a gap"
        )
    tokens_by_id(special_tokens.items(), refusal)
    pairs, whole = merges_of(ranks)
    if whole:
        raise VocabularyError(f"{refusal}: {whole[0]!r} cannot be made by any merges")
    check_python(pattern)
    return Model(
        "" if pattern == WHOLE_TEXT_PATTERN else pattern,
        # minbpe takes the first that matches, an encoding the longest.
        dict(sorted(special_tokens.items(), key=lambda item: len(item[0]), reverse=True)),
        {(ranks[left], ranks[right]): ranks[token] for token, (left, right) in pairs.items()},
    )


def format_vocab(tokens: Mapping[int, bytes], merges: Mapping[Pair, int]) -> bytes:
    """Returns the contents of a `.vocab` file: how each token is made, its text, and its ID."""
    parts = {new_id: pair for pair, new_id in merges.items()}
    lines = []
    for token_id, token in tokens.items():
        made_of = ""
        if token_id in parts:
            left, right = parts[token_id]
            made_of = f"[{rendered(tokens[left])}][{rendered(tokens[right])}] -> "
        lines.append(f"{made_of}[{rendered(token)}] {token_id}\n")
    return "".join(lines).encode()


def rendered(token: bytes) -> str:
    """Renders a token for people: invalid UTF-8 as U+FFFD, control characters as escapes."""
    return escape_controls(token.decode("utf-8", errors="replace"))


def escape_controls(text: str) -> str:
    r"""Replaces control characters and unassigned ones by escapes such as `\u000a`."""
    return "".join(f"\\u{ord(each):04x}" if unicodedata.category(each)[0] == "C" else each for each in text)
