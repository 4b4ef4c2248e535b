"""Contents of small `tokenizer.json` files, part by part."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytemill.formats.data_gym import CHARACTER_OF_BYTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["BYTES", "BYTE_LEVEL", "LOWERCASE", "PLAIN", "added", "bytes_file", "file"]

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
LOWERCASE = {"type": "Lowercase"}

# The vocabulary of all bytes, whose ids they are.
BYTES = {CHARACTER_OF_BYTE[byte]: byte for byte in range(256)}


def added(token_id: int, content: str, **flags: bool) -> dict[str, Any]:
    """Returns the entry of an added token that is not normalized."""
    names = ("special", "normalized", "lstrip", "rstrip", "single_word")
    return {"id": token_id, "content": content, **dict.fromkeys(names, False), **flags}


def file(
    vocab: Mapping[str, int], tokens: Iterable[Mapping[str, Any]] = (), *, merges: Any = (), **parts: Any
) -> str:
    """Returns a file.

    Args:
        vocab: The vocabulary of the model.
        tokens: The entries of added tokens.
        merges: The merges of the model.
        parts: Other entries of the file, such as `normalizer`; those of the model in `model`.
    """
    model = {"type": "BPE", "vocab": dict(vocab), "merges": list(merges), **parts.pop("model", {})}
    names = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
    contents = {"version": "1.0", "added_tokens": [*tokens], **dict.fromkeys(names), **parts, "model": model}
    return json.dumps(contents)


def bytes_file(*tokens: Mapping[str, Any], **parts: Any) -> str:
    """Returns the file of a byte-level tokenizer without merges."""
    return file(BYTES, tokens, pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL, **parts)


# A byte-level tokenizer with a special token.
PLAIN = bytes_file(added(256, "<s>", special=True))
