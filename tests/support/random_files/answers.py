"""A file as both libraries read it, and what they answer."""

from __future__ import annotations

import functools
import json
import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from tokenizers import Tokenizer

import bytemill
from bytemill import VocabularyError, hf
from support.encodings import columns
from support.random_files.alphabets import chance
from support.random_files.files import File
from support.random_files.rules import RULES, Row

__all__ = [
    "EVERY",
    "REFUSED",
    "Answers",
    "Case",
    "NoAnswerError",
    "NoFileError",
    "Subject",
    "expected",
    "found",
    "ids_for",
    "subject_of",
]


class NoAnswerError(Exception):
    """`tokenizers` panics: what bytemill does then is its own."""


class NoFileError(Exception):
    """`tokenizers` does not read a file."""


def tokenizer_of(contents: str) -> Tokenizer:
    """Returns the tokenizer of a file."""
    try:
        return Tokenizer.from_str(contents)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise NoFileError(str(error)) from error


class Case(NamedTuple):
    """Texts that a file is tried with, and choices.

    Attributes:
        text: A text.
        other: Another one.
        seed: Of the choices of a comparison, such as where a text is cut.
    """

    text: str
    other: str
    seed: int

    def dice(self) -> random.Random:
        """Returns the choices of a comparison."""
        return random.Random(self.seed)  # noqa: S311 - randomness that can be repeated


class Subject:
    """A file, as both libraries read it.

    Attributes:
        theirs: The tokenizer of `tokenizers`.
        bare: The same without truncation, padding and post-processor.
        face: That of `bytemill.hf`.
        encoding: The encoding.
        rules: The documented differences that the file may have.
    """

    def __init__(self, file: File) -> None:
        """Reads a file.

        Raises:
            VocabularyError: bytemill refuses it.
            NoFileError: `tokenizers` does.
        """
        contents = json.dumps(file)
        self.theirs = tokenizer_of(contents)
        with warnings.catch_warnings():
            # Of what the post-processor adds, and of special tokens that begin like others.
            warnings.simplefilter("ignore", UserWarning)
            self.encoding = bytemill.Encoding.from_bytes(contents.encode())
        self.face = hf.Tokenizer.from_str(contents)
        self.rules = [rule for rule in RULES if rule.holds(file)]
        self._file = file

    @functools.cached_property
    def bare(self) -> Tokenizer:
        """Returns the tokenizer of `tokenizers` without what an `Encoding` does not do."""
        return self.without("truncation", "padding", "post_processor")

    def without(self, *components: str) -> Tokenizer:
        """Returns a tokenizer of `tokenizers` of the file without some components."""
        return tokenizer_of(json.dumps(self._file | dict.fromkeys(components)))

    def row(self, encoded: Any) -> Row:
        """Returns what is compared of an encoding of either library."""
        return self.blurred(columns(encoded, depth=1))

    def blurred(self, row: Row) -> Row:
        """Returns the columns of an encoding that are compared, as they are compared."""
        for rule in self.rules:
            row = rule.blurred(self._file, self.theirs, row)
        parts = [self.blurred(part) for part in row.get("overflowing", [])]
        return row | {"overflowing": parts} if parts else row


def subject_of(file: File) -> Subject | None:
    """Reads a file; returns `None` if bytemill refuses it."""
    try:
        return Subject(file)
    except VocabularyError:
        return None


# --- Answers ---

REFUSED = "refused"

# Special tokens in a text are those, as for `tokenizers`.
EVERY: Any = {"allowed_special": "all"}

# Of what `tokenizers` ignores: a maximum length below the number of added tokens, rows of different lengths,
# and ids around a text that no token has.
DOCUMENTED = [
    "the tokens that are added",
    "which is more than the",
    "template.prefix has the id",
    "template.suffix has the id",
]


def expected(call: Callable[[], Any]) -> Any:
    """Returns what `tokenizers` returns, or that it refuses a text, which needs an unknown token."""
    try:
        return call()
    except Exception as error:
        if type(error) is not Exception:
            raise
        return REFUSED
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise NoAnswerError from error


class Failure:
    """An error of bytemill, which is equal to no other answer."""

    def __init__(self, error: BaseException) -> None:
        """Takes the error."""
        self._error = error

    def __repr__(self) -> str:
        """Returns the error."""
        return repr(self._error)


def found(call: Callable[[], Any]) -> Any:
    """Returns what bytemill returns, or that it refuses; another error, or a panic, is a failure."""
    try:
        return call()
    except ValueError as error:
        if any(reason in str(error) for reason in DOCUMENTED):
            raise NoAnswerError from error
        return REFUSED
    except NoAnswerError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Failure(error)


# What is expected, and what bytemill gives.
Answers = tuple[Any, Any]


def ids_for(subject: Subject, case: Case) -> list[int]:
    """Returns ids to decode: those of a text, or any, some of which may not exist."""
    dice = case.dice()
    if chance(dice, 0.5):
        ids = expected(lambda: subject.bare.encode(case.text).ids)
        return [] if ids == REFUSED else ids
    most = subject.theirs.get_vocab_size() + 2
    return [dice.randrange(most) for _ in range(len(case.text))]
