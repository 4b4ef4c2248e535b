"""Texts to compare an encoding on where none are given: made of samples, its tokens and added tokens."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from bytemill._backend import SentencePieceModel
from bytemill.formats.verification import sample_texts
from bytemill.hf.samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytemill.core import Encoding

__all__ = ["made_texts", "texts_of_added_tokens"]

# Bytes of the texts that are joined.
SIZE = 500_000

# Most parts of a text, whose number is distributed log-uniformly.
MOST_PARTS = 2_000

# Tokens of the vocabulary that become parts.
TOKENS = 2_000

# The type of ordinary pieces in a SentencePiece model.
NORMAL = 1


def made_texts(encoding: Encoding) -> Iterator[str]:
    """Yields texts, which are the same each time."""
    source = random.Random(0)  # noqa: S311 - to repeat it
    added = texts_of_added_tokens(encoding)
    tokens = [token.decode(errors="replace") for token in encoding.token_byte_values()]
    samples = list(dict.fromkeys([*SAMPLES, *sample_texts(encoding.definition)]))
    yield from samples
    yield from (f"x {token}  y{token}" for token in added)
    tokens = source.sample(tokens, min(TOKENS, len(tokens)))
    # Added tokens are as frequent as samples.
    kinds = [kind for kind in (SAMPLES, tokens, added, [" ", "\n", "  ", "\t", "."]) if kind]
    size = 0
    while size < SIZE:
        number = int(MOST_PARTS ** source.random())
        text = "".join(source.choice(source.choice(kinds)) for _ in range(number))
        size += len(text.encode())
        yield text


def texts_of_added_tokens(encoding: Encoding) -> list[str]:
    """Returns the texts of special tokens, other added tokens, and pieces that are not ordinary."""
    found = {*encoding.special_tokens_set}
    definition = encoding.definition
    if definition.tokenizer is not None:
        found |= {token["content"] for token in json.loads(definition.tokenizer).get("added_tokens") or ()}
    if definition.model is not None:
        model = SentencePieceModel(definition.model)
        kinds = zip(model.pieces, model.types.tolist(), strict=True)
        found |= {piece for piece, kind in kinds if kind != NORMAL}
    return sorted(found - {""})
