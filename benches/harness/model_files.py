"""Writes the tokenizer files of models that are compared: a real one, and one vocabulary behind many chains.

How fast a chain is depends on its steps and on text more than on the vocabulary, so that all have
cl100k's. Two are this library's own files, of which the time of loading is of interest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bytemill
from harness.suites import CANDIDATE, OURS
from harness.vocabularies import tokenizer_json
from support.catalogue import PRE_TOKENIZERS

VOCABULARY = "cl100k_base"
NFC = {"type": "NFC"}

# The model, by the chain of its pre-tokenizer and its normalizer.
NATIVE: dict[str, tuple[str, Any]] = {
    "Llama 3": ("LLAMA3", None),
    "Qwen 3": ("QWEN2", NFC),
    "Qwen 3.5": ("QWEN35", NFC),
    "gpt-oss": ("O200K", None),
    "tekken": ("TEKKEN", None),
    "GPT-2": ("GPT2", None),
    "DeepSeek V3": ("DEEPSEEK3", None),
    "SmolLM": ("DIGITS", None),
    "Command-R": ("DIGITS", NFC),
    "Kimi K2": ("KIMI", None),
    "MiniCPM5": ("MINICPM5", None),
}
GENERAL: dict[str, tuple[str, Any]] = {
    "BLOOM": ("BLOOM", None),
    "DeepSeek LLM": ("DEEPSEEK-LLM", None),
    "DeepSeek-Coder": ("DEEPSEEK-CODER", None),
    "K-EXAONE": ("K-EXAONE", None),
}

Files = dict[str, Path]


def write_sentencepiece(folder: Path) -> Files:
    """Writes a real model, also as `tokenizer.json` in the form of Llama 2."""
    package = find_spec("mistral_common")
    if package is None or package.origin is None:
        raise FileNotFoundError("mistral-common, which has the model, is not installed")
    model = Path(package.origin).parent / "data" / "tokenizer.model.v1"
    bytemill.Encoding.from_file(model).save_huggingface(folder / "sentencepiece")
    file = folder / "sentencepiece" / "tokenizer.json"
    return {OURS: model, "sentencepiece": model, "tokenizers": file, CANDIDATE: file}


def write_chain(chain: str, normalizer: Any, folder: Path) -> Files:
    """Writes a `tokenizer.json` with this chain."""
    contents = json.loads(tokenizer_json(bytemill.get_encoding(VOCABULARY)))
    contents |= {"pre_tokenizer": PRE_TOKENIZERS[chain], "normalizer": normalizer}
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(contents), encoding="utf-8")
    return {OURS: file, "tokenizers": file, CANDIDATE: file}


def write_native(vocabulary: str, folder: Path) -> Files:
    """Writes this library's own file of a built-in encoding, and a `tokenizer.json`."""
    encoding = bytemill.get_encoding(vocabulary)
    file = folder / "tokenizer.json"
    file.write_text(tokenizer_json(encoding), encoding="utf-8")
    # Read from there, as that of a model is: what is saved is the same.
    bytemill.Encoding.from_file(file).save(folder / "own.bytemill")
    return {OURS: folder / "own.bytemill", "tokenizers": file, CANDIDATE: file}


# How this library splits the text of each model, and what writes its files into a folder.
MODELS: dict[str, tuple[str, Callable[[Path], Files]]] = {
    "Mistral v1": ("sentencepiece", write_sentencepiece),
    **{name: ("native", partial(write_chain, *chain)) for name, chain in NATIVE.items()},
    "o200k, .bytemill": ("own file", partial(write_native, "o200k_base")),
    "cl100k, .bytemill": ("own file", partial(write_native, "cl100k_base")),
    **{name: ("general", partial(write_chain, *chain)) for name, chain in GENERAL.items()},
}
