"""A plugin of SGLang: `SGLANG_PLUGINS=bytemill python -m sglang.launch_server --model-path MODEL`.

SGLang finds it by itself, in each of its processes. It does nothing unless that variable names it.
"""

from __future__ import annotations

import os
from typing import Any

from bytemill.serve import accelerated

__all__ = ["TARGET", "register"]

# The function with which all processes of SGLang load tokenizers.
TARGET = "sglang.srt.utils.hf_transformers.tokenizer.get_tokenizer"


def register() -> None:
    """Registers the hook if `SGLANG_PLUGINS` names `bytemill`; SGLang calls this when it loads plugins."""
    named = os.environ.get("SGLANG_PLUGINS", "").split(",")
    if "bytemill" not in map(str.strip, named):
        return
    from sglang.srt.plugins.hook_registry import (  # type: ignore[import-not-found]  # too large for the tests
        HookRegistry,
        HookType,
    )

    HookRegistry.register(TARGET, after_loading, HookType.AFTER)


def after_loading(tokenizer: Any, *_args: Any, **_options: Any) -> Any:
    """Accelerates the tokenizer that SGLang has loaded."""
    return accelerated(tokenizer)
