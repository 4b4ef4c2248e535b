"""The published encodings, which are compiled into the core, and the models that use them."""

from __future__ import annotations

from typing import NamedTuple

from bytemill._backend import published_encodings

__all__ = [
    "BUILTIN_ENCODINGS",
    "MODEL_PREFIX_TO_ENCODING",
    "MODEL_TO_ENCODING",
    "BuiltinEncoding",
    "family_encoding",
]


class BuiltinEncoding(NamedTuple):
    """A published encoding: its definition, with the name of a vocabulary in the core for the tokens.

    Attributes:
        vocabulary: The name of the vocabulary.
        pattern: The regular expression whose matches are the pieces.
        special_tokens: Each special token's id.
        max_id: The highest token id.
        explicit_n_vocab: The number of tokens, for encodings whose ids have no gap.
    """

    vocabulary: str
    pattern: str
    special_tokens: dict[str, int]
    max_id: int
    explicit_n_vocab: int | None = None


# The highest token ID of each, and the number of tokens where IDs have no gap.
SIZES: dict[str, tuple[int, int | None]] = {
    "gpt2": (50256, 50257),
    "r50k_base": (50256, 50257),
    "p50k_base": (50280, 50281),
    "p50k_edit": (50283, None),
    "cl100k_base": (100276, None),
    "o200k_base": (200018, None),
    "o200k_harmony": (201087, None),
}

BUILTIN_ENCODINGS: dict[str, BuiltinEncoding] = {
    name: BuiltinEncoding(vocabulary, pattern, special_tokens, *SIZES[name])
    for name, vocabulary, pattern, special_tokens in published_encodings()
}

# Families of models by the prefix of their names. The first prefix that matches decides, so longer ones of
# the same family come first.
MODEL_PREFIX_TO_ENCODING: dict[str, str] = {
    "o1-": "o200k_base",
    "o3-": "o200k_base",
    "o4-mini-": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-4.5-": "o200k_base",
    "gpt-4.1-": "o200k_base",
    "chatgpt-4o-": "o200k_base",
    "gpt-4o-": "o200k_base",
    "gpt-4-": "cl100k_base",
    "gpt-3.5-turbo-": "cl100k_base",
    "gpt-35-turbo-": "cl100k_base",
    "gpt-oss-": "o200k_harmony",
    "ft:gpt-4o": "o200k_base",
    "ft:gpt-4": "cl100k_base",
    "ft:gpt-3.5-turbo": "cl100k_base",
    "ft:davinci-002": "cl100k_base",
    "ft:babbage-002": "cl100k_base",
}

# Single models by their full names.
MODEL_TO_ENCODING: dict[str, str] = {
    # Reasoning and chat
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4-mini": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4o": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5-turbo": "cl100k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-35-turbo": "cl100k_base",
    # Base models and embeddings
    "davinci-002": "cl100k_base",
    "babbage-002": "cl100k_base",
    "text-embedding-ada-002": "cl100k_base",
    "text-embedding-3-small": "cl100k_base",
    "text-embedding-3-large": "cl100k_base",
    # Retired text models
    "text-davinci-003": "p50k_base",
    "text-davinci-002": "p50k_base",
    "text-davinci-001": "r50k_base",
    "text-curie-001": "r50k_base",
    "text-babbage-001": "r50k_base",
    "text-ada-001": "r50k_base",
    "davinci": "r50k_base",
    "curie": "r50k_base",
    "babbage": "r50k_base",
    "ada": "r50k_base",
    # Retired models for code and edits
    "code-davinci-002": "p50k_base",
    "code-davinci-001": "p50k_base",
    "code-cushman-002": "p50k_base",
    "code-cushman-001": "p50k_base",
    "davinci-codex": "p50k_base",
    "cushman-codex": "p50k_base",
    "text-davinci-edit-001": "p50k_edit",
    "code-davinci-edit-001": "p50k_edit",
    # Retired embeddings
    "text-similarity-davinci-001": "r50k_base",
    "text-similarity-curie-001": "r50k_base",
    "text-similarity-babbage-001": "r50k_base",
    "text-similarity-ada-001": "r50k_base",
    "text-search-davinci-doc-001": "r50k_base",
    "text-search-curie-doc-001": "r50k_base",
    "text-search-babbage-doc-001": "r50k_base",
    "text-search-ada-doc-001": "r50k_base",
    "code-search-babbage-code-001": "r50k_base",
    "code-search-ada-code-001": "r50k_base",
    # Open weights
    "gpt2": "gpt2",
    "gpt-2": "gpt2",
}


def family_encoding(model_name: str) -> str | None:
    """Returns the name of the encoding of a model's family, found by its prefix; `None` if there is none."""
    for prefix, encoding_name in MODEL_PREFIX_TO_ENCODING.items():
        if model_name.startswith(prefix):
            return encoding_name
    return None
