"""Arrays with the tokens that a post-processor puts around each text."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel

import bytemill
import bytemill.hf
from support.toy_tokenizers import TEXTS, byte_level

if TYPE_CHECKING:
    from pathlib import Path


def test_template_is_put_around_each_text(tmp_path: Path) -> None:
    theirs = byte_level("sequence")
    theirs.save(str(tmp_path / "tokenizer.json"))
    with pytest.warns(UserWarning, match="its post-processor adds <s>, </s>"):
        encoding = bytemill.Encoding.from_file(tmp_path / "tokenizer.json")
    for adds in (True, False):
        ids, offsets = encoding.encode_batch_to_numpy(
            TEXTS, allowed_special="all", add_special_tokens=adds, prepend=2, append=[2, 3]
        )
        for index, encoded in enumerate(theirs.encode_batch(TEXTS, add_special_tokens=adds)):
            row = ids[offsets[index] : offsets[index + 1]]
            assert row.tolist() == [2, *encoded.ids, 2, 3]


BYTES = {character: place for place, character in enumerate(sorted(ByteLevel.alphabet()))}


def file_of(vocab: dict[str, int], processor: dict[str, Any]) -> str:
    """Returns the text of a file with two added tokens and a post-processor."""
    flags = dict.fromkeys(("normalized", "lstrip", "rstrip", "single_word"), False)
    added = [{"id": len(vocab) + i, "content": f"<{i}>", "special": True, **flags} for i in range(2)]
    model = {"type": "BPE", "vocab": vocab, "merges": []}
    steps = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    entries = {"normalizer": None, "pre_tokenizer": steps, "decoder": steps, "post_processor": processor}
    return json.dumps({"version": "1.0", "added_tokens": added, "model": model, **entries})


def sequence(name: str) -> dict[str, Any]:
    """Returns the part of a template that stands for a text."""
    return {"Sequence": {"id": name, "type_id": 0}}


def bert(cls: tuple[str, int], sep: tuple[str, int]) -> dict[str, Any]:
    """Returns a post-processor that puts two tokens around a text."""
    return {"type": "BertProcessing", "cls": cls, "sep": sep}


@pytest.mark.filterwarnings("ignore:.*its post-processor adds")
@pytest.mark.parametrize(
    ("more", "processor"),
    [
        ({}, bert(("<0>", 65), ("<1>", 66))),
        ({}, bert(("<0>", 256), ("<other>", 257))),
        ({"<中>": 256}, bert(("<中>", 256), ("<中>", 256))),
        ({"▁x": 256}, bert(("▁x", 256), ("<0>", 257))),
        (
            {},
            {
                "type": "TemplateProcessing",
                "single": [
                    {"SpecialToken": {"id": "<0>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                ],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {"<0>": {"id": "<0>", "ids": [70, 257], "tokens": ["<1>", "<0>"]}},
            },
        ),
    ],
)
def test_ids_are_those_of_the_post_processor(
    more: dict[str, int], processor: dict[str, Any], tmp_path: Path
) -> None:
    """Not those that the texts of its tokens have elsewhere in the file."""
    path = tmp_path / "tokenizer.json"
    path.write_text(file_of(BYTES | more, processor), encoding="utf-8")
    expected: Any = Tokenizer.from_file(str(path)).encode("hi").ids
    first = bytemill.Encoding.from_file(path)
    first.save(tmp_path / "saved.bytemill")
    again = bytemill.Encoding.from_file(tmp_path / "saved.bytemill")
    for encoding in (first, again, pickle.loads(pickle.dumps(first))):  # noqa: S301 - our own
        ids, _ = encoding.encode_batch_to_numpy(["hi"], allowed_special="all", add_special_tokens=True)
        assert ids.tolist() == expected
    assert again.definition.template == first.definition.template
    assert bytemill.hf.Tokenizer.from_file(str(path)).encode("hi").ids == expected


@pytest.mark.filterwarnings("ignore:.*its post-processor adds")
def test_an_id_that_is_no_token_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(file_of(BYTES, bert(("<0>", 256), ("<9>", 999))), encoding="utf-8")
    encoding = bytemill.Encoding.from_file(path)
    with pytest.raises(ValueError, match=r"template\.suffix has the id 999"):
        encoding.encode_batch_to_numpy(["hi"], add_special_tokens=True)


def test_without_a_template_nothing_is_added() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    ids, _ = encoding.encode_batch_to_numpy(["hello world"], add_special_tokens=True)
    assert ids.tolist() == encoding.encode("hello world")
