"""The token IDs of a SentencePiece model that any continuation of a text keeps, and the forms of the rest.

A continuation changes only the end of a text: the part after the last cut of the normalized text (see
`explanation`), and from where spaces may still be removed, or a key of the normalization or a user-defined
symbol may continue beyond the end. In a continued text, one piece reaches across the end of this one. The IDs
before it are those of the text up to it: merges on one side of a cut between two final pieces do not depend
on the other side.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any

from bytemill._backend import SentencePieceModel
from bytemill.definition import Definition, core_of
from bytemill.explanation import KNOWN, segments
from bytemill.formats.sentencepiece_model import reference_of
from bytemill.reference_sentencepiece import MARK, normalize
from bytemill.special import NO_TOKENS
from bytemill.splitting import repair_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytemill._backend import CoreBPE
    from bytemill.reference_sentencepiece import ReferenceModel

__all__ = ["encode_with_unstable"]

# Stands for what follows a text: a character that no published normalization changes and no word contains.
FOLLOWING = "\ue000"


def encode_with_unstable(contents: bytes, text: str) -> tuple[list[int], list[list[int]]]:
    """Encodes a text without special tokens that may be continued.

    Args:
        contents: The bytes of a model.
        text: Any string.

    Returns:
        The IDs that stay the same for any continuation, and the possible encodings of the rest; same as
        `Encoding.encode_with_unstable`.

    Complexity:
        Linear in the text and in the pieces of the model, and the length of the unstable end for each piece
        that begins with an end of that.
    """
    data = repair_surrogates(text).encode()
    if not data:
        return [], []
    model, core = reference_of(contents), merging_core(contents)
    settled, rest = settled_part(model, data)
    whole = segments(model, settled)
    if whole and whole[-1].encode() not in model.user_defined:
        rest = whole.pop() + rest
    ends = [rest]
    if model.normalization.remove_extra_whitespaces:
        ends.append(rest.rstrip(space_of(model)))
    return core.encode_ordinary("".join(whole)), completions(core, pieces_by_text(contents), ends)


def settled_part(model: ReferenceModel, data: bytes) -> tuple[str, str]:
    """Normalizes a text, and cuts the result where a continuation may change it."""
    charsmap = model.normalization.charsmap
    key = next((start for start in range(len(data)) if charsmap.goes_on(data, start)), len(data))
    settled = min(key, symbol_start(model, data, range(len(data))))
    normalized, origins = normalize(data + FOLLOWING.encode(), model.normalization, model.user_defined)
    encoded = normalized.encode()
    place = next((i for i, origin in enumerate(origins[:-1]) if origin >= settled), len(encoded))
    end = next((i for i, origin in enumerate(origins[:-1]) if origin >= len(data)), len(encoded))
    kept = encoded[:place]
    if model.normalization.remove_extra_whitespaces:
        # Spaces at the end are removed if nothing but spaces follows.
        kept = kept.decode().rstrip(space_of(model)).encode()
    # Symbols are found in normalized text, too.
    ends = accumulate(len(symbol.text.encode()) for symbol in model.symbols(kept.decode()))
    kept = kept[: symbol_start(model, kept, [0, *ends])]
    return kept.decode(), encoded[len(kept) : end].decode()


def symbol_start(model: ReferenceModel, data: bytes, starts: Iterable[int]) -> int:
    """Returns the first of some offsets from which a user-defined symbol may continue beyond the end."""
    longest = max(map(len, model.user_defined), default=0)
    for start in starts:
        end = data[start : start + longest]
        if 0 < len(data) - start < longest and any(
            symbol.startswith(end) and symbol != end for symbol in model.user_defined
        ):
            return start
    return len(data)


def space_of(model: ReferenceModel) -> str:
    """Returns the character for a space in normalized text."""
    return MARK if model.normalization.escape_whitespaces else " "


def completions(core: CoreBPE, pieces: list[str], ends: list[str]) -> list[list[int]]:
    """Returns the encodings that an unstable end may have, each up to the piece that reaches beyond it.

    Args:
        core: Encodes normalized text.
        pieces: The pieces, sorted.
        ends: The unstable end, and its form if the text ends here.
    """
    longest = max(map(len, pieces), default=0)
    rest = ends[0]
    possible = {end for end in ends if end}
    for start in range(max(0, len(rest) - longest), len(rest)):
        end = rest[start:]
        found = takewhile(lambda piece: piece.startswith(end), pieces[bisect_left(pieces, end) :])  # noqa: B023
        possible.update(rest[:start] + piece for piece in found)
    encoded = set()
    for text in possible:
        ids, starts, _ = core.encode_with_offsets(text, NO_TOKENS, NO_TOKENS, True)  # noqa: FBT003
        encoded.add(tuple(ids[: int((starts < len(rest)).sum())].tolist()))
    return [list(ids) for ids in encoded]


@lru_cache(maxsize=1)
def pieces_by_text(contents: bytes) -> list[str]:
    """Returns the texts of the pieces that a text may become, sorted."""
    return sorted(piece.text for piece in reference_of(contents).pieces if piece.kind in KNOWN)


@lru_cache(maxsize=1)
def merging_core(contents: bytes) -> CoreBPE:
    """Returns a core that encodes normalized texts: with the pieces of a model, and no normalization."""
    nothing: dict[str, Any] = {
        "name": "identity",
        "precompiled_charsmap": None,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "escape_whitespaces": False,
    }
    model = SentencePieceModel(contents).replace(normalizer_spec=nothing)
    return core_of(Definition("merges", "", {}, {}, model=model.serialize()))
