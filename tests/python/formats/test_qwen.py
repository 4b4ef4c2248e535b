"""Folders of the first Qwen models, against tiktoken on normalized text, as their own program calls it."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from tokenizers import Tokenizer, normalizers

import bytemill
from bytemill.errors import VocabularyError
from bytemill.io.reading import MissingPatternError
from bytemill.load import dump_tiktoken_bpe
from support import texts
from support.catalogue import PATTERNS

SIZE = 700
CONFIG = {"model_max_length": 8192, "tokenizer_class": "QWenTokenizer"}
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{number}|>" for number in range(205))]
IDS = {text: SIZE + number for number, text in enumerate(SPECIAL)}

# A special token, and a mark that its last character is composed with: in normalized text there is none.
SWALLOWED = "a<|im_end|>\u0338b"
TEXTS = [
    texts.multilingual(1, 300),
    texts.patchwork(2, 3000),
    unicodedata.normalize("NFD", texts.multilingual(3, 100)),
    "e\u0301<|im_end|>\u0301<|extra_204|><|extra_205|> 12345 A\u030a\u2126\u1f71 <|im_start|>user\n\n",
    SWALLOWED,
    "\u226e|im_end|><\u0338|im_end|>\u037e<|endoftext|>\u0327",
    *[text[:500] for text in texts.ADVERSARIAL.values()],
]


@pytest.fixture(scope="module")
def ranks() -> dict[bytes, int]:
    trained = bytemill.train(TEXTS, SIZE, pattern=PATTERNS["QWEN2"], progress=False)
    return trained._mergeable_ranks


def folder(path: Path, ranks: dict[bytes, int], **files: dict[str, Any]) -> Path:
    path.mkdir(exist_ok=True)
    dump_tiktoken_bpe(ranks, str(path / "qwen.tiktoken"))
    for name, contents in ({"tokenizer_config": CONFIG} | files).items():
        (path / f"{name}.json").write_text(json.dumps(contents), encoding="utf-8")
    return path


def test_folders_have_the_ids_of_the_program(tmp_path: Path, ranks: dict[bytes, int]) -> None:
    read = folder(tmp_path / "Qwen-7B", ranks, config={"model_type": "qwen"})
    theirs = tiktoken.Encoding("q", pat_str=PATTERNS["QWEN2"], mergeable_ranks=ranks, special_tokens=IDS)
    for encoding in (
        bytemill.Encoding.from_file(read),
        bytemill.Encoding.from_file(read / "qwen.tiktoken"),
        bytemill.Encoding.from_huggingface(read),
    ):
        assert encoding.name in {"Qwen-7B", "qwen"}
        assert encoding.n_vocab == SIZE + len(SPECIAL)
        assert encoding._special_tokens == IDS
        for text in TEXTS:
            normal = unicodedata.normalize("NFC", text)
            ids = theirs.encode(normal, allowed_special="all")
            assert encoding.encode(text, allowed_special="all") == ids
            assert encoding.encode_ordinary(text) == theirs.encode_ordinary(normal)
            assert encoding.decode(ids) == theirs.decode(ids) == normal
    assert IDS["<|im_end|>"] not in encoding.encode(SWALLOWED, allowed_special="all")


def test_normal_forms_are_those_of_tokenizers(tmp_path: Path, ranks: dict[bytes, int]) -> None:
    encoding = bytemill.Encoding.from_file(folder(tmp_path, ranks))
    form = normalizers.NFC()
    theirs = tiktoken.Encoding("q", pat_str=PATTERNS["QWEN2"], mergeable_ranks=ranks, special_tokens=IDS)
    # Composed since Unicode 13.
    newer = "\U00011935\U00011930"
    assert form.normalize_str(newer) == newer
    for text in [newer, *(texts.random_unicode(seed, 2000) for seed in range(4))]:
        assert encoding.encode_ordinary(text) == theirs.encode_ordinary(form.normalize_str(text))


def test_what_is_saved_is_a_tokenizer(tmp_path: Path, ranks: dict[bytes, int]) -> None:
    encoding = bytemill.Encoding.from_file(folder(tmp_path, ranks))
    encoding.save_huggingface(tmp_path / "saved")
    written = Tokenizer.from_file(str(tmp_path / "saved" / "tokenizer.json"))
    for text in TEXTS:
        assert written.encode(text).ids == encoding.encode(text, allowed_special="all")
    with pytest.raises(VocabularyError, match=r"a tokenizer\.json"):
        encoding.save_tiktoken(tmp_path / "saved.tiktoken")


REFUSED = {
    "images": ({"config": {"visual": {"image_size": 448}}}, "config.json: visual: expected a model of text"),
    "sound": ({"config": {"audio": {"n_mels": 80}}}, "config.json: audio: expected a model of text"),
    "more ranks": (
        {"tokenizer_config": CONFIG | {"extra_vocab_file": "more.tiktoken"}},
        "tokenizer_config.json: extra_vocab_file: ranks in a second file",
    ),
}


@pytest.mark.parametrize(("files", "reason"), REFUSED.values(), ids=REFUSED)
def test_other_models_are_refused(
    tmp_path: Path, ranks: dict[bytes, int], files: dict[str, Any], reason: str
) -> None:
    with pytest.raises(VocabularyError) as caught:
        bytemill.Encoding.from_file(folder(tmp_path, ranks, **files))
    assert reason in str(caught.value)


def test_ranks_without_the_configuration_need_a_pattern(tmp_path: Path, ranks: dict[bytes, int]) -> None:
    read = folder(tmp_path, ranks, tokenizer_config={"tokenizer_class": "Qwen2Tokenizer"})
    with pytest.raises(MissingPatternError, match="expected pattern="):
        bytemill.Encoding.from_file(read)
    given = bytemill.Encoding.from_file(folder(tmp_path, ranks), pattern="qwen2")
    assert given._special_tokens == {}
    (read / "tokenizer_config.json").unlink()
    with pytest.raises(MissingPatternError, match="expected pattern="):
        bytemill.Encoding.from_file(read)
