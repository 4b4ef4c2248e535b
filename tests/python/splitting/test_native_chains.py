"""Chains of pre-tokenizer steps that have native code, against `tokenizers`."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from bytemill._backend import CoreSplitter
from support.catalogue import PRE_TOKENIZERS, pre_tokenizer, steps

NATIVE = [
    *(
        "QWEN2",
        "QWEN35",
        "GPT2",
        "LLAMA3",
        "LLAMA3-REMOVED",
        "O200K",
        "O200K-REMOVED",
        "TEKKEN",
        "LING",
        "SEED",
    ),
    *("NANOCHAT", "UFAKZEKA", "KIMI", "DEEPSEEK3", "SPARK", "DIGITS", "MINICPM5", "LAGUNA", "AXK2"),
    *("DEEPSEEK-LLM", "DEEPSEEK-CODER", "BLOOM", "VIKING"),
]

# One character for each class and role that native code tells apart.
SYMBOLS = (
    "Ab\u00e9\u4e2d\u30a2\u3005\u0301\u30991\u00b2\u3007\U00011de0 \t\u3000\r\n\u0085's\u017f\u212a/!\u3002"
    "\u30fb\u3040\0\u200d\U00016ff0\u2e80\ud55c\U0001f600\uf900"
)
FEW_SYMBOLS = "Ab\u4e2d\u03011\u3007 \r\n'!\u30fb\0\u3000"


def pieces(splitter: CoreSplitter, text: str) -> list[str]:
    offsets, data = splitter.offsets(text), text.encode()
    return [data[start:end].decode() for start, end in zip(offsets[::2], offsets[1::2], strict=True)]


def assert_same(value: Any, texts: list[str]) -> None:
    ours, theirs = CoreSplitter.of_steps(steps(value)), pre_tokenizer(value)
    for text in texts:
        expected = [text[start:end] for _, (start, end) in theirs.pre_tokenize_str(text)]
        assert pieces(ours, text) == expected, f"of {text!r}"


def test_the_chains_of_most_open_models_are_native() -> None:
    native = {
        name
        for name, value in PRE_TOKENIZERS.items()
        if name not in {"FALCON", "SUPERBPE"} and CoreSplitter.of_steps(steps(value)).is_native
    }
    assert native == set(NATIVE)


@pytest.mark.parametrize("name", NATIVE)
def test_short_texts_are_split_as_by_tokenizers(name: str) -> None:
    texts = ["".join(symbols) for symbols in itertools.product(SYMBOLS, repeat=2)]
    texts += ["".join(symbols) for symbols in itertools.product(FEW_SYMBOLS, repeat=3)]
    assert_same(PRE_TOKENIZERS[name], texts)


@pytest.mark.parametrize("name", NATIVE)
def test_long_texts_are_split_as_by_tokenizers(name: str) -> None:
    source = random.Random(name)  # noqa: S311
    units = [*SYMBOLS, *FEW_SYMBOLS * 2, "word", " the", "\r\n", "  ", "12345"]
    texts = ["".join(source.choices(units, k=source.randint(3, 200))) for _ in range(300)]
    assert_same(PRE_TOKENIZERS[name], texts)
