"""WordPiece and WordLevel beside `tokenizers`, and beside definitions that anybody can read.

BYTEMILL_FULL=1 tries more.
"""

# ruff: noqa: S311 - randomness that can be repeated

from __future__ import annotations

import json
import os
import random
from itertools import product
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, normalizers

import bytemill
from bytemill import VocabularyError, hf
from bytemill._backend import NormalizerChain
from bytemill.reference import encode_wordpiece
from support.texts import multilingual, patchwork, random_unicode
from support.tokenizer_comparison import compare

transformers: Any = pytest.importorskip("transformers")

pytestmark = pytest.mark.filterwarnings("ignore")

FULL = os.environ.get("BYTEMILL_FULL") == "1"
MODELS = 4_000 if FULL else 300
GROUPS = 4
TEXTS = 12

# Letters with and without marks, Hangul, Han, marks, punctuation, white space, and what is dropped.
CHARACTERS = [
    "a",
    "B",
    "ä",
    "é",
    "\u0301",
    "\u0323",
    "中",
    "가",
    ".",
    "#",
    "▁",
    " ",
    "\n",
    "\r",
    "\u200b",
    "\u0085",
    "İ",
    "ß",
    "\ufffd",
]

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
BERT_DECODER = {"type": "WordPiece", "prefix": "##", "cleanup": True}


def special_tokens(vocab: dict[str, int]) -> list[dict[str, Any]]:
    """Returns the entries of the special tokens that a vocabulary has."""
    flags = dict.fromkeys(("normalized", "lstrip", "rstrip", "single_word"), False)
    return [
        {"id": vocab[content], "content": content, "special": True, **flags}
        for content in SPECIAL
        if content in vocab
    ]


def bert_normalizer(
    *, lowercase: bool = True, strip_accents: bool | None = None, **flags: bool
) -> dict[str, Any]:
    """Returns the entry of BERT's normalizer."""
    flags = {"clean_text": True, "handle_chinese_chars": True, **flags}
    return {"type": "BertNormalizer", **flags, "strip_accents": strip_accents, "lowercase": lowercase}


def file(vocab: dict[str, int], **parts: Any) -> str:
    """Returns the text of a file of WordPiece as BERT has it; `parts` are entries of it, and of its model."""
    outside: dict[str, Any] = {
        "normalizer": bert_normalizer(),
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": BERT_DECODER,
    }
    outside = {name: parts.pop(name, entry) for name, entry in outside.items()}
    model = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": vocab,
        **parts,
    }
    model = {name: entry for name, entry in model.items() if entry is not ...}
    return json.dumps({"version": "1.0", "added_tokens": special_tokens(vocab), **outside, "model": model})


def level(vocab: dict[str, int], **parts: Any) -> str:
    """Returns the text of a file of WordLevel."""
    without = {"continuing_subword_prefix": ..., "max_input_chars_per_word": ...}
    return file(vocab, type="WordLevel", **without, **parts)


def numbered(tokens: list[str]) -> dict[str, int]:
    """Returns an id for each token."""
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def encoding_of(contents: str) -> bytemill.Encoding:
    """Returns the encoding of the text of a file."""
    return bytemill.Encoding.from_huggingface(Tokenizer.from_str(contents))


# --- The model ---


def random_vocab(dice: random.Random, letters: str, prefix: str) -> dict[str, int]:
    """Returns a vocabulary of words and parts of some letters, ids in any order, perhaps with holes."""
    words = {"".join(dice.choices(letters, k=dice.randint(1, 5))) for _ in range(dice.randint(1, 25))}
    parts = {
        prefix + "".join(dice.choices(letters, k=dice.randint(1, 4))) for _ in range(dice.randint(0, 25))
    }
    odd = dice.sample([prefix, "#", "##", "###a", "", "[MASK]", "[CLS]"], dice.randint(0, 3))
    tokens = list(dict.fromkeys([*sorted(words), *sorted(parts), *odd, "[UNK]"]))
    dice.shuffle(tokens)
    numbers = dice.sample(range(len(tokens) * 2), len(tokens)) if dice.random() < 0.3 else range(len(tokens))
    return dict(zip(tokens, numbers, strict=True))


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_vocabularies(group: int) -> None:
    for seed in range(group, MODELS, GROUPS):
        dice = random.Random(seed)
        letters = "".join(dice.sample("abcdé中😀#.", dice.randint(1, 6)))
        prefix = dice.choice(["##", "##", "", "a", "é", "@@"])
        longest = dice.choice([0, 1, 3, 5, 100, 10**6])
        vocab = random_vocab(dice, letters, prefix)
        texts = ["".join(dice.choices(letters + "x ", k=dice.randint(0, 14))) for _ in range(TEXTS)]
        contents = file(
            vocab,
            continuing_subword_prefix=prefix,
            max_input_chars_per_word=longest,
            normalizer=None,
            pre_tokenizer={"type": "WhitespaceSplit"},
            decoder=BERT_DECODER | {"prefix": prefix},
        )
        encoding = compare(contents, texts)
        for text in texts:
            words = (encode_wordpiece(word, vocab, prefix=prefix, longest=longest) for word in text.split())
            # Special tokens are found in text before words are.
            if "[" not in text:
                assert encoding.encode_ordinary(text) == [i for word in words for i in word], text


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_vocabularies_of_words(group: int) -> None:
    for seed in range(group, MODELS, GROUPS):
        dice = random.Random(seed)
        letters = "".join(dice.sample("abcé中. ", dice.randint(1, 5)))
        vocab = random_vocab(dice, letters, "")
        splits = dice.choice(["WhitespaceSplit", "Whitespace", "BertPreTokenizer", None])
        texts = ["".join(dice.choices(letters + "x ", k=dice.randint(0, 14))) for _ in range(TEXTS)]
        decoder = dice.choice([None, {"type": "Fuse"}])
        splitter = splits and {"type": splits}
        compare(level(vocab, normalizer=None, pre_tokenizer=splitter, decoder=decoder), texts)


def test_a_word_is_the_longest_tokens_from_left_to_right() -> None:
    vocab = numbered(["[UNK]", "ab", "a", "##c", "##bcd", "##x", "##", "abc"])
    encoding = encoding_of(file(vocab, pre_tokenizer={"type": "WhitespaceSplit"}))
    names = {number: token for token, number in vocab.items()}
    found = {
        text: [names[i] for i in encoding.encode(text)] for text in ("abc", "abcc", "abcd", "##x", "ax", "x")
    }
    assert found == {
        "abc": ["abc"],
        "abcc": ["abc", "##c"],
        # "a" and "##bcd" would be there, but nothing goes back.
        "abcd": ["[UNK]"],
        # At the start, a token is as it is spelled.
        "##x": ["##x"],
        "ax": ["a", "##x"],
        "x": ["[UNK]"],
    }


def test_long_words_are_unknown() -> None:
    vocab = numbered(["[UNK]", "a", "##a", "é", "##é"])
    contents = file(vocab, normalizer=None, max_input_chars_per_word=3)
    # Characters count, not bytes.
    assert compare(contents, ["aaa", "aaaa", "ééé", "éééé"]).encode("ééé") == [3, 4, 4]
    compare(file(vocab), ["a" * size for size in (99, 100, 101, 5000)])


@pytest.mark.parametrize("make", [file, level])
def test_without_an_unknown_token(make: Any, tmp_path: Any) -> None:
    contents = make(numbered(["a", "b"]))
    theirs = Tokenizer.from_str(contents)
    encoding = bytemill.Encoding.from_huggingface(theirs)
    assert encoding.encode("a b") == theirs.encode("a b").ids == [0, 1]
    for call in (encoding.encode, encoding.count, encoding.encode_to_numpy, encoding.encode_with_offsets):
        with pytest.raises(ValueError, match=r"needs the unknown token '?\"?\[UNK\]"):
            call("a c")
    with pytest.raises(Exception, match="UNK"):
        theirs.encode("a c")
    # Nothing of a failed call stays behind.
    assert encoding.encode("a b") == [0, 1]
    # Writers try texts that have no tokens.
    encoding.save(tmp_path / "words.bytemill")
    encoding.save_huggingface(tmp_path)
    for name in ("words.bytemill", "tokenizer.json"):
        read = bytemill.Encoding.from_file(tmp_path / name)
        assert read.encode("a b") == [0, 1]
        with pytest.raises(ValueError, match="needs the unknown token"):
            read.encode("a c")


# --- The normalizer ---


def every_character() -> list[str]:
    """Returns every character of Unicode."""
    return [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]


OPTIONS = [
    bert_normalizer(),
    bert_normalizer(lowercase=False),
    bert_normalizer(lowercase=False, strip_accents=True),
    bert_normalizer(lowercase=True, strip_accents=False),
    bert_normalizer(clean_text=False, handle_chinese_chars=False),
]


@pytest.mark.parametrize("options", OPTIONS)
def test_every_character_is_normalized_as_there(options: dict[str, Any]) -> None:
    theirs = normalizers.BertNormalizer(**{name: value for name, value in options.items() if name != "type"})
    ours = NormalizerChain(json.dumps(options).encode())
    for character in every_character():
        # Alone, and where letters and marks stand around it.
        for text in (character, f"e{character}\u0323 "):
            assert ours.normalize(text) == theirs.normalize_str(text), text.encode("unicode_escape")


@pytest.mark.parametrize("options", OPTIONS)
def test_short_texts_of_all_kinds(options: dict[str, Any]) -> None:
    tokens = [
        "[UNK]",
        *CHARACTERS,
        *(f"##{c}" for c in CHARACTERS),
        "ae",
        "##ie",
        "aa",
        "##aa",
        "e",
        "##e",
        "ss",
    ]
    contents = file(numbered([token for token in tokens if token.strip()]), normalizer=options)
    for size in range(4 if FULL else 3):
        compare(contents, ["".join(text) for text in product(CHARACTERS, repeat=size)])
    dice = random.Random(1)
    compare(contents, ["".join(dice.choices(CHARACTERS, k=dice.randint(4, 30))) for _ in range(1000)])


def test_texts_of_all_scripts() -> None:
    texts = [
        multilingual(1, 400),
        random_unicode(2, 2000),
        patchwork(3, 3000),
        "[CLS] typed [SEP]",
        "a[MASK]b",
    ]
    words = sorted({word.lower() for text in texts for word in text.split() if len(word) < 9})
    letters = sorted({character for text in texts for character in text.lower() if not character.isspace()})
    tokens = [*SPECIAL, *words[::2], *letters[::3], *(f"##{letter}" for letter in letters)]
    for options in OPTIONS:
        compare(file(numbered(tokens), normalizer=options), texts)


# --- The decoder ---


@pytest.mark.parametrize("cleanup", [True, False])
@pytest.mark.parametrize(
    "before", [[], [{"type": "Fuse"}], [{"type": "Replace", "pattern": {"String": "a"}, "content": " ."}]]
)
def test_decoder(before: list[dict[str, Any]], cleanup: bool) -> None:  # noqa: FBT001
    tokens = [
        "[UNK]",
        ".",
        "?",
        "!",
        ",",
        "'",
        "n't",
        "'m",
        "do",
        "not",
        "'s",
        "'ve",
        "'re",
        "##s",
        "##",
        "a",
        " ",
        "' ",
        "##.",
        "t",
        "##'s",
    ]
    decoder = {"type": "Sequence", "decoders": [*before, BERT_DECODER | {"cleanup": cleanup}]}
    contents = level(numbered(tokens), decoder=decoder)
    theirs = Tokenizer.from_str(contents)
    ours, encoding = hf.Tokenizer.from_str(contents), bytemill.Encoding.from_huggingface(theirs)
    dice = random.Random(2)
    for _ in range(3000 if FULL else 600):
        ids = dice.choices(range(len(tokens)), k=dice.randint(0, 9))
        expected = theirs.decode(ids)
        assert ours.decode(ids) == expected, ids
        streamed, stream = "", encoding.stream_decoder()
        for token in ids:
            streamed += stream.push([token])
        assert streamed + stream.flush() == theirs.decode(ids, skip_special_tokens=False), ids


def test_streams_of_ids_are_those_of_the_library() -> None:
    vocab = numbered([*SPECIAL, "do", "not", "##s", "'", "s", ".", "中"])
    contents = file(vocab)
    theirs, ours = decoders.DecodeStream(), hf.DecodeStream()
    their_tokenizer, our_tokenizer = Tokenizer.from_str(contents), hf.Tokenizer.from_str(contents)
    dice = random.Random(3)
    for token in dice.choices(range(len(vocab)), k=300):
        assert ours.step(our_tokenizer, token) == theirs.step(their_tokenizer, token)


# --- What a file may be ---


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"type": ...}, "WordPiece"),
        ({"type": ..., "continuing_subword_prefix": ...}, "WordLevel"),
        ({"type": ..., "continuing_subword_prefix": ..., "max_input_chars_per_word": ...}, "WordLevel"),
    ],
)
def test_files_without_a_type(fields: dict[str, Any], kind: str) -> None:
    contents = file(numbered(["[UNK]", "a", "##b", "ab"]), **fields)
    assert type(Tokenizer.from_str(contents).model).__name__ == kind
    compare(contents, ["a ab abb", "b"])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"unk_token": ...}, "model.unk_token: expected a string, got null"),
        ({"unk_token": 1}, "model.unk_token: expected a string"),
        ({"continuing_subword_prefix": ...}, "model.continuing_subword_prefix: expected a string"),
        ({"max_input_chars_per_word": ...}, "model.max_input_chars_per_word: expected a number"),
        ({"max_input_chars_per_word": -1}, "model.max_input_chars_per_word: expected a number"),
        ({"max_input_chars_per_word": 1.5}, "model.max_input_chars_per_word: expected a number"),
        ({"vocab": ["a"]}, "model.vocab"),
        ({"vocab": {"a": -1}}, "model.vocab"),
    ],
)
def test_malformed_models(fields: dict[str, Any], message: str) -> None:
    contents = file(**({"vocab": {"[UNK]": 0}} | fields))
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever it is
        Tokenizer.from_str(contents)
    with pytest.raises(VocabularyError, match=message):
        hf.Tokenizer.from_str(contents)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"vocab": {"[UNK]": 0, "a": 0}}, "have the same id 0"),
        ({"vocab": {}}, "expected at least one token"),
        ({"type": "Unigram"}, "model.vocab: invalid type: map"),
        (
            {
                "pre_tokenizer": {
                    "type": "ByteLevel",
                    "add_prefix_space": False,
                    "trim_offsets": True,
                    "use_regex": True,
                }
            },
            "ByteLevel before a model of words",
        ),
    ],
)
def test_what_is_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        hf.Tokenizer.from_str(file(parts.pop("vocab", {"[UNK]": 0}), **parts))


# --- The rest of the library ---


@pytest.fixture(scope="module")
def encoding() -> bytemill.Encoding:
    tokens = [
        *SPECIAL,
        *"abcdefghijklmnopqrstuvwxyz",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
        "the",
        "##ing",
        ".",
        ",",
    ]
    return encoding_of(file(numbered(tokens)))


def test_truncating_and_splitting(encoding: bytemill.Encoding) -> None:
    text = "The thing, singing. " * 30
    count = encoding.count(text)
    for limit in (1, 2, 7, 50, count):
        cut = encoding.truncate(text, limit).text
        assert text.startswith(cut)
        assert encoding.count(cut) <= limit
        parts = encoding.split(text, limit)
        assert "".join(parts) == text
        assert all(encoding.count(part) <= limit for part in parts)
    assert encoding.truncate(text, count).text == text


def test_files_of_the_library(encoding: bytemill.Encoding, tmp_path: Any) -> None:
    encoding.save(tmp_path / "words.bytemill")
    again = bytemill.Encoding.from_file(tmp_path / "words.bytemill")
    text = "The thing sings, singing."
    assert again.encode(text) == encoding.encode(text)
    assert again.decode(again.encode(text)) == "the thing sings, singing."
    assert encoding.decode_single_token_bytes(encoding.encode("xing")[1]) == b"##ing"


def test_long_texts_in_threads(encoding: bytemill.Encoding) -> None:
    text = "".join(f"thing {number} sings. " for number in range(40_000))
    ids = encoding.encode_to_numpy(text)
    lines = text.split(". ")
    values, _ = encoding.encode_batch_to_numpy([line + ". " for line in lines[:-1]], num_threads=2)
    assert np.array_equal(values, ids)
    assert encoding.count(text) == len(ids)


def test_what_only_byte_pair_encoding_has(encoding: bytemill.Encoding) -> None:
    for call in (
        encoding.merges,
        lambda: encoding.with_vocab_size(300),
        lambda: encoding.encode_with_unstable("a"),
    ):
        with pytest.raises(VocabularyError):
            call()


# --- transformers ---

TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ],
    "pair": [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
        {"Sequence": {"id": "B", "type_id": 1}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
    ],
    "special_tokens": {
        name: {"id": name, "ids": [i], "tokens": [name]} for name, i in (("[CLS]", 2), ("[SEP]", 3))
    },
}
BERT = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
ROBERTA = {
    "type": "RobertaProcessing",
    "sep": ["[SEP]", 3],
    "cls": ["[CLS]", 2],
    "trim_offsets": True,
    "add_prefix_space": False,
}


@pytest.mark.parametrize("processor", [TEMPLATE, BERT, ROBERTA])
def test_accelerated_tokenizers_of_transformers(processor: dict[str, Any]) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    tokens = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters), "the", "##ing", ".", ",", "中"]
    contents = file(numbered(tokens), post_processor=processor)
    names = dict(
        zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True)
    )
    theirs, ours = (
        transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(contents), **names)
        for _ in range(2)
    )
    hf.accelerate(ours)
    texts = ["The thing, singing.", "", "Ünïcode 中文 [MASK] x", "a " * 40]
    pairs = list(zip(texts, reversed(texts), strict=True))
    given: Any
    options: Any
    for given, options in product(
        (texts, pairs, texts[0], [text.split() for text in texts]),
        (
            {},
            {"padding": True, "return_tensors": "np"},
            {"padding": "max_length", "truncation": True, "max_length": 16, "return_tensors": "np"},
            {"truncation": True, "max_length": 12, "return_overflowing_tokens": True, "stride": 2},
            {"return_offsets_mapping": True, "return_special_tokens_mask": True},
            {"add_special_tokens": False},
        ),
    ):
        in_words = isinstance(given, list) and isinstance(given[0], list)
        expected = theirs(given, is_split_into_words=in_words, **options)
        found = ours(given, is_split_into_words=in_words, **options)
        assert found.keys() == expected.keys()
        is_array = "return_tensors" in options
        for name, values in expected.items():
            same = np.array_equal(found[name], values) if is_array else found[name] == values
            assert same, name
        for row in range(len(expected.encodings or [])):
            assert found.word_ids(row) == expected.word_ids(row)
    ids = theirs(texts)["input_ids"]
    assert ours.batch_decode(ids) == theirs.batch_decode(ids)
    assert ours.batch_decode(ids, skip_special_tokens=True) == theirs.batch_decode(
        ids, skip_special_tokens=True
    )
    assert "_encode_plus" in vars(type(ours).__mro__[1])
