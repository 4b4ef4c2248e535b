"""The documented differences from `tokenizers`: what is not compared, and for which files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tokenizers import Tokenizer

from support.random_files.files import File, components

__all__ = ["RULES", "Row", "Rule"]

# The columns of an encoding.
Row = dict[str, Any]


class Rule(NamedTuple):
    """A documented difference.

    Attributes:
        name: What differs.
        holds: Returns whether it may for a file.
        blurred: Returns a row without what differs, from the file, its tokenizer and the row.
    """

    name: str
    holds: Callable[[File], bool]
    blurred: Callable[[File, Tokenizer, Row], Row]


def spells_affixes(file: File) -> bool:
    """Returns whether a word whose affixed character has no token becomes the bytes of both."""
    model = file["model"]
    affixes = (model.get("continuing_subword_prefix"), model.get("end_of_word_suffix"))
    return model["type"] == "BPE" and bool(model.get("byte_fallback")) and any(affixes)


def without_offsets(_: File, __: Tokenizer, row: Row) -> Row:
    """Returns a row without offsets."""
    return {name: column for name, column in row.items() if name != "offsets"}


def takes_blanks(file: File) -> bool:
    """Returns whether an added token takes blanks, which a normalizer may make, or another one take."""
    return any(entry["lstrip"] or entry["rstrip"] for entry in file["added_tokens"])


def without_blanks(file: File, theirs: Tokenizer, row: Row) -> Row:
    """Returns a row without what blanks change of the added tokens that take some.

    Their spellings may have other blanks: those of the text, where the library has the normalized ones, as it
    has of their letters then. Offsets are trimmed by the spelling.
    """
    entries = [entry for entry in file["added_tokens"] if entry["lstrip"] or entry["rstrip"]]
    taking = {theirs.token_to_id(entry["content"]) for entry in entries}
    is_normalized = file["normalizer"] is not None
    trims = any(step.get("trim_offsets") for step in components(file["post_processor"]))
    places = [place for place, number in enumerate(row["ids"]) if number in taking]
    found = {name: [*row[name]] for name in ("tokens", "offsets") if name in row}
    for place in places:
        found["tokens"][place] = "" if is_normalized else row["tokens"][place].strip()
        if trims and "offsets" in row:
            found["offsets"][place] = ()
    return row | found


RULES = [
    Rule("offsets of the bytes of an affix", spells_affixes, without_offsets),
    Rule("spellings of added tokens with blanks", takes_blanks, without_blanks),
]
