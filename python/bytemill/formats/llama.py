"""Meta's own folders of Llama 3 and 4: ranks in `tokenizer.model`, the model's sizes in `params.json`.

Patterns and special tokens are in the programs that come with the models. Which of them it is, `params.json`
tells: `vocab_size` has the special tokens, 256 in Llama 3 and 2,048 in Llama 4, and `use_scaled_rope` is true
from Llama 3.1 on, whose special tokens have other names than those of Llama 3.0 for the same IDs.

These programs also cut texts before they split them: after 400,000 characters, and after 25,000 in a row that
are all blanks or all others. That is not done here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill.definition import Definition
from bytemill.patterns import LLAMA3_PATTERN, O200K_PATTERN

if TYPE_CHECKING:
    from bytemill.formats.json_file import Value

__all__ = ["definition_of", "looks_like_config"]


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


def looks_like_config(config: Value) -> bool:
    """Returns whether a `params.json` is that of a model."""
    return type(config["vocab_size"].contents) is int


def definition_of(ranks: dict[bytes, int], config: Value, name: str, source: str) -> Definition:
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
            f"expected {len(LLAMA_3_0)} ids (Llama 3) or {len(LLAMA_4)} (Llama 4) more than the {len(ranks)} "
            f"ranks, got {config['vocab_size'].contents}; other ranks are read with pattern="
        )
    special_tokens = {text: len(ranks) + i for i, text in enumerate(names)}
    return Definition(name, pattern, ranks, special_tokens).check(source)
