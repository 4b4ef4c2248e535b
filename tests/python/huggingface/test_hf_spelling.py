"""How tokens are spelled where an added token and one of the model could be meant, as in `tokenizers`."""

# ruff: noqa: S311 - randomness that can be repeated

from __future__ import annotations

import random
from typing import Any

import pytest

from bytemill import hf
from support.tokenizer_files import BYTES, LOWERCASE, added, bytes_file, file

tokenizers: Any = pytest.importorskip("tokenizers")

PREPENDED = {
    "type": "Sequence",
    "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
    ],
}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": False}
BLANKS = {"lstrip": True, "rstrip": True}

FILES: dict[str, tuple[str, str]] = {
    "strips, in normalized text": (
        file(
            {"<unk>": 0, "\u2581": 1, "a": 2},
            [added(3, "aa bb", normalized=True, **BLANKS)],
            normalizer=PREPENDED,
            model={"unk_token": "<unk>"},
        ),
        "ab \n",
    ),
    "strips, in lower case": (
        bytes_file(added(256, "AB", normalized=True, **BLANKS), normalizer=LOWERCASE),
        "abAB \n",
    ),
    "strips, and the model makes it": (
        file({"\u2581": 0, "b": 1}, [added(0, "\u2581", lstrip=True)], pre_tokenizer=METASPACE),
        "b",
    ),
    "strips, and the model makes it from spaces": (bytes_file(added(97, "a", **BLANKS)), "ab \n"),
    "normalized, and the model makes it": (
        bytes_file(added(BYTES["\u0120"], "\u0120", normalized=True), normalizer=LOWERCASE),
        "a \u0120\u0121",
    ),
    "the id of one of the model": (file({"a": 0, "b": 2}, [added(0, "x"), added(0, "y")]), "abxy"),
    "the id of one of the model, byte-level": (
        bytes_file(added(0, "<x>"), model={"vocab": BYTES | {"aa": 257}, "merges": ["a a"]}),
        "a<x> ",
    ),
    "special, and text in some calls": (bytes_file(added(97, "a", special=True, **BLANKS)), "ab \n"),
    "marks": (
        bytes_file(added(256, "e\u0301", normalized=True, rstrip=True), normalizer={"type": "NFC"}),
        "e\u0301\u00e9 x",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_spelling(name: str) -> None:
    contents, characters = FILES[name]
    theirs, ours = tokenizers.Tokenizer.from_str(contents), hf.Tokenizer.from_str(contents)
    dice = random.Random(name)
    tokens = [token.content for token in theirs.get_added_tokens_decoder().values()]
    parts = [*characters, *tokens, *(token.upper() for token in tokens)]
    for number in range(300):
        text = "".join(dice.choice(parts) for _ in range(number // 20))
        for splits in (False, True):
            ours.encode_special_tokens = theirs.encode_special_tokens = splits
            our, their = ours.encode(text), theirs.encode(text)
            assert (our.ids, our.tokens) == (their.ids, their.tokens), text
        words = text.split("b")
        assert (
            ours.encode(words, is_pretokenized=True).tokens
            == theirs.encode(words, is_pretokenized=True).tokens
        )
