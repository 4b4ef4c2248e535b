"""A tokenizer mode of vLLM: `vllm serve MODEL --tokenizer-mode bytemill`.

vLLM finds this plugin by itself, in each of its processes. Models work as with `--tokenizer-mode hf`, whose
tokenizer this accelerates.
"""

from __future__ import annotations

from typing import Any

from bytemill.serve import accelerated

__all__ = ["MODE", "Tokenizer", "register"]

MODE = "bytemill"


def register() -> None:
    """Registers the mode; vLLM calls this when it loads its plugins."""
    from vllm.tokenizers import TokenizerRegistry  # type: ignore[import-not-found]  # too large for the tests

    TokenizerRegistry.register(MODE, __name__, Tokenizer.__name__)


class Tokenizer:
    """The class of the mode."""

    @classmethod
    def from_pretrained(cls, *args: Any, **options: Any) -> Any:
        """Loads a tokenizer as vLLM does, and accelerates it; same arguments and errors."""
        from vllm.tokenizers import hf

        # `HfTokenizer` up to version 0.12, where it was a class.
        tokenizer = getattr(hf, "CachedHfTokenizer", hf.HfTokenizer).from_pretrained(*args, **options)
        # A proxy, whose copies are made from the tokenizer inside of it: so that is accelerated.
        make, inside = tokenizer.__reduce__()[:2]
        if make is not hf.get_cached_tokenizer:
            return accelerated(tokenizer)
        return make(*map(accelerated, inside))
