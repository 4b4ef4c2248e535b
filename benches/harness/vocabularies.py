"""Writes the published vocabularies in the formats that other engines read, so that nothing is downloaded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import bytemill
from bytemill.formats.huggingface import format_tokenizer
from bytemill.formats.tiktoken_ranks import format_ranks
from harness.engines import ranks_file, tokenizer_file, wordchipper_file

# A possessive quantifier; the group is the greedy one.
POSSESSIVE = re.compile(r"([?*+]|\{\d+(?:,\d*)?\})\+")


def write_vocabulary(folder: Path, encoding: str) -> None:
    """Writes an encoding in all formats below `folder`."""
    ours = bytemill.get_encoding(encoding)
    ranks = format_ranks(ours._mergeable_ranks)
    ranks_file(folder, encoding).write_bytes(ranks)
    wordchipper_file(folder, encoding).parent.mkdir(parents=True)
    wordchipper_file(folder, encoding).write_bytes(ranks)
    tokenizer_file(folder, encoding).write_text(tokenizer_json(ours), encoding="utf-8")


def tokenizer_json(encoding: bytemill.Encoding) -> str:
    """Returns an encoding as `tokenizer.json`, without special tokens."""
    ordinary = bytemill.Encoding(
        encoding.name, pat_str=encoding._pat_str, mergeable_ranks=encoding._mergeable_ranks, special_tokens={}
    )
    contents = json.loads(format_tokenizer(ordinary.definition))
    # As in published files: whole pieces are looked up first, and no quantifier is possessive.
    # The ids are the same.
    contents["model"]["ignore_merges"] = True
    contents["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = greedy(encoding._pat_str)
    return json.dumps(contents)


def greedy(pattern: str) -> str:
    """Returns a built-in pattern for Oniguruma, in which `{1,3}+` and `$` have other meanings.

    The built-in patterns match the same without possessive quantifiers, which only avoid backtracking.
    """
    return POSSESSIVE.sub(r"\1", pattern).replace("$", r"\z")
