"""Token IDs that are not those of their text, and texts cut in parts."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
import pytest

import bytemill
from bytemill import DisallowedSpecialTokenError, Encoding, UnknownTokenError
from support import holding_decoders
from support.open_models import LOADED, encoding_of
from support.toys import BYTE_RANKS

SAMPLE = (
    "Sampled tokens need not be those of the text: héllo wörld, 12345 'sLL\n\n"
    "def f(x):\n\treturn x  # 东京都は日本 ประเทศไทย 🙂👩‍👩‍👧 naïve\r\n camelCase end"
)


# Their decoders write the ends of words, or the name of the unknown token, into the text.
WRITES_MORE = ["clip", "labse"]


@cache
def o200k() -> Encoding:
    return bytemill.get_encoding("o200k_base")


def split_token(encoding: Encoding, tokens: list[int], index: int) -> list[int] | None:
    """Returns token IDs with one of them taken apart in two, if it can be."""
    data = encoding.decode_single_token_bytes(tokens[index])
    for cut in range(1, len(data)):
        try:
            parts = [encoding.encode_single_token(part) for part in (data[:cut], data[cut:])]
        except KeyError:
            continue
        return [*tokens[:index], *parts, *tokens[index + 1 :]]
    return None


@pytest.mark.parametrize("name", bytemill.list_encoding_names())
def test_one_token_taken_apart(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    text = SAMPLE + encoding.decode([encoding.eot_token]) + SAMPLE
    tokens = encoding.encode(text, allowed_special="all")
    assert encoding.is_canonical(tokens)
    assert encoding.first_drift(np.array(tokens)) is None  # type: ignore[arg-type]
    assert encoding.canonicalize(tokens) == tokens
    tried = 0
    for index in range(len(tokens)):
        drifted = split_token(encoding, tokens, index)
        if drifted is None or tokens[index] == encoding.eot_token:
            continue
        tried += 1
        assert encoding.first_drift(drifted) == index
        assert not encoding.is_canonical(drifted)
        assert encoding.canonicalize(drifted) == tokens
    assert tried > len(tokens) / 3


def test_ids_that_spell_a_special_token_stay_what_they_are() -> None:
    spelled = o200k().encode_ordinary("<|endoftext|>")
    tokens = [*spelled, o200k().eot_token, *o200k().encode("b")]
    assert o200k().first_drift(tokens) is None
    assert o200k().canonicalize(tokens) == tokens
    assert tokens.count(o200k().eot_token) == 1


def test_bytes_that_are_no_text() -> None:
    euro = "€".encode()
    tokens = [o200k().encode_single_token(bytes([byte])) for byte in euro]
    assert o200k().first_drift(tokens) == 0
    assert o200k().canonicalize(tokens) == o200k().encode("€")
    prefix = o200k().encode("some text")
    assert o200k().first_drift(prefix + tokens[:2]) == len(prefix)
    cut = o200k().canonicalize(prefix + tokens[:1])
    assert o200k().decode_bytes(cut) == b"some text" + euro[:1]
    assert o200k().canonicalize(cut) == cut


def test_text_that_is_not_finished() -> None:
    numbers = random.Random(1)  # noqa: S311
    tokens = o200k().encode(SAMPLE * 3)
    for end in range(len(tokens) + 1):
        assert o200k().first_drift(tokens[:end], final=False) is None
    for _ in range(200):
        index = numbers.randrange(len(tokens))
        drifted = split_token(o200k(), tokens, index)
        if drifted is None:
            continue
        found = [o200k().first_drift(drifted[:end], final=False) for end in range(len(drifted) + 1)]
        # It is seen as soon as nothing behind can change it, and not before.
        assert set(found) <= {None, index}
        assert found == sorted(found, key=lambda drift: drift is not None)
        assert found[index + 1] is None or found[-1] == index
    assert o200k().first_drift([], final=False) is None
    assert o200k().first_drift([]) is None
    with pytest.raises(UnknownTokenError):
        o200k().first_drift([10**6])


@pytest.mark.parametrize("name", holding_decoders.NAMES)
def test_text_that_a_decoder_holds(name: str) -> None:
    encoding = holding_decoders.encoding_named(name)
    source = random.Random(name)  # noqa: S311
    seen = 0
    for _ in range(500):
        tokens = holding_decoders.sampled(encoding, source)
        found = [encoding.first_drift(tokens[:end], final=False) for end in range(len(tokens) + 1)]
        found.append(encoding.first_drift(tokens))
        # What is seen stays.
        assert set(found) <= {None, found[-1]}, tokens
        assert found == sorted(found, key=lambda drift: drift is not None), tokens
        seen += found[-2] is not None
        again = encoding.canonicalize(tokens)
        assert (again == tokens) == (found[-1] is None), tokens
    assert seen > (50 if encoding.session().is_incremental else -1)


def test_the_bytes_of_a_character_that_is_not_finished() -> None:
    encoding = holding_decoders.encoding_named("gemma")
    tokens = encoding.encode("<bos>a😀ab", allowed_special="all")
    assert len(tokens) == 7
    for end in range(len(tokens) + 1):
        assert encoding.first_drift(tokens[:end], final=False) is None
    # Special tokens end it.
    assert encoding.first_drift([*tokens[:4], tokens[0], *tokens[4:]], final=False) == 2


def test_text_that_has_further_tokens() -> None:
    encoding = holding_decoders.encoding_named("no decoder")
    assert encoding.encode(".") == [holding_decoders.IDS["."]] * 3
    tokens = encoding.encode(".")[:2]
    assert encoding.decode(tokens) == ". ."
    assert encoding.first_drift(tokens) == 2
    assert encoding.first_drift([*tokens, holding_decoders.IDS["<eos>"], *tokens]) == 2
    session = encoding.session()
    session.append_ids(tokens)
    assert session.first_drift() == session.count == 2
    # They may be those that are yet to come.
    assert encoding.first_drift(tokens, final=False) is None


@pytest.mark.parametrize("family", LOADED)
def test_every_kind_of_file(family: str) -> None:
    encoding = encoding_of(family)
    special = sorted(encoding.special_tokens_set)[:1]
    text = SAMPLE + "".join(special) + SAMPLE
    tokens = encoding.encode(text, allowed_special="all")
    again = encoding.canonicalize(tokens)
    if family in WRITES_MORE:
        assert encoding.first_drift(tokens) is not None
        return
    # Normalized text is canonical, even if other text is not.
    assert encoding.canonicalize(again) == again
    assert encoding.first_drift(again) is None
    drift = encoding.first_drift(tokens)
    if drift is None:
        assert again == tokens
    else:
        assert again[:drift] == tokens[:drift]
        assert again[drift : drift + 1] != tokens[drift : drift + 1]


@pytest.mark.parametrize("family", LOADED)
def test_texts_in_parts(family: str) -> None:
    encoding = encoding_of(family)
    text = SAMPLE * 20
    points = encoding.split_points(text, 100)
    parts = [text[start:end] for start, end in zip([0, *points], [*points, len(text)], strict=True)]
    tokens = encoding.encode(parts[0], allowed_special="all")
    for part in parts[1:]:
        tokens += encoding.encode_further(part, allowed_special="all")
    assert tokens == encoding.encode(text, allowed_special="all")
    if encoding.session().is_incremental:
        assert len(parts) > 5
    assert all(len(part.encode()) >= 100 for part in parts[:-1])


def test_split_points() -> None:
    assert o200k().split_points("a b c") == []
    assert o200k().split_points("a b c", 1) == [1, 3]
    assert o200k().split_points("é🙂 b c d", 5) == [2]
    assert o200k().split_points("é🙂 b c d", 4) == [2, 6]
    assert o200k().split_points("", 1) == []
    words = Encoding("words", pat_str=r"\S+|\s+", mergeable_ranks=BYTE_RANKS, special_tokens={})
    assert words.split_points("a b c", 1) == [1, 2, 3, 4]
    pairs = Encoding("pairs", pat_str=r"(.)\1|(?s:.)", mergeable_ranks=BYTE_RANKS, special_tokens={})
    assert pairs.split_points("a b c", 1) == []
    # No special token lies across an offset, but other strings that are disallowed may.
    assert o200k().split_points("a <|endoftext|> b", 1) == [1, 15]
    assert o200k().split_points("one two three", 1) == [3, 7]
    with pytest.raises(DisallowedSpecialTokenError):
        o200k().encode("one two three", disallowed_special={"two three"})
    assert o200k().encode_further(" three", disallowed_special={"two three"}) == o200k().encode(" three")
    with pytest.raises(ValueError, match="1 or more, got 0"):
        o200k().split_points("a", 0)
    with pytest.raises(TypeError):
        o200k().split_points("a", "b")  # type: ignore[arg-type]


def test_added_tokens_that_text_around_them_forbids() -> None:
    tokenizers: Any = pytest.importorskip("tokenizers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE({c: i for i, c in enumerate(alphabet)}, []))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    theirs.add_tokens([tokenizers.AddedToken("<w>", single_word=True), tokenizers.AddedToken("<think>")])
    encoding = Encoding.from_huggingface(theirs)
    word, think = map(encoding.encode_single_token, ("<w>", "<think>"))
    for text, ids in {
        "a<w>": [*encoding.encode("a"), word],
        "a <w> b": [*encoding.encode("a "), word, *encoding.encode(" b")],
        "a<think>b": [*encoding.encode("a"), think, *encoding.encode("b")],
    }.items():
        assert encoding.decode(ids) == text
        expected = encoding.encode(text)
        assert encoding.canonicalize(ids) == expected
        pairs = zip(ids, expected, strict=False)
        same = next((place for place, (one, other) in enumerate(pairs) if one != other), None)
        assert encoding.first_drift(ids) == same
        session = encoding.session()
        session.append_ids(ids)
        assert session.first_drift() == same
