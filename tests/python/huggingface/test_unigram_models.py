"""Unigram, compared with `tokenizers`, and with a definition that anybody can read.

BYTEMILL_FULL=1 tries more.
"""

# ruff: noqa: FBT003, PLR0913, RUF001, S106, S311 - those of the library; characters that maps change; randomness
# that can be repeated

from __future__ import annotations

import json
import os
import random
from itertools import product
from typing import Any

import numpy as np
import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import bytemill
from bytemill import VocabularyError, hf
from bytemill._backend import NormalizerChain
from bytemill.reference import encode_unigram
from support.sentencepiece import parse, trained
from support.texts import multilingual, patchwork, random_unicode
from support.tokenizer_comparison import compare
from support.tokenizer_files import BYTE_LEVEL

transformers: Any = pytest.importorskip("transformers")

pytestmark = pytest.mark.filterwarnings("ignore")

FULL = os.environ.get("BYTEMILL_FULL") == "1"
MODELS = 4_000 if FULL else 400
GROUPS = 4
TEXTS = 12

MARK = "▁"

# Letters with and without marks, Hangul, kana, Han, white space, and what maps of characters change.
CHARACTERS = [
    *"aAéE \t\n\r▁.,-_0中가각ｶﾞＡ①㍿ﬁ½…`'\"x\x01\x7f",
    "\u0301",
    "\u0323",
    "\u00a0",
    "\u3000",
    "\u200b",
    "\u200d",
]
STRINGS = [
    *CHARACTERS,
    "\ufeff",
    "\u0600",
    "\u1112\u1161",
    "👍🏽",
    "  ",
    "\r\n",
    "<s>",
    "<unk>",
    "---",
    "``",
    " ▁",
    "the",
    "ing",
]


def unigram(
    vocab: list[tuple[str, float]],
    *,
    unknown: int | None = 0,
    byte_fallback: bool = False,
    normalizer: Any = None,
    pre_tokenizer: Any = None,
    decoder: Any = None,
    special: tuple[str, ...] = (),
) -> Tokenizer:
    """Returns a tokenizer of `tokenizers`."""
    tokenizer = Tokenizer(models.Unigram(vocab, unknown, byte_fallback))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    if decoder is not None:
        tokenizer.decoder = decoder
    tokenizer.add_special_tokens(list(special))
    return tokenizer


# --- The model ---


def random_vocab(dice: random.Random, letters: str) -> list[tuple[str, float]]:
    """Returns tokens of some letters with scores that often tie, and perhaps one twice."""
    scores = dice.choice(
        [[-1.0, -2.0], [-0.1, -0.2, -0.3], [-1.0, 0.0, 5.0, 30.0], [-3.14159, -2.71828, -1.41421]]
    )
    tokens = [
        "<unk>",
        *("".join(dice.choices(letters, k=dice.randint(1, 4))) for _ in range(dice.randint(1, 25))),
    ]
    if dice.random() < 0.8:
        tokens = list(dict.fromkeys(tokens))
    if dice.random() < 0.2:
        tokens += [f"<0x{byte:02X}>" for byte in dice.sample(range(256), dice.choice([200, 256]))]
    return [(token, dice.choice(scores)) for token in tokens]


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_vocabularies(group: int) -> None:
    for seed in range(group, MODELS, GROUPS):
        dice = random.Random(seed)
        letters = "".join(dice.sample("abcdé中😀.-", dice.randint(1, 6)))
        vocab = random_vocab(dice, letters)
        fallback = dice.random() < 0.5
        texts = ["".join(dice.choices([*letters, "x", " "], k=dice.randint(0, 14))) for _ in range(TEXTS)]
        texts += ["a<unk>b", "<unk>x", *(letter * dice.randint(20, 90) for letter in letters)]
        theirs = unigram(vocab, byte_fallback=fallback, pre_tokenizer=pre_tokenizers.WhitespaceSplit())
        encoding = compare(theirs.to_str(), texts)
        for text in texts:
            words = (encode_unigram(word, vocab, unknown=0, byte_fallback=fallback) for word in text.split())
            assert encoding.encode_ordinary(text) == [i for word in words for i in word], text


def test_of_equal_sums_the_longest_last_token_counts() -> None:
    vocab = [("<unk>", -9.0), ("a", -1.0), ("aa", -2.0), ("aaa", -3.0)]
    encoding = compare(unigram(vocab).to_str(), ["a" * size for size in range(1, 9)])
    assert encoding.encode("aaaaa") == [2, 3]


def test_unknown_text_in_a_row_is_one_token() -> None:
    vocab = [("<unk>", 0.0), ("a", -1.0), ("xy", -50.0)]
    encoding = compare(unigram(vocab).to_str(), ["axya", "xx", "axz", "<unk>x", "xyx"])
    # The two characters are unknown each, and what they are together is a token.
    assert encoding.encode("axya") == [1, 2, 1]
    assert encoding.encode("axxa") == [1, 0, 1]


def test_without_an_unknown_token() -> None:
    theirs = unigram([("a", -1.0), ("ab", -2.0), ("b", -1.5)], unknown=None)
    encoding = bytemill.Encoding.from_huggingface(theirs)
    assert encoding.encode("abab") == theirs.encode("abab").ids
    for call in (encoding.encode, encoding.count, encoding.encode_to_numpy, encoding.encode_with_offsets):
        with pytest.raises(ValueError, match="needs an unknown token"):
            call("abc")
    with pytest.raises(Exception, match="unk"):
        theirs.encode("abc")
    assert encoding.encode("ab") == theirs.encode("ab").ids


def test_added_tokens_are_numbered_from_the_length_of_the_list_on() -> None:
    # "a" is there twice, and counts twice.
    vocab = [("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("a", -3.0)]
    encoding = compare(unigram(vocab, special=("<x>", "<y>")).to_str(), ["a<x>b<y>", "<y>a"])
    assert encoding.encode("a<x>b<y>", allowed_special="all") == [3, 4, 2, 5]


# --- Scores as they are read ---


def test_scores_are_read_as_the_library_reads_them() -> None:
    dice = random.Random(1)
    vocab = [(f"t{number}", -dice.random() * 10 ** dice.randint(-3, 3)) for number in range(2000)]
    contents = unigram([("<unk>", 0.0), *vocab]).to_str()
    loaded = json.loads(Tokenizer.from_str(contents).to_str())["model"]["vocab"]
    written = json.loads(contents)["model"]["vocab"]
    ours = hf.Tokenizer.from_str(contents)
    assert json.loads(ours.to_str())["model"]["vocab"] == loaded
    # The test is of something: the library misses a good part of them by the last bit.
    assert sum(map(list.__ne__, loaded, written)) > len(vocab) // 20


def test_live_tokenizers_and_their_copies() -> None:
    # Found by search: a run of "-" is cut by the last bit of sums.
    dice = random.Random(7)
    letters = "-=_"
    differs = 0
    for _ in range(60):
        tokens = {"".join(dice.choices(letters, k=dice.randint(1, 4))) for _ in range(30)}
        vocab = [("<unk>", -20.0), *((token, -dice.random() * 12) for token in sorted(tokens))]
        live = unigram(vocab)
        copy = Tokenizer.from_str(live.to_str())
        texts = ["".join(dice.choices(letters, k=200)) for _ in range(3)] + ["-" * 150, "=-" * 90]
        expected = [[found.ids for found in each.encode_batch(texts)] for each in (live, copy)]
        differs += expected[0] != expected[1]
        for each, ids in zip((live, copy), expected, strict=True):
            theirs = transformers.PreTrainedTokenizerFast(tokenizer_object=each)
            # Without this, it has a copy that was saved and loaded.
            theirs._tokenizer = each
            assert theirs(texts)["input_ids"] == ids
            assert hf.accelerate(theirs)(texts)["input_ids"] == ids
        file = bytemill.Encoding.from_huggingface(live)
        assert file.encode_ordinary_batch(texts) == expected[1]
    # The test is of something.
    assert differs > 0


# --- Chains ---

SAMPLE = " ".join([multilingual(1, 300), patchwork(3, 2000)])


def vocabulary() -> list[tuple[str, float]]:
    """Returns tokens of words and parts of words, with scores by their length."""
    dice = random.Random(5)
    words = sorted({word for word in SAMPLE.split() if len(word) < 9})[:400]
    letters = sorted(set(SAMPLE) | {character for string in STRINGS for character in string})
    parts = {word[: dice.randint(1, 4)] for word in words} | {"---", "--", "the", "ing", "``"}
    tokens = [
        *(letter for letter in letters if dice.random() < 0.8 and letter != " "),
        *words,
        *sorted(parts),
    ]
    tokens += [MARK, *(MARK + token for token in tokens if dice.random() < 0.6 and token != MARK)]
    spelled = [f"<0x{byte:02X}>" for byte in range(256)]
    vocab = {token: -dice.random() * 14 for token in tokens} | dict.fromkeys(spelled, -20.0)
    return [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *vocab.items()]


def metaspace(scheme: str = "always", *, split: bool = True) -> Any:
    """Returns the pre-tokenizer of SentencePiece's models."""
    return pre_tokenizers.Metaspace(MARK, scheme, split)


def by_words(scheme: str = "always") -> Any:
    """Returns the pre-tokenizer of XLM-R."""
    return pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace(scheme)])


def replace(pattern: str, content: str) -> Any:
    """Returns a step of a normalizer."""
    return normalizers.Replace(Regex(pattern), content)


def precompiled() -> Any:
    """Returns a map of characters as published models have it."""
    return normalizers.Precompiled(parse(trained("nmt_nfkc")).normalizer_spec.precompiled_charsmap)


CHAINS: dict[str, Any] = {
    "XLM-R": lambda: (precompiled(), by_words()),
    "BGE-M3": lambda: (normalizers.Sequence([precompiled(), replace(" {2,}", " ")]), metaspace()),
    "DeBERTa": lambda: (
        normalizers.Sequence([normalizers.Strip(), precompiled(), replace(" {2,}", " ")]),
        metaspace(),
    ),
    "DeBERTa of transformers 5": lambda: (
        normalizers.Sequence(
            [
                normalizers.Lowercase(),
                replace(r"\s{2,}|[\n\r\t]", " "),
                normalizers.NFC(),
                normalizers.Strip(False, True),
            ]
        ),
        metaspace(),
    ),
    "ALBERT": lambda: (
        normalizers.Sequence(
            [
                normalizers.Replace("``", '"'),
                normalizers.Replace("''", '"'),
                normalizers.NFKD(),
                normalizers.StripAccents(),
                normalizers.Lowercase(),
                precompiled(),
            ]
        ),
        by_words(),
    ),
    "mBART": lambda: (None, metaspace()),
    "CamemBERT": lambda: (
        normalizers.Sequence([precompiled(), normalizers.Strip(False, True), replace(" {2,}", MARK)]),
        metaspace(),
    ),
    "T5 without legacy": lambda: (precompiled(), metaspace("first")),
    "Nmt": lambda: (normalizers.Nmt(), by_words()),
    "ruri": lambda: (None, metaspace("never", split=False)),
    "llm-jp": lambda: (
        normalizers.Sequence([replace(r"(?<!\n)^", MARK), replace(" ", MARK)]),
        None,
    ),
    "delimiter": lambda: (None, pre_tokenizers.CharDelimiterSplit("-")),
    "words alone": lambda: (None, pre_tokenizers.WhitespaceSplit()),
    "nothing": lambda: (None, None),
}


def tokenizer_of(chain: str, **options: Any) -> Tokenizer:
    """Returns the tokenizer of a chain."""
    normalizer, pre_tokenizer = CHAINS[chain]()
    return unigram(
        vocabulary(),
        byte_fallback=chain == "ruri",
        normalizer=normalizer,
        pre_tokenizer=pre_tokenizer,
        decoder=decoders.Metaspace(MARK, "never" if chain == "ruri" else "always"),
        special=("<s>", "</s>"),
        **options,
    )


@pytest.mark.parametrize("chain", CHAINS)
def test_chains(chain: str) -> None:
    theirs = tokenizer_of(chain)
    dice = random.Random(2)
    texts = ["".join(text) for text in product(STRINGS, repeat=2)]
    texts += ["".join(dice.choices(STRINGS, k=dice.randint(3, 30))) for _ in range(4000 if FULL else 600)]
    texts += [SAMPLE, random_unicode(2, 2000), *SAMPLE.split("\n")]
    compare(theirs.to_str(), texts)


@pytest.mark.parametrize("chain", ["XLM-R", "BGE-M3", "ruri"])
def test_long_texts_in_threads(chain: str) -> None:
    theirs = tokenizer_of(chain)
    encoding = bytemill.Encoding.from_huggingface(theirs)
    text = SAMPLE * (600_000 // len(SAMPLE))
    ids = theirs.encode(text).ids
    assert encoding.encode_ordinary_batch([text, text], num_threads=2) == [ids, ids]
    assert encoding.count(text) == len(ids)
    for limit in (1, 10, 1000, len(ids)):
        cut = encoding.truncate(text, limit).text
        assert text.startswith(cut)
        assert encoding.count(cut) <= limit


# --- The map of characters ---


def test_every_character_is_mapped_as_there() -> None:
    theirs, ours = (
        precompiled(),
        NormalizerChain(
            json.dumps(
                json.loads(unigram([("a", 0.0)], normalizer=precompiled()).to_str())["normalizer"]
            ).encode()
        ),
    )
    for point in range(0x110000):
        if 0xD800 <= point < 0xE000:
            continue
        for text in (chr(point), f"e{chr(point)}\u0323 "):
            assert ours.normalize(text) == theirs.normalize_str(text), text.encode("unicode_escape")


# --- What is refused ---


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": {"unk_id": 9}}, "model.unk_id: expected an id below 2"),
        ({"model": {"vocab": {"a": 0}}}, "model.vocab: invalid type: map"),
        ({"model": {"vocab": [["a"]]}}, "expected a token and its score"),
        ({"model": {"vocab": [["a", "b"]]}}, "model.vocab: invalid type: string"),
        ({"model": {"type": "BPE"}}, "model.vocab: invalid type: sequence, expected an object of ids"),
        ({"pre_tokenizer": BYTE_LEVEL}, "ByteLevel before"),
        (
            {"normalizer": {"type": "Replace", "pattern": {"Regex": r"(?<!\n)^"}, "content": "x"}},
            "normalizer: a Replace at the start",
        ),
        (
            {"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}},
            "precompiled_charsmap: .*ends inside",
        ),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}}, "precompiled_charsmap: "),
        (
            {"normalizer": {"type": "Precompiled", "precompiled_charsmap": None}},
            "precompiled_charsmap: expected",
        ),
    ],
)
def test_what_is_refused(change: dict[str, Any], message: str) -> None:
    contents = json.loads(unigram([("<unk>", 0.0), ("a", -1.0)]).to_str())
    for name, entry in change.items():
        contents[name] = contents[name] | entry if name == "model" else entry
    with pytest.raises(VocabularyError, match=message):
        hf.Tokenizer.from_str(json.dumps(contents))


# --- The rest of the library ---


def test_the_other_verbs(tmp_path: Any) -> None:
    encoding = bytemill.Encoding.from_huggingface(tokenizer_of("XLM-R"))
    text = SAMPLE[:3000]
    ids = encoding.encode(text)
    encoding.save(tmp_path / "scores.bytemill")
    assert bytemill.Encoding.from_file(tmp_path / "scores.bytemill").encode(text) == ids
    for limit in (7, 100, len(ids)):
        parts = encoding.split(text, limit)
        assert "".join(parts) == text
        assert all(encoding.count(part) <= limit for part in parts)
    stream = encoding.stream_decoder()
    assert "".join([*map(stream.push, ids), stream.flush()]) == encoding.decode(ids)
    for call in (
        encoding.merges,
        lambda: encoding.with_vocab_size(300),
        lambda: encoding.encode_with_unstable("a"),
    ):
        with pytest.raises(VocabularyError):
            call()


@pytest.mark.parametrize("chain", ["XLM-R", "DeBERTa", "ALBERT", "ruri"])
def test_accelerated_tokenizers_of_transformers(chain: str) -> None:
    theirs, ours = (
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer_of(chain), pad_token="<s>", unk_token="<unk>", eos_token="</s>"
        )
        for _ in range(2)
    )
    hf.accelerate(ours)
    texts = ["The thing, singing.", "", "Ünïcode 中文 <s> x", "a " * 40, SAMPLE[:400]]
    pairs = list(zip(texts, reversed(texts), strict=True))
    given: Any
    options: Any
    for given, options in product(
        (texts, pairs, texts[0], [text.split() for text in texts]),
        (
            {},
            {"padding": True, "return_tensors": "np"},
            {"padding": "max_length", "truncation": True, "max_length": 16, "return_tensors": "np"},
            {"return_offsets_mapping": True, "return_special_tokens_mask": True},
        ),
    ):
        in_words = isinstance(given, list) and isinstance(given[0], list)
        expected = theirs(given, is_split_into_words=in_words, **options)
        found = ours(given, is_split_into_words=in_words, **options)
        for name, values in expected.items():
            same = (
                np.array_equal(found[name], values) if "return_tensors" in options else found[name] == values
            )
            assert same, name
        for row in range(len(expected.encodings or [])):
            assert found.word_ids(row) == expected.word_ids(row)
            assert found.tokens(row) == expected.tokens(row)
    ids = theirs(texts)["input_ids"]
    assert ours.batch_decode(ids, skip_special_tokens=True) == theirs.batch_decode(
        ids, skip_special_tokens=True
    )


@pytest.mark.parametrize("is_added", [True, False])
def test_pieces_of_one_spelling(is_added: bool) -> None:  # noqa: FBT001
    vocabulary = [("<unk>", 0.0), ("a", -1.0), ("<unk>", -3.0), ("b", -1.0), ("a", -0.5)]
    theirs = Tokenizer(models.Unigram(vocabulary, unk_id=0))
    ours = hf.Tokenizer.from_str(theirs.to_str())
    for tokenizer in (theirs, ours):
        if is_added:
            tokenizer.add_special_tokens(["<unk>"])
    for with_added in (True, False):
        assert ours.get_vocab_size(with_added) == theirs.get_vocab_size(with_added)
        assert ours.get_vocab(with_added) == theirs.get_vocab(with_added)
    for place in range(len(vocabulary) + 1):
        assert ours.id_to_token(place) == theirs.id_to_token(place)
    for text in ("", "ab", "axb", "x<unk>a", "xx"):
        mine, expected = ours.encode(text), theirs.encode(text)
        assert (mine.ids, mine.tokens, mine.offsets) == (expected.ids, expected.tokens, expected.offsets)
    for skips in (True, False):
        assert ours.decode([0, 1, 2, 3, 4], skips) == theirs.decode([0, 1, 2, 3, 4], skips)


@pytest.mark.parametrize("cut", [pre_tokenizers.Metaspace(), None])
def test_truncated_texts_fit_where_a_map_drops_characters(cut: Any) -> None:
    marks = [("<unk>", 0.0), ("▁", -2.0), ("a", -1.0), ("b", -1.0), ("▁a", -1.5), ("ab", -1.7)]
    theirs = Tokenizer(models.Unigram(marks, unk_id=0))
    theirs.normalizer = normalizers.Precompiled(
        parse(trained("nmt_nfkc")).normalizer_spec.precompiled_charsmap
    )
    steps = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    theirs.pre_tokenizer = cut or pre_tokenizers.Sequence(steps)
    encoding = bytemill.Encoding.from_huggingface(theirs)
    for seed in range(60):
        dice = random.Random(seed)
        text = "".join(dice.choices("ab  \x01\x02\x1f\x7f\u200bｂ", k=dice.choice([9, 40, 700])))
        whole = encoding.count(text)
        for limit in (0, 1, 2, 3, 7, 20, whole - 1, whole):
            for side in ("right", "left"):
                found = encoding.truncate(text, max(0, limit), side=side)
                assert found.token_count == encoding.count(found.text) <= max(0, limit), (text, limit, side)
                assert text.startswith(found.text) if side == "right" else text.endswith(found.text)
        for part in encoding.split(text, 5, overlap=2):
            assert encoding.count(part) <= 5
