"""BERT's `vocab.txt`, compared with `transformers`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import bytemill
from bytemill import VocabularyError
from support.texts import multilingual, patchwork

if TYPE_CHECKING:
    from pathlib import Path

transformers: Any = pytest.importorskip("transformers")

pytestmark = pytest.mark.filterwarnings("ignore")

SPECIAL = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TOKENS = [
    *SPECIAL,
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
    "the",
    "##ing",
    "ü",
    "##ü",
    "中",
    ".",
    ",",
]
UPPER = [*TOKENS, "The", "T", "##T"]
TEXTS = [
    "The thing, singing.",
    "",
    "Ünïcode 中文 [MASK] x",
    "a b\u0301",
    multilingual(1, 100),
    patchwork(2, 800),
]


def written(folder: Path, tokens: list[str], config: dict[str, Any] | None, end: str = "\n") -> Path:
    """Writes a folder with a vocabulary, and with a configuration if there is one."""
    (folder / "vocab.txt").write_bytes("".join(token + end for token in tokens).encode())
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("tokens", "config"),
    [
        (TOKENS, {"tokenizer_class": "BertTokenizer"}),
        (UPPER, {"tokenizer_class": "BertTokenizer", "do_lower_case": False}),
        (TOKENS, {"tokenizer_class": "BertTokenizer", "strip_accents": False}),
        (
            TOKENS,
            {"tokenizer_class": "BertTokenizer", "tokenize_chinese_chars": False, "do_lower_case": True},
        ),
        ([*TOKENS, "the"], {"tokenizer_class": "DistilBertTokenizer"}),
        (TOKENS, {"tokenizer_class": "BertTokenizer", "mask_token": None, "pad_token": None}),
    ],
)
def test_ids_are_those_of_transformers(tokens: list[str], config: dict[str, Any], tmp_path: Path) -> None:
    theirs = transformers.AutoTokenizer.from_pretrained(written(tmp_path, tokens, config))
    encoding = bytemill.Encoding.from_file(tmp_path)
    assert encoding.name == tmp_path.name
    for text in TEXTS:
        ids = theirs.encode(text, add_special_tokens=False)
        assert encoding.encode(text, allowed_special="all") == ids, text
        values, _ = encoding.encode_batch_to_numpy([text], allowed_special="all", add_special_tokens=True)
        assert values.tolist() == theirs.encode(text), text


def test_without_a_configuration(tmp_path: Path) -> None:
    encoding = bytemill.Encoding.from_file(written(tmp_path, TOKENS, None, "\r\n") / "vocab.txt")
    assert encoding.encode("The") == [TOKENS.index("the")]
    assert encoding.special_tokens_set == {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}


@pytest.mark.parametrize(
    ("tokens", "config", "message"),
    [
        (UPPER, None, "do_lower_case is true, as the vocabulary has words in upper case such as 'The'"),
        ([*TOKENS, "", "x"], {}, r"line 66: expected a token without white space at its end, got ''"),
        ([*TOKENS, "x "], {}, "line 66: expected a token without white space"),
        ([*TOKENS[:4], *TOKENS[5:]], {}, r"expected a line \[SEP\]"),
        (TOKENS, {"sep_token": {"content": "</s>"}}, "expected a line </s>"),
        (TOKENS, {"tokenizer_class": "MPNetTokenizer"}, "tokenizer_class: expected a tokenizer of Bert, "),
        (TOKENS, {"do_lower_case": "no"}, "do_lower_case: expected"),
        (TOKENS, {"unk_token": None}, "unk_token: expected a token"),
        (
            TOKENS,
            {"mask_token": {"content": "[MASK]", "lstrip": True}},
            "mask_token: lstrip is not supported",
        ),
        (TOKENS, {"additional_special_tokens": ["the"]}, r"tokens\[0\]: the vocabulary has no such special"),
        (TOKENS, {"added_tokens_decoder": {"90": {"content": "<new>"}}}, "decoder.90: the vocabulary has no"),
    ],
)
def test_what_is_refused(
    tokens: list[str], config: dict[str, Any] | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(VocabularyError, match=message):
        bytemill.Encoding.from_file(written(tmp_path, tokens, config))


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("added_tokens.json", {"<new>": len(TOKENS)}),
        ("special_tokens_map.json", {"additional_special_tokens": ["<new>"]}),
    ],
)
def test_tokens_in_files_beside_it_are_refused(name: str, contents: dict[str, Any], tmp_path: Path) -> None:
    written(tmp_path, TOKENS, {})
    (tmp_path / name).write_text(json.dumps(contents), encoding="utf-8")
    with pytest.raises(VocabularyError, match=rf"{name}: .*no such special token: '<new>'"):
        bytemill.Encoding.from_file(tmp_path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (written(tmp_path, TOKENS, {}) / "vocab.txt").write_bytes(b"[UNK]\n\xff\n")
    with pytest.raises(VocabularyError, match="expected UTF-8"):
        bytemill.Encoding.from_file(tmp_path)
