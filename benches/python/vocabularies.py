"""The published vocabularies as files, in the formats that other engines read: nothing is downloaded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import bytemill
from bytemill.formats.data_gym import token_text
from bytemill.formats.tiktoken_ranks import format_ranks
from engines import ranks_file, tokenizer_file, wordchipper_file

# A possessive quantifier, and the one it is made of.
POSSESSIVE = re.compile(r"([?*+]|\{\d+(?:,\d*)?\})\+")


def write_vocabulary(folder: Path, encoding: str) -> None:
    """Writes an encoding in all formats below `folder`."""
    ours = bytemill.get_encoding(encoding)
    ranks = format_ranks(ours._mergeable_ranks)
    ranks_file(folder, encoding).write_bytes(ranks)
    wordchipper_file(folder, encoding).parent.mkdir(parents=True)
    wordchipper_file(folder, encoding).write_bytes(ranks)
    tokenizer_file(folder, encoding).write_text(format_tokenizer(ours), encoding="utf-8")


def format_tokenizer(encoding: bytemill.Encoding) -> str:
    """Gives an encoding as `tokenizer.json`, without special tokens."""
    texts = {rank: token_text(token) for token, rank in encoding._mergeable_ranks.items()}
    split = {
        "type": "Split",
        "pattern": {"Regex": greedy(encoding._pat_str)},
        "behavior": "Isolated",
        "invert": False,
    }
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": True,
        "vocab": {text: rank for rank, text in texts.items()},
        "merges": [[texts[left], texts[right]] for left, right in encoding._core_bpe.merges()],
    }
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
            "post_processor": None,
            "decoder": byte_level,
            "model": model,
        }
    )


def greedy(pattern: str) -> str:
    """Writes a built-in pattern for Oniguruma, to which `{1,3}+` and `$` mean something else.

    The built-in patterns match the same without possessive quantifiers, which only spare them backtracking.
    """
    return POSSESSIVE.sub(r"\1", pattern).replace("$", r"\z")
