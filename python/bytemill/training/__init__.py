"""Training: from text to counted pieces, from those to merges, from merges to an encoding.

Counting and merging are separate steps. Run `count_pieces` where the text is, on any number of machines, and
add up the results; `train` takes a text or such counts.

    >>> import bytemill
    >>> encoding = bytemill.train(["low lower lowest", "slow slower"], 260, progress=False)
    >>> [encoding.decode_single_token_bytes(token) for token in range(256, 260)]
    [b'lo', b'low', b'er', b' low']

`bytemill.reference` defines the result: the most frequent pair of adjacent tokens is merged, everywhere and
from left to right, repeatedly. Since every merge is made everywhere, the tokens of a string depend only on
the string, as long as both its ends are ends of tokens. So no two tokens have the same bytes, and encoding a
piece gives the tokens that it had when training ended.

| module | responsibility |
|---|---|
| `counts` | pieces with their counts, in memory, in files and between processes |
| `counting` | from documents to counts, also after an interruption |
| `options` | the arguments of training, checked |
| `learning` | from counts to merges and encodings |
| `piece_options` | the options of SentencePiece, checked, and the pieces that are not learned |
| `sentencepiece` | from text to the pieces of SentencePiece models |
| `models` | from text to encodings of that kind |
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bytemill.progress import Progress
    from bytemill.training.counting import count_pieces
    from bytemill.training.counts import PieceCounts
    from bytemill.training.learning import train
    from bytemill.training.options import TieBreak

__all__ = ["PieceCounts", "Progress", "TieBreak", "count_pieces", "train"]

MODULES = {
    "PieceCounts": "bytemill.training.counts",
    "Progress": "bytemill.progress",
    "TieBreak": "bytemill.training.options",
    "count_pieces": "bytemill.training.counting",
    "train": "bytemill.training.learning",
}


def __getattr__(name: str) -> object:
    """Imports a module on first use: training a SentencePiece model needs none of these."""
    if name in MODULES:
        return getattr(import_module(MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
