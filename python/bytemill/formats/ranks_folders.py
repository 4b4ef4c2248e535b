"""Folders of ranks, of models whose pattern is in the program that comes with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill.definition import Definition
from bytemill.formats.huggingface import format_tokenizer
from bytemill.patterns import LLAMA3_PATTERN, O200K_PATTERN, QWEN2_PATTERN

if TYPE_CHECKING:
    from bytemill.formats.json_file import Value

__all__ = ["is_kimi", "is_llama", "is_qwen", "kimi_definition", "llama_definition", "qwen_tokenizer"]

# Kimi's folders: ranks in `tiktoken.model`, and a `tokenizer_config.json` that names their special tokens.
#
# The pattern is in the program that comes with the models, and is the same for all of them (K2, K2.5,
# Linear, VL, Moonlight). The IDs behind the ranks are special tokens: those that the configuration names in
# `added_tokens_decoder`, and reserved ones.
#
# That program also cuts texts before it splits them: after 400,000 characters, and after 25,000 in a row
# that are all blanks or all others. bytemill does not do that.

# The name of the class in the program.
KIMI_CLASS = "TikTokenTokenizer"

# How many ids behind the ranks are special tokens.
KIMI_SPECIAL = 258

HAN = r"\p{Han}"
UPPER = rf"[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}&&[^{HAN}]]"
LOWER = rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}&&[^{HAN}]]"
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

# o200k's, with Han characters apart from other letters.
KIMI_PATTERN = "|".join(
    [
        rf"[{HAN}]+",
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


def is_kimi(config: Value) -> bool:
    """Returns whether a `tokenizer_config.json` is that of one of these models."""
    return bool(config["tokenizer_class"].contents == KIMI_CLASS)


def kimi_definition(ranks: dict[bytes, int], config: Value, name: str, source: str) -> Definition:
    """Returns the definition of ranks with their configuration.

    Args:
        ranks: The rank of each mergeable token.
        config: The contents of `tokenizer_config.json`.
        name: The name of the definition.
        source: Where the ranks come from, for messages.

    Raises:
        VocabularyError: Ranks or configuration are malformed; the message has file, entry and reason.
    """
    named = config["added_tokens_decoder"]
    contents = {} if named.is_null else {number: named[number]["content"].text() for number in named.object()}
    size = len(ranks)
    ids = {str(token_id): token_id for token_id in range(size, size + KIMI_SPECIAL)}
    if other := next((number for number in contents if number not in ids), None):
        named.refuse(
            f"expected IDs from {size} to {size + KIMI_SPECIAL - 1}, those after the ranks, got {other}"
        )
    special_tokens: dict[str, int] = {}
    for number, token_id in ids.items():
        text = contents.get(number, f"<|reserved_token_{number}|>")
        if text in special_tokens:
            named.refuse(f"the token {text!r} has the IDs {special_tokens[text]} and {token_id}")
        special_tokens[text] = token_id
    return Definition(name, KIMI_PATTERN, ranks, special_tokens).check(source)


# Meta's own folders of Llama 3 and 4: ranks in `tokenizer.model`, the model's sizes in `params.json`.
#
# Patterns and special tokens are in the programs that come with the models. Which of them it is,
# `params.json` tells: `vocab_size` has the special tokens, 256 in Llama 3 and 2,048 in Llama 4, and
# `use_scaled_rope` is true from Llama 3.1 on, whose special tokens have other names than those of Llama 3.0
# for the same IDs.
#
# These programs also cut texts before they split them: after 400,000 characters, and after 25,000 in a row
# that are all blanks or all others. That is not done here.


def numbered(first: int, last: int, kind: str = "") -> list[str]:
    """Returns the names of reserved special tokens, from one number to another, both included."""
    return [f"<|{kind}reserved_special_token_{number}|>" for number in range(first, last + 1)]


LLAMA_3_0 = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    *numbered(0, 3),
    "<|start_header_id|>",
    "<|end_header_id|>",
    *numbered(4, 4),
    "<|eot_id|>",
    *numbered(5, 250),
]

LLAMA_3_1 = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    *numbered(0, 1),
    "<|finetune_right_pad_id|>",
    "<|step_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
    "<|image|>",
    *numbered(2, 245),
]

LLAMA_4 = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|header_start|>",
    "<|header_end|>",
    "<|eom|>",
    "<|eot|>",
    "<|step|>",
    *numbered(0, 5, "text_post_train_"),
    "<|python_start|>",
    "<|python_end|>",
    "<|finetune_right_pad|>",
    # There are no numbers 6 and 7.
    *numbered(8, 68, "text_post_train_"),
    "<|image_start|>",
    "<|image_end|>",
    *numbered(0, 1, "vision_"),
    "<|tile_x_separator|>",
    "<|tile_y_separator|>",
    *numbered(2, 5, "vision_"),
    "<|image|>",
    *numbered(6, 6, "vision_"),
    "<|patch|>",
    *numbered(7, 1047, "vision_"),
    *numbered(0, 7, "reasoning_"),
    "<|reasoning_thinking_start|>",
    "<|reasoning_thinking_end|>",
    *numbered(0, 903),
]


def is_llama(config: Value) -> bool:
    """Returns whether a `params.json` is that of a model."""
    return type(config["vocab_size"].contents) is int


def llama_definition(ranks: dict[bytes, int], config: Value, name: str, source: str) -> Definition:
    """Returns the definition of ranks with the sizes of their model.

    Args:
        ranks: The rank of each mergeable token.
        config: The contents of `params.json`.
        name: The name of the definition.
        source: Where the ranks come from, for messages.

    Raises:
        VocabularyError: Ranks or sizes are malformed, or those of no such model; the message has file, entry
            and reason.
    """
    special = config["vocab_size"].integer() - len(ranks)
    if special == len(LLAMA_4):
        pattern, names = O200K_PATTERN, LLAMA_4
    elif special == len(LLAMA_3_0):
        pattern, names = LLAMA3_PATTERN, LLAMA_3_1 if config["use_scaled_rope"].flag() else LLAMA_3_0
    else:
        config["vocab_size"].refuse(
            f"expected {len(LLAMA_3_0)} token IDs (Llama 3) or {len(LLAMA_4)} (Llama 4) more than the "
            f"{len(ranks)} ranks, got {config['vocab_size'].contents}; other ranks are read with pattern="
        )
    special_tokens = {text: len(ranks) + i for i, text in enumerate(names)}
    return Definition(name, pattern, ranks, special_tokens).check(source)


# Folders of the first Qwen models: ranks in `qwen.tiktoken`, a `tokenizer_config.json` that names the
# class.
#
# Pattern and special tokens are in the program that comes with the models. That program normalizes a text to
# NFC as a whole before it looks for special tokens. Ranks alone cannot say so: the definition is a
# `tokenizer.json` of the same meaning, whose special tokens are found in normalized text.
#
# Normal forms are those of `tokenizers`, Unicode 9; the program takes those of the Python that it runs on,
# which differ for characters that are newer.

# The name of the class in the program. Those of Qwen-VL and Qwen-Audio have the same name, and more tokens.
QWEN_CLASS = "QWenTokenizer"

# What the `config.json` of these others has.
OTHER_INPUTS = ["visual", "audio"]

QWEN_SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    *[f"<|extra_{number}|>" for number in range(205)],
]


def is_qwen(config: Value) -> bool:
    """Returns whether a `tokenizer_config.json` is that of one of these models."""
    return bool(config["tokenizer_class"].contents == QWEN_CLASS)


def qwen_tokenizer(
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
    for key in OTHER_INPUTS:
        if model is not None and not model[key].is_null:
            model[key].refuse(
                f"expected a model of text: the program for {key} input has more tokens; the ranks alone are "
                "read with pattern='qwen2'"
            )
    if not config["extra_vocab_file"].is_null:
        config["extra_vocab_file"].refuse("ranks in a second file are not supported")
    special_tokens = {text: len(ranks) + i for i, text in enumerate(QWEN_SPECIAL)}
    definition = Definition(name, QWEN2_PATTERN, ranks, special_tokens).check(source)
    return format_tokenizer(definition, normalizer="NFC")
