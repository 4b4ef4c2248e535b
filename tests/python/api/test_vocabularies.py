"""The seven built-in encodings are tiktoken's: tokens, ranks, special tokens, patterns, holes, shared ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest
import tiktoken
import tiktoken.load
from tiktoken_ext import openai_public  # type: ignore[import-untyped]

import bytemill
from bytemill import registry
from support.offline_tiktoken import NAMES, PublishedFile

every_encoding = pytest.mark.parametrize("name", NAMES)

Encodings = Mapping[str, tiktoken.Encoding]

# How many tokens there are, how many of them are mergeable, and which ids below the highest belong to none.
SIZES: dict[str, tuple[int, int, set[int]]] = {
    "gpt2": (50257, 50256, set()),
    "r50k_base": (50257, 50256, set()),
    "p50k_base": (50281, 50280, set()),
    "p50k_edit": (50284, 50280, set()),
    "cl100k_base": (100277, 100256, {100256, *range(100261, 100276)}),
    "o200k_base": (200019, 199998, {199998, *range(200000, 200018)}),
    "o200k_harmony": (201088, 199998, set()),
}


def test_the_names_and_their_order() -> None:
    assert bytemill.list_encoding_names() == NAMES == list(SIZES)


@every_encoding
def test_exports_have_the_hashes_that_tiktoken_expects(
    name: str, published_files: dict[str, list[PublishedFile]], exported_files: dict[str, list[bytes]]
) -> None:
    expected = [sha256 for _, sha256 in published_files[name]]
    assert len(expected) == (2 if name == "gpt2" else 1)
    assert [hashlib.sha256(contents).hexdigest() for contents in exported_files[name]] == expected


@every_encoding
def test_tiktoken_takes_our_exports_for_the_published_files(
    name: str, published_files: dict[str, list[PublishedFile]], tiktoken_cache: Path
) -> None:
    for url, sha256 in published_files[name]:
        # tiktoken removes a cached file whose hash is wrong, and would fetch it again.
        contents = tiktoken.load.read_file_cached(url, sha256)
        assert (
            contents
            == (tiktoken_cache / hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()).read_bytes()
        )


@every_encoding
def test_the_sizes(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    size, mergeable, _ = SIZES[name]
    assert ours.n_vocab == theirs.n_vocab == size
    assert ours.max_token_value == theirs.max_token_value == size - 1
    assert len(ours._mergeable_ranks) == len(theirs._mergeable_ranks) == mergeable


@every_encoding
def test_the_ranks_in_their_order(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    assert ours._mergeable_ranks == theirs._mergeable_ranks
    assert list(ours._mergeable_ranks) == list(theirs._mergeable_ranks)


@every_encoding
def test_the_special_tokens_in_their_order(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    assert list(ours._special_tokens.items()) == list(theirs._special_tokens.items())
    assert ours.special_tokens_set == theirs.special_tokens_set
    assert type(ours.special_tokens_set) is type(theirs.special_tokens_set) is set
    assert ours._special_token_values == theirs._special_token_values
    assert ours.eot_token == theirs.eot_token


@every_encoding
def test_the_pattern(name: str, tiktoken_encodings: Encodings) -> None:
    assert bytemill.get_encoding(name)._pat_str == tiktoken_encodings[name]._pat_str


@every_encoding
def test_the_token_bytes(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    assert ours.token_byte_values() == theirs.token_byte_values() == sorted(theirs._mergeable_ranks)


@every_encoding
def test_every_id(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    holes = set()
    for token in range(ours.n_vocab + 1):
        try:
            expected = theirs.decode_single_token_bytes(token)
        except KeyError:
            with pytest.raises(KeyError):
                ours.decode_single_token_bytes(token)
            holes.add(token)
        else:
            assert ours.decode_single_token_bytes(token) == expected
            assert ours.encode_single_token(expected) == theirs.encode_single_token(expected)
        assert ours.is_special_token(token) == theirs.is_special_token(token)
    assert holes == SIZES[name][2] | {ours.n_vocab}


@every_encoding
def test_all_tokens_decode_together(name: str, tiktoken_encodings: Encodings) -> None:
    ours, theirs = bytemill.get_encoding(name), tiktoken_encodings[name]
    ids = [token for token in range(ours.n_vocab) if token not in SIZES[name][2]]
    assert ours.decode_bytes(ids) == theirs.decode_bytes(ids)


@every_encoding
def test_the_constructors_give_the_published_parts(name: str, tiktoken_encodings: Encodings) -> None:
    assert tiktoken_encodings[name].name == name
    bytemill.list_encoding_names()  # fills the table
    assert registry.ENCODING_CONSTRUCTORS is not None
    parts = registry.ENCODING_CONSTRUCTORS[name]()
    assert parts == openai_public.ENCODING_CONSTRUCTORS[name]()
    rebuilt = bytemill.Encoding(**parts)
    text = "The constructor's parts make the same encoding, \u0141\xf3d\u017a 12345\n\n"
    assert rebuilt.encode(text) == bytemill.get_encoding(name).encode(text)
    assert rebuilt.max_token_value == bytemill.get_encoding(name).max_token_value


def test_a_special_id_lies_among_the_ranks(tiktoken_encodings: Encodings) -> None:
    for encoding in (bytemill.get_encoding("p50k_base"), tiktoken_encodings["p50k_base"]):
        assert encoding.eot_token == 50256 < max(encoding._mergeable_ranks.values())
        assert 50256 not in encoding._mergeable_ranks.values()


def test_two_special_tokens_share_an_id(tiktoken_encodings: Encodings) -> None:
    shared = ["<|endofprompt|>", "<|reserved_200018|>"]
    for encoding in (bytemill.get_encoding("o200k_harmony"), tiktoken_encodings["o200k_harmony"]):
        assert [token for token, value in encoding._special_tokens.items() if value == 200018] == shared
        assert [encoding.encode_single_token(token) for token in shared] == [200018, 200018]
        assert encoding.encode("".join(shared), allowed_special="all") == [200018, 200018]
        assert encoding.decode_single_token_bytes(200018) == b"<|endofprompt|>"
        assert encoding.decode([200018]) == "<|endofprompt|>"


def test_gpt2_and_r50k_are_one_vocabulary() -> None:
    assert (
        bytemill.get_encoding("gpt2")._mergeable_ranks == bytemill.get_encoding("r50k_base")._mergeable_ranks
    )


@every_encoding
def test_the_bytes_are_permuted(name: str) -> None:
    ranks = bytemill.get_encoding(name)._mergeable_ranks
    singles = [ranks[bytes([byte])] for byte in range(256)]
    assert sorted(singles) == list(range(256))
    assert singles != list(range(256))
