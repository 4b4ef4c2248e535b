"""Tokens that are added to a tokenizer in use: `hf.Tokenizer` and `hf.accelerate` beside the originals.

A live tokenizer of `tokenizers` remembers more than the file that it writes: ids, special texts, normalized
texts.
"""

# ruff: noqa: S105, S301, S311 - no password; what this test pickled itself; randomness that can be repeated

from __future__ import annotations

import copy
import itertools
import json
import os
import pickle
import random
from typing import TYPE_CHECKING, Any

import pytest

import bytemill
from bytemill import hf
from bytemill.formats.tokenizer_json import load
from bytemill.hf.accelerated import held_of
from support.outcomes import outcome
from support.tokenizer_files import BYTES, LOWERCASE, PLAIN, added, bytes_file, file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

tokenizers: Any = pytest.importorskip("tokenizers")
transformers: Any = pytest.importorskip("transformers")

ROUNDS = 5_000 if os.environ.get("BYTEMILL_FULL") == "1" else 150

FLAGS = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")


def both(contents: str) -> tuple[Any, hf.Tokenizer]:
    """Returns a tokenizer of `tokenizers`, and ours."""
    return tokenizers.Tokenizer.from_str(contents), hf.Tokenizer.from_str(contents)


def accelerated(contents: str) -> tuple[Any, Any]:
    """Returns a tokenizer of `transformers`, and the same, accelerated."""
    theirs, ours = (
        transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_str(contents))
        for _ in range(2)
    )
    return theirs, hf.accelerate(ours)


def is_accelerated(tokenizer: Any) -> bool:
    """Returns whether a tokenizer has an engine."""
    return held_of(tokenizer).engine() is not None


def check(ours: hf.Tokenizer, theirs: Any, texts: list[str]) -> None:
    """Compares all that added tokens decide about."""
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.get_vocab_size() == theirs.get_vocab_size()
    assert {
        i: [getattr(token, flag) for flag in FLAGS] for i, token in ours.get_added_tokens_decoder().items()
    } == {
        i: [getattr(token, flag) for flag in FLAGS] for i, token in theirs.get_added_tokens_decoder().items()
    }
    assert json.loads(ours.to_str())["added_tokens"] == json.loads(theirs.to_str())["added_tokens"]
    known = [*range(max(theirs.get_vocab().values()) + 3)]
    assert [ours.id_to_token(i) for i in known] == [theirs.id_to_token(i) for i in known]
    for skips in (False, True):
        rows = [[i] for i in known] + [known]
        assert ours.decode_batch(rows, skips) == theirs.decode_batch(rows, skips)
    for splits in (True, False):
        ours.encode_special_tokens = theirs.encode_special_tokens = splits
        for text in texts:
            our, their = ours.encode(text), theirs.encode(text)
            assert (our.ids, our.tokens) == (their.ids, their.tokens), (text, splits)
        assert [each.ids for each in ours.encode_batch(texts)] == [
            each.ids for each in theirs.encode_batch(texts)
        ]


HOLES: dict[str, str] = {
    "a token of the model beyond": file({"a": 0, "b": 5}, [added(5, "b", special=True)]),
    "the same, and another": file({"a": 0, "b": 5}, [added(5, "b", special=True), added(6, "x")]),
    "new ids are taken": file({"a": 0, "b": 2}),
    "all holes are taken": file({"a": 0, "b": 3, "c": 1, "d": 9}, [added(9, "d")]),
    "byte-level": bytes_file(added(300, "<e>", special=True), model={"vocab": BYTES | {"<e>": 300}}),
    "whole pieces": bytes_file(
        added(300, "<e>"), model={"vocab": BYTES | {"<e>": 300}, "ignore_merges": True}
    ),
}


@pytest.mark.parametrize("name", HOLES)
def test_ids_in_use_and_when_read_again(name: str) -> None:
    theirs, ours = both(HOLES[name])
    texts = ["abxyz", "bbaax", "zyx<e>b", "cdxz"]
    check(ours, theirs, texts)
    for new in (["x", "y"], ["z"], ["b"], ["w", "x"]):
        for tokenizer in (theirs, ours):
            tokenizer.add_tokens(new)
        check(ours, theirs, texts)
        # Files, pickles and copies are read again, where tokens are numbered anew.
        read = hf.Tokenizer.from_str(ours.to_str()), tokenizers.Tokenizer.from_str(theirs.to_str())
        check(*read, texts)
        again: Callable[[Any], Any]
        for again in (copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):
            assert again(ours).get_vocab() == again(theirs).get_vocab() == read[1].get_vocab()


@pytest.mark.parametrize("name", HOLES)
def test_ids_in_use_of_accelerated_tokenizers(name: str) -> None:
    theirs, ours = accelerated(HOLES[name])
    texts = ["abxyz", "bbaax", "zyx<e>b"]
    for new in (["x", "y"], ["z"], ["w", "x"]):
        for tokenizer in (theirs, ours):
            tokenizer.add_tokens(new)
        our, their = ours(texts), theirs(texts)
        assert our["input_ids"] == their["input_ids"]
        assert [(each.ids, each.tokens) for each in our.encodings] == [
            (each.ids, each.tokens) for each in their.encodings
        ]
        rows = their["input_ids"] + [[i] for i in range(12)]
        assert ours.batch_decode(rows) == theirs.batch_decode(rows)
        assert is_accelerated(ours)
        other = copy.deepcopy(ours)
        assert other(texts)["input_ids"] == copy.deepcopy(theirs)(texts)["input_ids"]
        assert is_accelerated(other)


def test_a_saved_encoding_that_is_extended(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    special = {"<|a|>": 257, "<|b|>": 276}
    encoding = bytemill.Encoding("holes", pat_str="(?s:.)", mergeable_ranks=ranks, special_tokens=special)
    encoding.save_huggingface(tmp_path)
    contents = (tmp_path / "tokenizer.json").read_text()
    theirs, ours = both(contents)
    slow, fast = accelerated(contents)
    # More of them than there are holes: read again, the ids of some are those of others.
    for number in range(40):
        for tokenizer in (theirs, ours, slow, fast):
            tokenizer.add_tokens([f"<{number}>"])
    texts = ["a<0><1><|b|><39>", "<20><21><22>b<|a|>"]
    check(ours, theirs, texts)
    assert ours.encode("<39>").ids == [316]
    assert fast(texts)["input_ids"] == slow(texts)["input_ids"]
    assert is_accelerated(fast)


def test_special_texts_stay_special() -> None:
    theirs, ours = accelerated(PLAIN)
    own = both(PLAIN)
    for tokenizer in (theirs, ours, *own):
        assert tokenizer.add_tokens(["<s>"]) == 1
    for skips in (True, False):
        assert ours.decode([104, 256], skip_special_tokens=skips) == theirs.decode(
            [104, 256], skip_special_tokens=skips
        )
        assert own[1].decode([104, 256], skips) == own[0].decode([104, 256], skips)
    for splits in (True, False):
        assert (
            ours("a<s>", split_special_tokens=splits)["input_ids"]
            == theirs("a<s>", split_special_tokens=splits)["input_ids"]
        )
    check(own[1], own[0], ["a<s>b"])
    assert own[1].decode([104, 256]) == "h"
    # The file does not say it.
    assert hf.Tokenizer.from_str(own[1].to_str()).decode([104, 256]) == "h<s>"


def test_normalized_texts_of_special_tokens_are_special() -> None:
    tokens = [added(256, "[a]", special=True), added(257, "[A]", normalized=True)]
    theirs, ours = both(bytes_file(*tokens, normalizer=LOWERCASE))
    assert ours.decode([257, 104]) == theirs.decode([257, 104]) == "h"
    check(ours, theirs, ["[A]", "[a] x"])
    # The other way round: a special one that normalizing makes another text of.
    tokens = [added(256, "[a]"), added(257, "[A]", normalized=True, special=True)]
    theirs, ours = both(bytes_file(*tokens, normalizer=LOWERCASE))
    check(ours, theirs, ["[A]", "[a] x"])
    # Twice in a file: the last flags count, but it stays special.
    theirs, ours = both(bytes_file(added(256, "[a]", special=True), added(256, "[a]")))
    check(ours, theirs, ["[a]"])


def test_a_token_that_is_normalized_no_more() -> None:
    theirs, ours = both(bytes_file(normalizer=LOWERCASE))
    for tokenizer in (theirs, ours):
        tokenizer.add_tokens(["[A]"])
    new = tokenizers.AddedToken("[A]", normalized=False)
    before = ours.to_str()
    with pytest.raises(bytemill.VocabularyError, match="'\\[A\\]' is still decoded to what normalizing made"):
        ours.add_tokens([new])
    assert ours.to_str() == before
    assert ours.encode("[A]").ids == [256]
    theirs, ours = accelerated(bytes_file(normalizer=LOWERCASE))
    for tokenizer in (theirs, ours):
        tokenizer.add_tokens(["[A]"])
        tokenizer.add_tokens([new])
    assert ours.decode([256]) == theirs.decode([256]) == "[a]"
    assert not is_accelerated(ours)


REFUSED: dict[str, tuple[str, Any]] = {
    "strips beside one that strips": (
        bytes_file(added(256, "<s>", special=True, rstrip=True)),
        tokenizers.AddedToken("\n", lstrip=True, normalized=False),
    ),
    "stripped to nothing": (
        bytes_file(normalizer={"type": "Strip", "strip_left": True, "strip_right": True}),
        "\n",
    ),
    "only a mark": (
        bytes_file(
            normalizer={"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]}
        ),
        "\u0301",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_tokens_leave_the_original_methods(name: str) -> None:
    contents, new = REFUSED[name]
    theirs, ours = accelerated(contents)
    assert ours.add_tokens([new]) == theirs.add_tokens([new])
    assert len(ours) == len(theirs)
    texts = ["a \nb", "e\u0301x", "<s> \n"]
    for _ in range(2):
        for text in texts:
            assert outcome(lambda: ours(text)["input_ids"]) == outcome(lambda: theirs(text)["input_ids"])  # noqa: B023
        assert ours.batch_decode([[97, 256, 257]]) == theirs.batch_decode([[97, 256, 257]])
    assert not is_accelerated(ours)
    assert ours.add_tokens(["<more>"]) == theirs.add_tokens(["<more>"])
    assert ours("<more>")["input_ids"] == theirs("<more>")["input_ids"]
    assert copy.deepcopy(ours)("a \nb")["input_ids"] == theirs("a \nb")["input_ids"]
    with pytest.raises(bytemill.VocabularyError):
        hf.accelerate(ours)
    assert type(ours) is type(theirs)
    assert vars(ours).keys() == vars(theirs).keys()


def test_refused_tokens_of_a_tokenizer_are_told_by_the_next_call() -> None:
    contents, new = REFUSED["strips beside one that strips"]
    _, ours = both(contents)
    assert ours.add_tokens([new]) == 1
    for call in (lambda: ours.encode("a"), lambda: ours.decode([97]), lambda: ours.encode_batch(["a", "b"])):
        with pytest.raises(bytemill.VocabularyError, match="added_tokens"):
            call()


def test_a_post_processor_that_is_refused() -> None:
    theirs, ours = accelerated(bytes_file(added(256, "<s>", special=True)))
    ours.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.UnicodeScripts()
    theirs.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.UnicodeScripts()
    for tokenizer in (theirs, ours):
        tokenizer.bos_token = "<s>"
        tokenizer.add_bos_token = True
    assert ours("a b")["input_ids"] == theirs("a b")["input_ids"]
    assert not is_accelerated(ours)


def test_the_file_is_read_when_a_call_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = accelerated(PLAIN)
    own = both(PLAIN)
    calls: list[str] = []
    original = load

    def counted(*args: Any, **options: Any) -> Any:
        calls.append("load")
        return original(*args, **options)

    monkeypatch.setattr("bytemill.hf.engine.load", counted)
    for number in range(300):
        for tokenizer in (theirs, ours, *own):
            tokenizer.add_tokens([f"<{number}>"])
    assert calls == []
    text = "a<7><299> <300>"
    assert ours(text)["input_ids"] == theirs(text)["input_ids"]
    assert own[1].encode(text).ids == own[0].encode(text).ids
    assert ours.decode([300]) == theirs.decode([300])
    assert len(calls) == 2


def test_files_are_read_for_special_tokens_in_texts_too() -> None:
    theirs, ours = accelerated(PLAIN)
    for tokenizer in (theirs, ours):
        tokenizer.split_special_tokens = True
        tokenizer("a<s>")
        tokenizer.backend_tokenizer.encode_special_tokens = True
        tokenizer.add_tokens(["<new>"])
    assert ours("a<s><new>")["input_ids"] == theirs("a<s><new>")["input_ids"]
    assert is_accelerated(ours)
    assert ours.backend_tokenizer.encode_special_tokens


NORMALIZERS: list[Any] = [
    None,
    LOWERCASE,
    {"type": "Prepend", "prepend": "\u2581"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
]
# No blanks alone, which Strip makes empty: then the original takes all memory.
CONTENTS = [*"abcABxyz", "\u2581", "ab", "xx", " x", "<s>", "<S>"]
PIECES = [*CONTENTS, " "]


def random_tokens(dice: random.Random) -> list[Any]:
    """Returns tokens to be added, by chance."""
    return [
        tokenizers.AddedToken(
            dice.choice(CONTENTS),
            normalized=dice.random() < 0.5,
            special=dice.random() < 0.4,
            **{flag: dice.random() < 0.1 for flag in ("single_word", "lstrip", "rstrip")},
        )
        for _ in range(dice.randrange(1, 4))
    ]


def is_certain(tokenizer: Any) -> bool:
    """Returns whether a tokenizer of `tokenizers` takes none of several tokens with one text by chance."""
    tokens = tokenizer.get_added_tokens_decoder().values()
    normalize = tokenizer.normalizer.normalize_str if tokenizer.normalizer else str
    found = [normalize(token.content) for token in tokens if token.normalized]
    names = tokenizer.get_vocab(with_added_tokens=False).keys() | {token.content for token in tokens}
    return len(set(found)) == len(found) and tokenizer.get_vocab_size() == len(names)


def test_random_additions() -> None:
    dice = random.Random(3)
    compared = 0
    for _ in range(ROUNDS):
        vocabulary = ["a", "b", "c", "A", "B", " ", "\u2581", "ab", "x", "<s>"][: dice.choice([8, 10])]
        ids = dice.sample(range(16), len(vocabulary)) if dice.random() < 0.6 else range(len(vocabulary))
        contents = file(
            dict(zip(vocabulary, ids, strict=False)),
            normalizer=dice.choice(NORMALIZERS),
            merges=dice.choice([["a b"], []]),
        )
        theirs, ours = both(contents)
        slow, fast = accelerated(contents)
        is_refused = False
        for _ in range(dice.randrange(1, 4)):
            new = random_tokens(dice)
            count = theirs.add_tokens(new)
            assert fast.add_tokens(new) == slow.add_tokens(new) == count
            try:
                assert is_refused or ours.add_tokens(new) == count
                is_refused = is_refused or ours.encode("a") is None
            except bytemill.VocabularyError:
                is_refused = True
        if not is_certain(theirs):
            continue
        texts = ["".join(dice.choice(PIECES) for _ in range(dice.randrange(12))) for _ in range(6)]
        rows = [[dice.randrange(22) for _ in range(8)] for _ in range(6)]
        for text, flag in itertools.product(texts, (False, True)):
            found, expected = (
                outcome(lambda: tokenizer(text, split_special_tokens=flag)["input_ids"])  # noqa: B023
                for tokenizer in (fast, slow)
            )
            assert found == expected
            if not is_refused:
                ours.encode_special_tokens = flag
                assert ours.encode(text).ids == expected
                compared += 1
        for flag in (False, True):
            assert fast.batch_decode(rows, flag) == slow.batch_decode(rows, flag)
            assert is_refused or ours.decode_batch(rows, flag) == theirs.decode_batch(rows, flag)
    assert compared > ROUNDS
