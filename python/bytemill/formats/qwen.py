"""Folders of the first Qwen models: ranks in `qwen.tiktoken`, a `tokenizer_config.json` that names the class.

Pattern and special tokens are in the program that comes with the models. That program normalizes a text to
NFC as a whole before it looks for special tokens. Ranks alone cannot say so: the definition is a
`tokenizer.json` of the same meaning, whose special tokens are found in normalized text.

Normal forms are those of `tokenizers`, Unicode 9; the program takes those of the Python that it runs on,
which differ for characters that are newer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill.definition import Definition
from bytemill.formats.huggingface import format_tokenizer
from bytemill.patterns import QWEN2_PATTERN

if TYPE_CHECKING:
    from bytemill.formats.json_file import Value

__all__ = ["looks_like_config", "tokenizer_of"]

# The name of the class in the program. Those of Qwen-VL and Qwen-Audio have the same name, and more tokens.
TOKENIZER_CLASS = "QWenTokenizer"

# What the `config.json` of these others has.
OTHERS = ["visual", "audio"]

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *[f"<|extra_{number}|>" for number in range(205)]]


def looks_like_config(config: Value) -> bool:
    """Returns whether a `tokenizer_config.json` is that of one of these models."""
    return bool(config["tokenizer_class"].contents == TOKENIZER_CLASS)


def tokenizer_of(
    ranks: dict[bytes, int], config: Value, model: Value | None, name: str, source: str
) -> bytes:
    """Returns the `tokenizer.json` that gives the IDs of ranks with their configuration.

    Args:
        ranks: The rank of each mergeable token.
        config: The contents of `tokenizer_config.json`.
        model: Those of `config.json`, if there is one.
        name: The name of the definition.
        source: Where the ranks come from, for messages.

    Raises:
        VocabularyError: Ranks or configuration are malformed, tokens are not made by merges, or the model is
            another one; the message has file, entry and reason.
    """
    for key in OTHERS:
        if model is not None and not model[key].is_null:
            model[key].refuse(
                f"expected a model of text: the program for {key} input has more tokens; the ranks alone are "
                "read with pattern='qwen2'"
            )
    if not config["extra_vocab_file"].is_null:
        config["extra_vocab_file"].refuse("ranks in a second file are not supported")
    special_tokens = {text: len(ranks) + i for i, text in enumerate(SPECIAL)}
    definition = Definition(name, QWEN2_PATTERN, ranks, special_tokens).check(source)
    return format_tokenizer(definition, normalizer="NFC")
