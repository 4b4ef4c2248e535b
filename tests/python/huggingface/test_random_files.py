"""Random files of any components, compared with `tokenizers`; BYTEMILL_FULL=1 tries more.

`programs/random_files.py` tries other seeds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from support.random_files.answers import Case, Subject
from support.random_files.files import File, components
from support.random_files.rules import RULES, Rule
from support.random_files.shrinking import shrink
from support.random_files.trials import CHECKS, Difference, Tally, smallest, try_file

pytestmark = pytest.mark.filterwarnings("ignore:.* its post-processor adds", "ignore:the special token")

FILES = 12_000 if os.environ.get("BYTEMILL_FULL") == "1" else 400

# All that docs/guides/from-huggingface.md says is read.
NORMALIZERS = (
    *("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "BertNormalizer", "Nmt", "Precompiled"),
    *("Strip", "Prepend", "Replace", "Sequence"),
)
PRE_TOKENIZERS = (
    *("ByteLevel", "Split", "Digits", "Punctuation", "Whitespace", "WhitespaceSplit", "CharDelimiterSplit"),
    *("BertPreTokenizer", "Metaspace", "Sequence"),
)
PROCESSORS = ("ByteLevel", "TemplateProcessing", "BertProcessing", "RobertaProcessing", "Sequence")
DECODERS = (
    *("ByteLevel", "ByteFallback", "Fuse", "Replace", "Strip", "Metaspace", "WordPiece", "BPEDecoder"),
    "Sequence",
)
EVERYTHING = {
    *(f"model: {name}" for name in ("BPE", "WordPiece", "WordLevel", "Unigram")),
    *(f"model: {name}" for name in ("fuse_unk", "byte_fallback", "ignore_merges")),
    *(f"model: {name}" for name in ("end_of_word_suffix", "continuing_subword_prefix")),
    *(f"normalizer: {name}" for name in NORMALIZERS),
    *(f"pre_tokenizer: {name}" for name in PRE_TOKENIZERS),
    *(f"post_processor: {name}" for name in PROCESSORS),
    *(f"decoder: {name}" for name in DECODERS),
    *(f"added_tokens: {name}" for name in ("special", "normalized", "lstrip", "rstrip", "single_word")),
    *("truncation", "padding"),
    *(f"rule: {rule.name}" for rule in RULES),
}


class Tried:
    """All files, tried once."""

    def __init__(self) -> None:
        self.tally = Tally()
        tried = (try_file(seed, self.tally, cases=4) for seed in range(FILES))
        self.differences: list[Difference] = [each for each in tried if each is not None]


@pytest.fixture(scope="module")
def tried() -> Tried:
    return Tried()


def test_nothing_differs(tried: Tried) -> None:
    assert not tried.differences, smallest(tried.differences[0]).report()


def test_few_files_are_refused(tried: Tried) -> None:
    assert tried.tally.share_refused < 0.25


def test_everything_is_read(tried: Tried) -> None:
    assert EVERYTHING - tried.tally.files.keys() == set()


@pytest.mark.parametrize("check", CHECKS)
def test_comparisons_are_made(tried: Tried, check: str) -> None:
    made, unanswered = tried.tally.compared[check], tried.tally.unanswered[check]
    # Few files pad; models that merge otherwise than by rank are not explained.
    least = {"padded_arrays": 0.05, "explanations": 0.3}.get(check, 0.9)
    assert made > least * (made + unanswered)


# --- What is not compared ---


def file_of(model: dict[str, Any], **parts: Any) -> File:
    """Returns a file of a model."""
    names = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")
    return {"version": "1.0", "added_tokens": [], **dict.fromkeys(names), **parts, "model": model}


BLANK = {"id": 1, "content": "<m>", "lstrip": True}
FLAGS = dict.fromkeys(("special", "normalized", "rstrip", "single_word"), False)
EXAMPLES: dict[str, tuple[File, str]] = {
    "offsets of the bytes of an affix": (
        file_of(
            {
                "type": "BPE",
                "vocab": {f"<0x{byte:02X}>": byte for byte in range(256)},
                "merges": [],
                "byte_fallback": True,
                "end_of_word_suffix": "</w>",
            },
            pre_tokenizer={"type": "WhitespaceSplit"},
        ),
        "a b",
    ),
    "spellings of added tokens with blanks": (
        file_of(
            {"type": "BPE", "vocab": {"a": 0}, "merges": []},
            added_tokens=[BLANK | FLAGS | {"content": " m", "rstrip": True}],
        ),
        " m m",
    ),
}


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_what_is_not_compared_differs(rule: Rule) -> None:
    file, text = EXAMPLES[rule.name]
    subject, case = Subject(file), Case(text, "", 0)
    assert subject.rules == [rule]
    theirs, ours = CHECKS["texts"](subject, case)
    assert theirs == ours
    subject.rules.clear()
    theirs, ours = CHECKS["texts"](subject, case)
    assert theirs != ours


# --- Shrinking ---


def has(kind: str) -> Callable[[File], bool]:
    """Returns what tells whether a file has a component of a type."""
    return lambda file: any(each["type"] == kind for each in components([*file.values()]))


def test_what_is_found_is_made_small() -> None:
    steps = [{"type": "NFC"}, {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "NFD"}]}]
    model = {"type": "BPE", "vocab": {token: at for at, token in enumerate("abcde")}, "merges": []}
    file = file_of(
        model | {"fuse_unk": True, "unk_token": "e"},
        normalizer={"type": "Sequence", "normalizers": steps},
        decoder={"type": "Fuse"},
        added_tokens=[BLANK | FLAGS | {"id": 5}, BLANK | FLAGS | {"id": 6, "content": "<n>"}],
    )

    def differs(file: File, case: Case) -> bool:
        contents = [entry["content"] for entry in file["added_tokens"]]
        return (
            has("Lowercase")(file)
            and "d" in file["model"]["vocab"]
            and "<n>" in contents
            and "xy" in case.text
        )

    small, case = shrink(file, Case("abxybaxyab", "more", 17), differs)
    assert case == Case("xy", "", 0)
    assert small == file_of(
        {"type": "BPE", "vocab": {"d": 3}, "merges": []},
        normalizer={"type": "Lowercase"},
        added_tokens=[BLANK | FLAGS | {"id": 6, "content": "<n>", "lstrip": False}],
    )
