"""Fuzz the methods of `Encoding` against tiktoken, and methods that only it has, with random vocabularies."""

from __future__ import annotations

import functools
import itertools
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import strategies as st

import bytemill
from bytemill.errors import DisallowedSpecialTokenError, VocabularyError
from support.fuzzing import run, within
from support.offline_tiktoken import NAMES, offline_tiktoken
from support.strategies import SPECIAL_FRAGMENTS, any_text, few_letters, surrogate_texts, texts, vocabularies
from support.strategies import texts_with_special_tokens as mixed

Pair = tuple[bytemill.Encoding, tiktoken.Encoding]

TEXTS = st.one_of(texts, mixed, surrogate_texts, few_letters(), any_text)
SHORT = st.one_of(texts, mixed).map(lambda text: text[-12:])
STRINGS = st.one_of(st.sampled_from(SPECIAL_FRAGMENTS), st.text("ab<|> ", min_size=1, max_size=3))
PATTERNS = [
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    r"(?s).+",
    r"\w+|\s",
    r"(?s).",
]
BYTE_RANKS = {bytes([value]): value for value in range(256)}


@functools.cache
def published(name: str) -> Pair:
    """An encoding and tiktoken's encoding of the same definition."""
    with offline_tiktoken(Path(tempfile.mkdtemp(prefix="fuzz"))) as encodings:
        return bytemill.get_encoding(name), encodings[name]


def small(data: st.DataObject) -> Pair:
    """Encodings unlike trained ones, with special tokens that overlap, nest and contain ordinary text."""
    ranks = data.draw(vocabularies(b"ab \n\xe4\xb8\xad"))
    drawn = data.draw(st.lists(st.text("ab<|>中", min_size=1, max_size=4), max_size=5, unique=True))
    # Of two where one is a prefix of the other, tiktoken may take either.
    texts = [text for text in drawn if sum(other.startswith(text) for other in drawn) == 1]
    first = max(ranks.values()) + data.draw(st.integers(1, 5))
    parts: dict[str, Any] = {
        "pat_str": data.draw(st.sampled_from(PATTERNS)),
        "mergeable_ranks": ranks,
        "special_tokens": dict(zip(texts, itertools.count(first), strict=False)),
    }
    return bytemill.Encoding("small", **parts), tiktoken.Encoding("small", **parts)


def both(data: st.DataObject) -> Pair:
    if data.draw(st.integers(0, 2), label="small") == 0:
        return small(data)
    return published(data.draw(st.sampled_from(NAMES), label="name"))


def some(data: st.DataObject, strings: st.SearchStrategy[str]) -> Any:
    """Special token arguments of the methods."""
    collections = st.one_of(st.sets(strings, max_size=4), st.frozensets(strings, max_size=4))
    return data.draw(st.one_of(st.just("all"), collections), label="some")


def joined(text: str) -> str:
    """Returns the text as encoded: adjacent surrogate halves are one character, as in tiktoken."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def encoding(data: st.DataObject) -> None:
    ours, theirs = both(data)
    text = data.draw(TEXTS, label="text")
    known = sorted(ours.special_tokens_set)
    strings = st.one_of(STRINGS, st.sampled_from(known)) if known else STRINGS
    ends = st.lists(st.sampled_from(["a", " ", "<", *known]), max_size=5)
    text += "".join(data.draw(ends, label="ends"))
    special = {"allowed_special": some(data, strings), "disallowed_special": some(data, strings)}
    with within():
        ids = theirs.encode_ordinary(text)
        assert ours.encode_ordinary(text) == ids
        assert ours.encode_ordinary_batch([text, "", text]) == [ids, [], ids]
        assert ours.count(text) == len(ids)
        assert ours.encode_ordinary_to_numpy(text, num_threads=2).tolist() == ids
        utf8 = joined(text).encode()
        assert ours.encode_bytes(utf8) == ids
        try:
            ids = theirs.encode(text, **special)
        except ValueError as error:
            refused(ours, text, special, str(error))
            return
        assert ours.encode(text, **special) == ids
        assert ours.encode_to_numpy(text, **special).tolist() == ids
        assert ours.encode_batch([text, text], **special) == [ids, ids]
        offsets = ours.encode_with_offsets(text, **special, unit="byte")
        assert offsets.ids.tolist() == ids
        for token, start, end in zip(ids, offsets.starts.tolist(), offsets.ends.tolist(), strict=True):
            part = utf8[start:end]
            # Two special tokens may share an id.
            assert part == ours.decode_single_token_bytes(token) or ours.encode_single_token(part) == token


def refused(ours: bytemill.Encoding, text: str, special: dict[str, Any], message: str) -> None:
    """Checks that all methods raise, too."""
    for encode in (ours.encode, ours.encode_to_numpy, ours.encode_with_unstable, ours.encode_with_offsets):
        with pytest.raises(DisallowedSpecialTokenError) as caught:
            encode(text, **special)
        assert joined(text)[caught.value.start :].startswith(caught.value.token), message


def unstable(data: st.DataObject) -> None:
    ours, theirs = both(data)
    text = data.draw(SHORT, label="text")
    with within():
        stable, completions = ours.encode_with_unstable(text, allowed_special="all")
        expected = theirs.encode_with_unstable(text, allowed_special="all")
        assert stable == expected[0]
        assert sorted(completions) == sorted(expected[1])


def any_bytes(data: st.DataObject) -> None:
    ours, theirs = both(data)
    parts = st.one_of(
        st.binary(max_size=6), texts.map(str.encode), st.sampled_from([b" ", b"\n ", b"\xe4\xb8"])
    )
    contents = data.draw(st.lists(parts, max_size=5).map(b"".join), label="contents")
    with within():
        ids = theirs._encode_bytes(contents)
        assert ours._encode_bytes(contents) == ids
        assert ours.encode_bytes(bytearray(contents)) == ids
        if contents:
            assert ours._encode_single_piece(contents) == theirs._encode_single_piece(contents)


def decoding(data: st.DataObject) -> None:
    ours, theirs = both(data)
    token = st.one_of(
        st.integers(0, ours.n_vocab + 3),
        st.integers(max(0, ours.n_vocab - 30), ours.n_vocab),
        st.integers(0, 2**32 - 1),
    )
    ids = data.draw(st.lists(token, max_size=40), label="ids")
    if data.draw(st.integers(0, 5)):
        known = {*theirs._mergeable_ranks.values(), *theirs._special_tokens.values()}
        ids = [token for token in ids if token in known]
    ids *= data.draw(st.sampled_from([1, 1, 1, 50]))
    with within():
        try:
            expected = theirs.decode_bytes(ids)
        except KeyError:
            for decode in (
                ours.decode_bytes,
                ours.decode,
                ours.decode_tokens_bytes,
                ours.decode_with_offsets,
            ):
                with pytest.raises(KeyError):
                    decode(ids)
            return
        assert ours.decode_bytes(ids) == expected
        assert ours.decode(ids) == expected.decode("utf-8", "replace")
        assert ours.decode_tokens_bytes(ids) == theirs.decode_tokens_bytes(ids)
        assert ours.decode_bytes_batch([ids, ids]) == [expected, expected]
        decoder = ours.stream_decoder()
        assert "".join(map(decoder.push, ids)) + decoder.flush() == expected.decode("utf-8", "replace")
        try:
            offsets = theirs.decode_with_offsets(ids)
        except UnicodeDecodeError:
            return
        assert ours.decode_with_offsets(ids) == offsets


def cutting(data: st.DataObject) -> None:
    ours, _ = both(data)
    text = data.draw(TEXTS, label="text")
    limit = data.draw(st.integers(1, 60), label="limit")
    overlap = data.draw(st.integers(0, limit - 1), label="overlap")
    with within():
        count = ours.count(text)
        assert ours.count_till_limit(text, limit) == (count if count <= limit else None)
        for side in ("right", "left"):
            cut = ours.truncate(text, limit, side=side)
            assert cut.token_count == ours.count(cut.text) <= limit
            assert text.startswith(cut.text) if side == "right" else text.endswith(cut.text)
            assert cut.truncated == (cut.text != text)
        try:
            parts = ours.split(text, limit, overlap=overlap)
        except ValueError:
            assert max(map(ours.count, joined(text))) > limit
            return
        assert all(part and ours.count(part) <= limit for part in parts)
        if overlap == 0:
            assert "".join(parts) == text


def making(data: st.DataObject) -> None:
    """Checks that a possibly invalid definition raises an error of the library or works."""
    tokens = st.dictionaries(st.binary(max_size=3), st.integers(-2, 2**32 + 1), max_size=6)
    numbers = st.one_of(st.integers(-2, 700), st.integers(2**32 - 3, 2**64))
    special = st.dictionaries(st.text(max_size=3), numbers, max_size=4)
    ranks = (BYTE_RANKS if data.draw(st.integers(0, 3)) else {}) | data.draw(tokens)
    pattern = data.draw(
        st.one_of(st.sampled_from(PATTERNS), st.text(r"()[]{}?*+|\pLNsS^$a-1,.:<>=!i", max_size=12))
    )
    text = data.draw(texts)
    with within():
        try:
            made = bytemill.Encoding(
                "made", pat_str=pattern, mergeable_ranks=ranks, special_tokens=data.draw(special)
            )
        except (VocabularyError, ValueError, OverflowError):
            return
        try:
            ids = made.encode(text, allowed_special="all")
        except bytemill.PatternError:
            return
        assert ids == made.encode(text, allowed_special="all")
        made.decode(ids)


if __name__ == "__main__":
    # tiktoken would read its own folder.
    os.environ.pop("DATA_GYM_CACHE_DIR", None)
    # Special tokens that are prefixes of others are intended.
    warnings.simplefilter("ignore")
    run("methods", [encoding, unstable, any_bytes, decoding, cutting, making])
