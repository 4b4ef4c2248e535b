"""A loaded model: from text to IDs and parts, and back.

The compiled core returns IDs, and text from IDs. *Parts* also have the text of each ID, and are computed only
if needed.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from bytemill._backend import (
    CoreBPE,
    Normalizer,
    SentencePieceModel,
    encode_message,
    encode_pieces,
)
from bytemill.errors import UnknownTokenError
from bytemill.reference_sentencepiece import MARK, Kind
from bytemill.splitting import repair_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = ["Engine", "Part", "utf8"]

REPLACEMENT = "\N{REPLACEMENT CHARACTER}".encode()

OUT_OF_RANGE = "OUT_OF_RANGE: piece id is out of range."


class Part(NamedTuple):
    """A part of a decoded text: an ID, its piece, its text, and the offsets of that in bytes."""

    token: int
    piece: bytes
    surface: bytes
    begin: int
    end: int


class Engine:
    """A loaded model. Immutable."""

    def __init__(self, data: bytes) -> None:
        """Reads a model.

        Raises:
            VocabularyError: The model is not supported.
        """
        model = SentencePieceModel(data)
        self.model = model
        self.core = CoreBPE.sentencepiece(model, {})
        self.size = len(model)
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

    # Texts become ids without any of these, whose objects take a fifth of the time of loading.

    @cached_property
    def pieces(self) -> list[str]:
        """The pieces, by ID."""
        return self.model.pieces

    @cached_property
    def scores(self) -> list[float]:
        """The score of each piece."""
        scores: list[float] = self.model.scores.tolist()
        return scores

    @cached_property
    def types(self) -> list[int]:
        """The type of each piece."""
        types: list[int] = self.model.types.tolist()
        return types

    @cached_property
    def ids(self) -> dict[str, int]:
        """The ID of each piece."""
        return {piece: token for token, piece in enumerate(self.pieces)}

    @cached_property
    def encoded(self) -> list[bytes]:
        """The pieces in UTF-8, by ID."""
        return [piece.encode() for piece in self.pieces]

    @cached_property
    def surfaces(self) -> list[bytes]:
        """The text that each piece but a byte decodes to, after the first."""
        return [self._surface(token, piece).encode() for token, piece in enumerate(self.pieces)]

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
                piece
                for piece, kind in zip(self.pieces, self.types, strict=True)
                if kind == Kind.USER_DEFINED
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
        """Returns the ID of a piece; the ID of the unknown piece if there is no such piece."""
        return self.ids.get(piece, self.unk_id)

    def known_ids(self, pieces: Sequence[str]) -> list[int] | None:
        """Returns the IDs of pieces; `None` if one is not there, or is not a string."""
        ids = self.ids
        try:
            return [ids[piece] for piece in pieces]
        except (KeyError, TypeError):
            return None

    # --- Encoding ---

    def encode(self, text: str | bytes) -> list[int]:
        """Encodes a text; `bytes` may be any."""
        return self.core.encode_ordinary(text) if isinstance(text, str) else self.core.encode_bytes(text)

    def encode_to_numpy(self, text: str | bytes, num_threads: int) -> npt.NDArray[np.int32]:
        """Encodes a text to an array."""
        import numpy as np

        if isinstance(text, str):
            return self.core.encode_ordinary_to_numpy(text, num_threads).view(np.int32)
        return np.asarray(self.core.encode_bytes(text), np.int32)

    def encode_batch(self, texts: Sequence[str | bytes], num_threads: int) -> list[list[int]]:
        """Encodes texts on several threads."""
        strings = [text for text in texts if isinstance(text, str)]
        encoded = iter(self.core.encode_ordinary_batch(strings, num_threads))
        return [next(encoded) if isinstance(text, str) else self.core.encode_bytes(text) for text in texts]

    def encode_pieces(self, data: bytes) -> tuple[list[int], list[bytes], list[tuple[int, int]]]:
        """Encodes a text to IDs, the piece of each, and where each starts and ends in bytes."""
        return encode_pieces(self.core, self.model, data)

    def encode_message(self, data: bytes) -> bytes:
        """Encodes a text to the bytes of a message `SentencePieceText`, whose offsets count bytes."""
        return encode_message(self.core, self.model, data)

    def pieces_of(self, text: str | bytes, tokens: list[int]) -> list[str]:
        """Returns the pieces of a text whose IDs are known."""
        if self.has_unknown and self.unk_id in tokens:
            _, unknown, _ = self.encode_pieces(utf8(text))
            return [piece.decode() for piece in unknown]
        pieces = self.pieces
        return [pieces[token] for token in tokens]

    # --- Decoding ---

    def decode(self, tokens: Sequence[int]) -> str:
        """Decodes IDs.

        Raises:
            IndexError: An ID is out of range.
        """
        try:
            return self.core.decode(tokens, "replace")
        except (UnknownTokenError, OverflowError):
            raise IndexError(OUT_OF_RANGE) from None

    def decode_batch(self, batch: list[list[int]], num_threads: int) -> list[str]:
        """Decodes lists of IDs on several threads.

        Raises:
            IndexError: An ID is out of range.
        """
        try:
            return self.core.decode_batch([*batch], "replace", num_threads)
        except (UnknownTokenError, OverflowError):
            raise IndexError(OUT_OF_RANGE) from None

    def decode_parts(self, tokens: Sequence[int | str]) -> tuple[bytes, list[Part]]:
        """Decodes IDs, or pieces as strings; unknown pieces decode to themselves.

        In pieces, surrogates stand for bytes that are not UTF-8, as by the error handler "surrogateescape".

        Returns:
            The text, and the parts that it is made of. Of the bytes of a character, the last has its text.

        Raises:
            IndexError: An ID is out of range.
        """
        parts: list[Part] = []
        run: list[int] = []
        length = 0
        at_start = True

        def flush() -> None:
            nonlocal length
            made_of = characters(int(self.pieces[token][1:-1], 16) for token in run)
            for token, made in zip(run, made_of, strict=True):
                parts.append(Part(token, self.encoded[token], made, length, length + len(made)))
                length += len(made)
            run.clear()

        for given in tokens:
            if isinstance(given, int) and not 0 <= given < self.size:
                raise IndexError(OUT_OF_RANGE)
            token = given if isinstance(given, int) else self.find(given)
            if token >= 0 and self.types[token] == Kind.BYTE:
                run.append(token)
                continue
            if run:
                flush()
            at_start = at_start and not length
            if isinstance(given, str) and (token < 0 or given != self.pieces[token]):
                piece = surface = given.encode(errors="surrogateescape")
            else:
                piece, surface = self.encoded[token], self.surfaces[token]
                if at_start and self.strips and self.types[token] not in (Kind.CONTROL, Kind.UNKNOWN):
                    # One mark is the dummy prefix; any number may be removed.
                    stripped = self._surface(token, self.pieces[token].removeprefix(MARK)).encode()
                    at_start = self.strips_more or stripped == surface
                    surface = stripped
            parts.append(Part(token, piece, surface, length, length + len(surface)))
            length += len(surface)
        flush()
        text = b"".join([part.surface for part in parts])
        if self.denormalizer:
            text = self.denormalizer.normalize(text)
        return text, parts

    def _surface(self, token: int, piece: str) -> str:
        """Returns the text that an ID with this piece decodes to after the first."""
        kind = self.types[token]
        if kind == Kind.CONTROL:
            return ""
        return self.unknown_surface if kind == Kind.UNKNOWN else piece.replace(MARK, " ")


def utf8(text: str | bytes) -> bytes:
    """Returns a text in UTF-8."""
    return repair_surrogates(text).encode() if isinstance(text, str) else text


def characters(values: Iterator[int]) -> Iterator[bytes]:
    """Yields the text of each byte of a run.

    For the last byte of a character that is the character, for the others nothing. An invalid byte is U+FFFD.
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
