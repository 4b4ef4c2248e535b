"""The options of training as SentencePiece takes them: by name, as text."""

from __future__ import annotations

import csv
import re
from typing import Any

from bytemill._backend import sentencepiece_options
from bytemill.sentencepiece.normalizer import SentencePieceNormalizer, named_rules, rules_of_file

__all__ = ["TrainerOptions", "in_one_string"]

MODEL_TYPES = ("unigram", "bpe", "word", "char")
DEFAULT_RULES = "nmt_nfkc"

# Numbers of 32 bits, as nearly all options are, and of 64.
SIGNED = range(-(1 << 31), 1 << 31)
UNSIGNED = range(1 << 64)

TRUE = frozenset({"1", "t", "true", "y", "yes", ""})
FALSE = frozenset({"0", "f", "false", "n", "no"})

# Options that decide nothing here, nor there.
IGNORED = frozenset(
    {
        "accept_language",
        "self_test_sample_size",
        "train_extremely_large_corpus",
        "enable_differential_privacy",
        "differential_privacy_noise_level",
        "differential_privacy_clipping_threshold",
    }
)


class TrainerOptions:
    """The options that were given, each as a value of its type.

    Attributes:
        trainer: Those of the message `TrainerSpec`.
        normalizer: Those of the message `NormalizerSpec`, its map of characters among them.
        denormalizer: Those of the message for decoded text; empty without one.
        seed: Determines which sentences are kept if not all are.
    """

    def __init__(self, given: dict[str, Any], normalizer: SentencePieceNormalizer | None = None) -> None:
        """Reads options.

        Raises:
            ValueError: A value is none of the option's type.
            RuntimeError: There is no such option, or a file of rules cannot be read.
        """
        self.trainer: dict[str, Any] = {}
        self.normalizer: dict[str, Any] = normalizer.spec if normalizer else {}
        self.denormalizer: dict[str, Any] = {}
        self.seed = 0
        rule_file = None
        for name, value in given.items():
            text = as_text(value)
            if name == "seed":
                self.seed = whole_number(text, UNSIGNED)
            elif name == "minloglevel":
                whole_number(text)
            elif name == "denormalization_rule_tsv":
                rule_file = text
            else:
                self._add(name, text)
        self._find_rules()
        if rule_file:
            flags = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
            self.denormalizer = {**rules_of_file(rule_file), **dict.fromkeys(flags, False)}

    def _add(self, name: str, text: str) -> None:
        """Adds an option of a message; `RuntimeError` if no message has it."""
        trainer = sentencepiece_options("trainer_spec")
        normalizer = sentencepiece_options("normalizer_spec")
        if name in ("normalization_rule_name", "name"):
            self.normalizer["name"] = text
        elif name == "model_type":
            self.trainer[name] = model_type(text)
        elif name in trainer:
            numbers = UNSIGNED if name == "input_sentence_size" else SIGNED
            self.trainer[name] = parsed(text, trainer[name], numbers)
        elif name not in normalizer:
            raise RuntimeError(f'NOT_FOUND: unknown field name "{name}" in TrainerSpec.')
        elif name != "precompiled_charsmap":  # which is made from rules
            self.normalizer[name] = parsed(text, normalizer[name])

    def _find_rules(self) -> None:
        """Adds the map of characters that a name or a file stands for."""
        if "precompiled_charsmap" in self.normalizer:
            return
        if path := self.normalizer.get("normalization_rule_tsv"):
            self.normalizer.update(rules_of_file(path))
        else:
            self.normalizer.update(named_rules(self.normalizer.get("name") or DEFAULT_RULES))

    @property
    def written(self) -> dict[str, Any]:
        """The options of the trainer for a model file."""
        # Lists that are empty are not there.
        return {name: value for name, value in self.trainer.items() if name not in IGNORED and value != ()}


def in_one_string(arguments: str) -> dict[str, str]:
    """Returns options from one string: `--name=value`, separated by spaces."""
    options = {}
    for argument in arguments.split():
        name, _, value = argument.removeprefix("--").partition("=")
        options[name] = value
    return options


def as_text(value: object) -> str:
    """Returns a value as text; several values are separated by commas, and quoted where they hold one."""
    if not isinstance(value, list):
        return str(value)
    quoted = ('"' + str(each).replace('"', '""') + '"' for each in value)
    return ",".join(quoted)


def parsed(text: str, default: Any, numbers: range = SIGNED) -> Any:
    """Returns the value that a text stands for, of the type of an option's default."""
    if isinstance(default, bool):
        if text.lower() not in TRUE | FALSE:
            raise ValueError(f'INVALID_ARGUMENT: cannot parse "{text}" as bool.')
        return text.lower() in TRUE
    if isinstance(default, int):
        return whole_number(text, numbers)
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            raise ValueError(f'INVALID_ARGUMENT: cannot parse "{text}" as int.') from None
    if isinstance(default, tuple):
        return tuple(next(csv.reader([text]), ()))
    return text


def whole_number(text: str, numbers: range = SIGNED) -> int:
    """Returns a whole number, which is one of some."""
    if re.fullmatch(r"\s*[+-]?\d{1,20}\s*", text, re.ASCII) and int(text) in numbers:
        return int(text)
    raise ValueError(f'INVALID_ARGUMENT: cannot parse "{text}" as int.')


def model_type(text: str) -> int:
    """Returns the number of a type of model.

    Raises:
        ValueError: There is no such type.
    """
    if text.lower() not in MODEL_TYPES:
        raise ValueError(f'INVALID_ARGUMENT: unknown enumeration value of "{text}" as kModelType_Map')
    return MODEL_TYPES.index(text.lower()) + 1
