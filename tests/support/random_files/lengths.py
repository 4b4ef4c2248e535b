"""Comparisons of texts within a number of tokens with their definition, for a file and two texts."""

from __future__ import annotations

import sys
from typing import Any

from support.random_files.answers import REFUSED, Answers, Case, NoAnswerError, Subject, found

__all__ = ["LENGTHS"]

NO_ROOM = ["a character has too many tokens"]
NOTHING_FITS = "what was kept does not fit"
# Up to so many bytes, every place is tried.
SHORT = 32


def truncating(subject: Subject, case: Case) -> Answers:
    """Keeps as many characters as fit into a limit, from either side; of long texts, some that fit."""
    encoding, text = subject.encoding, case.text
    sides: list[Any] = ["right", "left"]

    def count(part: str) -> int:
        found_count = found(lambda: encoding.count(part))
        return sys.maxsize if found_count == REFUSED else found_count

    def longest(side: str, kept: str) -> str:
        if len(text.encode()) > SHORT:
            return kept if count(kept) <= limit and kept != text else NOTHING_FITS
        parts = [text[:place] if side == "right" else text[place:] for place in range(len(text) + 1)]
        return max((part for part in parts if count(part) <= limit), key=len)

    total = count(text)
    limit = case.seed % (min(total, len(text)) + 2)
    ours = found(lambda: [tuple(encoding.truncate(text, limit, side=side)) for side in sides])
    if total == sys.maxsize or ours == REFUSED:
        raise NoAnswerError
    till_limit = total if total <= limit else None
    if total <= limit:
        return [till_limit, [(text, total, False)] * 2], [encoding.count_till_limit(text, limit), ours]
    kept = [longest(side, each[0]) for side, each in zip(sides, ours, strict=True)]
    expected_parts = [(part, count(part), True) for part in kept]
    return [till_limit, expected_parts], [encoding.count_till_limit(text, limit), ours]


def behind_separator(subject: Subject, part: str, separators: list[str], limit: int) -> str:
    """Returns a part up to the last place behind the first separator where it fits, or the whole."""
    for separator in separators:
        ends = [end for end in range(len(part), 0, -1) if part.endswith(separator, 0, end)]
        fits = (part[:end] for end in ends if subject.encoding.count(part[:end]) <= limit)
        if (cut := next(fits, None)) is not None:
            return cut
    return part


def splitting(subject: Subject, case: Case) -> Answers:
    """Splits a text into parts that fit into a limit and end behind separators."""
    dice, encoding = case.dice(), subject.encoding
    limit, separators = dice.choice([1, 2, 3, 5, 8]), dice.choice([[], [" "], ["\n", " ", "a"]])

    def definition() -> list[str]:
        rest, parts = case.text, []
        while rest:
            part = encoding.truncate(rest, limit).text
            if not part:
                return NO_ROOM
            if part != rest:
                part = behind_separator(subject, part, separators, limit)
            parts.append(part)
            rest = rest[len(part) :]
        return parts

    def ours() -> list[str]:
        try:
            return encoding.split(case.text, limit, separators=separators)
        except ValueError as error:
            if "no part of the text" not in str(error):
                raise
            return NO_ROOM

    return found(definition), found(ours)


LENGTHS = [truncating, splitting]
