"""How SentencePiece encodes and decodes a text with the pieces of a model, by the definition."""

from __future__ import annotations

from enum import IntEnum
from math import copysign
from typing import TYPE_CHECKING, NamedTuple

from bytemill.reference_sentencepiece.normalizing import (
    MARK,
    Charsmap,
    Normalization,
    character,
    longest_prefix,
    normalize,
    replacements,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
