"""`bytemill.hf` with the files of open models, beside `tokenizers` and `transformers`."""

from __future__ import annotations

from typing import Any

import pytest

from bytemill import hf
from support.encodings import UNLIKE, check
from support.open_models import LOADED, ROWS, file_of
from support.open_models.speech import CODE, SENTENCES, TRICKY

tokenizers: Any = pytest.importorskip("tokenizers")
transformers: Any = pytest.importorskip("transformers")


def texts_of(name: str) -> list[str]:
    """Returns texts for a row, with its added tokens in them."""
    contents = [token["content"] for token in ROWS[name].tokens][:12]
    return [*TRICKY[:24], *SENTENCES[:8], CODE, "".join(f"x {content}  {content}y" for content in contents)]


@pytest.mark.parametrize("name", LOADED)
def test_rows(name: str) -> None:
    file = file_of(name).decode()
    theirs, ours = tokenizers.Tokenizer.from_str(file), hf.Tokenizer.from_str(file)
    texts = texts_of(name)
    for adds in (True, False):
        batches = (
            ours.encode_batch(texts, add_special_tokens=adds),
            theirs.encode_batch(texts, add_special_tokens=adds),
        )
        for our, their in zip(*batches, strict=True):
            check(our, their, unlike=UNLIKE.get(name, ()))
            for skips in (True, False):
                assert ours.decode(their.ids, skips) == theirs.decode(their.ids, skips)
    assert ours.get_vocab() == theirs.get_vocab()
    for token_id in range(len(theirs.get_vocab()) + 3):
        assert ours.id_to_token(token_id) == theirs.id_to_token(token_id)


@pytest.mark.parametrize("name", LOADED)
def test_accelerated_rows(name: str) -> None:
    backend = tokenizers.Tokenizer.from_str(file_of(name).decode())
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_object=backend)
    ours = hf.accelerate(transformers.PreTrainedTokenizerFast(tokenizer_object=backend))
    texts = texts_of(name)
    found, expected = ours(texts), theirs(texts)
    assert found.data == expected.data
    for skips in (True, False):
        assert ours.batch_decode(found["input_ids"], skips) == theirs.batch_decode(found["input_ids"], skips)
