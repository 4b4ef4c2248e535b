"""Small tokenizers of the package `tokenizers`, with the parts that popular ones have."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from support.texts import patchwork

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CORPUS", "PROCESSORS", "TEXTS", "byte_level"]

CORPUS = [
    "The quick brown fox jumps over the lazy dog; it's 12345 times, don't you think?\n",
    "def f(x):\n    return [i ** 2 for i in range(x)]\n\n",
    "Привет, как дела? 世界你好。 한국어 문장 हिन्दी भाषा العربية 😀😀\n",
    "  spaces   and\ttabs\r\n\r\nlines <s> in </s> text <|endoftext|>\n",
]

TEXTS = [
    "",
    " ",
    "Hello, world! It's  fine.",
    "a<s>b</s> c <pad><mask> d",
    "世界 😀 e\u0301 \x00\ufffd",
    *CORPUS,
    *(patchwork(seed, 300) for seed in range(20)),
]

PROCESSORS = [
    "none",
    "byte_level",
    "trims",
    "template",
    "two_tokens",
    "roberta",
    "bert",
    "sequence",
    "nested",
    "doubled",
]


@cache
def trained() -> str:
    """Trains the model once, and returns the text of its file."""
    tokenizers: Any = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=500,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<s>", "</s>", "<pad>", "<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS * 5, trainer)
    text: str = tokenizer.to_str()
    return text


def byte_level(processor: str = "template") -> Any:
    """Returns a byte-level tokenizer with a post-processor, one of `PROCESSORS`."""
    tokenizers: Any = pytest.importorskip("tokenizers")
    processors = tokenizers.processors
    tokenizer = tokenizers.Tokenizer.from_str(trained())
    template = processors.TemplateProcessing(
        single="<s> $A:1 </s>:2",
        pair="<s> $A </s> $B:1 </s>:1",
        special_tokens=[("<s>", 0), ("</s>", 1)],
    )
    two_tokens = processors.TemplateProcessing(
        single="<both> $A",
        pair="<both> $A $B",
        special_tokens=[{"id": "<both>", "ids": [3, 0], "tokens": ["<|endoftext|>", "<s>"]}],
    )
    made: dict[str, Callable[[], Any]] = {
        "none": lambda: None,
        "byte_level": lambda: processors.ByteLevel(trim_offsets=False),
        "trims": lambda: processors.ByteLevel(trim_offsets=True, add_prefix_space=True),
        "template": lambda: template,
        "two_tokens": lambda: two_tokens,
        "roberta": lambda: processors.RobertaProcessing(("</s>", 1), ("<s>", 0), True, False),  # noqa: FBT003
        "bert": lambda: processors.BertProcessing(("</s>", 1), ("<s>", 0)),
        "sequence": lambda: processors.Sequence([processors.ByteLevel(trim_offsets=True), template]),
        # The second takes what the first adds for text.
        "nested": lambda: processors.Sequence([made["roberta"](), made["bert"]()]),
        "doubled": lambda: processors.Sequence([template, made["bert"]()]),
    }
    if processor != "none":
        tokenizer.post_processor = made[processor]()
    return tokenizer
