"""How SentencePiece learns pieces from a corpus, by the definition."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from bytemill.reference_sentencepiece.encoding import BYTE_PIECES, Kind, Piece
from bytemill.reference_sentencepiece.normalizing import MARK, Normalization, longest_prefix, normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
    counts = Counter(dict.fromkeys(options.required_chars.replace("\0", ""), 0))
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

    Of equals the shortest is taken, then the first by code points. A pair that was adjacent once remains a
    candidate even if no occurrence is left; with such pairs, a tiny corpus still fills a vocabulary.
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
