"""The published encodings: which vocabulary, pattern and special tokens each has.

The vocabularies themselves are compiled into the core. Some ids belong to no token: 50256 among the mergeable
tokens of p50k, 100256 and 100261 to 100275 in cl100k_base, 199998 and 200000 to 200017 in o200k_base.
"""

from __future__ import annotations

from typing import NamedTuple

from bytemill.patterns import CL100K_PATTERN, O200K_PATTERN, R50K_PATTERN

__all__ = ["BUILTIN_ENCODINGS", "BuiltinEncoding"]

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
