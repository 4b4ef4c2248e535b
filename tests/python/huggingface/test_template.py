"""Arrays with the tokens that a post-processor puts around each text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import bytemill
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


def test_without_a_template_nothing_is_added() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    ids, _ = encoding.encode_batch_to_numpy(["hello world"], add_special_tokens=True)
    assert ids.tolist() == encoding.encode("hello world")
