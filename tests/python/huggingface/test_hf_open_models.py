"""`bytemill.hf` with the files of open models, beside `tokenizers` and `transformers`."""

from __future__ import annotations

from typing import Any

import pytest

from bytemill import hf
from support.open_models import ROWS, file_of
from support.open_models.speech import CODE, SENTENCES, TRICKY

tokenizers: Any = pytest.importorskip("tokenizers")
transformers: Any = pytest.importorskip("transformers")

# What is refused, and what the library spells in a way of its own.
REFUSED = {"falcon", "superbpe"}
MISSING = {
    "missing bytes",
    "missing bytes, explicit merges",
    "bloom",
    "hunyuan-3",
    "smollm2",
    "some byte tokens, no unknown",
}
SPELLED = {"flags", "flags, prepended", "holes in ids", "decomposed"}

LISTS = ["ids", "tokens", "offsets", "attention_mask", "special_tokens_mask", "type_ids", "sequence_ids"]


def texts_of(name: str) -> list[str]:
    """Returns texts for a row, with its added tokens in them."""
    contents = [token["content"] for token in ROWS[name].tokens][:12]
    return [*TRICKY[:24], *SENTENCES[:8], CODE, "".join(f"x {content}  {content}y" for content in contents)]


def words_of(encoded: hf.Encoded) -> list[int | None] | None:
    """Returns the numbers of words; `None` where they are refused."""
    try:
        return encoded.word_ids
    except NotImplementedError:
        return None


@pytest.mark.parametrize("name", [name for name in ROWS if name not in REFUSED])
def test_rows(name: str) -> None:
    file = file_of(name).decode()
    theirs, ours = tokenizers.Tokenizer.from_str(file), hf.Tokenizer.from_str(file)
    texts = texts_of(name)
    unlike = {"offsets"} if name in MISSING else {"tokens"} if name in SPELLED else set()
    lists = [part for part in LISTS if part not in unlike]
    for adds in (True, False):
        batches = (
            ours.encode_batch(texts, add_special_tokens=adds),
            theirs.encode_batch(texts, add_special_tokens=adds),
        )
        for our, their in zip(*batches, strict=True):
            for part in lists:
                assert getattr(our, part) == getattr(their, part), part
            assert words_of(our) in (None, their.word_ids)
            for skips in (True, False):
                assert ours.decode(their.ids, skips) == theirs.decode(their.ids, skips)
    assert ours.get_vocab() == theirs.get_vocab()
    for token_id in range(len(theirs.get_vocab()) + 3):
        assert ours.id_to_token(token_id) == theirs.id_to_token(token_id)


@pytest.mark.parametrize("name", [name for name in ROWS if name not in REFUSED])
def test_accelerated_rows(name: str) -> None:
    backend = tokenizers.Tokenizer.from_str(file_of(name).decode())
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_object=backend)
    ours = hf.accelerate(transformers.PreTrainedTokenizerFast(tokenizer_object=backend))
    texts = texts_of(name)
    found, expected = ours(texts), theirs(texts)
    assert found.data == expected.data
    for skips in (True, False):
        assert ours.batch_decode(found["input_ids"], skips) == theirs.batch_decode(found["input_ids"], skips)
