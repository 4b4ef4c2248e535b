"""The options of training a SentencePiece model, checked before any text is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from operator import neg
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill._arguments import check_type, integer
from bytemill._backend import sentencepiece_options
from bytemill.reference_sentencepiece import BYTE_PIECES, Kind

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["DEFAULTS", "IGNORED", "MetaPieces", "PieceOptions", "parse"]

NUL = "\0"

# A string in quotes and what follows it, or one without, up to a comma.
FIELD = re.compile(r'"((?:[^"]|"")*)(?:"[^,]*)?|([^,]*)')

# Fewer sentences are no sample.
LEAST_SAMPLE = 100


# Options that decide nothing for a BPE model: where texts and the model are; those that SentencePiece itself
# ignores here, and does not write; those of Unigram models.
PLACES = frozenset({"input", "model_prefix", "model_type"})
IGNORED = frozenset(
    {
        "accept_language",
        "mining_sentence_size",
        "training_sentence_size",
        "self_test_sample_size",
        "train_extremely_large_corpus",
        "enable_differential_privacy",
        "differential_privacy_noise_level",
        "differential_privacy_clipping_threshold",
    }
)
OF_UNIGRAM = frozenset({"seed_sentencepiece_size"})

NORMALIZER = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")

# The options that affect a BPE model, with SentencePiece's names and defaults, except `seed`, which it does
# not have: it determines which sentences are kept if there are more than `input_sentence_size`.
DEFAULTS: dict[str, Any] = {
    name: default
    for name, default in sentencepiece_options("trainer_spec").items()
    if name not in PLACES | IGNORED | OF_UNIGRAM
}
TRAINER = tuple(DEFAULTS)
DEFAULTS |= dict.fromkeys(NORMALIZER, True) | {"seed": 0}

# What stands for truth values, as SentencePiece reads them.
TRUE = frozenset({"1", "t", "true", "y", "yes", ""})
FALSE = frozenset({"0", "f", "false", "n", "no"})

# Numbers of 32 bits, as nearly all options are, and of 64.
SIGNED = range(-(1 << 31), 1 << 31)
UNSIGNED = range(1 << 64)
OF_64_BITS = frozenset({"input_sentence_size", "seed"})


def parse(name: str, text: str, default: Any) -> Any:  # noqa: ANN401 - the values of options
    """Returns the value that a text stands for, of the type of an option's default.

    Raises:
        ValueError: It stands for none; the message is the type: "bool", "int" or "float".
    """
    match default:
        case bool():
            if text.lower() not in TRUE | FALSE:
                raise ValueError("bool")
            return text.lower() in TRUE
        case int():
            numbers = UNSIGNED if name in OF_64_BITS else SIGNED
            if re.fullmatch(r"\s*[+-]?\d{1,20}\s*", text, re.ASCII) and int(text) in numbers:
                return int(text)
            raise ValueError("int")
        case float():
            try:
                return float(text)
            except ValueError:
                raise ValueError("float") from None
        case tuple():
            return tuple(fields_of(text))
        case _:
            return text


def fields_of(text: str) -> Iterator[str]:
    """Yields strings that commas separate, as SentencePiece reads them.

    A string in quotes may have commas, and quotes that are doubled; what follows it up to the comma is
    dropped. Line breaks are ordinary characters. A comma at the end adds no empty string.
    """
    place = 0
    while place < len(text):
        found = FIELD.match(text, place)
        assert found is not None, "the expression matches anything, also nothing"
        quoted, plain = found.groups()
        field = plain if quoted is None else quoted.replace('""', '"')
        # A string of C ends there.
        yield field.partition(NUL)[0]
        place = found.end() + 1


class PieceOptions(SimpleNamespace):
    """The options of SentencePiece's trainer and normalizer that affect a BPE model: those of `DEFAULTS`."""

    @property
    def trainer(self) -> dict[str, Any]:
        """The options of the trainer by name."""
        return {name: getattr(self, name) for name in TRAINER}

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> Self:
        """Returns options given by name; options that do not affect a BPE model are ignored.

        Raises:
            ValueError: A value is invalid.
        """
        known = {
            name: typed(name, given[name], default) for name, default in DEFAULTS.items() if name in given
        }
        options = cls(**{**DEFAULTS, **known})
        for holds, message in options._conditions():
            if not holds:
                raise ValueError(message)
        return options

    def _conditions(self) -> Iterable[tuple[bool, str]]:
        """Yields the conditions, in SentencePiece's order of checks, each with its error message."""
        yield self.vocab_size > 0, f"expected a vocab_size above 0, got {self.vocab_size}"
        yield not self.use_all_vocab, "--use_all_vocab=true is valid for WORD/CHAR model."
        yield (
            not self.seed_sentencepieces_file,
            "seed_sentencepieces_file is only supported for UNIGRAM model.",
        )
        for name, least, most in (
            ("character_coverage", 0.98, 1.0),
            ("max_sentencepiece_length", 1, 512),
            ("num_sub_iterations", 1, 10),
            ("num_threads", 1, 1024),
            ("shrinking_factor", 0.5, 0.95),
            ("max_sentence_length", 10, 1 << 30),
        ):
            value = getattr(self, name)
            yield least <= value <= most, f"expected {name} from {least} to {most}, got {value}"
        yield (
            self.input_sentence_size == 0 or self.input_sentence_size > LEAST_SAMPLE,
            (
                f"expected an input_sentence_size of 0, for all sentences, or above {LEAST_SAMPLE}, "
                f"got {self.input_sentence_size}"
            ),
        )
        for name in ("unk_piece", "bos_piece", "eos_piece", "pad_piece"):
            piece = getattr(self, name)
            yield bool(piece), f"expected {name} to be at least one character, got none"
            yield NUL not in piece, without("a NUL character", name, piece)
        # SentencePiece cuts symbols there.
        for name in ("control_symbols", "user_defined_symbols"):
            for symbol in getattr(self, name):
                yield NUL not in symbol, without("a NUL character", name, symbol)
        # Spaces become marks, and the other stands for characters without a piece.
        for character, called in ((" ", "a space"), ("\N{LOWER FIVE EIGHTHS BLOCK}", "U+2585")):
            chosen = self.required_chars
            yield character not in chosen, without(called, "required_chars", chosen)
        if self.auto_character_coverage:
            yield self.byte_fallback, "--auto_character_coverage requires --byte_fallback=true."
            yield (
                not self.required_chars,
                (
                    "--auto_character_coverage cannot be used together with --required_chars or "
                    "--required_chars_file."
                ),
            )
        yield self.escape_whitespaces, "expected escape_whitespaces to be true: BPE needs marks to train"
        yield (
            self.input_format in {"", "text", "tsv"},
            f"Supported formats are 'text' and 'tsv', got {self.input_format!r}.",
        )


def without(what: str, name: str, got: str) -> str:
    """Returns the message where a string has a character that it may not have."""
    return f"expected {name} without {what}, got {got!r:.40}"


def typed(name: str, value: Any, default: object) -> Any:  # noqa: ANN401 - the values of options
    """Returns the value of an option; `TypeError` if it is of another type than its default."""
    match default:
        case tuple():
            is_iterable = isinstance(value, Iterable) and not isinstance(value, str)
            given = tuple(value) if is_iterable else (None,)
            if not all(isinstance(each, str) for each in given):
                raise TypeError(f"{name} must be several strings, not {value!r:.40}")
            return given
        case bool() | str():
            check_type(name, value, type(default))
            return value
        case float():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise TypeError(f"{name} must be a number, not {value!r:.40}")
            return value
        case _:
            return integer(name, value)


class MetaPieces(NamedTuple):
    """The pieces that are not learned.

    Attributes:
        by_id: The string and the type of each, by its ID.
    """

    by_id: dict[int, tuple[str, int]]

    @classmethod
    def of(cls, options: PieceOptions) -> Self:
        """Returns the pieces that options ask for.

        Raises:
            ValueError: An ID is taken or too large, or a string is defined twice.
        """
        by_id: dict[int, tuple[str, int]] = {}
        has_unknown = False
        for name in ("unk", "bos", "eos", "pad"):
            piece_id, piece = getattr(options, f"{name}_id"), getattr(options, f"{name}_piece")
            if piece_id < 0:
                continue
            if piece_id >= options.vocab_size:
                raise ValueError(
                    f"expected {name}_id to be below the vocab_size of {options.vocab_size}, got {piece_id}"
                )
            if piece_id in by_id:
                raise ValueError(
                    f"expected distinct IDs, got {piece_id} for {name}_id and for {by_id[piece_id][0]!r}"
                )
            # Without an unk_id, another may be the unknown piece.
            is_unknown = piece == options.unk_piece
            if is_unknown and has_unknown:
                raise ValueError(f"expected {name}_piece to differ from unk_piece, got {piece!r}")
            has_unknown |= is_unknown
            by_id[piece_id] = (piece, Kind.UNKNOWN if is_unknown else Kind.CONTROL)
        if not has_unknown and not options.byte_fallback:
            raise ValueError(f"{options.unk_piece} must be defined.")
        meta = cls(by_id)
        meta._add(options)
        return meta

    def _add(self, options: PieceOptions) -> None:
        """Adds the symbols and the byte pieces at the smallest free IDs."""
        first = {piece: piece_id for piece_id, (piece, _) in reversed(self.by_id.items())}
        seen: set[str] = set()
        free = 0
        added = [
            *((symbol, Kind.CONTROL) for symbol in options.control_symbols),
            *((symbol, Kind.USER_DEFINED) for symbol in options.user_defined_symbols),
            *((piece, Kind.BYTE) for piece in BYTE_PIECES if options.byte_fallback),
        ]
        for symbol, kind in added:
            if symbol == options.unk_piece:
                raise ValueError(
                    f"{symbol} must not be defined with --control_symbols and --user_defined_symbols."
                )
            if symbol in seen:
                raise ValueError(f"{symbol} is already defined. duplicated symbols are not allowed.")
            seen.add(symbol)
            if symbol in first:
                self.by_id[first[symbol]] = (symbol, kind)
                continue
            while free in self.by_id:
                free += 1
            self.by_id[free] = (symbol, kind)

    @property
    def strings(self) -> list[str]:
        """The strings of all of them, which never are a part of other pieces."""
        return list(dict.fromkeys(piece for piece, _ in self.by_id.values()))

    def numbered(self, learned: list[str], options: PieceOptions) -> list[tuple[str, float, int]]:
        """Returns all pieces in the order of their IDs, each with its score and type.

        Raises:
            ValueError: There are fewer pieces than wanted, or one twice, or an empty one.
        """
        scores = map(neg, map(float, range(len(learned))))
        rest = list(zip(learned, scores, repeat(Kind.NORMAL)))
        pieces: list[tuple[str, float, int]] = []
        used = 0
        for piece_id, (piece, kind) in sorted(self.by_id.items()):
            before = rest[used : used + piece_id - len(pieces)]
            pieces += before
            used += len(before)
            if len(pieces) < piece_id:
                check_different(pieces)
                raise ValueError(
                    f"expected at least {piece_id} pieces before that of the id {piece_id}, {piece!r}, "
                    f"got {len(pieces)}: choose a smaller id"
                )
            pieces.append((piece, 0.0, kind))
        pieces += rest[used : used + options.vocab_size - len(pieces)]
        check_different(pieces)
        if options.hard_vocab_limit and len(pieces) != options.vocab_size:
            raise ValueError(
                f"Vocabulary size too high ({options.vocab_size}). Please set it to a value <= {len(pieces)}."
            )
        return pieces


def check_different(pieces: list[tuple[str, float, int]]) -> None:
    """Raises `ValueError` for an empty piece, or one that is there twice."""
    seen: set[str] = set()
    for piece, _, _ in pieces:
        if not piece:
            raise ValueError("expected symbols of at least one character, got an empty one")
        if piece in seen:
            raise ValueError(f"{piece} is already defined")
        seen.add(piece)
