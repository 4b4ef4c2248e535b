"""The published encodings: which vocabulary, pattern and special tokens each has.

The vocabularies themselves are compiled into the core. Some ids are holes, which no token has: 50256 among
the mergeable tokens of p50k, 100256 and 100261 to 100275 in cl100k_base, 199998 and 200000 to 200017 in
o200k_base.
"""

from __future__ import annotations

from typing import Any

from bytemill.core import Encoding
from bytemill.patterns import CL100K_PATTERN, O200K_PATTERN, R50K_PATTERN

__all__ = ["BUILTIN_ENCODINGS", "BuiltinEncoding"]

ENDOFTEXT = "<|endoftext|>"
ENDOFPROMPT = "<|endofprompt|>"


class BuiltinEncoding:
    """The definition of a published encoding; called, it gives the parts that `Encoding` takes.

    Attributes:
        name: The name of the encoding.
        vocabulary: The name of its vocabulary in the compiled core.
        pattern: The pattern that splits text.
        special_tokens: Each special token's id.
        explicit_n_vocab: The number of tokens, for encodings whose ids have no gap.
    """

    # Not a dataclass, for the sake of import time: `dataclasses` brings `inspect` with it.
    def __init__(
        self,
        name: str,
        vocabulary: str,
        pattern: str,
        special_tokens: dict[str, int],
        *,
        explicit_n_vocab: int | None = None,
    ) -> None:
        """Takes the attributes."""
        self.name = name
        self.vocabulary = vocabulary
        self.pattern = pattern
        self.special_tokens = special_tokens
        self.explicit_n_vocab = explicit_n_vocab

    def encoding(self) -> Encoding:
        """Builds the encoding from the tables in the core: nothing is read or fetched."""
        if self.explicit_n_vocab is None:
            # With gaps, the special tokens come last.
            max_token_value = max(self.special_tokens.values())
        else:
            max_token_value = self.explicit_n_vocab - 1
        return Encoding._builtin(  # noqa: SLF001 - ours alone
            self.name,
            vocabulary=self.vocabulary,
            pat_str=self.pattern,
            special_tokens=dict(self.special_tokens),
            max_token_value=max_token_value,
        )

    def __call__(self) -> dict[str, Any]:
        """Gives the arguments with which `Encoding` builds the same encoding."""
        parts: dict[str, Any] = {
            "name": self.name,
            "pat_str": self.pattern,
            "mergeable_ranks": self.encoding()._mergeable_ranks,  # noqa: SLF001 - tiktoken's name
            "special_tokens": dict(self.special_tokens),
        }
        if self.explicit_n_vocab is not None:
            parts["explicit_n_vocab"] = self.explicit_n_vocab
        return parts


FILL_IN_THE_MIDDLE = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
O200K_SPECIAL_TOKENS = {ENDOFTEXT: 199999, ENDOFPROMPT: 200018}

# The id 200018 has two names; it decodes to the one that o200k_base has already.
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
    definition.name: definition
    for definition in (
        BuiltinEncoding("gpt2", "r50k", R50K_PATTERN, {ENDOFTEXT: 50256}, explicit_n_vocab=50257),
        BuiltinEncoding("r50k_base", "r50k", R50K_PATTERN, {ENDOFTEXT: 50256}, explicit_n_vocab=50257),
        BuiltinEncoding("p50k_base", "p50k", R50K_PATTERN, {ENDOFTEXT: 50256}, explicit_n_vocab=50281),
        BuiltinEncoding(
            "p50k_edit",
            "p50k",
            R50K_PATTERN,
            {ENDOFTEXT: 50256, **dict(zip(FILL_IN_THE_MIDDLE, range(50281, 50284), strict=True))},
        ),
        BuiltinEncoding(
            "cl100k_base",
            "cl100k",
            CL100K_PATTERN,
            {
                ENDOFTEXT: 100257,
                **dict(zip(FILL_IN_THE_MIDDLE, range(100258, 100261), strict=True)),
                ENDOFPROMPT: 100276,
            },
        ),
        BuiltinEncoding("o200k_base", "o200k", O200K_PATTERN, O200K_SPECIAL_TOKENS),
        BuiltinEncoding("o200k_harmony", "o200k", O200K_PATTERN, HARMONY_SPECIAL_TOKENS),
    )
}
