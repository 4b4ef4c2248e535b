"""Compares a `tokenizer.json` with `tokenizers`, by each way to its token IDs and back."""

from __future__ import annotations

import numpy as np
from tokenizers import Tokenizer

import bytemill
from bytemill import hf

__all__ = ["compare"]


def compare(contents: str, texts: list[str]) -> bytemill.Encoding:
    """Compares ids, offsets, words, and what ids are decoded to with `tokenizers`, by each way to them."""
    theirs = Tokenizer.from_str(contents)
    ours = hf.Tokenizer.from_str(contents)
    encoding = bytemill.Encoding.from_huggingface(theirs)
    expected = theirs.encode_batch(texts)
    rows = [found.ids for found in expected]
    assert [encoding.encode(text, allowed_special="all") for text in texts] == rows
    values, bounds = encoding.encode_batch_to_numpy(texts, allowed_special="all")
    assert [row.tolist() for row in np.split(values, bounds[1:-1])] == rows
    assert [encoding.count(text, allowed_special="all") for text in texts] == list(map(len, rows))
    for text, found, mine in zip(texts, expected, ours.encode_batch(texts), strict=True):
        for name in (
            "ids",
            "tokens",
            "offsets",
            "word_ids",
            "type_ids",
            "special_tokens_mask",
            "attention_mask",
        ):
            assert getattr(mine, name) == getattr(found, name), (name, text)
        for skip in (True, False):
            decoded = theirs.decode(found.ids, skip_special_tokens=skip)
            assert ours.decode(found.ids, skip_special_tokens=skip) == decoded, text
    return encoding
