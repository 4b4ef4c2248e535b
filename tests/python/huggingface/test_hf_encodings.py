"""Encodings of `bytemill.hf`: all that `tokenizers.Encoding` does, for pairs, words and post-processors."""

# ruff: noqa: S301, S311 - what this test pickled itself; randomness that can be repeated

from __future__ import annotations

import asyncio
import itertools
import json
import os
import pickle
import random
import zlib
from typing import Any

import pytest

import bytemill
from bytemill import hf
from support.encodings import UNLIKE, check
from support.open_models import LOADED, file_of
from support.open_models.speech import SENTENCES, TRICKY
from support.outcomes import outcome
from support.toy_tokenizers import PROCESSORS, TEXTS, byte_level

tokenizers: Any = pytest.importorskip("tokenizers")

FULL = os.environ.get("BYTEMILL_FULL") == "1"

# What is in one library and not in the other, and why: the page on Hugging Face's files says so too.
ABSENT_IN_TOKENIZER = {
    "model": "a tokenizer is read as a whole",
    "normalizer": "a tokenizer is read as a whole",
    "pre_tokenizer": "a tokenizer is read as a whole",
    "post_processor": "a tokenizer is read as a whole",
    "decoder": "a tokenizer is read as a whole",
    "train": "`bytemill.train` trains",
    "train_from_iterator": "`bytemill.train` trains",
}
OUR_OWN_IN_ENCODED = {"layout"}


def public(kind: type) -> set[str]:
    """Returns the public names of a class."""
    return {name for name in dir(kind) if not name.startswith("_")}


def test_every_name_is_there() -> None:
    ours, theirs = public(hf.Tokenizer), public(tokenizers.Tokenizer)
    assert theirs - ours == set(ABSENT_IN_TOKENIZER)
    assert ours <= theirs | {"encode_batch_padded", "encode_special_tokens"}
    assert public(hf.Encoded) - OUR_OWN_IN_ENCODED == public(tokenizers.Encoding)
    assert public(type(hf.AddedToken("a"))) - {"of", "entry"} | {"content"} == public(tokenizers.AddedToken)
    assert public(hf.DecodeStream) == public(tokenizers.decoders.DecodeStream)


def both(processor: Any = "template") -> tuple[Any, hf.Tokenizer]:
    """Returns a tokenizer of `tokenizers` and ours, with a post-processor or the entry of one."""
    if isinstance(processor, str):
        theirs = byte_level(processor)
    else:
        file = json.loads(byte_level("none").to_str()) | {"post_processor": processor}
        theirs = tokenizers.Tokenizer.from_str(json.dumps(file))
    return theirs, hf.Tokenizer.from_str(theirs.to_str())


def entry(processor: str) -> Any:
    """Returns the entry of a post-processor in a file."""
    return json.loads(byte_level(processor).to_str())["post_processor"]


CHAINED = [("trims", "roberta"), ("roberta", "template"), ("bert", "roberta"), ("template", "trims")]
CHAINED += [("template", "roberta"), ("two_tokens", "bert"), ("bert", "byte_level")]
ALL_PROCESSORS: dict[str, Any] = {name: entry(name) for name in PROCESSORS} | {
    f"{first}, {second}": {"type": "Sequence", "processors": [entry(first), entry(second)]}
    for first, second in CHAINED
}
every_processor = pytest.mark.parametrize("processor", ALL_PROCESSORS)

PAIRS = [("a b", "c d"), ("", "x"), ("x", ""), (" Hello  there", "you<s> "), (TEXTS[4], TEXTS[3]), ("", "")]


@every_processor
def test_pairs(processor: str) -> None:
    theirs, ours = both(ALL_PROCESSORS[processor])
    for adds in (True, False):
        for pair in PAIRS:
            check(ours.encode(*pair, add_special_tokens=adds), theirs.encode(*pair, add_special_tokens=adds))
        mixed: list[Any] = [*PAIRS, *TEXTS[:5], [*PAIRS[3]]]
        batches = zip(
            ours.encode_batch(mixed, add_special_tokens=adds),
            theirs.encode_batch(mixed, add_special_tokens=adds),
            strict=True,
        )
        for our, their in batches:
            check(our, their)
    for is_pair in (True, False):
        assert ours.num_special_tokens_to_add(is_pair) == theirs.num_special_tokens_to_add(is_pair)


WORDS = [["Hello", " you", "x y"], [], [""], ["a", "", " b<s>c"], ["世界", "😀e\u0301"]]


@every_processor
def test_words(processor: str) -> None:
    theirs, ours = both(ALL_PROCESSORS[processor])
    for adds in (True, False):
        options: dict[str, Any] = {"is_pretokenized": True, "add_special_tokens": adds}
        for words in WORDS:
            check(ours.encode(words, **options), theirs.encode(words, **options))
            check(ours.encode(tuple(words), WORDS[0], **options), theirs.encode(words, WORDS[0], **options))
        mixed: list[Any] = [*WORDS, (WORDS[0], WORDS[3]), ("a", "b")]
        for our, their in zip(
            ours.encode_batch(mixed, **options), theirs.encode_batch(mixed, **options), strict=True
        ):
            check(our, their)


def is_certain(encoded: hf.Encoded) -> bool:
    """Returns whether tokens are of one text: of several, the original takes any by chance."""
    ranges = sorted(encoded.layout.ranges.values())
    return all(end <= start for (_, end), (start, _) in itertools.pairwise(ranges))


def positions(encoded: Any, length: int) -> list[Any]:
    """Returns what all methods from tokens to words and characters, and back, say."""
    numbers = range(length)
    return [
        *(
            [encoded.token_to_sequence(i), encoded.token_to_chars(i), encoded.token_to_word(i)]
            for i in numbers
        ),
        *(
            [method(i, sequence) for i in numbers]
            for sequence in range(3)
            for method in (
                encoded.word_to_tokens,
                encoded.word_to_chars,
                encoded.char_to_token,
                encoded.char_to_word,
            )
        ),
    ]


@every_processor
def test_positions(processor: str) -> None:
    theirs, ours = both(ALL_PROCESSORS[processor])
    given: tuple[Any, ...]
    for given in (("Hello  you, 世界",), ("a b c", " it's 123"), ("", "x")):
        our, their = ours.encode(*given), theirs.encode(*given)
        assert not is_certain(our) or positions(our, 20) == positions(their, 20)
    for name in ("token_to_sequence", "token_to_chars", "word_to_tokens", "char_to_word"):
        for encoded in (our, their):
            with pytest.raises(OverflowError):
                getattr(encoded, name)(-1)
            with pytest.raises(TypeError):
                getattr(encoded, name)("a")


def change(encoded: Any, dice: random.Random) -> None:
    """Changes an encoding in place, by chance."""
    kind = dice.randrange(3)
    direction = dice.choice(["left", "right"])
    if kind == 0:
        most = dice.randrange(8)
        encoded.truncate(most, dice.randrange(max(most, 1)), direction)
    elif kind == 1:
        length = dice.randrange(25)
        encoded.pad(length, direction=direction, pad_id=2, pad_type_id=dice.randrange(3), pad_token="<pad>")  # noqa: S106
    else:
        encoded.set_sequence_id(dice.randrange(3))


@pytest.mark.parametrize("seed", range(300 if FULL else 40))
def test_random_changes(seed: int) -> None:
    dice = random.Random(seed)
    theirs, ours = both(ALL_PROCESSORS[dice.choice([*ALL_PROCESSORS])])
    our: list[hf.Encoded] = []
    their: list[Any] = []
    for _ in range(3):
        given: Any = dice.choice([("Hello  you",), ("a b", "it's 12"), ("",), (TEXTS[4], "b")])
        our.append(ours.encode(*given))
        their.append(theirs.encode(*given))
    for step in range(6):
        place = dice.randrange(len(our))
        if dice.random() < 0.3:
            places = [dice.randrange(len(our)) for _ in range(dice.randrange(3))]
            growing = dice.random() < 0.5
            our.append(hf.Encoded.merge([our[i] for i in places], growing))
            their.append(tokenizers.Encoding.merge([their[i] for i in places], growing))
        else:
            change(our[place], random.Random(seed * 10 + step))
            change(their[place], random.Random(seed * 10 + step))
        for mine, its in zip(our, their, strict=True):
            check(mine, its)
            assert not is_certain(mine) or positions(mine, 12) == positions(its, 12)
            check(pickle.loads(pickle.dumps(mine)), its)


@every_processor
def test_post_processing(processor: str) -> None:
    theirs, ours = both(ALL_PROCESSORS[processor])
    their_plain, our_plain = both("none")
    for tokenizer in (theirs, ours):
        tokenizer.enable_truncation(13, stride=1)
        tokenizer.enable_padding(pad_to_multiple_of=4)
    given: Any
    for given in (("Hello  you, and others",), ("a b c", " it's 123")):
        for adds in (True, False):
            our: list[Any] = [our_plain.encode(text) for text in given]
            their: list[Any] = [their_plain.encode(text) for text in given]
            first, second = [*our, None], [*their, None]
            check(
                ours.post_process(first[0], first[1], adds), theirs.post_process(second[0], second[1], adds)
            )


@pytest.mark.parametrize("name", LOADED)
def test_rows_with_random_options(name: str) -> None:
    file = file_of(name).decode()
    theirs, ours = tokenizers.Tokenizer.from_str(file), hf.Tokenizer.from_str(file)
    dice = random.Random(zlib.crc32(name.encode()))
    texts = [*TRICKY, *SENTENCES]
    for _ in range(200 if FULL else 8):
        options: dict[str, Any] = {
            "stride": dice.choice([0, 0, 1, 3]),
            "strategy": dice.choice(["longest_first", "longest_first", "only_first", "only_second"]),
            "direction": dice.choice(["left", "right"]),
        }
        padding: dict[str, Any] = {
            "direction": dice.choice(["left", "right"]),
            "length": dice.choice([None, 7]),
            "pad_to_multiple_of": dice.choice([None, 3]),
        }
        for tokenizer in (theirs, ours):
            tokenizer.no_truncation()
            tokenizer.no_padding()
        most, pads = dice.choice([None, 6, 9, 30]), dice.random() < 0.5
        for tokenizer in (theirs, ours):
            if most is not None:
                tokenizer.enable_truncation(most, **options)
            if pads:
                tokenizer.enable_padding(**padding)
        in_words, adds = dice.random() < 0.3, dice.random() < 0.5
        batch: list[Any] = []
        for _ in range(4):
            some = [dice.choice(texts)[:60] for _ in range(dice.choice([1, 2]))]
            inputs: list[Any] = [text.split(" ") if in_words else text for text in some]
            batch.append(inputs[0] if len(inputs) == 1 else tuple(inputs))
        found = outcome(lambda: ours.encode_batch(batch, in_words, adds))  # noqa: B023
        expected = outcome(lambda: theirs.encode_batch(batch, in_words, adds))  # noqa: B023
        if not isinstance(expected, list):
            assert not isinstance(found, list), (batch, expected)
            continue
        for our, their in zip(found, expected, strict=True):
            check(our, their, unlike=UNLIKE.get(name, ()))


def test_templates_that_hold_no_text_once_are_refused() -> None:
    template = entry("template")
    twice = {"type": "Sequence", "processors": [template, template]}
    for processor, message in (
        (twice, "expected one text or two, got the 3 parts of another template"),
        (template | {"single": template["single"] * 2}, "expected to keep the text once, got it 2 times"),
        (template | {"single": template["pair"]}, ""),
    ):
        file = json.loads(byte_level("none").to_str()) | {"post_processor": processor}
        with pytest.raises(bytemill.VocabularyError, match=f"post_processor.*: {message}"):
            hf.Tokenizer.from_str(json.dumps(file))


@pytest.mark.filterwarnings("ignore:.*its post-processor adds")
@every_processor
def test_encodings_add_the_same_tokens(processor: str) -> None:
    theirs, _ = both(ALL_PROCESSORS[processor])
    ours = bytemill.Encoding.from_bytes(theirs.to_str().encode())
    ids, _ = ours.encode_batch_to_numpy(["a b"], add_special_tokens=True)
    assert ids.tolist() == theirs.encode("a b").ids


def test_what_is_cut_down_to_nothing_keeps_its_parts() -> None:
    encodings = [tokenizer.encode("Hello you, it is 123") for tokenizer in both("none")]
    for most in (3, 0, 0):
        for encoded in encodings:
            encoded.truncate(most)
        check(encodings[1], encodings[0])
    (whole,) = encodings[1].overflowing
    assert len(whole) == 3
    assert len(whole.overflowing) > 1


def test_what_cannot_be_truncated() -> None:
    ours = both()[1]
    ours.enable_truncation(5, strategy="only_second")
    with pytest.raises(ValueError, match="expected a text of more than 5 tokens to drop these from"):
        ours.encode("Hello you", "ab")
    encoded = ours.encode("", "Hello you")
    with pytest.raises(ValueError, match="expected a stride below 3"):
        encoded.truncate(3, 3)
    with pytest.raises(ValueError, match="direction must be one of"):
        encoded.truncate(3, direction="up")


def test_words_have_a_deprecated_name() -> None:
    encoded = both()[1].encode("a b")
    with pytest.warns(DeprecationWarning, match="use word_ids"):
        assert encoded.words == encoded.word_ids == [None, 0, 1, 1, None]


def test_asynchronous_methods() -> None:
    theirs, ours = both()

    async def results() -> list[Any]:
        return [
            await ours.async_encode("a b", "c", add_special_tokens=False),
            *await ours.async_encode_batch(TEXTS[:4]),
            *await ours.async_encode_batch_fast([["a", "b"]], is_pretokenized=True),
            await ours.async_decode_batch([[40, 41], [0]], skip_special_tokens=False),
        ]

    *encodings, decoded = asyncio.run(results())
    expected = [
        theirs.encode("a b", "c", add_special_tokens=False),
        *theirs.encode_batch(TEXTS[:4]),
        theirs.encode(["a", "b"], is_pretokenized=True),
    ]
    for our, their in zip(encodings, expected, strict=True):
        check(our, their)
    assert decoded == theirs.decode_batch([[40, 41], [0]], skip_special_tokens=False)
