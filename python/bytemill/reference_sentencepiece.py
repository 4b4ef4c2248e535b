"""Executable definition of SentencePiece's byte pair encoding: slow, readable code, as in `reference`.

Read `reference` first; this is the same idea with other parts. The units that merge are characters, not
bytes. No pattern cuts a text: it is *normalized* as a whole, where a space becomes the *mark* U+2581, and
merges reach as far as there are pieces. A *piece* is an entry of the vocabulary and has a *score*; of all
adjacent symbols that are a piece together, those with the highest score merge first, the leftmost of equals.
A character without a piece becomes bytes, or the unknown piece. *Training* takes the most frequent pair of
adjacent symbols, as everywhere, but within words, and only if the two look like a part of a word.

Defined as in version 0.2.3 of the original. Nothing is compiled or optimised.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import pairwise
from math import copysign
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "BYTE_PIECES",
    "MARK",
    "Charsmap",
    "Kind",
    "Normalization",
    "Part",
    "Piece",
    "ReferenceModel",
    "TrainingOptions",
    "normalize",
    "train",
]

MARK = "\N{LOWER ONE EIGHTH BLOCK}"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()
BYTE_PIECES = [f"<0x{value:02X}>" for value in range(256)]
DEEPEST = 100  # as deep as the original looks for a used piece in an unused one


class Kind(IntEnum):
    """The types of pieces, numbered as in model files."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Piece(NamedTuple):
    """An entry of a vocabulary; its id is its place there."""

    text: str
    score: float
    kind: Kind = Kind.NORMAL


# --- Normalizing ---


class Charsmap:
    """The replacements of a `precompiled_charsmap`: a double-array trie of keys, and the values it refers to.

    The trie is an array of 32-bit units. A node has a base; its child by a byte is the unit at base ^ byte,
    if that is labelled with the byte. If a key ends at the child, the unit at the child's own base is its
    value: where in the block of values the replacement starts, which a NUL ends.
    """

    def __init__(self, blob: bytes) -> None:
        """Reads a charsmap; an empty one replaces nothing."""
        size = int.from_bytes(blob[:4], "little")
        self._units = struct.unpack_from(f"<{size // 4}I", blob, 4) if blob else ()
        self._values = blob[4 + size :]

    def longest(self, text: bytes, start: int) -> tuple[bytes, int] | None:
        """Returns the replacement of the longest key at an offset, and the key's length, if there is one."""
        found = None
        if not self._units:
            return None
        base = self._base(self._units[0])
        for length, byte in enumerate(text[start:], 1):
            node = base ^ byte
            if node >= len(self._units) or self._units[node] & 0x800000FF != byte:
                break
            base = node ^ self._base(self._units[node])
            if self._units[node] & 0x100:
                value = self._units[base] & 0x7FFFFFFF
                found = self._values[value : self._values.index(0, value)], length
        return found

    @staticmethod
    def _base(unit: int) -> int:
        return (unit >> 10) << ((unit & 0x200) >> 6)


@dataclass(frozen=True)
class Normalization:
    """The changes of a text before merging; the fields are those of the model file's `NormalizerSpec`."""

    charsmap: Charsmap = field(default_factory=lambda: Charsmap(b""))
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False


def character(text: bytes, start: int) -> bytes | None:
    """Returns the well-formed UTF-8 character that starts at an offset, if one does."""
    for length in (1, 2, 3, 4):
        try:
            text[start : start + length].decode()
        except UnicodeDecodeError:
            continue
        return text[start : start + length]
    return None


def longest_prefix(text: bytes, start: int, words: Iterable[bytes]) -> bytes:
    """Returns the longest of several words that a text has at an offset; b"" without one."""
    return max((word for word in words if text.startswith(word, start)), key=len, default=b"")


def replacements(
    text: bytes, charsmap: Charsmap, user_defined: Iterable[bytes]
) -> Iterator[tuple[bytes, int]]:
    """Replaces a text step by step, yielding what each step makes, and where in the text the step starts.

    A step takes the first of these that there is: the longest user-defined symbol, which stays as it is; the
    longest key of the charsmap; a character; a byte that starts no character.
    """
    start = 0
    while start < len(text):
        if made := longest_prefix(text, start, user_defined):
            length = len(made)
        elif (found := charsmap.longest(text, start)) is not None:
            made, length = found
        elif (found_character := character(text, start)) is not None:
            made, length = found_character, len(found_character)
        else:
            made, length = REPLACEMENT, 1
        yield made, start
        start += length


def normalize(text: bytes, rules: Normalization, user_defined: Iterable[bytes] = ()) -> tuple[str, list[int]]:
    """Normalizes a text.

    Returns:
        The normalized text, and for each byte of it the offset in `text` of what it was made from, with
        one more entry for its end.
    """
    space = MARK.encode() if rules.escape_whitespaces else b" "
    trimming = rules.remove_extra_whitespaces
    out = bytearray()
    origins: list[int] = []

    def append(made: bytes, origin: int) -> None:
        out.extend(made)
        origins.extend([origin] * len(made))

    steps = list(replacements(text, rules.charsmap, list(user_defined)))
    while trimming and steps and steps[0][0] == b" ":
        del steps[0]
    if not steps:
        return "", [len(text)]
    if rules.add_dummy_prefix and not rules.treat_whitespace_as_suffix:
        append(space, steps[0][1])
    after_space = trimming
    for made, origin in steps:
        kept = made.lstrip(b" ") if after_space else made
        append(kept.replace(b" ", space), origin)
        if kept:
            after_space = trimming and kept.endswith(b" ")
    end = len(text)
    while trimming and out.endswith(space):
        end = origins[len(out) - len(space)]
        del out[-len(space) :], origins[-len(space) :]
    if rules.add_dummy_prefix and rules.treat_whitespace_as_suffix:
        append(space, end)
    return out.decode(), [*origins, end]


# --- Encoding ---


class Part(NamedTuple):
    """A part of an encoded text: an id, the normalized text it stands for, and its offsets in the source."""

    token: int
    text: str
    start: int
    end: int


class Symbol(NamedTuple):
    """A unit of merging; a frozen one is a user-defined symbol, which does not merge."""

    text: str
    frozen: bool = False


class ReferenceModel:
    """Encodes and decodes with pieces, a normalization, and a way with the unknown."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        normalization: Normalization | None = None,
        *,
        byte_fallback: bool = False,
        unknown_surface: str = " \N{DOUBLE QUESTION MARK} ",
    ) -> None:
        """Builds a model.

        Args:
            pieces: The vocabulary, in the order of ids.
            normalization: What happens to texts first; the default is that of an empty `NormalizerSpec`.
            byte_fallback: Whether the unknown is encoded as bytes, each of which has a piece.
            unknown_surface: What the unknown piece decodes to.
        """
        self.pieces = list(pieces)
        self.normalization = normalization or Normalization()
        self.byte_fallback = byte_fallback
        self.unknown_surface = unknown_surface
        self.ids = {piece.text: number for number, piece in enumerate(self.pieces)}
        self.unknown = next((i for i, piece in enumerate(self.pieces) if piece.kind == Kind.UNKNOWN), -1)
        self.user_defined = [piece.text.encode() for piece in self.pieces if piece.kind == Kind.USER_DEFINED]
        self._priorities = {
            # Zeros are told apart by their signs.
            piece.text: (piece.score, copysign(1, piece.score))
            for piece in self.pieces
            if piece.kind in (Kind.NORMAL, Kind.USER_DEFINED, Kind.UNUSED)
        }

    def symbols(self, text: str) -> list[Symbol]:
        """Returns what merging starts with: user-defined symbols, the longest first, and characters."""
        data, found, start = text.encode(), [], 0
        while start < len(data):
            frozen = longest_prefix(data, start, self.user_defined)
            symbol = frozen or character(data, start) or b""
            found.append(Symbol(symbol.decode(), bool(frozen)))
            start += len(symbol)
        return found

    def merge_steps(self, text: str, halves: dict[str, tuple[str, str]]) -> Iterator[list[Symbol]]:
        """Merges a normalized text step by step, yielding its symbols: at first, then after each merge.

        A step merges the two neighbours whose joined text is the piece of the highest score, the leftmost of
        equals. Whether the neighbours are pieces themselves does not matter.

        Args:
            text: A normalized text.
            halves: To be filled: for each piece, which two symbols that make it became neighbours last.
        """
        symbols = self.symbols(text)

        def candidates(places: Iterable[int]) -> Iterator[tuple[tuple[float, float], int]]:
            for i in places:
                left, right = symbols[i : i + 2]
                if not (left.frozen or right.frozen) and left.text + right.text in self._priorities:
                    yield self._priorities[left.text + right.text], -i

        def record(places: Iterable[int]) -> None:
            for _, place in candidates(places):
                left, right = symbols[-place : -place + 2]
                halves[left.text + right.text] = left.text, right.text

        record(range(len(symbols) - 1))
        yield symbols
        while best := max(candidates(range(len(symbols) - 1)), default=None):
            i = -best[1]
            symbols = [*symbols[:i], Symbol(symbols[i].text + symbols[i + 1].text), *symbols[i + 2 :]]
            record(place for place in (i - 1, i) if 0 <= place < len(symbols) - 1)
            yield symbols

    def unfold(
        self, text: str, halves: Mapping[str, tuple[str, str]], depth: int = 0
    ) -> Iterator[tuple[int, str]]:
        """Returns the ids of a symbol that merging ends with; an unused piece gives way to its halves."""
        token = self.ids.get(text, self.unknown)
        kind = self.pieces[token].kind if token >= 0 else Kind.UNKNOWN
        if kind in (Kind.NORMAL, Kind.USER_DEFINED) or (kind == Kind.UNUSED and depth > DEEPEST):
            yield token, text
        elif kind == Kind.UNUSED and text in halves:
            for half in halves[text]:
                yield from self.unfold(half, halves, depth + 1)
        else:
            yield self.unknown, text

    def encode_parts(self, text: str | bytes) -> list[Part]:
        """Encodes a text; `bytes` may be any.

        Returns:
            The parts; offsets count bytes of UTF-8. Of the bytes of a character, the last has its source.
        """
        data = text.encode() if isinstance(text, str) else text
        normalized, origins = normalize(data, self.normalization, self.user_defined)
        halves: dict[str, tuple[str, str]] = {}
        *_, symbols = self.merge_steps(normalized, halves)
        parts: list[Part] = []
        start = 0
        for token, piece in (found for symbol in symbols for found in self.unfold(symbol.text, halves)):
            encoded = piece.encode()
            begin, end = origins[start], origins[start + len(encoded)]
            if token == self.unknown and self.byte_fallback:
                tokens = [self.ids[BYTE_PIECES[byte]] for byte in encoded]
                texts = [BYTE_PIECES[byte] for byte in encoded]
                ends = [begin] * (len(encoded) - 1) + [end]
                parts += map(Part, tokens, texts, [begin] * len(encoded), ends)
            elif token == self.unknown and parts and parts[-1].token == self.unknown:
                parts[-1] = Part(token, parts[-1].text + piece, parts[-1].start, end)
            else:
                parts.append(Part(token, piece, begin, end))
            start += len(encoded)
        return parts

    def encode(self, text: str | bytes) -> list[int]:
        """Encodes a text; see `encode_parts`."""
        return [part.token for part in self.encode_parts(text)]

    # --- Decoding ---

    def decode(self, tokens: Iterable[int | str]) -> str:
        """Decodes ids, or pieces by their texts, of which unknown ones stand for themselves.

        Raises:
            IndexError: An id is out of range.
        """
        text = ""
        pending = bytearray()
        at_start = True

        def flush() -> str:
            made = b"".join(step for step, _ in replacements(bytes(pending), Charsmap(b""), ())).decode()
            pending.clear()
            return made

        rules = self.normalization
        for token in tokens:
            piece = self._piece(token)
            if piece.kind == Kind.BYTE:
                pending.append(BYTE_PIECES.index(piece.text))
                continue
            text += flush()
            at_start = at_start and not text
            if piece.kind == Kind.UNKNOWN:
                text += piece.text if piece.text not in self.ids else self.unknown_surface
            elif piece.kind != Kind.CONTROL:
                shown = piece.text
                if at_start and (rules.add_dummy_prefix or rules.remove_extra_whitespaces):
                    shown = shown.removeprefix(MARK)
                    # One mark is the dummy prefix; any number may be removed.
                    at_start = rules.remove_extra_whitespaces or shown == piece.text
                text += shown.replace(MARK, " ")
        return text + flush()

    def _piece(self, token: int | str) -> Piece:
        if isinstance(token, str):
            return self.pieces[self.ids[token]] if token in self.ids else Piece(token, 0, Kind.UNKNOWN)
        if not 0 <= token < len(self.pieces):
            raise IndexError(f"id {token} is out of range: the model has {len(self.pieces)} pieces")
        return self.pieces[token]


# --- Training ---

BOUNDARY = "\x1f"  # in place of a symbol of the vocabulary that the corpus spells out
BARRIER = "\N{LOWER FIVE EIGHTHS BLOCK}"  # in place of a character that gets no piece
DIGITS = frozenset("0123456789" + "".join(map(chr, range(0xFF10, 0xFF1A))))
KANA = ("Hiragana", "Katakana")


@dataclass(frozen=True)
class TrainingOptions:
    """The options of training that change its result, with the names and defaults of the original."""

    vocab_size: int = 8_000
    character_coverage: float = 0.9995
    required_chars: str = ""
    max_sentence_length: int = 4192
    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_whitespace: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    allow_whitespace_only_pieces: bool = False
    treat_whitespace_as_suffix: bool = False
    pretokenization_delimiter: str = ""
    byte_fallback: bool = False
    hard_vocab_limit: bool = True
    control_symbols: Sequence[str] = ()
    user_defined_symbols: Sequence[str] = ()
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"


def meta_pieces(options: TrainingOptions) -> dict[int, Piece]:
    """Returns the pieces that are not learned, by id: four at ids of their own, others at free ones."""
    pieces: dict[int, Piece] = {}
    named = {
        options.unk_piece: options.unk_id,
        options.bos_piece: options.bos_id,
        options.eos_piece: options.eos_id,
        options.pad_piece: options.pad_id,
    }
    for text, number in named.items():
        if number in pieces or number >= options.vocab_size:
            raise ValueError(f"the id of {text!r}, {number}, is taken, or not below the vocabulary size")
        if number >= 0:
            pieces[number] = Piece(text, 0.0, Kind.UNKNOWN if text == options.unk_piece else Kind.CONTROL)
    symbols = [(text, Kind.CONTROL) for text in options.control_symbols]
    symbols += [(text, Kind.USER_DEFINED) for text in options.user_defined_symbols]
    symbols += [(text, Kind.BYTE) for text in BYTE_PIECES if options.byte_fallback]
    defined: set[str] = set()
    for text, kind in symbols:
        if text in defined:
            raise ValueError(f"{text} is already defined. duplicated symbols are not allowed.")
        if text == options.unk_piece:
            raise ValueError(f"{text} must not be defined with --control_symbols and --user_defined_symbols.")
        defined.add(text)
        number = named.get(text, -1)
        if number < 0:
            number = next(i for i in range(len(pieces) + 1) if i not in pieces)
        pieces[number] = Piece(text, 0.0, kind)
    return pieces


def prepare(
    sentences: Mapping[str | bytes, int] | Iterable[str | bytes],
    normalization: Normalization,
    options: TrainingOptions,
    protected: Iterable[str],
) -> Counter[str]:
    """Normalizes sentences and puts `BOUNDARY` in place of the longest of the protected strings."""
    words = [word.encode() for word in protected]
    prepared: Counter[str] = Counter()
    for sentence, count in Counter(sentences).items():
        data = sentence.encode() if isinstance(sentence, str) else sentence
        if len(data) > options.max_sentence_length or BARRIER.encode() in data:
            continue
        text = normalize(data, normalization)[0].encode()
        out, start = b"", 0
        while start < len(text):
            word = longest_prefix(text, start, words)
            out += BOUNDARY.encode() if word else text[start : start + 1]
            start += len(word) or 1
        normalized = out.decode()
        if options.pretokenization_delimiter:
            normalized = normalized.replace(options.pretokenization_delimiter, BOUNDARY)
        if normalized:
            prepared[normalized] += count
    if not prepared:
        raise ValueError("no sentences to train on: all are empty, too long or refused")
    return prepared


def single_precision(value: float) -> float:
    """Rounds to 32 bits, the precision in which the original compares shares."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


def find_alphabet(sentences: Mapping[str, int], options: TrainingOptions) -> dict[str, int]:
    """Returns the characters that get a piece, with their counts: the most frequent, up to the coverage."""
    counts = Counter(dict.fromkeys(options.required_chars, 0))
    for sentence, count in sentences.items():
        for letter in sentence.replace("\0", ""):
            counts[letter] += count
    total = max(counts.total(), 1)
    covered, alphabet = 0, {}
    for letter in sorted(
        counts, key=lambda letter: (letter not in options.required_chars, -counts[letter], letter)
    ):
        if single_precision(covered / total) >= single_precision(options.character_coverage):
            break
        covered += counts[letter]
        if letter != BOUNDARY:
            alphabet[letter] = counts[letter]
    return alphabet


def words_of(sentence: str, options: TrainingOptions) -> list[str]:
    """Cuts a sentence before marks, or after them if they are suffixes; maybe not between two marks."""
    if not options.split_by_whitespace:
        return [sentence]
    words = [sentence[0]]
    for before, letter in pairwise(sentence):
        ends = (before if options.treat_whitespace_as_suffix else letter) == MARK
        if ends and not (options.allow_whitespace_only_pieces and before == letter == MARK):
            words.append("")
        words[-1] += letter
    return words


def may_be_piece(text: str, options: TrainingOptions, script: Callable[[str], str]) -> bool:
    """Returns whether a string looks like a part of a word: marks at its start, one script, and so on."""
    if len(text) > options.max_sentencepiece_length or set(text) & {BARRIER, BOUNDARY, " ", "\0"}:
        return False
    if options.allow_whitespace_only_pieces and set(text) == {MARK}:
        return True
    inner = text[:-1] if options.treat_whitespace_as_suffix else text[1:]
    far_end = inner[:1] if options.treat_whitespace_as_suffix else inner[-1:]
    if MARK in (inner if options.split_by_whitespace else far_end):
        return False
    previous = None  # the script of the character before, if that matters
    for letter in text.replace(MARK, ""):
        if letter in DIGITS:
            if options.split_digits and len(text) > 1:
                return False
            current = "Common" if options.split_by_number else None
        else:
            current = "Han" if letter == "ー" or script(letter) in KANA else script(letter)
            current = previous if current == "Inherited" else current
        if options.split_by_unicode_script and previous and current and previous != current:
            return False
        previous = current
    return True


def learn(words: Mapping[str, int], size: int, acceptable: Callable[[str], bool]) -> list[str]:
    """Learns pieces from words: the pair of neighbours that occurs most often is joined, again and again.

    Of equals the shortest is taken, then the first by code points. What was ever adjacent remains a
    candidate, though nothing is left of it; with these a tiny corpus still fills a vocabulary.
    """
    divided = [(list(word), count) for word, count in words.items()]
    seen: dict[str, bool] = {}  # whether it is a candidate, of all that was adjacent
    learned: list[str] = []
    while len(learned) < size:
        counts: Counter[str] = Counter()
        for symbols, count in divided:
            for left, right in pairwise(symbols):
                counts[left + right] += count
        for text in counts:
            seen.setdefault(text, acceptable(text))
        candidates = [text for text, is_candidate in seen.items() if is_candidate]
        if not candidates:
            break
        best = min(candidates, key=lambda text: (-counts[text], len(text), text))
        learned.append(best)
        seen[best] = False
        for symbols, _ in divided:
            for text in join(symbols, best):
                seen.setdefault(text, acceptable(text))
    return learned


def join(symbols: list[str], text: str) -> Iterator[str]:
    """Joins the pairs of neighbours that are a text together, from left to right.

    Yields:
        What is adjacent only for a moment: a joined pair, and the left half of a next one that touches it.
    """
    i = 0
    while i < len(symbols) - 1:
        if symbols[i] + symbols[i + 1] == text:
            symbols[i : i + 2] = [text]
            yield from (text + following for following in symbols[i + 1 : i + 2])
        i += 1


def train(
    sentences: Mapping[str | bytes, int] | Iterable[str | bytes],
    options: TrainingOptions,
    script: Callable[[str], str],
    normalization: Normalization | None = None,
) -> list[Piece]:
    """Learns the pieces of a vocabulary.

    Args:
        sentences: The corpus; as a mapping, with counts.
        options: The options.
        script: Returns the script of a character, "Common" or "Inherited": those of Unicode 9.0.
        normalization: What happens to sentences first.

    Raises:
        ValueError: The options cannot be met: the message has the numbers of the original's.

    Complexity:
        The number of pieces times the size of the distinct words.
    """
    meta = meta_pieces(options)
    rules = replace(
        normalization or Normalization(), treat_whitespace_as_suffix=options.treat_whitespace_as_suffix
    )
    prepared = prepare(sentences, rules, options, [piece.text for piece in meta.values()])
    alphabet = find_alphabet(prepared, options)
    if len(meta) + len(alphabet) > options.vocab_size:
        raise ValueError(
            "Vocabulary size is smaller than required_chars."
            f" {options.vocab_size} vs {len(meta) + len(alphabet)}."
        )
    words: Counter[str] = Counter()
    for sentence, count in prepared.items():
        for word in words_of(sentence, options):
            words["".join(letter if letter in alphabet else BARRIER for letter in word)] += count
    learned = learn(
        words,
        options.vocab_size - len(meta) - len(alphabet),
        lambda text: may_be_piece(text, options, script),
    )
    learned += sorted(alphabet, key=lambda letter: (-alphabet[letter], letter))
    if max(meta) >= len(meta) + len(learned):
        raise ValueError(f"there are too few pieces to give {meta[max(meta)].text!r} the id {max(meta)}")
    if options.hard_vocab_limit and len(meta) + len(learned) < options.vocab_size:
        raise ValueError(
            f"Vocabulary size too high ({options.vocab_size})."
            f" Please set it to a value <= {len(meta) + len(learned)}."
        )
    # The first learned piece has the score -0.0.
    pieces = (Piece(text, -float(number)) for number, text in enumerate(learned))
    return [meta.get(number) or next(pieces) for number in range(len(meta) + len(learned))]
