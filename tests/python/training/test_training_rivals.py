"""The same merges as other trainers, as far as they are installed, on random corpora and on real text."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import json
import random
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from tiktoken import _educational

import bytemill
from bytemill.formats.data_gym import token_bytes
from bytemill.patterns import CL100K_PATTERN, MINBPE_GPT4_PATTERN
from bytemill.training import TieBreak

Merge = tuple[bytes, bytes]

WORDS = r"[^ ]+"


def random_text(rng: random.Random) -> str:
    """Words of a few symbols, with runs."""
    alphabet = rng.choice(["ab", "abc", "ab!\u00e9", "\u00e9\u00ea~aZ", "abcdefghij"])
    words = []
    for _ in range(rng.randint(1, 12)):
        word = "".join(rng.choices(alphabet, k=rng.randint(1, 12)))
        word += rng.choice(alphabet) * rng.choice([0, 0, 2, 3, 8])
        words += [word] * rng.randint(1, 4)
    rng.shuffle(words)
    return " ".join(words)


def real_text() -> str:
    """Some of the source of this Python installation."""
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:60]
    return "".join(path.read_text(encoding="utf-8") for path in paths)


def ours(text: str, vocab_size: int, pattern: str, tie_break: TieBreak) -> bytemill.Encoding:
    """The same as far as there are pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        return bytemill.train([text], vocab_size, pattern=pattern, tie_break=tie_break, progress=False)


def tokens(encoding: bytemill.Encoding) -> list[bytes]:
    return list(encoding.vocab().values())


def cases(real_size: int) -> list[tuple[str, int, str, str]]:
    """(text, size, pattern, spelling without possessive repetitions of counts)."""
    rng = random.Random(5)
    small = [(random_text(rng), 256 + rng.randint(1, 25), WORDS, WORDS) for _ in range(150)]
    return [*small, (real_text(), real_size, CL100K_PATTERN, MINBPE_GPT4_PATTERN)]


def test_tiktokens_educational_trainer() -> None:
    for text, size, pattern, _ in cases(256)[:-1]:
        encoding = ours(text, size, pattern, "first_seen")
        theirs = _educational.bpe_train(text, encoding.n_vocab, pattern, visualise=None)
        assert theirs == encoding._mergeable_ranks


def test_rustbpe() -> None:
    rustbpe = pytest.importorskip("rustbpe")
    for text, size, pattern, spelling in cases(8_000):
        theirs = rustbpe.Tokenizer()
        theirs.train_from_iterator([text], size, pattern=spelling)
        expected = [bytes(token) for token, _ in theirs.get_mergeable_ranks()]
        assert tokens(ours(text, size, pattern, "smallest_pair")) == expected


def test_bpeasy() -> None:
    bpeasy = pytest.importorskip("bpeasy")
    for text, size, pattern, spelling in cases(8_000):
        ranks = bpeasy.train_bpe(iter([text]), spelling, 1 << 30, size)
        assert ours(text, size, pattern, "smallest_pair")._mergeable_ranks == ranks


@pytest.mark.parametrize(
    ("tie_break", "theirs"), [("greatest_bytes", "largest_content"), ("smallest_pair", "smallest_pair_id")]
)
def test_ffbpe(tie_break: TieBreak, theirs: str) -> None:
    ffbpe = pytest.importorskip("ffbpe")
    for text, size, pattern, _ in cases(8_000):
        encoding = ours(text, size, pattern, tie_break)
        counter = ffbpe.PreTokenizer([], pat_str=pattern).word_counter()
        counter.add_text(text)
        trainer = ffbpe.BpeTrainer([], initial_alphabet="raw", tie_break=theirs)
        trainer.add_word_counter(counter)
        trainer.init_training()
        trainer.train(size)
        vocabulary = trainer.validate_model().vocab
        assert tokens(encoding) == sorted(vocabulary, key=vocabulary.__getitem__)


def huggingface_merges(
    text: str, size: int, pattern: str, min_frequency: int, longest: int | None
) -> list[Merge]:
    tokenizers: Any = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "removed", invert=True)
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([split, byte_level])
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=min_frequency,
        # There, tokens are shorter than that.
        max_token_length=None if longest is None else longest + 1,
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator([text], trainer)
    pairs = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(token_bytes(left), token_bytes(right)) for left, right in pairs]


def test_huggingface() -> None:
    for text, size, pattern, spelling in cases(8_000):
        for min_frequency, longest in ((0, None), (3, None), (0, 2), (0, 5)):
            expected = huggingface_merges(text, size, spelling, min_frequency, longest)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("warnings.warn", lambda *_, **__: None)
                encoding = bytemill.train(
                    [text],
                    size,
                    pattern=pattern,
                    tie_break="huggingface",
                    min_frequency=min_frequency,
                    max_token_length=longest,
                    progress=False,
                )
            vocab = encoding.vocab()
            assert [(vocab[left], vocab[right]) for left, right in encoding.merges()] == expected
