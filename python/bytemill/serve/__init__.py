"""Plugins for inference servers: `bytemill.serve.vllm` and `bytemill.serve.sglang`.

Both accelerate the tokenizer that the server loads, with `bytemill.hf.accelerate` and a cache of prefixes.
They do so only if an option of the server names bytemill; installing bytemill changes nothing.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from bytemill.errors import VocabularyError
from bytemill.hf import accelerate
from bytemill.sessions import PrefixCache

__all__ = ["accelerated", "new_prefix_cache"]

logger = logging.getLogger(__name__)

# The size of the cache of prefixes in bytes; 0 turns it off.
SIZE = "BYTEMILL_PREFIX_CACHE_BYTES"
DEFAULT_SIZE = 256 << 20


def new_prefix_cache() -> PrefixCache | None:
    """Returns a new cache of `BYTEMILL_PREFIX_CACHE_BYTES` bytes (by default 256 MiB); `None` if that is 0.

    Raises:
        ValueError: The variable is not a number of bytes.
    """
    value = os.environ.get(SIZE, str(DEFAULT_SIZE))
    if not value.isdecimal():
        raise ValueError(f"expected a number of bytes in the variable {SIZE}, got {value!r}")
    return PrefixCache(int(value)) if int(value) else None


def accelerated(tokenizer: Any) -> Any:
    """Accelerates a tokenizer of `transformers` in place if that is possible, and returns it.

    If not, it logs a warning that says why, and the server works as before.
    """
    try:
        return accelerate(tokenizer, prefix_cache=new_prefix_cache())
    except (ImportError, TypeError, VocabularyError) as error:
        logger.warning("bytemill does not accelerate this tokenizer: %s", error)
        return tokenizer
