"""The options of training a SentencePiece model, checked before any text is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import repeat
from operator import neg
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BYTE_PIECES", "MetaPieces", "PieceOptions"]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6

BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))

# Fewer sentences are no sample.
LEAST_SAMPLE = 100


class PieceOptions(NamedTuple):
    """The options of SentencePiece's trainer and normalizer that decide what a BPE model learns or decodes.

    They have its names and its defaults. `seed` alone is not among its options: it decides which sentences
    are kept if `input_sentence_size` is less than there are.
    """

    vocab_size: int = 8000
    character_coverage: float = 0.9995
    required_chars: str = ""
    auto_character_coverage: bool = False
    byte_fallback: bool = False
    hard_vocab_limit: bool = True
    use_all_vocab: bool = False
    input_format: str = ""
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    max_sentence_length: int = 4192
    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_by_whitespace: bool = True
    split_digits: bool = False
    treat_whitespace_as_suffix: bool = False
    allow_whitespace_only_pieces: bool = False
    pretokenization_delimiter: str = ""
    control_symbols: tuple[str, ...] = ()
    user_defined_symbols: tuple[str, ...] = ()
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_surface: str = " \N{DOUBLE QUESTION MARK} "
    vocabulary_output_piece_score: bool = True
    num_threads: int = 16
    num_sub_iterations: int = 2
    shrinking_factor: float = 0.75
    seed_sentencepieces_file: str = ""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    seed: int = 0

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> Self:
        """Returns options from those that were given by name; others among them decide nothing.

        Raises:
            ValueError: A value has no meaning.
        """
        known = {name: value for name, value in given.items() if name in cls._fields}
        for name in ("control_symbols", "user_defined_symbols"):
            if name in known:
                known[name] = strings(name, known[name])
        options = cls(**known)
        for holds, message in options._conditions():
            if not holds:
                raise ValueError(message)
        return options

    def _conditions(self) -> Iterable[tuple[bool, str]]:
        """Yields what must hold, in SentencePiece's order of checks, each with the message if it does not."""
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
            self.input_sentence_size <= 0 or self.input_sentence_size > LEAST_SAMPLE,
            (
                f"expected an input_sentence_size of 0, for all sentences, or above {LEAST_SAMPLE}, "
                f"got {self.input_sentence_size}"
            ),
        )
        for name in ("unk_piece", "bos_piece", "eos_piece", "pad_piece"):
            yield bool(getattr(self, name)), f"expected {name} to be at least one character, got none"
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


def strings(name: str, values: object) -> tuple[str, ...]:
    """Returns several strings; `TypeError` if they are something else."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be several strings, not {values!r:.40}")
    return tuple(values)


class MetaPieces(NamedTuple):
    """The pieces that are not learned.

    Attributes:
        by_id: The string and the type of each, by its id.
    """

    by_id: dict[int, tuple[str, int]]

    @classmethod
    def of(cls, options: PieceOptions) -> Self:
        """Returns the pieces that options ask for.

        Raises:
            ValueError: An id is taken or too large, or a string is defined twice.
        """
        by_id: dict[int, tuple[str, int]] = {}
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
                    f"expected different ids, got {piece_id} for {name}_id and for {by_id[piece_id][0]!r}"
                )
            if name != "unk" and piece == options.unk_piece:
                raise ValueError(f"expected {name}_piece to differ from unk_piece, got {piece!r}")
            by_id[piece_id] = (piece, UNKNOWN if name == "unk" else CONTROL)
        if options.unk_id < 0 and not options.byte_fallback:
            raise ValueError(f"{options.unk_piece} must be defined.")
        meta = cls(by_id)
        meta._add(options)
        return meta

    def _add(self, options: PieceOptions) -> None:
        """Adds the symbols and the byte pieces at the smallest free ids."""
        first = {piece: piece_id for piece_id, (piece, _) in reversed(self.by_id.items())}
        seen: set[str] = set()
        free = 0
        added = [
            *((symbol, CONTROL) for symbol in options.control_symbols),
            *((symbol, USER_DEFINED) for symbol in options.user_defined_symbols),
            *((piece, BYTE) for piece in BYTE_PIECES if options.byte_fallback),
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
        """The strings of all of them and of all bytes, which never are a part of other pieces."""
        return list(dict.fromkeys([*(piece for piece, _ in self.by_id.values()), *BYTE_PIECES]))

    def numbered(self, learned: list[str], options: PieceOptions) -> list[tuple[str, float, int]]:
        """Returns all pieces in the order of their ids, each with its score and type.

        Raises:
            ValueError: There are fewer pieces than wanted, or one twice, or an empty one.
        """
        scores = map(neg, map(float, range(len(learned))))
        rest = list(zip(learned, scores, repeat(NORMAL)))
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
