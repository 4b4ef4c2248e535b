"""How a text becomes the ids of a SentencePiece model, step by step.

The steps are those of `bytemill.reference_sentencepiece`. There are places of a normalized text that merges
never cross: where no piece holds the two characters on both sides, and around user-defined symbols. Between
these each segment merges by itself.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from bytemill.formats.sentencepiece_model import reference_of
from bytemill.reference_sentencepiece import BYTE_PIECES, MARK, Kind, normalize
from bytemill.results import Candidate, PieceExplanation
from bytemill.splitting import repair_surrogates

if TYPE_CHECKING:
    from bytemill._backend import CoreBPE
    from bytemill.reference_sentencepiece import ReferenceModel, Symbol

__all__ = ["candidates", "explain_model", "explain_words", "shown"]

# The types of pieces that a text becomes.
KNOWN = (Kind.NORMAL, Kind.USER_DEFINED)


def explain_model(contents: bytes, text: str) -> list[PieceExplanation]:
    """Explains the ids of a text.

    Args:
        contents: The bytes of a model.
        text: Any string.

    Returns:
        The segments in order; arguments and results as `Encoding.explain`.
    """
    model = reference_of(contents)
    normalized, _ = normalize(repair_surrogates(text).encode(), model.normalization, model.user_defined)
    return [explained(model, segment) for segment in segments(model, normalized)]


def explain_words(core: CoreBPE, text: str) -> list[PieceExplanation] | None:
    """Explains the ids of a text by WordPiece, WordLevel or Unigram; `None` if the model merges."""
    if core.model_kind == "merges":
        return None
    words = core.explain_words(repair_surrogates(text))
    return [explained_word(piece, tokens, in_characters=bool(scored)) for piece, tokens, scored in words]


def candidates(core: CoreBPE, text: str) -> list[list[Candidate]]:
    """Returns `Encoding.candidates` of a text: no candidates for a piece, if it is not a Unigram model."""
    return [
        [Candidate(start, piece[start:end], token, score) for start, end, token, score in scored]
        for piece, _, scored in core.explain_words(repair_surrogates(text))
    ]


def explained_word(
    piece: bytes, tokens: list[tuple[int, int, int]], *, in_characters: bool
) -> PieceExplanation:
    """Explains a piece, given the starts, ends and ids of its tokens, from its characters or as a whole."""
    parts = [piece[start:end] for start, end, _ in tokens]
    if in_characters:
        steps = [[character.encode() for character in piece.decode(errors="replace")], parts]
    else:
        # Several tokens may spell one character: then no rest is left.
        rests = [piece[start:] for start, _, _ in tokens[1:]]
        steps = [[piece], *([*parts[: n + 1], rest] for n, rest in enumerate(rests))]
        steps = steps if steps[-1] == parts else [*steps, parts]
    return PieceExplanation(piece, steps, [token for _, _, token in tokens])


def shown(symbol: str) -> bytes:
    """Returns the bytes of a symbol, with spaces for marks as in decoded text."""
    return symbol.replace(MARK, " ").encode()


def segments(model: ReferenceModel, text: str) -> list[str]:
    """Cuts a normalized text where its parts become the ids that the whole has there."""
    symbols = model.symbols(text)
    if any(piece.kind == Kind.UNUSED for piece in model.pieces):
        # What an unused piece gives way to is what made it last, anywhere in the text.
        return [text] if text else []
    joined = neighbours(model)
    found = [symbol.text for symbol in symbols[:1]]
    for before, symbol in pairwise(symbols):
        is_joined = before.text + symbol.text in joined and not (before.frozen or symbol.frozen)
        # Unknown pieces that follow each other become one.
        is_fused = not model.byte_fallback and is_unknown(model, before) and is_unknown(model, symbol)
        if is_joined or is_fused:
            found[-1] += symbol.text
        else:
            found.append(symbol.text)
    return found


@lru_cache(maxsize=1)
def neighbours(model: ReferenceModel) -> frozenset[str]:
    """Returns every two characters that stand next to each other in a piece that merges make."""
    texts = (piece.text for piece in model.pieces if piece.kind in KNOWN)
    return frozenset(left + right for text in texts for left, right in pairwise(text))


def is_unknown(model: ReferenceModel, symbol: Symbol) -> bool:
    """Returns whether a symbol has no token."""
    token = model.ids.get(symbol.text)
    return token is None or model.pieces[token].kind not in KNOWN


def explained(model: ReferenceModel, text: str) -> PieceExplanation:
    """Explains the ids of a segment."""
    halves: dict[str, tuple[str, str]] = {}
    steps = [[symbol.text for symbol in symbols] for symbols in model.merge_steps(text, halves)]
    ids: list[int] = []
    parts: list[bytes] = []
    for token, piece in (found for symbol in steps[-1] for found in model.unfold(symbol, halves)):
        if token == model.unknown and model.byte_fallback:
            ids += [model.ids[BYTE_PIECES[byte]] for byte in piece.encode()]
            parts += [bytes([byte]) for byte in piece.encode()]
        elif token == model.unknown and ids and ids[-1] == token:
            parts[-1] += shown(piece)
        else:
            ids.append(token)
            parts.append(shown(piece))
    merged = [list(map(shown, step)) for step in steps]
    return PieceExplanation(shown(text), merged if parts == merged[-1] else [*merged, parts], ids)
