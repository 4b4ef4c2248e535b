"""Meta's own folders of Llama 3 and 4, against tiktoken, which their own programs call."""

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
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nIt's 12345/\r\n<|eot_id|><|python_tag|>",
    "<|header_start|>user<|header_end|>\n\nABCdef's /\n<|eot|><|reserved_special_token_250|><|patch|>",
    *[text[:500] for text in texts.ADVERSARIAL.values()],
]

# Models: their pattern, what `params.json` says, and ids of the published models less the number of ranks.
MODELS: dict[str, tuple[str, dict[str, Any], dict[str, int]]] = {
    "Llama 3": (
        "LLAMA3",
        {"vocab_size": SIZE + 256, "rope_theta": 500000.0},
        {
            "<|begin_of_text|>": 0,
            "<|end_of_text|>": 1,
            "<|reserved_special_token_0|>": 2,
            "<|reserved_special_token_3|>": 5,
            "<|start_header_id|>": 6,
            "<|end_header_id|>": 7,
            "<|reserved_special_token_4|>": 8,
            "<|eot_id|>": 9,
            "<|reserved_special_token_5|>": 10,
            "<|reserved_special_token_250|>": 255,
        },
    ),
    "Llama 3.1": (
        "LLAMA3",
        {"vocab_size": SIZE + 256, "rope_theta": 500000.0, "use_scaled_rope": True},
        {
            "<|begin_of_text|>": 0,
            "<|end_of_text|>": 1,
            "<|finetune_right_pad_id|>": 4,
            "<|step_id|>": 5,
            "<|start_header_id|>": 6,
            "<|end_header_id|>": 7,
            "<|eom_id|>": 8,
            "<|eot_id|>": 9,
            "<|python_tag|>": 10,
            "<|image|>": 11,
            "<|reserved_special_token_2|>": 12,
            "<|reserved_special_token_245|>": 255,
        },
    ),
    "Llama 4": (
        "O200K",
        {"vocab_size": SIZE + 2048, "use_scaled_rope": True, "moe_args": {"num_experts": 16}},
        {
            "<|begin_of_text|>": 0,
            "<|end_of_text|>": 1,
            "<|fim_suffix|>": 4,
            "<|header_start|>": 5,
            "<|eot|>": 8,
            "<|python_start|>": 16,
            "<|finetune_right_pad|>": 18,
            "<|text_post_train_reserved_special_token_8|>": 19,
            "<|image_start|>": 80,
            "<|image|>": 90,
            "<|patch|>": 92,
            "<|vision_reserved_special_token_1047|>": 1133,
            "<|reasoning_thinking_end|>": 1143,
            "<|reserved_special_token_0|>": 1144,
            "<|reserved_special_token_903|>": 2047,
        },
    ),
}

every_model = pytest.mark.parametrize("name", MODELS)


def ranks_of(pattern: str) -> dict[bytes, int]:
    trained = bytemill.train(TEXTS, SIZE, pattern=PATTERNS[pattern], progress=False)
    return trained._mergeable_ranks


def folder(path: Path, ranks: dict[bytes, int], params: Any) -> Path:
    path.mkdir(exist_ok=True)
    dump_tiktoken_bpe(ranks, str(path / "tokenizer.model"))
    (path / "params.json").write_text(json.dumps(params), encoding="utf-8")
    return path


@every_model
def test_folders_have_the_ids_of_tiktoken(name: str, tmp_path: Path) -> None:
    pattern, params, known = MODELS[name]
    ranks = ranks_of(pattern)
    read = folder(tmp_path / name, ranks, params)
    for encoding in (
        bytemill.Encoding.from_file(read),
        bytemill.Encoding.from_file(read / "tokenizer.model"),
        bytemill.Encoding.from_huggingface(read),
    ):
        special = encoding._special_tokens
        assert encoding.name == name
        assert sorted(special.values()) == list(range(SIZE, params["vocab_size"]))
        assert known.items() <= {text: token_id - SIZE for text, token_id in special.items()}.items()
        theirs = tiktoken.Encoding(
            name, pat_str=PATTERNS[pattern], mergeable_ranks=ranks, special_tokens=special
        )
        for text in TEXTS:
            ids = theirs.encode(text, allowed_special="all")
            assert encoding.encode(text, allowed_special="all") == ids
            assert encoding.encode_ordinary(text) == theirs.encode_ordinary(text)
            assert encoding.decode(ids) == theirs.decode(ids)


@every_model
def test_what_is_saved_is_the_same(name: str, tmp_path: Path) -> None:
    pattern, params, _ = MODELS[name]
    encoding = bytemill.Encoding.from_file(folder(tmp_path, ranks_of(pattern), params))
    encoding.save_huggingface(tmp_path / "saved")
    encoding.save(tmp_path / "saved.bytemill")
    assert bytemill.Encoding.from_file(tmp_path / "saved").sha256 == encoding.sha256
    assert bytemill.Encoding.from_file(tmp_path / "saved.bytemill").sha256 == encoding.sha256


REFUSED = {
    "another number": ({"vocab_size": SIZE + 255}, "vocab_size: expected 256 token IDs (Llama 3) or 2048"),
    "no flag": ({"vocab_size": SIZE + 256, "use_scaled_rope": 1}, "use_scaled_rope: expected true or false"),
    "a negative number": ({"vocab_size": -1}, "vocab_size: expected an integer from 0"),
}


@pytest.mark.parametrize(("params", "reason"), REFUSED.values(), ids=REFUSED)
def test_sizes_that_do_not_fit_are_refused(tmp_path: Path, params: dict[str, Any], reason: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        bytemill.Encoding.from_file(folder(tmp_path, ranks_of("LLAMA3"), params))
    assert reason in str(caught.value)
    assert "params.json" in str(caught.value)


def test_ranks_without_sizes_need_a_pattern(tmp_path: Path) -> None:
    ranks = ranks_of("LLAMA3")
    read = folder(tmp_path, ranks, {"dim": 4096})
    with pytest.raises(MissingPatternError, match="expected pattern="):
        bytemill.Encoding.from_file(read)
    given = bytemill.Encoding.from_file(folder(tmp_path, ranks, MODELS["Llama 3"][1]), pattern="llama3")
    assert given._special_tokens == {}
