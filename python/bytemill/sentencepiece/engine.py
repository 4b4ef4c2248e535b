"""A loaded model: from text to ids and parts, and back.

Ids, and text from ids, come from the compiled core at once. *Parts* say more, of each id which text it stands
for, and are made when something of that is asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bytemill._backend import CoreBPE, Normalizer, SentencePieceModel, encode_parts
from bytemill.errors import UnknownTokenError
from bytemill.splitting import repair_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

__all__ = ["BYTE", "CONTROL", "UNKNOWN", "UNUSED", "Engine", "Part"]

UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 2, 3, 4, 5, 6

MARK = "\N{LOWER ONE EIGHTH BLOCK}"
REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()

OUT_OF_RANGE = "OUT_OF_RANGE: piece id is out of range."


class Part(NamedTuple):
    """A part of an encoded or decoded text: an id, its piece, its text, and the offsets of that in bytes.

    In an encoded text, `surface` is `None` for all bytes of a character but the last.
    """

    token: int
    piece: bytes
    surface: bytes | None
    begin: int
    end: int


class Engine:
    """A model that was read, ready to work. Immutable."""

    def __init__(self, data: bytes) -> None:
        """Reads a model.

        Raises:
            VocabularyError: It is none that can be used.
        """
        model = SentencePieceModel(data)
        self.model = model
        self.core = CoreBPE.sentencepiece(model, {})
        self.pieces = model.pieces
        self.scores: list[float] = model.scores.tolist()
        self.types: list[int] = model.types.tolist()
        self.unk_id = -1 if model.unk_id is None else model.unk_id
        self.bos_id = -1 if model.bos_id is None else model.bos_id
        self.eos_id = -1 if model.eos_id is None else model.eos_id
        self.pad_id = -1 if model.pad_id is None else model.pad_id
        # Only without pieces for bytes is there text that the id does not say.
        self.has_unknown = not model.trainer_spec["byte_fallback"]
        spec = model.normalizer_spec
        self.escapes = spec["escape_whitespaces"]
        self.strips = spec["add_dummy_prefix"] or spec["remove_extra_whitespaces"]
        self.strips_more = spec["remove_extra_whitespaces"]
        self.unknown_surface: str = model.trainer_spec["unk_surface"]

    # Only `normalize` uses the one, only parts of decoded texts the other.

    @cached_property
    def normalizer(self) -> Normalizer:
        """The normalization of texts."""
        spec = self.model.normalizer_spec
        return Normalizer(
            spec["precompiled_charsmap"],
            add_dummy_prefix=spec["add_dummy_prefix"],
            remove_extra_whitespaces=spec["remove_extra_whitespaces"],
            escape_whitespaces=spec["escape_whitespaces"],
            treat_whitespace_as_suffix=self.model.trainer_spec["treat_whitespace_as_suffix"],
            user_defined_symbols=[
                piece for piece, kind in zip(self.pieces, self.types, strict=True) if kind == USER_DEFINED
            ],
        )

    @cached_property
    def denormalizer(self) -> Normalizer | None:
        """The changes of decoded text, if there are any."""
        spec = self.model.denormalizer_spec
        if not spec["precompiled_charsmap"]:
            return None
        return Normalizer(
            spec["precompiled_charsmap"],
            add_dummy_prefix=spec["add_dummy_prefix"],
            remove_extra_whitespaces=spec["remove_extra_whitespaces"],
            escape_whitespaces=spec["escape_whitespaces"],
        )

    def find(self, piece: str) -> int:
        """Returns the id of a piece, that of the unknown piece if there is no such piece."""
        found = self.model.find(piece)
        return self.unk_id if found is None else found

    # --- Encoding ---

    def encode(self, text: str | bytes) -> list[int]:
        """Encodes a text; `bytes` may be any."""
        return self.core.encode_ordinary(text) if isinstance(text, str) else self.core.encode_bytes(text)

    def encode_to_numpy(self, text: str | bytes, num_threads: int) -> npt.NDArray[np.int32]:
        """Encodes a text to an array."""
        if isinstance(text, str):
            return self.core.encode_ordinary_to_numpy(text, num_threads).view(np.int32)
        return np.asarray(self.core.encode_bytes(text), np.int32)

    def encode_batch(self, texts: Sequence[str | bytes], num_threads: int) -> list[list[int]]:
        """Encodes texts on several threads."""
        strings = [text for text in texts if isinstance(text, str)]
        encoded = iter(self.core.encode_ordinary_batch(strings, num_threads))
        return [next(encoded) if isinstance(text, str) else self.core.encode_bytes(text) for text in texts]

    def parts(self, text: str | bytes) -> list[Part]:
        """Encodes a text with the piece, the text and the offsets of each id."""
        data = repair_surrogates(text).encode() if isinstance(text, str) else text
        normalized, tokens, ends, begins_in_text, ends_in_text = encode_parts(self.core, data)
        parts: list[Part] = []
        start = 0
        for token, end, begin, stop in zip(tokens, ends, begins_in_text, ends_in_text, strict=True):
            unknown = self.types[token] == UNKNOWN
            piece = self._escaped(normalized[start:end]) if unknown else self.pieces[token].encode()
            # The last byte of a character stands for it in the normalized text.
            inside = self.types[token] == BYTE and start == end
            parts.append(Part(token, piece, None if inside else data[begin:stop], begin, stop))
            start = end
        return parts

    def _escaped(self, normalized: bytes) -> bytes:
        """Returns normalized text as it stands in pieces."""
        return normalized.replace(b" ", MARK.encode()) if self.escapes else normalized

    def pieces_of(self, text: str | bytes, tokens: list[int]) -> list[str]:
        """Returns the pieces of a text whose ids are known."""
        if self.has_unknown and self.unk_id in tokens:
            return [part.piece.decode() for part in self.parts(text)]
        pieces = self.pieces
        return [pieces[token] for token in tokens]

    # --- Decoding ---

    def decode(self, tokens: Sequence[int]) -> str:
        """Decodes ids.

        Raises:
            IndexError: An id is out of range.
        """
        try:
            return self.core.decode(tokens, "replace")
        except (UnknownTokenError, OverflowError):
            raise IndexError(OUT_OF_RANGE) from None

    def decode_batch(self, batch: list[list[int]], num_threads: int) -> list[str]:
        """Decodes lists of ids on several threads.

        Raises:
            IndexError: An id is out of range.
        """
        try:
            return self.core.decode_batch([*batch], "replace", num_threads)
        except (UnknownTokenError, OverflowError):
            raise IndexError(OUT_OF_RANGE) from None

    def decode_parts(self, tokens: Sequence[int | str]) -> tuple[bytes, list[Part]]:
        """Decodes ids, or pieces by their texts, of which unknown ones stand for themselves.

        Returns:
            The text, and the parts that it is made of. Of the bytes of a character, the last has its text.

        Raises:
            IndexError: An id is out of range.
        """
        found = [self._numbered(token) for token in tokens]
        parts: list[Part] = []
        shown: list[bytes] = []
        length = 0
        at_start = True

        def append(token: int, piece: str, surface: bytes) -> None:
            nonlocal length
            begin = length
            length += len(surface)
            shown.append(surface)
            parts.append(Part(token, piece.encode(), surface, begin, length))

        run: list[tuple[int, str]] = []
        for token, piece in [*found, (-1, "")]:
            if token >= 0 and self.types[token] == BYTE:
                run.append((token, piece))
                continue
            for byte, made in zip(run, surfaces(int(piece[1:-1], 16) for _, piece in run), strict=True):
                append(*byte, made)
            run.clear()
            at_start = at_start and not length
            if (token, piece) == (-1, ""):
                break
            surface, at_start = self._surface(token, piece, at_start=at_start)
            append(token, piece, surface.encode())
        text = b"".join(shown)
        if self.denormalizer:
            text = self.denormalizer.normalize(text)
        return text, parts

    def _numbered(self, token: int | str) -> tuple[int, str]:
        if isinstance(token, str):
            return self.find(token), token
        if not 0 <= token < len(self.pieces):
            raise IndexError(OUT_OF_RANGE)
        return token, self.pieces[token]

    def _surface(self, token: int, piece: str, *, at_start: bool) -> tuple[str, bool]:
        """Returns what a piece that is no byte decodes to, and whether the next one is still at the start."""
        kind = self.types[token] if token >= 0 else UNKNOWN
        if kind == CONTROL:
            return "", at_start
        if kind == UNKNOWN:
            is_named = token >= 0 and piece == self.pieces[token]
            return self.unknown_surface if is_named else piece, at_start
        if at_start and self.strips and piece.startswith(MARK):
            piece = piece[1:]
            at_start = self.strips_more
        return piece.replace(MARK, " "), at_start


def surfaces(values: Iterator[int]) -> Iterator[bytes]:
    """Yields for each byte of a run what it decodes to.

    Of the bytes of a character, that is the character for the last and nothing for the others. A byte of no
    character is U+FFFD.
    """
    data = bytes(values)
    start = 0
    while start < len(data):
        for length in (1, 2, 3, 4):
            try:
                data[start : start + length].decode()
            except UnicodeDecodeError:
                continue
            yield from [b""] * (length - 1)
            yield data[start : start + length]
            break
        else:
            length = 1
            yield REPLACEMENT
        start += length
