"""Tokenizers of models of the Hugging Face Hub that are in its local cache. The network is never used."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["FILE_SUFFIXES", "cached_file", "download_hint", "example_of", "is_model"]

# A model as the Hub names it: OWNER/NAME.
MODEL = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")

# Names with these suffixes are those of files, whether the files exist or not.
FILE_SUFFIXES = frozenset({".bpe", ".bytemill", ".gguf", ".json", ".model", ".tiktoken", ".txt"})

# A model of each family whose name people type for its tokenizer.
EXAMPLES = {
    "llama": "meta-llama/Llama-3.1-8B",
    "qwen": "Qwen/Qwen3-8B",
    "deepseek": "deepseek-ai/DeepSeek-V3",
    "mistral": "mistralai/Mistral-Nemo-Base-2407",
    "gemma": "google/gemma-3-4b-it",
    "phi": "microsoft/phi-4",
}


def is_model(name: str) -> bool:
    """Returns whether a text has the form of a model's name on the Hub, and not that of a file's."""
    return MODEL.fullmatch(name) is not None and Path(name).suffix.lower() not in FILE_SUFFIXES


def cached_file(model: str, names: list[str]) -> Path | None:
    """Returns the first of some files of a model that is in the cache.

    `None` if there is none, or `huggingface_hub`, which knows where the cache is, is not installed.
    """
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    for name in names:
        found = try_to_load_from_cache(model, name)
        if isinstance(found, str):
            return Path(found)
    return None


def download_hint(model: str) -> str:
    """Returns how to download the tokenizer of a model."""
    return (
        f"bytemill downloads nothing: run `hf download {model} tokenizer.json`, which comes with "
        f"`pip install huggingface_hub`, and use the name {model!r} again"
    )


def example_of(name: str) -> str | None:
    """Returns a model of the family that a name such as "llama3" means; `None` where it means none."""
    lower = name.lower()
    return next((model for family, model in EXAMPLES.items() if lower.startswith(family)), None)
