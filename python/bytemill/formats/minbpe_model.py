"""minbpe's two files: `.model`, to be loaded again, and `.vocab`, for people.

The lines of `.model` are the version, the pattern, the number of special tokens, then text and id of each,
then two ids for each merge. So a pattern of several lines cannot be written, nor a special token with blanks.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bytemill.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Model", "Pair", "format_model", "format_vocab", "parse_model"]

Pair: TypeAlias = tuple[int, int]

VERSION = "minbpe v1"
BYTES = 256


class Model(NamedTuple):
    """What a `.model` file holds.

    Attributes:
        pattern: The regular expression that splits text; empty for none.
        special_tokens: The id of each special token.
        merges: The new id of each pair, in the order of the merges.
    """

    pattern: str
    special_tokens: dict[str, int]
    merges: dict[Pair, int]


def format_model(model: Model) -> bytes:
    """Gives the contents of a `.model` file; `ValueError` if it cannot hold the model."""
    if model.pattern != model.pattern.strip() or len(model.pattern.splitlines()) > 1:
        message = (
            f"the pattern {model.pattern!r} cannot be written: expected one line without blanks at its ends"
        )
        raise ValueError(message)
    for text in model.special_tokens:
        if text.split() != [text]:
            message = f"the special token {text!r} cannot be written: expected one without blanks"
            raise ValueError(message)
    special = [f"{text} {token_id}" for text, token_id in model.special_tokens.items()]
    merges = [f"{left} {right}" for left, right in model.merges]
    lines = [VERSION, model.pattern, str(len(special)), *special, *merges]
    return "".join(f"{line}\n" for line in lines).encode()


def parse_model(contents: bytes, source: str) -> Model:
    """Reads the contents of a `.model` file.

    Raises:
        VocabularyError: It is malformed; the message names file, line and reason.
    """
    model = Model("", {}, {})
    special = 0
    lines = contents.decode("utf-8", errors="replace").splitlines()
    for number, line in enumerate([*lines, *[""] * (3 - len(lines))], start=1):
        text = line.strip()
        try:
            if number == 1:
                check_version(text)
            elif number == 2:  # noqa: PLR2004 - the second line
                model = model._replace(pattern=text)
            elif number == 3:  # noqa: PLR2004 - the third line
                special = int(line)
            elif number <= 3 + special:
                text, token_id = text.rsplit(maxsplit=1)
                model.special_tokens[text] = int(token_id)
            else:
                model.merges[parse_merge(line, model.merges)] = BYTES + len(model.merges)
        except ValueError as error:
            message = f"Error parsing line {line!r} in {source}: line {number}: {error}"
            raise VocabularyError(message) from error
    if len(model.special_tokens) < special:
        message = (
            f"Error parsing {source}: expected {special} special tokens, got {len(model.special_tokens)}"
        )
        raise VocabularyError(message)
    return model


def check_version(line: str) -> None:
    """Raises `ValueError` if the first line is not that of this format."""
    if line != VERSION:
        message = f"expected {VERSION!r}"
        raise ValueError(message)


def parse_merge(line: str, merges: Mapping[Pair, int]) -> Pair:
    """Reads the line of a merge, given those before; `ValueError` with the reason if it is malformed."""
    left, right = map(int, line.split())
    if (left, right) in merges:
        message = "the pair is merged already"
        raise ValueError(message)
    if not (0 <= left < BYTES + len(merges) and 0 <= right < BYTES + len(merges)):
        message = f"expected two ids from 0 to {BYTES + len(merges) - 1}"
        raise ValueError(message)
    return left, right


def format_vocab(tokens: Mapping[int, bytes], merges: Mapping[Pair, int]) -> bytes:
    """Gives the contents of a `.vocab` file: how each token is made, what it is as text, and its id."""
    parts = {new_id: pair for pair, new_id in merges.items()}
    lines = []
    for token_id, token in tokens.items():
        made_of = ""
        if token_id in parts:
            left, right = parts[token_id]
            made_of = f"[{shown(tokens[left])}][{shown(tokens[right])}] -> "
        lines.append(f"{made_of}[{shown(token)}] {token_id}\n")
    return "".join(lines).encode()


def shown(token: bytes) -> str:
    """A token as text for people: what is not UTF-8 as U+FFFD, control characters as escapes."""
    text = token.decode("utf-8", errors="replace")
    return "".join(f"\\u{ord(each):04x}" if unicodedata.category(each)[0] == "C" else each for each in text)
