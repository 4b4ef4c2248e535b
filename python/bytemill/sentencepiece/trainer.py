"""`SentencePieceTrainer`: trains BPE models."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from bytemill._backend import SentencePieceModel, sentencepiece_options
from bytemill.formats.sentencepiece_model import BPE, DEFAULT_RULES, MODEL_TYPES, format_pieces
from bytemill.sentencepiece.arguments import file_error, write_file
from bytemill.sentencepiece.normalizer import SentencePieceNormalizer, named_rules, rules_of_file
from bytemill.training.piece_options import IGNORED, parse
from bytemill.training.sentencepiece import learn_pieces, line_batches, sentence_batches

if TYPE_CHECKING:
    from bytemill.documents import Document
    from bytemill.training.sentencepiece import TrainedPieces

__all__ = ["SentencePieceTrainer", "TrainerOptions", "in_one_string"]

# Arguments that are no options.
ITERATORS = ("sentence_iterator", "sentence_reader")


class SentencePieceTrainer:
    """Trains BPE models."""

    @staticmethod
    def train(arg: str | None = None, logstream: object = None, **kwargs: Any) -> bool | None:  # noqa: ARG004
        """Trains a model and writes it, and its vocabulary as text, to files or to a writer.

        The result is the same as that of SentencePiece 0.2.3 with the same options, unless
        `input_sentence_size` leaves out sentences: SentencePiece chooses them at random, here the option
        `seed` determines them.

        Args:
            arg: All options in one string, as on a command line: `"--input=a.txt --model_type=bpe"`.
            logstream: Ignored; there are no messages.
            **kwargs: The options of SentencePiece's trainer and normalizer; `sentence_iterator`, an iterator
                of sentences, in place of `input`; `model_writer`, an object with a method `write`, in place
                of `model_prefix`; `normalizer`, a `SentencePieceNormalizer`; `pretokenizer`, which takes a
                normalized sentence and returns its chunks, which no piece crosses;
                `allow_inconsistent_pretokenization`, whether joining these may give another text.

        Returns:
            True with one string, same as SentencePiece.

        Raises:
            RuntimeError: An option is unknown, options contradict each other, a file cannot be read or
                written, or the text has too few pieces.
            ValueError: An option or the name of a file is invalid.
        """
        if isinstance(arg, str):
            train(TrainerOptions(in_one_string(arg)), None, None, None)
            return True
        sentences = next((kwargs.pop(name) for name in ITERATORS if name in kwargs), None)
        if sentences is not None and not isinstance(sentences, Iterator):
            raise TypeError(f"Object of type '{type(sentences).__name__}' is not an instance of 'iterator'")
        writer = kwargs.pop("model_writer", None)
        normalizer = kwargs.pop("normalizer", None)
        cut = kwargs.pop("pretokenizer", None)
        allow_inconsistent = bool(kwargs.pop("allow_inconsistent_pretokenization", False))
        train(
            TrainerOptions(kwargs, normalizer), sentences, writer, cut, allow_inconsistent=allow_inconsistent
        )
        return None

    Train = train


def train(
    options: TrainerOptions,
    sentences: Iterator[Any] | None,
    writer: Any,
    cut: Any,
    *,
    allow_inconsistent: bool = False,
) -> None:
    """Trains a model by options that were read."""
    inputs = options.trainer.get("input", ())
    prefix = options.trainer.get("model_prefix", "")
    if bool(inputs) == (sentences is not None):
        raise RuntimeError("INTERNAL: SentenceIterator and trainer_spec.input() must be exclusive.")
    if bool(prefix) == (writer is not None):
        raise RuntimeError("INTERNAL: ModelProto and trainer_spec.model_prefix() must be exclusive.")
    kind = options.trainer.get("model_type", 1)
    if kind != BPE:
        raise NotImplementedError(
            f"models of type {MODEL_TYPES[kind - 1]} are not supported: set model_type='bpe', or use the "
            "package sentencepiece to train them"
        )
    if cut is not None and options.trainer.get("pretokenization_delimiter"):
        raise RuntimeError(
            "INTERNAL: pretokenizer callback and pretokenization_delimiter cannot be set simultaneously."
        )
    if cut is not None and options.trainer.get("input_format") == "tsv":
        raise NotImplementedError("pretokenizer is not supported for the input_format tsv: expected text")
    trained = learn(options, inputs, sentences, cut, allow_inconsistent=allow_inconsistent)
    model = build(options, trained).serialize()
    if writer is not None:
        writer.write(model)
        return
    write_file(f"{prefix}.model", model)
    scored = ((piece, score) for piece, score, _ in trained.pieces)
    has_scores = options.trainer.get("vocabulary_output_piece_score", True)
    write_file(f"{prefix}.vocab", format_pieces(scored, has_scores=has_scores))


def learn(
    options: TrainerOptions,
    inputs: tuple[str, ...],
    sentences: Iterator[Any] | None,
    cut: Any,
    *,
    allow_inconsistent: bool,
) -> TrainedPieces:
    """Learns the pieces; errors are those of SentencePiece."""
    given = {**options.trainer, **options.normalizer, "seed": options.seed}
    threads = min(given.get("num_threads", 16), os.cpu_count() or 1)
    raised: list[BaseException] = []
    batches = line_batches(inputs) if sentences is None else sentence_batches(checked(sentences, raised))
    try:
        return learn_pieces(
            batches,
            given,
            lines=sentences is None,
            charsmap=options.normalizer["precompiled_charsmap"],
            num_threads=max(1, threads),
            pretokenizer=cut,
            allow_inconsistent=allow_inconsistent,
        )
    except ValueError as error:
        if error in raised or str(error).startswith("INVALID_ARGUMENT: "):
            raise
        raise RuntimeError(f"INTERNAL: {error}") from error
    except OSError as error:
        if error in raised:
            raise
        raise file_error(error.filename, error) from error


def checked(sentences: Iterator[Any], raised: list[BaseException]) -> Iterator[Document]:
    """Yields sentences without the line breaks at their ends, and records what the iterator raises.

    Raises:
        ValueError: Something is not a sentence.
    """
    try:
        for sentence in sentences:
            yield without_line_break(sentence)
    except Exception as error:
        raised.append(error)
        raise


def without_line_break(sentence: object) -> Document:
    """Returns a sentence without the line breaks at its end; `ValueError` if it is none."""
    if isinstance(sentence, str):
        return sentence.rstrip("\r\n")
    if isinstance(sentence, bytes):
        return sentence.rstrip(b"\r\n")
    raise ValueError("INVALID_ARGUMENT: Iterator must return str or bytes.")


def build(options: TrainerOptions, trained: TrainedPieces) -> SentencePieceModel:
    """Returns the model of pieces, with the options that were given."""
    trainer = dict(options.written)
    if not trained.options.hard_vocab_limit:
        trainer["vocab_size"] = len(trained.pieces)
    return SentencePieceModel.build(trained.pieces, trainer, options.normalizer, options.denormalizer)


# The options of training as SentencePiece takes them: by name, as text.


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
            ValueError: A value is none of the option's type, or there are options of normalization beside a
                normalizer.
            RuntimeError: There is no such option, or a file of rules cannot be read.
        """
        self.trainer: dict[str, Any] = {}
        self.normalizer: dict[str, Any] = {}
        if normalizer:
            check_without_rules(given)
            # Rules of a map have no name; SentencePiece gives them that of its default.
            self.normalizer = {"name": DEFAULT_RULES, **normalizer.spec}
        self.denormalizer: dict[str, Any] = {}
        self.seed = 0
        rule_file = None
        for name, value in given.items():
            text = as_text(value)
            if name == "seed":
                self.seed = parsed(name, text, 0)
            elif name == "minloglevel":
                parsed(name, text, 0)
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
            self.trainer[name] = parsed(name, text, trainer[name])
        elif name not in normalizer:
            raise RuntimeError(f'NOT_FOUND: unknown field name "{name}" in TrainerSpec.')
        elif name != "precompiled_charsmap":  # which is made from rules
            self.normalizer[name] = parsed(name, text, normalizer[name])

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


def check_without_rules(given: Iterable[str]) -> None:
    """Raises `ValueError` if options of normalization are given beside a normalizer."""
    names = {"normalization_rule_name", *sentencepiece_options("normalizer_spec")}
    if name := next((name for name in given if name in names), None):
        raise ValueError(
            f"INVALID_ARGUMENT: Cannot specify both normalizer and normalizer-specific argument: {name}"
        )


def in_one_string(arguments: str) -> dict[str, str]:
    """Returns options from one string: `--name=value`, separated by spaces."""
    options: dict[str, str] = {}
    for argument in arguments.split(" "):
        name, _, value = argument.removeprefix("--").partition("=")
        # Of options that are given twice, SentencePiece takes the first.
        options.setdefault(name, value)
    return options


def as_text(value: object) -> str:
    """Returns a value as text; several values are separated by commas, and quoted where they hold one."""
    if not isinstance(value, list):
        return str(value)
    text = io.StringIO()
    # Quotes where none are needed would be a part of options that are no lists, such as `required_chars`.
    csv.writer(text, lineterminator="").writerow(map(str, value))
    return text.getvalue()


def parsed(name: str, text: str, default: Any) -> Any:
    """Returns the value that a text stands for; `ValueError` as SentencePiece has it."""
    try:
        return parse(name, text, default)
    except ValueError as error:
        kind = "bool" if str(error) == "bool" else "int"
        raise ValueError(f'INVALID_ARGUMENT: cannot parse "{text}" as {kind}.') from None


def model_type(text: str) -> int:
    """Returns the number of a type of model.

    Raises:
        ValueError: There is no such type.
    """
    if text.lower() not in MODEL_TYPES:
        raise ValueError(f'INVALID_ARGUMENT: unknown enumeration value of "{text}" as kModelType_Map')
    return MODEL_TYPES.index(text.lower()) + 1
