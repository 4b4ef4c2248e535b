"""Golden cases and toy encodings for the tests of splitting, merging and training.

tiktoken runs on toy vocabularies here, so no file outside the repository is read.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
import tiktoken
from hypothesis import strategies as st

CASES = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text(encoding="utf-8"))
BYTE_RANKS = {bytes([value]): value for value in range(256)}
ONE_PIECE = r"(?s).+"

# One or more of every character class that a pattern distinguishes.
CHARACTERS = (
    "aAbsStlLrevmd\u017f1\u00b2\u0663\u2167 \t\u00a0\u3000\r\n\u0085\u2028'\u2019/.!$\0\x1c\u200b\u0301\u02b0"
    "\u01c5\u01c6\u4f60\u00df\u0130\U0001f600"
)
TEXTS = st.text(st.sampled_from(CHARACTERS), max_size=12)


def named(kind: str) -> pytest.MarkDecorator:
    """Parametrizes a test over the golden cases of one kind."""
    return pytest.mark.parametrize("case", CASES[kind], ids=[case["name"] for case in CASES[kind]])


def tiktoken_encoding(
    ranks: dict[bytes, int], pattern: str = ONE_PIECE, special_tokens: dict[str, int] | None = None
) -> tiktoken.Encoding:
    """Builds tiktoken's encoding from a definition."""
    return tiktoken.Encoding(
        "toy", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens or {}
    )


def tiktoken_split(pattern: str, texts: list[str]) -> list[list[str]]:
    """Splits with tiktoken, whose tokens are its pieces if every substring of the texts is a token."""
    tokens = {
        text[start:end].encode()
        for text in texts
        for start, end in itertools.combinations(range(len(text) + 1), 2)
    }
    ranks = BYTE_RANKS | {token: 256 + rank for rank, token in enumerate(tokens - BYTE_RANKS.keys())}
    encoding = tiktoken_encoding(ranks, pattern)
    ids = [encoding.encode_ordinary(text) for text in texts]
    return [[piece.decode() for piece in encoding.decode_tokens_bytes(tokens)] for tokens in ids]
