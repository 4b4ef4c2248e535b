"""Hugging Face's `tokenizer.json` of byte-level BPE, as it is written.

The file describes a pipeline, of which an encoding is a special case: no normalizer; a pre-tokenizer that
splits by one pattern and writes bytes as characters (`ByteLevel`, with the alphabet of `data_gym`); the model
BPE over these characters; a `ByteLevel` decoder; and *added tokens*, which are found before anything else.
Special tokens become added tokens. The library always finds them in text, so its IDs are those of
`encode(text, allowed_special="all")`.

The library assigns IDs to added tokens in its own way: a token that is in the model's vocabulary gets its ID
from there, others are numbered on, whatever the file says. So added tokens are written to the model's
vocabulary too, where no merges make them. Two names for one ID cannot be written: the library forgets the
first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bytemill._backend import matches_everything
from bytemill.definition import Definition, tokens_by_id
from bytemill.errors import VocabularyError
from bytemill.formats.data_gym import BYTE_OF_CHARACTER, token_bytes, token_text
from bytemill.formats.dialects import to_oniguruma
from bytemill.formats.merge_list import derived

if TYPE_CHECKING:
    from bytemill._backend import CoreBPE

__all__ = ["format_tokenizer", "format_tokenizer_config"]

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def format_tokenizer(definition: Definition, *, normalizer: str | None = None) -> bytes:
    """Returns the contents of a `tokenizer.json`.

    Args:
        definition: The definition.
        normalizer: The type of a normalizer of the whole text, special tokens included.

    Raises:
        VocabularyError: The library would give different token IDs, or other text for a special token.
        PatternError: The pattern may mean something else to the library.
    """
    name, pattern, ranks, special_tokens, *_ = definition
    for text, token_id in special_tokens.items():
        check_special_token(text, token_id, ranks)
    ids = {*ranks.values(), *special_tokens.values()}
    if len(ids) < len(ranks) + len(special_tokens):
        spelled = ((token_text(token), token_id) for token, token_id in ranks.items())
        tokens_by_id(
            (*spelled, *special_tokens.items()),
            f"the encoding {name!r} cannot be written as tokenizer.json",
        )

    def entries(core: CoreBPE, whole: list[bytes]) -> str:
        return core.model_entries({token_text(token): ranks[token] for token in whole} | special_tokens)

    vocabulary_and_merges, whole = derived(ranks, entries)
    regex = to_oniguruma(pattern)
    isolated = matches_everything(pattern)
    split = {
        "type": "Split",
        "pattern": {"Regex": regex},
        "behavior": "Isolated" if isolated else "Removed",
        "invert": not isolated,
    }
    contents = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            added_token(text, token_id, normalized=normalizer is not None)
            for text, token_id in sorted(special_tokens.items(), key=lambda item: item[1])
        ],
        "normalizer": normalizer and {"type": normalizer},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, BYTE_LEVEL]},
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            # A token that no merges make is only found by looking up whole pieces.
            "ignore_merges": bool(whole),
        },
    }
    # The model is the last entry, and its own last entries are written by the core, five times as fast.
    start = json.dumps(contents, ensure_ascii=False).removesuffix("}}")
    return f"{start}, {vocabulary_and_merges}}}}}".encode()


def check_special_token(text: str, token_id: int, ranks: dict[bytes, int]) -> None:
    """Raises an error for a special token that the library would confuse with another or change."""
    if not all(character in BYTE_OF_CHARACTER for character in text):
        return
    refusal = f"the special token {text!r} cannot be written as tokenizer.json"
    token = token_bytes(text)
    if ranks.get(token, token_id) != token_id:
        raise VocabularyError(
            f"{refusal}: that is how the mergeable token {token!r} with the id {ranks[token]} is spelled "
            "there"
        )
    if not text.isascii():
        raise VocabularyError(
            f"{refusal}: all its characters stand for bytes there, so that it would be decoded to {token!r}"
        )


def added_token(text: str, token_id: int, *, normalized: bool) -> dict[str, Any]:
    """Returns the entry of an added token, which is found in normalized text or in the text as it is."""
    options = {"single_word": False, "lstrip": False, "rstrip": False}
    return {"id": token_id, "content": text, **options, "normalized": normalized, "special": True}


def format_tokenizer_config(definition: Definition) -> bytes:
    """Returns the contents of the `tokenizer_config.json` with which `transformers` loads the directory."""
    contents: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
    }
    if "<|endoftext|>" in definition.special_tokens:
        contents["eos_token"] = "<|endoftext|>"  # noqa: S105 - no password
    return json.dumps(contents, indent=1).encode()
