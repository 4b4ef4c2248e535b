"""Pickling and copying: registered encodings travel by name, others by their parts, in the same bytes."""

# ruff: noqa: S301 - the pickles are our own

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import tiktoken

import bytemill
from bytemill import errors, registry

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT = "abc ab 123 <|other|>, naïve 文字 \U0001f600"


def encode_all(encoding: bytemill.Encoding) -> list[int]:
    return encoding.encode(TEXT, allowed_special="all")


@pytest.fixture
def custom(custom_parts: dict[str, Any]) -> bytemill.Encoding:
    return bytemill.Encoding(**custom_parts)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_registered_encoding_travels_by_name(protocol: int) -> None:
    encoding = bytemill.get_encoding("cl100k_base")
    assert encoding.__getstate__() == "cl100k_base"
    data = pickle.dumps(encoding, protocol)
    assert len(data) < 200
    again = pickle.loads(data)
    assert again.name == "cl100k_base"
    assert encode_all(again) == encode_all(encoding)
    assert again._core_bpe is encoding._core_bpe


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_another_encoding_travels_by_its_parts(protocol: int, custom: bytemill.Encoding) -> None:
    again = pickle.loads(pickle.dumps(custom, protocol))
    assert encode_all(again) == encode_all(custom)
    assert again._mergeable_ranks == custom._mergeable_ranks
    assert again._special_tokens == custom._special_tokens
    for name in ("name", "_pat_str", "max_token_value", "n_vocab", "eot_token"):
        assert getattr(again, name) == getattr(custom, name)


def test_the_parts_of_an_encoding_are_its_own(custom_parts: dict[str, Any]) -> None:
    """A caller who goes on with his dictionaries, for another encoding, changes no pickle."""
    ranks, special = dict(custom_parts["mergeable_ranks"]), dict(custom_parts["special_tokens"])
    parts = custom_parts | {"mergeable_ranks": ranks, "special_tokens": special}
    encoding = bytemill.Encoding(**parts)
    number = encoding.n_vocab
    ranks[b" 123 "], special["\U0001f600"] = number, number + 1
    again = pickle.loads(pickle.dumps(encoding))
    assert encode_all(again) == encode_all(encoding)
    assert encoding.special_tokens_set == set(custom_parts["special_tokens"])
    assert encoding.with_special_tokens({"<|new|>": number}).n_vocab == number + 1


def test_the_state_is_that_of_tiktoken(
    custom_parts: dict[str, Any],
    custom: bytemill.Encoding,
    tiktoken_encodings: Mapping[str, tiktoken.Encoding],
) -> None:
    theirs = tiktoken.Encoding(**custom_parts)
    assert custom.__getstate__() == theirs.__getstate__()
    assert bytemill.get_encoding("gpt2").__getstate__() == tiktoken_encodings["gpt2"].__getstate__()

    loaded = bytemill.Encoding.__new__(bytemill.Encoding)
    loaded.__setstate__(theirs.__getstate__())  # type: ignore[arg-type]
    assert encode_all(loaded) == encode_all(custom) == theirs.encode(TEXT, allowed_special="all")


def test_a_pickle_made_by_tiktoken_loads_as_ours(
    custom_parts: dict[str, Any], custom: bytemill.Encoding
) -> None:
    data = pickle.dumps(tiktoken.Encoding(**custom_parts), protocol=0)
    assert b"tiktoken.core" in data
    again = pickle.loads(data.replace(b"tiktoken.core", b"bytemill.core"))
    assert type(again) is bytemill.Encoding
    assert encode_all(again) == encode_all(custom)


def test_equal_encodings_give_equal_bytes(custom_parts: dict[str, Any], custom: bytemill.Encoding) -> None:
    data = pickle.dumps(custom)
    assert pickle.dumps(custom) == data
    assert pickle.dumps(pickle.loads(data)) == data
    for part in ("mergeable_ranks", "special_tokens"):
        custom_parts[part] = dict(reversed(custom_parts[part].items()))
    assert pickle.dumps(bytemill.Encoding(**custom_parts)) == data


def test_use_does_not_change_the_bytes(custom: bytemill.Encoding) -> None:
    data = pickle.dumps(custom)
    encode_all(custom)
    assert custom.special_tokens_set == {"<|endoftext|>", "<|other|>"}
    assert custom.decode_with_offsets([256, 257]) == ("ababc", [0, 2])
    assert pickle.dumps(custom) == data


def test_a_builtin_encoding_that_is_not_registered_travels_by_its_parts() -> None:
    registry.list_encoding_names()
    assert registry.ENCODING_CONSTRUCTORS is not None
    encoding = bytemill.Encoding(**registry.ENCODING_CONSTRUCTORS["gpt2"]())
    state = encoding.__getstate__()
    assert isinstance(state, dict)
    assert list(state) == ["name", "pat_str", "mergeable_ranks", "special_tokens"]
    assert encode_all(pickle.loads(pickle.dumps(encoding))) == encode_all(encoding)


def test_a_name_alone_does_not_make_a_registered_encoding(custom_parts: dict[str, Any]) -> None:
    custom = bytemill.Encoding(**{**custom_parts, "name": "gpt2"})
    assert bytemill.get_encoding("gpt2") is not custom
    again = pickle.loads(pickle.dumps(custom))
    assert again.name == "gpt2"
    assert again.encode("abc") == [257]


def test_a_pattern_that_only_the_regex_package_takes_travels(
    custom_parts: dict[str, Any], custom: bytemill.Encoding
) -> None:
    # One piece for each character as readers see it, here "a" and "b" with an accent.
    parts = {**custom_parts, "pat_str": r"\X"}
    with pytest.raises(errors.UnsupportedPatternError):
        type(custom._core_bpe)(parts["mergeable_ranks"], parts["special_tokens"], parts["pat_str"])
    encoding = bytemill.Encoding(**parts)
    assert encoding.encode("ab\u0301") == [97, 98, *"\u0301".encode()]
    assert custom.encode("ab\u0301")[0] == 256
    assert pickle.loads(pickle.dumps(encoding)).encode("ab\u0301") == encoding.encode("ab\u0301")


def test_an_unpickled_encoding_does_not_warn_again(custom_parts: dict[str, Any]) -> None:
    parts = {**custom_parts, "special_tokens": {"<|a|>": 300, "<|a|><|b|>": 301}}
    with pytest.warns(UserWarning, match="is the beginning of"):
        encoding = bytemill.Encoding(**parts)
    # Warnings are errors in this test run.
    assert pickle.loads(pickle.dumps(encoding)).encode("<|a|><|b|>", allowed_special="all") == [301]


def test_the_state_of_an_unknown_name_is_an_error() -> None:
    encoding = bytemill.Encoding.__new__(bytemill.Encoding)
    with pytest.raises(errors.UnknownEncodingError):
        encoding.__setstate__("unknown")


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("kind", ["registered", "custom"])
def test_a_copy_is_another_object_around_the_same_tables(
    duplicate: Any, kind: str, custom: bytemill.Encoding
) -> None:
    encoding = bytemill.get_encoding("o200k_base") if kind == "registered" else custom
    name = encoding.name
    again = duplicate(encoding)
    assert type(again) is bytemill.Encoding
    assert again is not encoding
    assert again._core_bpe is encoding._core_bpe
    assert encode_all(again) == encode_all(encoding)
    again.name = "renamed"
    assert (again.name, encoding.name) == ("renamed", name)


def test_a_deep_copy_of_what_holds_an_encoding(custom: bytemill.Encoding) -> None:
    holder = copy.deepcopy({"encoding": custom, "again": custom})
    assert holder["encoding"] is holder["again"]
    assert holder["encoding"] is not custom


def test_encodings_travel_to_other_processes(custom: bytemill.Encoding) -> None:
    encodings = [bytemill.get_encoding("gpt2"), custom]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        lengths = list(pool.map(bytemill.Encoding.encode_ordinary, encodings, [TEXT, TEXT]))
    assert lengths == [encoding.encode_ordinary(TEXT) for encoding in encodings]


ERRORS = {
    "DisallowedSpecialTokenError": ("<|a|>", 3),
    "InternalError": ("a",),
    "JobError": ("a",),
    "PatternError": ("a",),
    "UnknownEncodingError": ("a",),
    "UnknownTokenError": (b"a",),
    "UnsupportedPatternError": ("a",),
    "VocabularyError": ("a",),
}


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_travel_too(name: str) -> None:
    error = getattr(errors, name)(*ERRORS[name])
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert again.args == error.args
    assert vars(again) == vars(error)
