"""The forms in which parts of a text are returned: messages of protocol buffers, and offsets."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from bytemill._backend import find_invalid_utf8, write_sentencepiece_text
from bytemill._messages import import_optional

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bytemill.sentencepiece.engine import Part

__all__ = ["offset_mapping", "parsed", "serialized"]

# The fields of the messages: number, name, type, and whether there are several.
TEXT_FIELDS = (
    (1, "text", "string", False),
    (2, "pieces", "SentencePiece", True),
    (3, "score", "float", False),
)
PIECE_FIELDS = (
    (1, "piece", "string", False),
    (2, "id", "uint32", False),
    (3, "surface", "string", False),
    (4, "begin", "uint32", False),
    (5, "end", "uint32", False),
)

# From where on the first byte of a character says that there are two, three and four.
LONGER = (0xC0, 0xE0, 0xF0)
# The first two bits of all others.
CONTINUATION = 0x80


def serialized(text: bytes, parts: Sequence[Part]) -> bytes:
    """Returns the bytes of a message `SentencePieceText`, whose offsets count bytes."""
    return write_sentencepiece_text(text, parts)


def parsed(data: bytes) -> Any:
    """Returns a message `SentencePieceText` from its bytes.

    Raises:
        ImportError: The package protobuf is not installed.
    """
    return message_class().FromString(data)


@cache
def message_class() -> Any:
    """Returns the class of `SentencePieceText`, in a pool of its own: another package may define it too."""
    messages = "messages (return_type='proto')"
    descriptor_pb2 = import_optional("google.protobuf.descriptor_pb2", messages)
    pool = import_optional("google.protobuf.descriptor_pool", messages).DescriptorPool()
    factory = import_optional("google.protobuf.message_factory", messages)
    file = descriptor_pb2.FileDescriptorProto(
        name="sentencepiece.proto", package="sentencepiece", syntax="proto2"
    )
    text = file.message_type.add(name="SentencePieceText")
    piece = text.nested_type.add(name="SentencePiece")
    field = descriptor_pb2.FieldDescriptorProto
    for message, fields in ((text, TEXT_FIELDS), (piece, PIECE_FIELDS)):
        for number, name, kind, repeated in fields:
            added = message.field.add(name=name, number=number)
            added.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
            if kind == piece.name:
                added.type = field.TYPE_MESSAGE
                added.type_name = ".sentencepiece.SentencePieceText.SentencePiece"
            else:
                added.type = field.Type.Value(f"TYPE_{kind.upper()}")
    pool.Add(file)
    return factory.GetMessageClass(pool.FindMessageTypeByName("sentencepiece.SentencePieceText"))


def offset_mapping(
    text: bytes, ids: list[int], pieces: list[bytes], offsets: list[tuple[int, int]], *, as_bytes: bool
) -> dict[str, Any]:
    """Returns the IDs, pieces and offsets of a text, in bytes or in characters.

    Raises:
        ValueError: A piece lies beyond the text.
    """
    if as_bytes:
        return {"ids": ids, "pieces": pieces, "offsets": offsets}
    if offsets and offsets[-1][1] > len(text):
        # The denormalizer, which offsets do not know, made the text shorter.
        raise ValueError("Invalid piece offsets in SentencePieceText")
    if not text.isascii():
        characters = character_offsets(text)
        offsets = [(characters[begin], characters[end]) for begin, end in offsets]
    return {"ids": ids, "pieces": [piece.decode() for piece in pieces], "offsets": offsets}


def character_offsets(text: bytes) -> list[int]:
    """Returns the offset in characters of each offset in bytes; within a character, that of its start.

    Invalid UTF-8 counts by first bytes: each determines the number of bytes of its character.
    """
    if find_invalid_utf8(text) is None:
        import numpy as np

        starts = (np.frombuffer(text, np.uint8) & 0xC0) != CONTINUATION
        offsets: list[int] = (np.cumsum(starts) - 1).tolist()
        return [*offsets, offsets[-1] + 1 if offsets else 0]
    firsts = [0] * len(text)
    start = 0
    while start < len(text):
        firsts[start] = 1
        lead = text[start]
        start += 1 + sum(lead >= least for least in LONGER)
    return [first - 1 for first in accumulate(firsts)] + [sum(firsts)]
