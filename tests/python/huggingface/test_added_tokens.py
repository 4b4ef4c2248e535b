"""Added tokens: their flags, both phases, and the offsets of what they take, compared with `tokenizers`."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from bytemill import Encoding
from bytemill.errors import VocabularyError

SEEDS = 150
TEXTS = 25

# Blanks, of which U+001C is none; letters that normalizers change; characters of words that are no letters.
ALPHABET = [
    " ",
    " ",
    "\t",
    "\n",
    "\u00a0",
    "\u3000",
    "\x1c",
    *"abAB<>.,_1",
    "é",
    "e\u0301",
    "ﬁ",
    "İ",
    "中",
    "▁",
]


def bytes_model() -> models.BPE:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merged = ["ab", "Ġa", "Ġab", "ĠĠ", "<a", "Ã©"]
    pairs = [("a", "b"), ("Ġ", "a"), ("Ġa", "b"), ("Ġ", "Ġ"), ("<", "a"), ("Ã", "©")]
    return models.BPE(vocab={token: place for place, token in enumerate(letters + merged)}, merges=pairs)


def characters_model(draw: random.Random) -> models.BPE:
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    letters = [*"abAB<>._", "▁", "é", "中"]
    merged = ["ab", "▁a", "▁ab", "▁▁", "<a"]
    pairs = [("a", "b"), ("▁", "a"), ("▁a", "b"), ("▁", "▁"), ("<", "a")]
    fallback = draw.random() < 0.6
    tokens = ["<unk>", *(byte_tokens if fallback else []), *letters, *merged]
    return models.BPE(
        vocab={token: place for place, token in enumerate(tokens)},
        merges=pairs,
        unk_token="<unk>",  # noqa: S106 - a token of text
        fuse_unk=draw.random() < 0.5,
        byte_fallback=fallback,
    )


def parts(draw: random.Random) -> tuple[models.BPE, Any, Any]:
    """Returns a model with a normalizer and a pre-tokenizer that go with it."""
    normalizer: Any
    pre_tokenizer: Any
    if draw.random() < 0.5:
        normalizer = draw.choice(
            [
                None,
                normalizers.NFC(),
                normalizers.NFKC(),
                normalizers.Lowercase(),
                normalizers.Strip(),
                normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase()]),
                normalizers.Replace("a", "bb"),
                normalizers.Prepend("<"),
            ]
        )
        prefix = draw.random() < 0.3
        return bytes_model(), normalizer, pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    normalizer, pre_tokenizer = draw.choice(
        [
            (normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), None),
            (normalizers.Replace(" ", "▁"), None),
            (None, pre_tokenizers.Metaspace("▁", "first", split=False)),
            (None, pre_tokenizers.Metaspace("▁", "always", split=False)),
            (None, pre_tokenizers.Metaspace("▁", "never", split=False)),
        ]
    )
    return characters_model(draw), normalizer, pre_tokenizer


def word(draw: random.Random, length: int) -> str:
    return "".join(draw.choice(ALPHABET) for _ in range(draw.randint(1, length)))


def is_predictable(tokenizer: Tokenizer, tokens: list[AddedToken]) -> bool:
    """Returns whether `tokenizers` always finds the same tokens.

    Normalized text has each once, and none of blanks alone ends before it starts.
    """
    normalizer: Any = tokenizer.normalizer
    seen = set()
    for token in tokens:
        content = token.content
        if token.normalized and normalizer is not None:
            content = normalizer.normalize_str(content)
        if not content or (token.normalized, content) in seen:
            return False
        seen.add((token.normalized, content))
        if token.lstrip and not token.rstrip and not content.strip():
            return False
    return True


def tokenizers_and_texts(seeds: range) -> Iterator[tuple[Tokenizer, list[AddedToken], list[str]]]:
    for seed in seeds:
        draw = random.Random(seed)  # noqa: S311 - for tests
        model, normalizer, pre_tokenizer = parts(draw)
        tokenizer = Tokenizer(model)
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        if pre_tokenizer is not None:
            tokenizer.pre_tokenizer = pre_tokenizer
        contents = sorted({word(draw, 3) for _ in range(draw.randint(1, 6))})
        draw.shuffle(contents)
        tokens = [
            AddedToken(
                content,
                special=draw.random() < 0.4,
                normalized=draw.random() < 0.5,
                lstrip=draw.random() < 0.4,
                rstrip=draw.random() < 0.4,
                single_word=draw.random() < 0.4,
            )
            for content in contents
        ]
        if not is_predictable(tokenizer, tokens):
            continue
        tokenizer.add_tokens(tokens)
        texts = []
        for _ in range(TEXTS):
            some = [
                draw.choice(contents) if draw.random() < 0.4 else word(draw, 2)
                for _ in range(draw.randint(0, 9))
            ]
            texts.append("".join(some))
        yield tokenizer, tokens, texts


def describe(tokenizer: Tokenizer, tokens: list[AddedToken], text: str) -> str:
    return f"{text!r} with {tokens} by {tokenizer.normalizer}, {tokenizer.pre_tokenizer}, {tokenizer.model}"


@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_ids_and_offsets_are_those_of_the_original(first: int) -> None:
    compared = 0
    for tokenizer, tokens, texts in tokenizers_and_texts(range(first, first + 50)):
        ours = Encoding.from_huggingface(tokenizer)
        expected_all, expected_ordinary = [], []
        for text in texts:
            tokenizer.encode_special_tokens = False
            expected = tokenizer.encode(text, add_special_tokens=False)
            expected_all.append(expected.ids)
            told = describe(tokenizer, tokens, text)
            assert ours.encode(text, allowed_special="all") == expected.ids, told
            found = ours.encode_with_offsets(text, allowed_special="all")
            assert found.ids.tolist() == expected.ids, told
            assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == expected.offsets, (
                told
            )
            tokenizer.encode_special_tokens = True
            ordinary = tokenizer.encode(text, add_special_tokens=False)
            expected_ordinary.append(ordinary.ids)
            assert ours.encode_ordinary(text) == ordinary.ids, told
            assert ours.count(text) == len(ordinary.ids), told
            compared += 1
        assert ours.encode_batch(texts, allowed_special="all", num_threads=2) == expected_all
        assert ours.encode_ordinary_batch(texts, num_threads=2) == expected_ordinary
    assert compared > 500


@pytest.mark.parametrize("first", range(0, 60, 30))
def test_all_verbs_agree(first: int) -> None:
    for tokenizer, tokens, texts in tokenizers_and_texts(range(first, first + 30)):
        ours = Encoding.from_huggingface(tokenizer)
        ordinary = [ours.encode_ordinary(text) for text in texts]
        flat, offsets = ours.encode_batch_to_numpy(texts, disallowed_special=(), num_threads=2)
        assert flat.tolist() == list(itertools.chain(*ordinary)), tokens
        assert offsets.tolist()[1:] == np.cumsum([len(ids) for ids in ordinary]).tolist(), tokens
        assert ours.count_batch(texts).tolist() == [len(ids) for ids in ordinary], tokens
        for text, ids in zip(texts, ordinary, strict=True):
            told = describe(tokenizer, tokens, text)
            assert ours.encode_bytes(text.encode()) == ids, told
            assert ours.encode_ordinary_to_numpy(text).tolist() == ids, told
            assert ours.count_till_limit(text, max(len(ids), 1)) == len(ids), told
            if len(ids) > 1:
                assert ours.count_till_limit(text, len(ids) - 1) is None, told
            longest = max((ours.count(character) for character in text), default=1)
            for limit in (longest, longest + 3):
                shortened = ours.truncate(text, limit)
                assert text.startswith(shortened.text), told
                assert ours.count(shortened.text) == shortened.token_count <= limit, told
                assert "".join(ours.split(text, limit)) == text, told


def test_bytes_that_are_no_text() -> None:
    tokenizer = Tokenizer(bytes_model())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_tokens([AddedToken("<x>", rstrip=True)])
    ours = Encoding.from_huggingface(tokenizer)
    assert ours.encode_bytes(b"a\xff<x>  b\xe4\xb8") == ours.encode("a\ufffd<x>  b\ufffd\ufffd")


def test_what_would_be_found_at_random_is_refused() -> None:
    for tokens, reason in (
        ([AddedToken("A", normalized=True), AddedToken("a", normalized=True)], "same after normalization"),
        (
            [AddedToken("a", rstrip=True, normalized=False), AddedToken(" ", lstrip=True, normalized=False)],
            "blank",
        ),
        ([AddedToken("\u0301", normalized=True)], "nothing is left"),
    ):
        tokenizer = Tokenizer(bytes_model())
        tokenizer.normalizer = normalizers.Sequence([normalizers.StripAccents(), normalizers.Lowercase()])
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.add_tokens(tokens)
        with pytest.raises(VocabularyError, match=reason):
            Encoding.from_huggingface(tokenizer)
