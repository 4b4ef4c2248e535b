"""Vocabularies that packages carry as ranks: those of Whisper, in the package openai-whisper.

The package brings PyTorch, so that it is no part of what develops this library: where it is missing, the
tests are skipped.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import tiktoken
from tiktoken.load import load_tiktoken_bpe
from tokenizers import Tokenizer

import bytemill
from bytemill.patterns import GPT2_PATTERN
from support.open_models.speech import CODE, SENTENCES, TRICKY
from support.texts import installation_files, multilingual, random_unicode


def asset(name: str) -> Path:
    """Returns a file of the package openai-whisper."""
    spec = importlib.util.find_spec("whisper")
    if spec is None or spec.origin is None:
        pytest.skip("openai-whisper is not installed")
    return Path(spec.origin).parent / "assets" / name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["gpt2", "multilingual"])
def test_whisper(name: str, tmp_path: Path) -> None:
    file = asset(f"{name}.tiktoken")
    ranks = load_tiktoken_bpe(str(file))
    if b"" in ranks:
        # A token of no bytes, which no text becomes.
        with pytest.raises(bytemill.VocabularyError, match="line 50257: expected a token of at least"):
            bytemill.Encoding.from_file(file, pattern="gpt2")
        del ranks[b""]
    ours = bytemill.Encoding(name, pat_str=GPT2_PATTERN, mergeable_ranks=ranks, special_tokens={})
    theirs = tiktoken.Encoding(name, pat_str=GPT2_PATTERN, mergeable_ranks=ranks, special_tokens={})
    texts = [*TRICKY, *SENTENCES, CODE, multilingual(3, 2000), random_unicode(4, 2000)]
    texts += [text for _, text in installation_files(500_000)]
    expected = theirs.encode_ordinary_batch(texts)
    assert ours.encode_ordinary_batch(texts) == expected
    assert ours.decode_batch(expected) == theirs.decode_batch(expected)
    ours.save_huggingface(tmp_path)
    written = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert [found.ids for found in written.encode_batch(texts)] == expected
