"""`Definition`: the plain value behind an encoding."""

from __future__ import annotations

import pickle

import pytest

import bytemill
from bytemill import Definition, Encoding
from bytemill.definition import ID_LIMIT, Template
from bytemill.errors import VocabularyError
from support.toys import BYTE_RANKS

RANKS = BYTE_RANKS | {b"ab": 256}
TOY = Definition("toy", r"\w+|\W+", RANKS, {"<|a|>": 300})


def test_an_encoding_has_its_definition_and_comes_from_it() -> None:
    encoding = Encoding.from_definition(TOY)
    assert encoding.definition == TOY
    assert encoding.definition.ranks is RANKS
    assert encoding.encode("ab<|a|>c", allowed_special="all") == [256, 300, 99]
    parts = Encoding("toy", pat_str=r"\w+|\W+", mergeable_ranks=RANKS, special_tokens={"<|a|>": 300})
    assert parts.definition == TOY
    assert encoding.sha256 == parts.sha256 == TOY.sha256
    assert encoding.max_token_value == TOY.max_id == 300


@pytest.mark.parametrize("name", bytemill.list_encoding_names())
def test_builtin_encodings_are_those_of_their_definitions(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    definition = encoding.definition
    assert definition.check(name) is definition
    assert (definition.name, definition.max_id) == (name, encoding.max_token_value)
    assert definition.sha256 == encoding.sha256
    assert definition.vocab() == encoding.vocab()


def test_another_name_or_template_gives_the_same_ids() -> None:
    other = TOY._replace(name="other", template=Template(("<|a|>",), ()))
    assert other != TOY
    assert other.sha256 == TOY.sha256
    assert TOY._replace(splitting=r"\s+|\S+").sha256 != TOY.sha256


def test_a_template_stays_with_the_encoding() -> None:
    definition = TOY._replace(template=Template(("<|a|>",), ()))
    encoding = Encoding.from_definition(definition)
    assert encoding.definition == definition
    again = pickle.loads(pickle.dumps(encoding))  # noqa: S301 - our own
    assert again.definition == definition
    assert pickle.dumps(again) == pickle.dumps(encoding)
    assert encoding.with_special_tokens({"<|b|>": 301}).definition.template == definition.template
    assert encoding.with_vocab_size(257).definition.template == definition.template
    assert encoding.encode_ordinary("ab") == [256]
    with pytest.raises(
        ValueError, match="a vocab_size that keeps the token 256, which is added to each text"
    ):
        definition._replace(template=Template((256,), ())).with_vocab_size(257, "cut")


def test_a_definition_is_a_value() -> None:
    assert pickle.loads(pickle.dumps(TOY)) == TOY  # noqa: S301 - our own
    assert repr(TOY) == "<Definition 'toy': 257 + 1 tokens>"
    with pytest.raises(AttributeError):
        TOY.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("ranks", "special_tokens", "reason"),
    [
        ({b"ab": 1}, {}, "got none for 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, ..."),
        (RANKS | {b"": 257}, {}, "the token with the id 257 is empty"),
        (RANKS | {b"bc": 256}, {}, "the tokens b'ab' and b'bc' have the same id 256"),
        (RANKS | {b"bc": ID_LIMIT}, {}, "expected one from 0 to 4294967294"),
        (RANKS, {"<|a|>": -1}, "the token '<|a|>' has the id -1"),
    ],
)
def test_what_is_no_vocabulary_is_refused(
    ranks: dict[bytes, int], special_tokens: dict[str, int], reason: str
) -> None:
    with pytest.raises(VocabularyError) as caught:
        Definition("toy", ".", ranks, special_tokens).check("some.json")
    assert str(caught.value).startswith("some.json: ")
    assert reason in str(caught.value)
