"""Executable definition of SentencePiece's byte pair encoding: slow, readable code, as in `reference`.

Read `reference` first; this is the same idea with other parts. The units that merge are characters, not
bytes. No pattern cuts a text: it is *normalized* as a whole, where a space becomes the *mark* U+2581, and
merges reach as far as there are pieces. A *piece* is an entry of the vocabulary and has a *score*; of all
adjacent symbols that are a piece together, those with the highest score merge first, the leftmost of equals.
A character without a piece becomes bytes, or the unknown piece. *Training* takes the most frequent pair of
adjacent symbols, as everywhere, but within words, and only if the two look like a part of a word.

Defined as in version 0.2.3 of the original. Nothing is compiled or optimised.
"""

from bytemill.reference_sentencepiece.encoding import BYTE_PIECES, Kind, Part, Piece, ReferenceModel, Symbol
from bytemill.reference_sentencepiece.normalizing import MARK, Charsmap, Normalization, normalize
from bytemill.reference_sentencepiece.training import TrainingOptions, train

__all__ = [
    "BYTE_PIECES",
    "MARK",
    "Charsmap",
    "Kind",
    "Normalization",
    "Part",
    "Piece",
    "ReferenceModel",
    "Symbol",
    "TrainingOptions",
    "normalize",
    "train",
]
