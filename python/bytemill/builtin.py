"""The published encodings, and the models that use them.

The vocabularies themselves are compiled into the core. Some ids belong to no token: 50256 among the mergeable
tokens of p50k, 100256 and 100261 to 100275 in cl100k_base, 199998 and 200000 to 200017 in o200k_base.
"""

from __future__ import annotations

from typing import NamedTuple

from bytemill.patterns import CL100K_PATTERN, O200K_PATTERN, R50K_PATTERN

__all__ = [
    "BUILTIN_ENCODINGS",
    "MODEL_PREFIX_TO_ENCODING",
    "MODEL_TO_ENCODING",
    "BuiltinEncoding",
    "family_encoding",
]

ENDOFTEXT = "<|endoftext|>"
ENDOFPROMPT = "<|endofprompt|>"


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


FILL_IN_THE_MIDDLE = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
P50K_EDIT_SPECIAL_TOKENS = {
    ENDOFTEXT: 50256,
    **dict(zip(FILL_IN_THE_MIDDLE, range(50281, 50284), strict=True)),
}
CL100K_SPECIAL_TOKENS = {
    ENDOFTEXT: 100257,
    **dict(zip(FILL_IN_THE_MIDDLE, range(100258, 100261), strict=True)),
    ENDOFPROMPT: 100276,
}
O200K_SPECIAL_TOKENS = {ENDOFTEXT: 199999, ENDOFPROMPT: 200018}

# The id 200018 has two names; it decodes to that of o200k_base.
HARMONY_SPECIAL_TOKENS = O200K_SPECIAL_TOKENS | {
    "<|startoftext|>": 199998,
    "<|reserved_200000|>": 200000,
    "<|reserved_200001|>": 200001,
    "<|return|>": 200002,
    "<|constrain|>": 200003,
    "<|reserved_200004|>": 200004,
    "<|channel|>": 200005,
    "<|start|>": 200006,
    "<|end|>": 200007,
    "<|message|>": 200008,
    "<|reserved_200009|>": 200009,
    "<|reserved_200010|>": 200010,
    "<|reserved_200011|>": 200011,
    "<|call|>": 200012,
    **{f"<|reserved_{token}|>": token for token in range(200013, 201088)},
}

BUILTIN_ENCODINGS: dict[str, BuiltinEncoding] = {
    "gpt2": BuiltinEncoding("r50k", R50K_PATTERN, {ENDOFTEXT: 50256}, 50256, explicit_n_vocab=50257),
    "r50k_base": BuiltinEncoding("r50k", R50K_PATTERN, {ENDOFTEXT: 50256}, 50256, explicit_n_vocab=50257),
    "p50k_base": BuiltinEncoding("p50k", R50K_PATTERN, {ENDOFTEXT: 50256}, 50280, explicit_n_vocab=50281),
    "p50k_edit": BuiltinEncoding("p50k", R50K_PATTERN, P50K_EDIT_SPECIAL_TOKENS, 50283),
    "cl100k_base": BuiltinEncoding("cl100k", CL100K_PATTERN, CL100K_SPECIAL_TOKENS, 100276),
    "o200k_base": BuiltinEncoding("o200k", O200K_PATTERN, O200K_SPECIAL_TOKENS, 200018),
    "o200k_harmony": BuiltinEncoding("o200k", O200K_PATTERN, HARMONY_SPECIAL_TOKENS, 201087),
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
