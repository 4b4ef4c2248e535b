"""Open models' files `tokenizer.json`: everything as `tokenizers` has it, row by row of the catalogue."""

# ruff: noqa: S311 - randomness that can be repeated is what is wanted

from __future__ import annotations

import functools
import json
import os
import random
import zlib
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

import bytemill
from support.open_models import LOADED, REFUSED, ROWS, file_of
from support.open_models.speech import CODE, SENTENCES, TRICKY, neighbourhoods, patchworks
from support.texts import multilingual, random_unicode

pytestmark = [
    pytest.mark.filterwarnings("ignore:.* its post-processor adds"),
    pytest.mark.filterwarnings("ignore:the special token .* is the beginning of"),
]

every_row = pytest.mark.parametrize("name", LOADED)

# How many random texts each row has.
NUMBER = 20_000 if os.environ.get("BYTEMILL_FULL") else 60

# Bytes of a long text: with three times those from which threads divide it, each has some.
LONG = 1_500_000 if os.environ.get("BYTEMILL_FULL") else 400_000


@functools.cache
def theirs(name: str) -> Tokenizer:
    """The real library, without what an encoding does not do: offsets that leave out spaces, truncation."""
    tokenizer = Tokenizer.from_str(file_of(name).decode())
    tokenizer.post_processor = None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("open-models")


def read(name: str, folder: Path) -> bytemill.Encoding:
    file = folder / f"{name}.json"
    if not file.exists():
        file.write_bytes(file_of(name))
    return bytemill.Encoding.from_file(file)


@functools.cache
def texts_of(name: str) -> list[str]:
    """Returns texts for a row: of every script, tricky ones, random ones, with its added tokens in them."""
    seed = zlib.crc32(name.encode())
    contents = [token["content"] for token in ROWS[name].tokens]
    chosen = random.Random(seed).sample(contents, min(len(contents), 8)) + contents[:4]
    if name.startswith("flags"):
        chosen = contents
    return [
        *TRICKY,
        *SENTENCES,
        CODE,
        "".join(TRICKY),
        multilingual(seed, 120),
        random_unicode(seed, 200),
        *neighbourhoods(list(dict.fromkeys(chosen))),
        *patchworks(seed, NUMBER, contents),
    ]


def differing(
    texts: list[str], ours: list[list[int]], expected: list[list[int]]
) -> list[tuple[str, list[int], list[int]]]:
    """Returns the shortest texts with other ids, and both ids."""
    wrong = [
        (text, found, right)
        for text, found, right in zip(texts, ours, expected, strict=True)
        if found != right
    ]
    return sorted(wrong, key=lambda case: len(case[0]))[:3]


@functools.cache
def expected(name: str, *, ordinary: bool = False) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Returns the ids and offsets of the texts of a row, with or without special tokens."""
    tokenizer = theirs(name)
    tokenizer.encode_special_tokens = ordinary
    try:
        found = tokenizer.encode_batch(texts_of(name), add_special_tokens=False)
    finally:
        tokenizer.encode_special_tokens = False
    return [(encoded.ids, encoded.offsets) for encoded in found]


def expected_ids(name: str, *, ordinary: bool = False) -> list[list[int]]:
    return [ids for ids, _ in expected(name, ordinary=ordinary)]


@pytest.mark.parametrize("name", ROWS)
def test_files_number_tokens_as_the_library_does(name: str) -> None:
    file = json.loads(file_of(name))
    tokenizer = theirs(name)
    for token in file["added_tokens"]:
        assert tokenizer.token_to_id(token["content"]) == token["id"]
    assert tokenizer.get_vocab_size(with_added_tokens=False) == len(file["model"]["vocab"])
    assert tokenizer.encode("a").ids


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_component(name: str, folder: Path) -> None:
    with pytest.raises(bytemill.VocabularyError, match=r"pre_tokenizer: .*(ByteLevel|empty string)"):
        read(name, folder)


@every_row
def test_ids(name: str, folder: Path) -> None:
    texts = texts_of(name)
    encoding = read(name, folder)
    right = expected_ids(name)
    assert not differing(texts, [encoding.encode(text, allowed_special="all") for text in texts], right)
    assert not differing(texts, encoding.encode_batch(texts, allowed_special="all"), right)
    flat, offsets = encoding.encode_batch_to_numpy(texts, allowed_special="all")
    assert offsets.tolist() == np.cumsum([0, *map(len, right)]).tolist()
    assert flat.tolist() == [token for ids in right for token in ids]


@every_row
def test_ids_without_special_tokens(name: str, folder: Path) -> None:
    texts = texts_of(name)
    encoding = read(name, folder)
    right = expected_ids(name, ordinary=True)
    assert not differing(texts, [encoding.encode_ordinary(text) for text in texts], right)
    assert not differing(texts, encoding.encode_ordinary_batch(texts), right)
    assert [encoding.count(text) for text in texts] == [len(ids) for ids in right]
    assert encoding.count_batch(texts).tolist() == [len(ids) for ids in right]


@pytest.mark.parametrize("name", ["qwen2", "qwen3.5", "flags", "command-r"])
def test_long_texts_on_several_threads(name: str, folder: Path) -> None:
    encoding = read(name, folder)
    long = "".join(texts_of(name)) + multilingual(3, LONG)
    for text in (
        long,
        long.encode("ascii", "ignore").decode(),
        long.encode("latin-1", "ignore").decode("latin-1"),
    ):
        alone = encoding.encode_ordinary_to_numpy(text, num_threads=1)
        np.testing.assert_array_equal(encoding.encode_ordinary_to_numpy(text, num_threads=2), alone)
        assert encoding.count_batch([text, text], num_threads=2).tolist() == 2 * [len(alone)]


@every_row
def test_offsets(name: str, folder: Path) -> None:
    encoding = read(name, folder)
    for text, (ids, offsets) in zip(texts_of(name), expected(name), strict=True):
        found = encoding.encode_with_offsets(text, allowed_special="all")
        assert found.ids.tolist() == ids
        assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == offsets, text


@every_row
def test_decoding(name: str, folder: Path) -> None:
    encoding = read(name, folder)
    tokenizer = theirs(name)
    source = random.Random(zlib.crc32(name.encode()))
    known = sorted(tokenizer.get_vocab().values())
    lists = [*expected_ids(name), *([token] for token in known)]
    lists += [source.choices(known, k=source.randint(1, 12)) for _ in range(NUMBER)]
    right = tokenizer.decode_batch(lists, skip_special_tokens=False)
    found = encoding.decode_batch(lists)
    assert not [case for case in zip(lists, found, right, strict=True) if case[1] != case[2]][:3]
    assert [encoding.decode(ids) for ids in lists[:100]] == right[:100]


def test_a_token_of_no_bytes_is_decoded_to_nothing(folder: Path) -> None:
    encoding = read("whisper", folder)
    empty = theirs("whisper").token_to_id("")
    assert empty is not None
    assert encoding.decode_single_token_bytes(empty) == b""
    assert encoding.decode([empty, *encoding.encode("a"), empty]) == "a"


@every_row
def test_tokens(name: str, folder: Path) -> None:
    encoding = read(name, folder)
    tokens = theirs(name).get_added_tokens_decoder()
    assert encoding.special_tokens_set == {token.content for token in tokens.values() if token.special}
    for token_id, token in tokens.items():
        assert encoding.is_special_token(token_id) == token.special
