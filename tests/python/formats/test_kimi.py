"""Folders of Kimi's models, against tiktoken, which their own program calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tiktoken

import bytemill
from bytemill.errors import VocabularyError
from bytemill.io.reading import MissingPatternError
from bytemill.load import dump_tiktoken_bpe
from support import texts
from support.catalogue import PATTERNS

SIZE = 700
TEXTS = [
    texts.multilingual(1, 300),
    texts.patchwork(2, 3000),
    texts.random_unicode(3, 500),
    "漢字かなABCdef's漢 12345 /\r\n\n [BOS]<|im_end|> <|reserved_token_705|><|reserved_token_958|>",
    *[text[:500] for text in texts.ADVERSARIAL.values()],
]


def config(**changes: Any) -> dict[str, Any]:
    named = {SIZE: "[BOS]", SIZE + 1: "[EOS]", SIZE + 4: "<|im_end|>", SIZE + 255: "[PAD]"}
    decoder = {str(token_id): {"content": text, "special": True} for token_id, text in named.items()}
    return {"tokenizer_class": "TikTokenTokenizer", "added_tokens_decoder": decoder} | changes


@pytest.fixture(scope="module")
def ranks() -> dict[bytes, int]:
    trained = bytemill.train(TEXTS, SIZE, pattern=PATTERNS["KIMI"], progress=False)
    return trained._mergeable_ranks


def folder(path: Path, ranks: dict[bytes, int], contents: dict[str, Any]) -> Path:
    dump_tiktoken_bpe(ranks, str(path / "tiktoken.model"))
    (path / "tokenizer_config.json").write_text(json.dumps(contents), encoding="utf-8")
    return path


def test_folders_have_the_ids_of_tiktoken(tmp_path: Path, ranks: dict[bytes, int]) -> None:
    (tmp_path / "Kimi-K2").mkdir()
    read = folder(tmp_path / "Kimi-K2", ranks, config())
    special = {f"<|reserved_token_{token_id}|>": token_id for token_id in range(SIZE, SIZE + 258)}
    for number, token in config()["added_tokens_decoder"].items():
        del special[f"<|reserved_token_{number}|>"]
        special[token["content"]] = int(number)
    theirs = tiktoken.Encoding("k", pat_str=PATTERNS["KIMI"], mergeable_ranks=ranks, special_tokens=special)
    for encoding in (
        bytemill.Encoding.from_file(read),
        bytemill.Encoding.from_file(read / "tiktoken.model"),
        bytemill.Encoding.from_huggingface(read),
    ):
        assert encoding.name == "Kimi-K2"
        assert encoding.n_vocab == SIZE + 258
        assert encoding._special_tokens == special
        for text in TEXTS:
            ids = theirs.encode(text, allowed_special="all")
            assert encoding.encode(text, allowed_special="all") == ids
            assert encoding.decode(ids) == theirs.decode(ids)


REFUSED = {
    "an id among the ranks": ({"added_tokens_decoder": {"5": {"content": "a"}}}, "from 700 to 957"),
    "an id behind all": ({"added_tokens_decoder": {"958": {"content": "a"}}}, "got 958"),
    "no number": ({"added_tokens_decoder": {"x": {"content": "a"}}}, "got x"),
    "no content": ({"added_tokens_decoder": {"700": {}}}, "added_tokens_decoder.700.content"),
    "a token twice": (
        {"added_tokens_decoder": {"700": {"content": "a"}, "701": {"content": "a"}}},
        "'a' has the IDs 700 and 701",
    ),
    "a list": ({"added_tokens_decoder": []}, "expected an object"),
}


@pytest.mark.parametrize(("changes", "reason"), REFUSED.values(), ids=REFUSED)
def test_configurations_that_do_not_fit_are_refused(
    tmp_path: Path, ranks: dict[bytes, int], changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(VocabularyError) as caught:
        bytemill.Encoding.from_file(folder(tmp_path, ranks, config(**changes)))
    assert reason in str(caught.value)
    assert "tokenizer_config.json" in str(caught.value)


def test_ranks_with_other_configurations_need_a_pattern(tmp_path: Path, ranks: dict[bytes, int]) -> None:
    read = folder(tmp_path, ranks, config(tokenizer_class="QWenTokenizer"))
    with pytest.raises(MissingPatternError, match="expected pattern="):
        bytemill.Encoding.from_file(read)
    given = bytemill.Encoding.from_file(folder(tmp_path, ranks, config()), pattern="qwen2")
    assert given._special_tokens == {}
