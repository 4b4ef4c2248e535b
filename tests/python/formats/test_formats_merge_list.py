"""Merge lists: whatever is accepted gives the ids of the library that merges by list, on every short text."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import itertools
import random

import pytest
from tokenizers import Tokenizer, models

import bytemill
from bytemill.errors import VocabularyError
from bytemill.formats.data_gym import token_text
from bytemill.formats.merge_list import BytePair, check_merges, indices_of, merges_of
from bytemill.patterns import WHOLE_TEXT_PATTERN
from support.toys import BYTE_RANKS

TEXTS = ["".join(letters) for size in range(1, 9) for letters in itertools.product("ab", repeat=size)]


def encoding_of(ranks: dict[bytes, int]) -> bytemill.Encoding:
    return bytemill.Encoding("toy", pat_str=WHOLE_TEXT_PATTERN, mergeable_ranks=ranks, special_tokens={})


def tokenizer_of(ranks: dict[bytes, int], merges: list[BytePair], *, ignore_merges: bool) -> Tokenizer:
    vocabulary = {token_text(token): token_id for token, token_id in ranks.items()}
    pairs = [(token_text(left), token_text(right)) for left, right in merges]
    return Tokenizer(models.BPE(vocab=vocabulary, merges=pairs, ignore_merges=ignore_merges))


def random_case(seed: int) -> tuple[dict[bytes, int], list[BytePair], bool]:
    """A vocabulary and a merge list that belong together, but for some disorder."""
    source = random.Random(seed)
    tokens, merges = [b"a", b"b"], []
    for _ in range(source.randint(1, 7)):
        pair = source.choice(tokens), source.choice(tokens)
        if pair[0] + pair[1] not in tokens:
            merges.append(pair)
            tokens.append(pair[0] + pair[1])
    made = tokens[2:]
    if source.random() < 0.3:  # every way to make a token, as converters of Llama 3's vocabulary write them
        known = set(tokens)
        merges = [
            (token[:i], token[i:])
            for token in made
            for i in range(1, len(token))
            if {token[:i], token[i:]} <= known
        ]
    if source.random() < 0.3 and len(merges) > 1:
        i, j = source.sample(range(len(merges)), 2)
        merges[i], merges[j] = merges[j], merges[i]
    if source.random() < 0.3:
        source.shuffle(made)
    if source.random() < 0.4:  # a token that no merges lead to
        token = bytes(source.choices(b"ab", k=source.randint(2, 5)))
        if token not in tokens:
            made.insert(source.randint(0, len(made)), token)
    return BYTE_RANKS | {token: 256 + i for i, token in enumerate(made)}, merges, source.random() < 0.5


def test_what_is_accepted_gives_the_same_ids() -> None:
    accepted = refused = with_whole_pieces = 0
    for seed in range(400):
        ranks, merges, whole_pieces = random_case(seed)
        try:
            check_merges(ranks, indices_of(merges, "toy"), "toy", whole_pieces=whole_pieces)
        except VocabularyError:
            refused += 1
            continue
        accepted += 1
        with_whole_pieces += bool(merges_of(ranks).whole)
        encoding, tokenizer = encoding_of(ranks), tokenizer_of(ranks, merges, ignore_merges=whole_pieces)
        for text in TEXTS:
            assert encoding.encode_ordinary(text) == tokenizer.encode(text).ids, (seed, ranks, merges, text)
    # All kinds were met.
    assert accepted > 100
    assert refused > 50
    assert with_whole_pieces > 10


def test_what_is_written_gives_the_same_ids() -> None:
    whole = 0
    for seed in range(400):
        ranks, _, _ = random_case(seed)
        try:
            merges = merges_of(ranks)
        except VocabularyError as error:
            assert "a token with a higher id" in str(error)  # noqa: PT017 - only some are refused
            continue
        whole += bool(merges.whole)
        pairs = list(merges.pairs.values())
        check_merges(ranks, indices_of(pairs, "toy"), "toy", whole_pieces=bool(merges.whole))
        encoding, tokenizer = encoding_of(ranks), tokenizer_of(ranks, pairs, ignore_merges=bool(merges.whole))
        for text in TEXTS:
            assert encoding.encode_ordinary(text) == tokenizer.encode(text).ids, (seed, ranks, text)
    assert whole > 50


REFUSED = {
    "order": ({b"ab": 257, b"bc": 256}, [(b"a", b"b"), (b"b", b"c")], "b'bc' has the id 256 and merge 1"),
    "missing": ({b"ab": 256, b"bc": 257}, [(b"a", b"b")], "b'bc' with the id 257 is made of b'b' and b'c'"),
    "other parts": (
        {b"ab": 256, b"bc": 257, b"abc": 258},
        [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")],
        "b'abc' with the id 258 is made of b'ab' and b'c', which is not among the merges",
    ),
    "twice": ({b"ab": 256}, [(b"a", b"b"), (b"a", b"b")], "merge 1, of b'a' and b'b', is merge 0 already"),
    "no token": ({b"ab": 256}, [(b"a", b"b"), (b"a", b"c")], "merge 1, of b'a' and b'c': b'ac' is no token"),
    "nothing makes it": (
        {b"ab": 256, b"abcd": 257},
        [(b"a", b"b")],
        "no merges make the token b'abcd' with the id 257",
    ),
    "made of later ones": (
        {b"abcd": 256, b"ab": 257, b"cd": 258},
        [(b"ab", b"cd"), (b"a", b"b"), (b"c", b"d")],
        'abcd" with the id 256 is made of a token with a higher id',
    ),
}


@pytest.mark.parametrize(("tokens", "merges", "reason"), REFUSED.values(), ids=REFUSED)
def test_refusals_say_why(tokens: dict[bytes, int], merges: list[BytePair], reason: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        check_merges(BYTE_RANKS | tokens, indices_of(merges, "some.json"), "some.json", whole_pieces=False)
    assert str(caught.value).startswith("some.json: ")
    assert reason in str(caught.value)


def test_more_ways_to_make_a_token_do_not_matter() -> None:
    ranks = BYTE_RANKS | {b"ab": 256, b"bc": 257, b"abc": 258}
    merges = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc"), (b"ab", b"c")]
    check_merges(ranks, indices_of(merges, "some.json"), "some.json", whole_pieces=False)
    assert merges_of(ranks).pairs[b"abc"] == (b"ab", b"c")


def test_the_published_vocabularies_merge() -> None:
    for name in ("r50k_base", "cl100k_base"):
        encoding = bytemill.get_encoding(name)
        pairs, whole = merges_of(encoding._mergeable_ranks)
        assert not whole
        assert len(pairs) == len(encoding.merges())
