"""`bytemill.model`: which encoding a model uses, as in tiktoken."""

from __future__ import annotations

import pytest
import tiktoken.model

import bytemill
from bytemill import model


def test_the_tables_are_those_of_tiktoken_in_the_same_order() -> None:
    assert list(model.MODEL_TO_ENCODING.items()) == list(tiktoken.model.MODEL_TO_ENCODING.items())
    ours, theirs = model.MODEL_PREFIX_TO_ENCODING, tiktoken.model.MODEL_PREFIX_TO_ENCODING
    assert list(ours.items()) == list(theirs.items())


def test_every_encoding_in_the_tables_is_built_in() -> None:
    names = {*model.MODEL_TO_ENCODING.values(), *model.MODEL_PREFIX_TO_ENCODING.values()}
    assert names <= set(bytemill.list_encoding_names())


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("gpt2", "gpt2"),
        ("text-davinci-003", "p50k_base"),
        ("text-davinci-edit-001", "p50k_edit"),
        ("gpt-3.5-turbo-0301", "cl100k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-0314", "cl100k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-4.1-mini", "o200k_base"),
        ("gpt-5.1", "o200k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        # Two beginnings fit; the first in the table decides.
        ("ft:gpt-4o:someone", "o200k_base"),
        ("ft:gpt-4:someone", "cl100k_base"),
    ],
)
def test_models_by_name_and_by_beginning(name: str, encoding: str) -> None:
    assert bytemill.encoding_name_for_model(name) == tiktoken.encoding_name_for_model(name) == encoding
    assert bytemill.encoding_for_model(name) is bytemill.get_encoding(encoding)


@pytest.mark.parametrize("name", ["", "gpt", "gpt-4x", "o1mini", "GPT-4"])
@pytest.mark.parametrize("function", ["encoding_name_for_model", "encoding_for_model"])
def test_unknown_models_are_an_error_with_advice(function: str, name: str) -> None:
    errors = []
    for module in (bytemill, tiktoken):
        with pytest.raises(KeyError) as caught:
            getattr(module, function)(name)
        errors.append(caught.value.args)
    assert len(errors[0]) == 1
    assert errors[0][0].startswith(errors[1][0])
    assert f"Could not automatically map {name} to a tokeniser." in errors[0][0]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("GPT-4o", " Did you mean 'gpt-4o'?"),
        ("GPT-4o-2024-05-13", " Did you mean 'gpt-4o-2024-05-13'?"),
        ("gpt4o", " Did you mean 'gpt-4o'?"),
        ("text-embedding-3", " Did you mean 'text-embedding-3-small' or 'text-embedding-3-large'?"),
        ("cl100k_base", " 'cl100k_base' is an encoding: use get_encoding('cl100k_base')."),
        ("claude", ""),
    ],
)
def test_unknown_models_have_suggestions(name: str, hint: str) -> None:
    with pytest.raises(KeyError) as caught:
        bytemill.encoding_for_model(name)
    assert caught.value.args[0].endswith(f"the tokeniser you expect.{hint}")


def test_the_tables_may_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(model.MODEL_TO_ENCODING, "my-model", "gpt2")
    monkeypatch.setitem(model.MODEL_PREFIX_TO_ENCODING, "my-", "r50k_base")
    assert bytemill.encoding_name_for_model("my-model") == "gpt2"
    assert bytemill.encoding_name_for_model("my-model-2") == "r50k_base"
