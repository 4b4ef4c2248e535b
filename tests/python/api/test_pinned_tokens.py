"""Token IDs that are appended to a session as they are."""

from __future__ import annotations

import pickle
import random
import unicodedata

import numpy as np
import pytest

import bytemill
from bytemill import Encoding, UnknownTokenError, Update
from support import holding_decoders
from support.open_models import LOADED, encoding_of
from support.timing import assert_in_proportion

PROMPT = "What is the capital of Japan?\nAnswer:"
ANSWER = " The capital is Tokyo (東京), naïve 🙂"


@pytest.fixture(scope="module")
def o200k() -> Encoding:
    return bytemill.get_encoding("o200k_base")


def test_sampled_tokens_stay(o200k: Encoding) -> None:
    session = o200k.session(PROMPT, allowed_special="all")
    prompt = o200k.encode(PROMPT)
    # Not the tokens of the text: each byte by itself.
    sampled = [o200k.encode_single_token(bytes([byte])) for byte in ANSWER.encode()]
    assert session.append_ids(sampled) == Update(len(prompt), len(prompt), sampled)
    assert session.tolist() == prompt + sampled
    assert session.text == PROMPT + ANSWER
    assert session.first_drift() == len(prompt)
    session.append_ids([o200k.eot_token])
    session.append("\nWhat else?")
    assert session.tolist() == [*prompt, *sampled, o200k.eot_token, *o200k.encode("\nWhat else?")]
    assert session.text == f"{PROMPT}{ANSWER}<|endoftext|>\nWhat else?"
    assert session.count_after(" more") == session.fork().append(" more").stop + 1
    fork = session.fork()
    loaded = pickle.loads(pickle.dumps(session))  # noqa: S301
    for each in (fork, loaded):
        assert (each.tolist(), each.text) == (session.tolist(), session.text)
        each.append_ids(sampled[:1])
        each.append("!")
        assert each.first_drift() == len(prompt)
    assert session.text.endswith("?")


def test_characters_that_tokens_cut(o200k: Encoding) -> None:
    session = o200k.session()
    texts = []
    for byte in "é🙂".encode():
        session.append_ids([o200k.encode_single_token(bytes([byte]))])
        texts.append(session.text)
    assert texts == ["\ufffd", "é", "é\ufffd", "é\ufffd", "é\ufffd", "é🙂"]
    assert session.truncate(1) == Update(2, 6, [])
    assert session.text == "é"
    session.append("\ud83d")
    session.append_ids([220])
    session.append("\ude42")
    assert session.text == "é\ufffd \ufffd"


def test_what_a_template_makes_of_a_conversation(o200k: Encoding) -> None:
    session = o200k.session("<|user|>Hi<|assistant|>", allowed_special="all")
    # " Hel" and "lo".
    sampled = [*o200k.encode(" Hel"), *o200k.encode("lo")]
    session.append_ids(sampled)
    update = session.update("<|user|>Hi<|assistant|> Hello<|user|>Bye")
    assert update.ids == o200k.encode("<|user|>Bye")
    assert session.first_drift() == update.start - 2
    # Pinned tokens stay, or the call is refused and changes nothing.
    with pytest.raises(ValueError, match="characters 23 to 29 are the text of appended token IDs"):
        session.update("<|user|>Hi<|assistant|> Help")
    with pytest.raises(ValueError, match="so characters 25 to 26 cannot be replaced"):
        session.edit(25, 26, "x")
    assert session.text == "<|user|>Hi<|assistant|> Hello<|user|>Bye"
    session.truncate(27)
    assert session.tolist()[-1:] == sampled[:1]
    with pytest.raises(ValueError, match="appended token IDs"):
        session.truncate(25)
    session.update("<|user|>")
    assert session.first_drift() is None


def test_wrong_tokens_change_nothing(o200k: Encoding) -> None:
    session = o200k.session("a")
    for tokens, error in [
        ([0, 10**7], UnknownTokenError),
        ([-1], OverflowError),
        (["a"], TypeError),
        (1, TypeError),
    ]:
        with pytest.raises(error):
            session.append_ids(tokens)  # type: ignore[arg-type]
    assert session.append_ids([]) == Update(1, 1, [])
    assert session.append_ids(np.array([0], dtype=np.uint32)).ids == [0]  # type: ignore[arg-type]
    assert session.text == "a!"


@pytest.mark.parametrize("name", holding_decoders.NAMES)
def test_text_does_not_depend_on_how_tokens_are_divided(name: str) -> None:
    encoding = holding_decoders.encoding_named(name)
    source = random.Random(name)  # noqa: S311
    for number in range(300):
        special = number % 3 == 0
        tokens = holding_decoders.sampled(encoding, source, special=0.2 if special else 0)
        start = source.choice(["", "", "ab", "é", "- "])
        whole = encoding.session(start, allowed_special="all")
        whole.append_ids(tokens)
        if not special and not start:
            assert whole.text == encoding.decode(tokens), tokens
        session, rest = encoding.session(start, allowed_special="all"), tokens
        while rest:
            size = source.choice([1, 1, 2, 5])
            session.append_ids(rest[:size])
            rest = rest[size:]
            if source.random() < 0.7:
                so_far = encoding.session(start, allowed_special="all")
                so_far.append_ids(tokens[: len(tokens) - len(rest)])
                assert session.text == so_far.text, tokens
                assert f"{len(so_far.text):,} characters" in repr(session)
            session = source.choice([session, session.fork(), pickle.loads(pickle.dumps(session))])  # noqa: S301
        assert session.text == whole.text, tokens
        assert session.tolist() == whole.tolist()
        assert session.first_drift() == whole.first_drift()


@pytest.mark.parametrize("name", holding_decoders.NAMES)
def test_every_place_where_tokens_end(name: str) -> None:
    encoding = holding_decoders.encoding_named(name)
    source = random.Random(name)  # noqa: S311
    made = 0
    for _ in range(200):
        start = source.choice(["", "ab", "-"])
        session = encoding.session(start, allowed_special="all")
        counts = {start: {session.count}}
        for token in holding_decoders.sampled(encoding, source):
            session.append_ids([token])
            counts.setdefault(session.text, set()).add(session.count)
        text, tokens = session.text, session.tolist()
        for length in range(len(start), len(text)):
            fork = session.fork()
            found = counts.get(text[:length])
            if found is None:
                with pytest.raises(ValueError, match="expected the end of one of these tokens"):
                    fork.truncate(length)
            else:
                fork.truncate(length)
                assert (fork.text, fork.tolist()) == (text[:length], tokens[: fork.count])
                assert fork.count in found
                made += 1
    assert made > 200


def test_the_end_of_a_character_that_tokens_complete() -> None:
    encoding = holding_decoders.encoding_named("gemma")
    session = encoding.session("<bos>a", allowed_special="all")
    session.append_ids(encoding.encode("😀ab"))
    for length, count in ((7, 6), (9, 7), (6, 2)):
        fork = session.fork()
        fork.truncate(length)
        assert (fork.text, fork.count) == ("<bos>a😀ab"[:length], count)
    with pytest.raises(ValueError, match="inside, expected the end of one of these tokens"):
        session.truncate(8)


def test_what_stands_before_tokens() -> None:
    ids = holding_decoders.IDS
    for name, text, tokens, expected in [
        ("ends of words", "ab", ["a</w>", "b</w>"], "ab a b"),
        ("parts of words", "ab", ["##a", "b"], "aba b"),
        ("no decoder", "ab", ["b"], "ab b"),
        # The bytes of a character begin anew.
        ("gemma", "é", ["<0xC3>", "<0xA9>", "<0xC3>"], "é\ufffd\ufffd\ufffd"),
        ("gemma", "é", ["<0xC3>", "<0xA9>", "a"], "ééa"),
        ("llama", "a", ["▁a"], "a a"),
        ("llama", "a<eos>", ["▁a"], "a<eos>a"),
        ("two dashes", "-", ["-", "-"], "- "),
        ("spaces at the end", " ", [" ", "a"], "  a"),
    ]:
        session = holding_decoders.encoding_named(name).session(text, allowed_special="all")
        for token in tokens:
            session.append_ids([ids[token]])
        assert session.text == expected, name


def test_what_stood_before_tokens_is_pickled() -> None:
    encoding = holding_decoders.encoding_named("ends of words")
    session = encoding.session("ab")
    session.append_ids([holding_decoders.IDS["a</w>"]])
    session.append("b")
    session.append_ids([holding_decoders.IDS["b</w>"]])
    session.edit(0, 2, "")
    session.edit(2, 3, "")
    assert session.text == " a b"
    loaded = pickle.loads(pickle.dumps(session))  # noqa: S301
    tokens = session.tolist()
    for each in (session, loaded):
        assert (each.text, each.tolist()) == (" a b", tokens)
        each.append_ids([holding_decoders.IDS["a</w>"]])
        assert each.text == " a b a"


@pytest.mark.parametrize("name", ["gemma", "clean"])
def test_time_of_what_a_decoder_holds(name: str) -> None:
    encoding = holding_decoders.encoding_named(name)

    def append(tokens: list[int]) -> str:
        session = encoding.session()
        for token in tokens:
            session.append_ids([token])
        return session.text

    held = [holding_decoders.IDS[byte] for byte in ("<0xC3>", "<0xA9>")] * 4_000
    assert append(held) == encoding.decode(held)
    assert_in_proportion(append, held, held * 4, what=name)


# Their special tokens are found in normalized text, or look at the text around them.
LOOK_AROUND = [
    "llama-2",
    "codellama",
    "prefix space",
    "flags",
    "flags, not special",
    "flags, prepended",
    "flags, metaspace",
]


@pytest.mark.parametrize("family", LOADED)
def test_every_kind_of_file(family: str) -> None:
    encoding = encoding_of(family)
    numbers = random.Random(family)  # noqa: S311
    special = sorted(encoding.special_tokens_set)
    session = encoding.session(allowed_special="all")
    text = ""
    for _ in range(6):
        part = " ".join(numbers.choice(["word", "12", "東京", "a.b", "naïve"]) for _ in range(5))
        token = numbers.choice(special) if special else ""
        session.append(part)
        before = session.tolist()
        tokens = [encoding.encode_single_token(token)] if token else []
        assert session.append_ids(tokens) == Update(len(before), len(before), tokens)
        assert session.tolist() == before + tokens
        text += part + token
    whole = encoding.encode(text, allowed_special="all")
    if family in LOOK_AROUND:
        assert session.tolist() != whole
        assert session.first_drift() is not None
        return
    assert session.tolist() == whole
    assert session.first_drift() is None
    assert unicodedata.normalize("NFC", session.text) == text
