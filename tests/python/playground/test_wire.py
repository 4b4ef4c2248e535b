"""Tokens as they cross to the page, against the spans that `encode_with_offsets` returns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytemill
from bytemill.errors import DisallowedSpecialTokenError
from bytemill.playground.loaded import MOST_TEXTS, Loaded, rule_of
from bytemill.playground.wire import pack, tokenize, unpack
from bytemill.splitting import repair_surrogates
from support import sentencepiece
from support.toys import BYTE_RANKS

LOADED = Loaded()
WORDS = LOADED.add(
    bytemill.Encoding(
        "words",
        pat_str=r"[a-z]+",
        mergeable_ranks=BYTE_RANKS,
        special_tokens={"<|end|>": 256, "<|fin|>": 256},
    )
)
# A vocabulary in which runs of one letter become long tokens: each merge doubles, or adds one half.
RUNS = {**BYTE_RANKS, **{b"a" * 2**n: 255 + n for n in range(1, 9)}, b"a" * 255: 300, b"a" * 300: 301}
LONG = LOADED.add(bytemill.Encoding("long", pat_str=r"a+|[^a]", mergeable_ranks=RUNS, special_tokens={}))

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
SPECIAL = ["<|end|>", "<|fin|>", "<|endoftext|>"]
PARTS = st.sampled_from([*SPECIAL, "abc", " ", "\r\n", "你", FAMILY, "a" * 255, "a" * 300])
TEXTS = st.one_of(st.text(max_size=60), st.lists(PARTS, max_size=12).map("".join))


def spans(name: str, text: str, special: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Returns ids and spans as the page finds them."""
    encoding = LOADED[name]
    block = pack(tokenize(LOADED, name, text, special), 7)
    tokens, sequence, size = unpack(block)
    assert (sequence, size) == (7, len(block))
    assert size % 4 == 0
    left_out = dict(tokens.gaps.tolist())
    at, found = 0, []
    for index, length in enumerate(tokens.lengths.tolist()):
        at += left_out.get(index, 0)
        found.append((at, at + length))
        at += length
    assert at + left_out.get(len(tokens.ids), 0) == tokens.size == len(text.encode())
    allowed = encoding._special_token_values
    special_found = [
        i for i, token in enumerate(tokens.ids.tolist()) if token in allowed and special == "allow"
    ]
    assert tokens.special.tolist() == special_found
    return tokens.ids.tolist(), found


@pytest.mark.parametrize("special", ["text", "allow"])
@pytest.mark.parametrize("name", ["o200k_base", "gpt2", "o200k_harmony", WORDS, LONG])
@given(text=TEXTS)
@settings(max_examples=60, deadline=None)
def test_spans_are_those_of_the_encoding(name: str, special: str, text: str) -> None:
    text = repair_surrogates(text)
    ids, found = spans(name, text, special)
    expected = LOADED[name].encode_with_offsets(text, unit="byte", **rule_of(special))
    assert ids == expected.ids.tolist()
    assert found == list(zip(expected.starts.tolist(), expected.ends.tolist(), strict=True))


def test_text_that_a_pattern_drops_is_a_gap() -> None:
    ids, found = spans(WORDS, "A ab, c!", "text")
    assert ids == [97, 98, 99]
    assert found == [(2, 3), (3, 4), (6, 7)]


def test_long_tokens() -> None:
    ids, found = spans(LONG, "a" * 300 + "b" + "a" * 255, "text")
    assert ids == [301, 98, 300]
    assert found == [(0, 300), (300, 301), (301, 556)]


def test_no_text() -> None:
    assert spans("o200k_base", "", "text") == ([], [])


def test_the_rule_for_special_tokens() -> None:
    assert len(tokenize(LOADED, "gpt2", "<|endoftext|>", "text").ids) == 7
    assert tokenize(LOADED, "gpt2", "<|endoftext|>", "allow").ids.tolist() == [50256]
    with pytest.raises(DisallowedSpecialTokenError):
        tokenize(LOADED, "gpt2", "a<|endoftext|>", "error")
    with pytest.raises(ValueError, match="expected text, allow or error"):
        tokenize(LOADED, "gpt2", "a", "maybe")


def test_a_change_encodes_what_is_new() -> None:
    """A text with one letter more than the last one is an update of its session, on several threads too."""
    loaded = Loaded()
    encoding = loaded["o200k_base"]
    text = "a line of words\n" * 20_000
    changed = [f"{text[:place]}x{text[place:]}" for place in range(0, len(text), len(text) // 20)]
    assert loaded.encode("o200k_base", text, "text").tolist() == encoding.encode(text)
    first = loaded._sessions["o200k_base", "text"].fork()
    for each in changed:
        assert len(first.fork().update(each).ids) < 20
        assert loaded.encode("o200k_base", each, "text").tolist() == encoding.encode(each)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: loaded.encode("o200k_base", each, "text").tolist(), changed))
    assert found == [encoding.encode(each) for each in changed]
    for rule in ("text", "allow", "error"):
        for name in ("gpt2", "cl100k_base"):
            loaded.encode(name, "a", rule)
    assert len(loaded._sessions) == MOST_TEXTS


@pytest.mark.parametrize("text", ["", "Hello  world", "  a b  ", "ﬁne ① 你好 e\u0301", "x\n\ty"])
def test_normalized_texts_are_covered_in_order(text: str) -> None:
    model = LOADED.add(bytemill.Encoding.from_definition(model_definition()))
    ids, found = spans(model, text, "text")
    assert ids == LOADED[model].encode_ordinary(text)
    flat = [offset for span in found for offset in span]
    assert flat == sorted(flat)
    assert all(0 <= offset <= len(text.encode()) for offset in flat)


def model_definition() -> bytemill.Definition:
    """Returns a SentencePiece model that normalizes."""
    return bytemill.Definition("model", "", {}, {}, None, sentencepiece.trained("nmt_nfkc"), None)


def test_lengths_include_special_tokens() -> None:
    table = LOADED.lengths("o200k_base")
    assert table[199999] == len("<|endoftext|>")
    assert table[24912] == len("hello")
    assert table.dtype == np.int32


def test_magic() -> None:
    with pytest.raises(ValueError, match="expected a block that starts with"):
        unpack(b"XXXX" + bytes(28))
