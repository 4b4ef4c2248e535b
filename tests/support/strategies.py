"""Hypothesis strategies, weighted towards what splitters and mergers treat specially.

Two profiles: "dev" by default, "ci" with many more examples when HYPOTHESIS_PROFILE=ci is in the environment.
"""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis import strategies as st

from support.texts import FRAGMENTS, MARKS

__all__ = [
    "FEWER",
    "SPECIAL_FRAGMENTS",
    "any_bytes",
    "any_text",
    "few_letters",
    "surrogate_texts",
    "texts",
    "texts_with_special_tokens",
    "vocabularies",
]

settings.register_profile("dev", max_examples=60, deadline=None)
settings.register_profile("ci", max_examples=2_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# For slow tests.
FEWER = settings(max_examples=settings().max_examples // 4)

SPECIAL_FRAGMENTS = [
    *[
        "<|endoftext|>",
        "<|fim_prefix|>",
        "<|fim_middle|>",
        "<|endofprompt|>",
        "<|start|>",
        "<|reserved_200018|>",
    ],
    *["<|", "|>", "<|endoftext|", "endoftext|>", "<|fim_", "<|endof", "|"],
]
SURROGATES = ["\ud83d", "\ude00", "\ud83d\ude00", "\ud800", "\udfff", "\ude00\ud83d"]

_anything = st.characters(exclude_categories=["Cs"])
_weighted = st.one_of(
    st.sampled_from(FRAGMENTS), st.sampled_from(FRAGMENTS), st.sampled_from(MARKS), _anything
)


def _joined(fragments: st.SearchStrategy[str], size: int) -> st.SearchStrategy[str]:
    return st.lists(fragments, max_size=size).map("".join)


any_bytes = st.binary(max_size=300)
any_text = st.text(max_size=60)

# Texts of any characters, and of fragments that the patterns distinguish.
texts = _joined(_weighted, 40)

# The same with special tokens and parts of them.
texts_with_special_tokens = _joined(st.one_of(_weighted, st.sampled_from(SPECIAL_FRAGMENTS)), 20)

# The same with surrogates, in pairs and alone.
surrogate_texts = _joined(st.one_of(_weighted, st.sampled_from(SURROGATES)), 20)


@st.composite
def few_letters(draw: st.DrawFn) -> str:
    """Long texts over two or three characters, in which merges touch, overlap and compete."""
    alphabet = draw(
        st.lists(
            st.sampled_from("abE \n'\r01\u4e2d\u0301.\U0001f600\u017fs"), min_size=2, max_size=3, unique=True
        )
    )
    return draw(st.text(alphabet, max_size=300))


@st.composite
def vocabularies(draw: st.DrawFn, alphabet: bytes) -> dict[bytes, int]:
    """Ranks of the single bytes and of random strings over `alphabet`.

    Ranks are in any order, single bytes included, and many of the tokens cannot be reached by merges
    or can be reached in several ways: no trained vocabulary is like that, but tiktoken accepts it.
    """
    token = st.lists(st.sampled_from(list(alphabet)), min_size=2, max_size=6).map(bytes)
    tokens = draw(st.lists(token, max_size=20, unique=True))
    singles = [bytes([byte]) for byte in range(256)]
    if draw(st.booleans()):
        return {token: rank for rank, token in enumerate([*singles, *tokens])}
    # Ranks out of order, and with holes between them.
    shuffled = draw(st.permutations([*tokens, *singles[: 2 * len(tokens)]]))
    ordered = [*shuffled, *singles[2 * len(tokens) :]]
    return {token: 3 * rank for rank, token in enumerate(ordered)}
