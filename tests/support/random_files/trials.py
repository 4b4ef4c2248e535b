"""Tries random files, counts what was compared, and makes small what differs."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bytemill import VocabularyError
from support.random_files.answers import (
    REFUSED,
    Answers,
    Case,
    NoAnswerError,
    NoFileError,
    Subject,
    subject_of,
)
from support.random_files.encodings import ENCODINGS
from support.random_files.faces import FACES
from support.random_files.files import File, components, random_file
from support.random_files.growth import GROWTH
from support.random_files.lengths import LENGTHS
from support.random_files.rules import RULES
from support.random_files.shrinking import shrink
from support.random_files.texts import parts_of, random_text

__all__ = ["CHECKS", "Difference", "Tally", "smallest", "try_file"]

Check = Callable[[Subject, Case], Answers]
CHECKS: dict[str, Check] = {check.__name__: check for check in [*FACES, *ENCODINGS, *GROWTH, *LENGTHS]}


@dataclass
class Tally:
    """Counts of files and comparisons.

    Attributes:
        files: Files that bytemill reads, by the types of their components, by options, and altogether.
        refused: Files that it refuses, likewise.
        compared: Comparisons, by name.
        unanswered: Those without an answer of `tokenizers`, by name.
        differing: Those that differ, by name.
    """

    files: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    compared: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)
    differing: Counter[str] = field(default_factory=Counter)

    @property
    def share_refused(self) -> float:
        """Returns the share of all files that bytemill refuses."""
        return self.refused[ALL] / (self.files[ALL] + self.refused[ALL])


ALL = "files"

# The most places shown where two answers differ.
MOST_PLACES = 3


class Difference(NamedTuple):
    """A comparison that differs.

    Attributes:
        check: Its name.
        file: The file.
        case: What it was tried with.
        kind: What both answers are like.
    """

    check: str
    file: File
    case: Case
    kind: tuple[str, str]

    @property
    def shape(self) -> frozenset[str]:
        """Returns what the comparison and the file are like: small ones that are alike are one difference."""
        return frozenset({self.check, *self.kind, *features(self.file)})

    def report(self) -> str:
        """Returns the file, the texts and both answers."""
        file = {name: value for name, value in self.file.items() if value}
        answers = CHECKS[self.check](Subject(self.file), self.case)
        places = itertools.islice(differing(*answers), MOST_PLACES)
        shown = (f"  {place}: expected {theirs!a}, found {ours!a}" for place, theirs, ours in places)
        return "\n".join([f"{self.check}: {json.dumps(file)}", f"{self.case!a}", *shown])


def differing(theirs: Any, ours: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yields the places of two answers where they differ, and what is there."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key, value in theirs.items():
            yield from differing(value, ours.get(key), f"{place}.{key}")
    elif is_of_parts(theirs) and is_of_parts(ours) and len(theirs) == len(ours):
        for number, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            yield from differing(one, other, f"{place}[{number}]")
    elif theirs != ours:
        yield place, theirs, ours


def is_of_parts(answer: Any) -> bool:
    """Returns whether an answer is a sequence of other answers."""
    return isinstance(answer, list | tuple) and any(isinstance(part, list | tuple | dict) for part in answer)


def try_file(seed: int, tally: Tally, cases: int = 6) -> Difference | None:
    """Compares a file that a seed determines, and returns the first difference.

    Args:
        seed: The seed.
        tally: Counts what was compared.
        cases: How many pairs of texts are tried.
    """
    dice = random.Random(seed)  # noqa: S311 - randomness that can be repeated
    file = random_file(dice)
    subject = subject_of(file)
    counted = tally.refused if subject is None else tally.files
    counted.update(features(file))
    if subject is None:
        return None
    parts = parts_of(file)
    first = None
    for _ in range(cases):
        case = Case(random_text(dice, parts), random_text(dice, parts), dice.randrange(1 << 20))
        for name, check in CHECKS.items():
            try:
                answers = check(subject, case)
            except NoAnswerError:
                tally.unanswered[name] += 1
                continue
            tally.compared[name] += 1
            if answers[0] != answers[1]:
                tally.differing[name] += 1
                first = first or Difference(name, file, case, kind_of(answers))
    return first


def features(file: File) -> set[str]:
    """Returns what a file has: types of components, options that are on, and documented differences."""
    found = {ALL, *(f"{name}: {each['type']}" for name in file for each in components(file[name]))}
    found |= {name for name in ("truncation", "padding", "added_tokens") if file[name]}
    flags = itertools.chain.from_iterable(entry.items() for entry in file["added_tokens"])
    found |= {f"added_tokens: {flag}" for flag, is_on in flags if is_on is True}
    options = file["model"].items()
    found |= {f"model: {name}" for name, value in options if value is True or (name in AFFIXES and value)}
    return found | {f"rule: {rule.name}" for rule in RULES if rule.holds(file)}


AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")


def kind_of(answers: Answers) -> tuple[str, str]:
    """Returns what two answers are like, which they have to stay while a file shrinks."""
    theirs, ours = (answer if answer == REFUSED else type(answer).__name__ for answer in answers)
    return theirs, ours


def smallest(difference: Difference) -> Difference:
    """Returns a small file and case with the difference."""

    def differs(file: File, case: Case) -> bool:
        try:
            answers = CHECKS[difference.check](Subject(file), case)
        except (NoAnswerError, NoFileError, VocabularyError):
            return False
        return answers[0] != answers[1] and kind_of(answers) == difference.kind

    file, case = shrink(difference.file, difference.case, differs)
    return difference._replace(file=file, case=case)
