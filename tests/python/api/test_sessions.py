"""Sessions and streams: the token IDs of a text that grows are those of the whole, after every step."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from functools import cache
from typing import Any

import numpy as np
import pytest

import bytemill
from bytemill import DisallowedSpecialTokenError, Encoding, Update
from support.open_models import LOADED, encoding_of
from support.toys import BYTE_RANKS

SAMPLE = (
    "Never tokenize the same text twice: conversations grow, and their start stays.\n\n"
    "def f(x):\n\treturn x  # 12,345 times\r\n\r\n"
    "东京都は日本の首都。ประเทศไทยเป็นรัฐ naïve café e\u0301 "
    "'sLL camelCase HTTPServer 1234567890 🙂👩‍👩‍👧 <|endoftext|>  \u2581 end"
)


@cache
def o200k() -> Encoding:
    return bytemill.get_encoding("o200k_base")


def pieces_of(text: str, longest: int, numbers: random.Random) -> list[str]:
    """Cuts a text into random parts, some of them empty."""
    parts = []
    while text:
        size = numbers.randint(0, longest)
        parts.append(text[:size])
        text = text[size:]
    return parts


class Mirror:
    """A session, and a list of token IDs that only its updates change."""

    def __init__(self, encoding: Encoding, **options: Any) -> None:
        self.encoding, self.options = encoding, options
        self.session = encoding.session(**options)
        self.text = ""
        self.tokens: list[int] = []

    def apply(self, update: Update, text: str) -> None:
        self.tokens[update.start : update.stop] = update.ids
        self.text = text
        expected = self.encoding.encode(text, **self.options)
        assert self.tokens == expected
        assert self.session.count == len(expected)

    def check(self) -> None:
        assert self.session.tolist() == self.tokens
        assert self.session.ids.tolist() == self.tokens
        assert self.session.text == self.text


@pytest.mark.parametrize("name", bytemill.list_encoding_names())
def test_texts_that_grow(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    numbers = random.Random(name)  # noqa: S311
    mirror = Mirror(encoding, allowed_special="all")
    for part in pieces_of(SAMPLE * 20, 40, numbers):
        assert mirror.session.count_after(part) == encoding.count(mirror.text + part, allowed_special="all")
        mirror.apply(mirror.session.append(part), mirror.text + part)
    mirror.check()
    for _ in range(200):
        start, end = sorted(numbers.randint(0, len(mirror.text)) for _ in "ab")
        end = min(end, start + numbers.randint(0, 30))
        new = SAMPLE[: numbers.randint(0, 20)]
        mirror.apply(mirror.session.edit(start, end, new), mirror.text[:start] + new + mirror.text[end:])
    mirror.check()
    mirror.apply(mirror.session.truncate(1_500), mirror.text[:1_500])
    mirror.apply(mirror.session.update(SAMPLE), SAMPLE)
    mirror.check()


@pytest.mark.parametrize("family", LOADED)
def test_every_kind_of_file(family: str) -> None:
    encoding = encoding_of(family)
    numbers = random.Random(family)  # noqa: S311
    mirror = Mirror(encoding, allowed_special="all", disallowed_special=())
    stream = encoding.stream_encoder(allowed_special="all")
    streamed = []
    for part in pieces_of(SAMPLE * 4, 60, numbers):
        mirror.apply(mirror.session.append(part), mirror.text + part)
        streamed += stream.push(part)
        assert streamed == mirror.tokens[: len(streamed)]
    assert streamed + stream.flush() == mirror.tokens
    for _ in range(30):
        start = numbers.randint(0, len(mirror.text))
        end = min(len(mirror.text), start + numbers.randint(0, 9))
        new = SAMPLE[numbers.randint(0, 200) :][:7]
        mirror.apply(mirror.session.edit(start, end, new), mirror.text[:start] + new + mirror.text[end:])
    mirror.check()


def test_what_a_template_changes_at_the_end_of_a_conversation() -> None:
    encoding = o200k()
    first = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n<think>\n"
    second = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nHi!<|im_end|>\n<|im_start|>user\n"
    session = encoding.session(first)
    tokens = session.tolist()
    update = session.update(second)
    # The ids of what both begin with stay.
    assert update.start >= len(encoding.encode(first)) - 4
    tokens[update.start : update.stop] = update.ids
    assert tokens == encoding.encode(second) == session.tolist()
    assert session.update(second) == Update(len(tokens), len(tokens), [])


def test_a_far_token_changes() -> None:
    """Whoever encodes an overlap and compares gets this wrong, however long the overlap is."""
    text = "见 亚洲AV" + "QWERTY" * 100
    session = o200k().session(text)
    before = session.tolist()
    update = session.append("b")
    after = o200k().encode(text + "b")
    assert before[-300:] == after[-301:-1]
    assert (update.start, update.stop) == (1, len(before))
    assert o200k().decode([after[1]]) == " 亚洲AV"
    before[update.start : update.stop] = update.ids
    assert before == after


def test_forks_and_copies() -> None:
    session = o200k().session(SAMPLE * 50, disallowed_special=())
    text, tokens = session.text, session.tolist()
    pickled = pickle.loads(pickle.dumps(session))  # noqa: S301 - our own
    forks = [session.fork(), copy.copy(session), copy.deepcopy(session), pickled]
    for number, fork in enumerate(forks):
        fork.append(f" fork {number}")
        fork.edit(3, 9, "")
    assert (session.text, session.tolist()) == (text, tokens)
    for number, fork in enumerate(forks):
        assert fork.text == text[:3] + text[9:] + f" fork {number}"
        assert fork.tolist() == o200k().encode(fork.text, disallowed_special=())
        assert fork.encoding.name == "o200k_base"
    assert session.tolist(5) == tokens[5:]
    assert session.tolist(len(tokens) + 5) == []
    assert repr(session) == f"<Session 'o200k_base': {len(text):,} characters, {len(tokens):,} tokens>"


def test_options_of_a_session_stay() -> None:
    allowed = {"<|endoftext|>"}
    disallowed: Any = iter(["refused"])
    session = o200k().session("a<|endoftext|>b", allowed_special=allowed, disallowed_special=disallowed)
    allowed.clear()
    again = pickle.loads(pickle.dumps(session))  # noqa: S301 - our own
    for each in (session, again):
        assert each.tolist() == [64, 199999, 65]
        with pytest.raises(DisallowedSpecialTokenError):
            each.append(" refused")


def test_a_stream_is_not_copied() -> None:
    stream = o200k().stream_encoder()
    tokens = stream.push("Hello wor")
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="a stream of its own"):
            copied(stream)
    assert tokens + stream.push("ld") + stream.flush() == o200k().encode("Hello world")


def test_arrays() -> None:
    session = o200k().session("abc")
    assert session.ids.dtype == np.uint32
    assert session.ids.tolist() == o200k().encode("abc")
    assert not session.ids.flags.writeable
    assert o200k().session().ids.shape == (0,)


def test_refused_text_changes_nothing() -> None:
    session = o200k().session("some text <|endof")
    before = (session.text, session.tolist())
    with pytest.raises(DisallowedSpecialTokenError) as refused:
        session.append("text|> and more")
    assert (refused.value.token, refused.value.start) == ("<|endoftext|>", 10)
    with pytest.raises(DisallowedSpecialTokenError):
        session.count_after("text|>")
    with pytest.raises(DisallowedSpecialTokenError):
        session.update("<|endoftext|>")
    with pytest.raises(DisallowedSpecialTokenError):
        session.edit(0, 4, "<|endoftext|>")
    for wrong in [(-1, 0), (3, 2), (0, 18), (18, 18)]:
        with pytest.raises(ValueError, match="0 <= start <= end <= 17"):
            session.edit(*wrong, "a")
    with pytest.raises(TypeError, match="expected text as str"):
        session.append(b"bytes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 0"):
        session.tolist(-1)
    assert (session.text, session.tolist()) == before
    session.append("text")
    assert session.tolist() == o200k().encode("some text <|endoftext")


def test_strings_that_are_refused_across_calls() -> None:
    session = o200k().session("a b", disallowed_special={"b c", "\n."})
    with pytest.raises(DisallowedSpecialTokenError, match="'b c'"):
        session.append(" c")
    session.append("\n")
    with pytest.raises(DisallowedSpecialTokenError):
        session.append(".")
    assert session.append("x").ids
    assert session.text == "a b\nx"


def test_surrogates_that_are_cut() -> None:
    session = o200k().session("a\ud83d")
    assert session.text == "a\ufffd"
    assert session.count_after("\ude42 b") == o200k().count("a🙂 b")
    assert session.text == "a\ufffd"
    assert session.append("\ude42 b").ids
    assert session.text == "a🙂 b"
    assert session.tolist() == o200k().encode("a🙂 b")
    session.append("\ud83d")
    fork = pickle.loads(pickle.dumps(session))  # noqa: S301 - our own
    for each in (session, fork):
        each.append("x\ude42")
        assert each.text == "a🙂 b\ufffdx\ufffd"
    session.truncate(1)
    session.edit(1, 1, "\ud83d")
    session.append("\ude42")
    assert session.text == "a🙂"

    stream = o200k().stream_encoder()
    tokens = stream.push("a \ud83d")
    assert stream.pending.endswith("\ud83d")
    tokens += stream.push("\ude42 b\ud83d") + stream.push(b"c") + stream.push("\ud83d") + stream.flush()
    assert tokens == o200k().encode("a 🙂 b\ud83dc\ud83d")
    assert stream.pending == ""


def test_streams_of_bytes() -> None:
    data = (SAMPLE * 3).encode()
    expected = o200k().encode(SAMPLE * 3, allowed_special="all")
    for size in (1, 2, 3, 7, 100, len(data)):
        stream = o200k().stream_encoder(allowed_special="all")
        tokens = []
        for start in range(0, len(data), size):
            tokens += stream.push(data[start : start + size])
            assert stream.count == len(tokens)
        assert tokens + stream.flush() == expected
    stream = o200k().stream_encoder()
    tokens = stream.push(bytearray(b"caf\xc3"))
    with pytest.raises(ValueError, match="complete a character"):
        stream.push("text")
    with pytest.raises(UnicodeDecodeError):
        stream.push(b" ")
    with pytest.raises(UnicodeDecodeError):
        stream.flush()
    tokens += stream.push(memoryview(b"\xa9"))
    assert tokens + stream.flush() == o200k().encode("café")
    stream = o200k().stream_encoder(errors="replace")
    assert stream.push(b"caf\xc3") + stream.flush() == o200k().encode("caf\ufffd")
    assert stream.push("new text") + stream.flush() == o200k().encode("new text")
    with pytest.raises(LookupError):
        o200k().stream_encoder(errors="unknown")
    # Token IDs, whose bytes are no text.
    numbers: Any = np.array([104, 105])
    with pytest.raises(TypeError, match="items of 8 bytes"):
        stream.push(numbers)
    characters: Any = np.frombuffer(b"new", np.uint8)
    assert stream.push(characters) + stream.flush() == o200k().encode("new")


def test_surrogates_in_streams_of_bytes() -> None:
    text = "a \ud83d\ude42 b\ud83dc\ud83d"
    data = text.encode("utf-8", "surrogatepass")
    for size in range(1, len(data) + 1):
        stream = o200k().stream_encoder(errors="surrogatepass")
        parts = [data[start : start + size] for start in range(0, len(data), size)]
        tokens = [token for part in parts for token in stream.push(part)]
        assert stream.pending.endswith("\ud83d")
        assert tokens + stream.flush() == o200k().encode(text)
        assert stream.pending == ""
    # Text and bytes are parts of one text.
    stream = o200k().stream_encoder(errors="surrogatepass")
    tokens = stream.push("\ud83d") + stream.push(data[5:6]) + stream.push(data[6:8])
    tokens += stream.push(data[2:5]) + stream.push("\ude42")
    assert tokens + stream.flush() == o200k().encode("🙂🙂")


def test_streams_emit_no_part_of_a_special_token() -> None:
    encoding = o200k()
    text = "<|endoftext|>"
    for cut in range(len(text) + 1):
        stream = encoding.stream_encoder(allowed_special="all")
        tokens = stream.push("end " + text[:cut]) + stream.push(text[cut:] + "a b") + stream.flush()
        assert tokens == encoding.encode(f"end {text}a b", allowed_special="all")
        stream = encoding.stream_encoder()
        emitted = stream.push("end " + text[:cut])
        with pytest.raises(DisallowedSpecialTokenError) as refused:
            stream.push(text[cut:] + " and more")
        assert refused.value.start == len("end ")
        # Nothing of it has been emitted, and another text may follow.
        assert "end ".startswith(encoding.decode(emitted))
        assert stream.pending.endswith(text[:cut])


def test_the_end_of_a_text_that_is_refused() -> None:
    stream = o200k().stream_encoder(errors="replace")
    stream.push(b"words <|endoftext|>")
    stream.push(b"\xe2\x82")
    for _ in range(2):
        before = (stream.count, stream.pending)
        with pytest.raises(DisallowedSpecialTokenError):
            stream.flush()
        assert (stream.count, stream.pending) == before
    # What is left of the last character is still there.
    with pytest.raises(DisallowedSpecialTokenError) as refused:
        stream.push(b"\xac and more")
    assert refused.value.start == len("words ")


def test_the_families_without_cuts() -> None:
    # Blanks that are stripped at the end, sums of scores that run through a text, and vocabularies in which
    # the letters of the sample are unknown.
    assert [name for name in LOADED if not encoding_of(name).session().is_incremental] == [
        "camembert",
        "ruri",
        "llm-jp",
        "some byte tokens",
        "some byte tokens, not fused",
        "some byte tokens, no unknown",
        "no byte tokens",
    ]


def test_an_encoding_without_cuts() -> None:
    # Two equal characters are one piece, which takes backtracking.
    encoding = Encoding("pairs", pat_str=r"(.)\1|(?s:.)", mergeable_ranks=BYTE_RANKS, special_tokens={})
    session = encoding.session("some words")
    assert not session.is_incremental
    assert o200k().session().is_incremental
    session.append(" and more")
    session.edit(0, 4, "all")
    assert session.tolist() == encoding.encode("all words and more")
    stream = encoding.stream_encoder()
    assert stream.push("some words ") == []
    assert stream.flush() == encoding.encode("some words ")


def test_one_thread_at_a_time() -> None:
    session = o200k().session()
    outcomes: list[BaseException | None] = []
    text = "words and more words " * 200_000

    def append() -> None:
        try:
            session.append(text)
        except RuntimeError as error:
            outcomes.append(error)
        else:
            outcomes.append(None)

    threads = [threading.Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = outcomes.count(None)
    assert done >= 1
    assert all("another thread" in str(error) for error in outcomes if error)
    assert session.text == text * done
    assert session.ids.tolist() == o200k().encode(session.text)


CONVERSATION = (SAMPLE.replace("<|endoftext|>", "") + "\n") * 60


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_harmony"])
def test_conversations_through_a_cache(name: str) -> None:
    encoding = bytemill.get_encoding(name)
    cache = bytemill.PrefixCache()
    text = ""
    for turn in range(12):
        text += f"turn {turn}: " + CONVERSATION[: 3_000 + 700 * turn]
        tokens = encoding.encode(text, cache=cache)
        assert tokens == encoding.encode(text)
        assert encoding.encode_to_numpy(text, allowed_special="all", cache=cache).tolist() == tokens
    stats = cache.stats()
    # Each text but the first of both kinds, which are below the limit or new.
    assert stats.hits >= 20
    assert stats.reused_bytes > len(text) * 4
    assert stats.bytes > len(text.encode())
    with pytest.raises(DisallowedSpecialTokenError) as refused:
        encoding.encode(text + "<|endoftext|>", cache=cache)
    assert refused.value.start == len(text)
    cache.clear()
    assert cache.stats() == (0, 0, 0, 0, 0)


def test_arguments_of_a_cache() -> None:
    cache = pickle.loads(pickle.dumps(bytemill.PrefixCache(1_000, min_text=5)))  # noqa: S301 - our own
    assert o200k().encode("some words", cache=cache) == o200k().encode("some words")
    assert cache.stats().misses == 1
    assert o200k().encode("some", cache=cache) == o200k().encode("some")
    assert cache.stats().misses == 1
    with pytest.raises(ValueError, match="max_bytes must be a number of bytes, 0 or more, got -1"):
        bytemill.PrefixCache(-1)
    with pytest.raises(TypeError, match="cache"):
        o200k().encode("text", cache={})  # type: ignore[arg-type]


RUNS = ["ab", "cab", " ", " \t", "กขค", "东京", "ใ่", "!", "-=", "Aa", "\u0301a", "1"]


@pytest.mark.parametrize("family", LOADED)
def test_runs_without_a_cut(family: str) -> None:
    """Runs are divided between tokens; what grows at their end, or is taken away, is encoded from there."""
    encoding = encoding_of(family)
    numbers = random.Random(family)  # noqa: S311
    for symbols in RUNS:

        def part(length: int, symbols: str = symbols) -> str:
            return "".join(numbers.choice(symbols) for _ in range(length))

        text = numbers.choice(["", "a ", "a\n"]) + part(6_000)
        session = encoding.session(text)
        for _ in range(6):
            if numbers.random() < 0.3:
                text = text[: -numbers.randint(1, 1_500)] + part(3)
                session.update(text)
            else:
                new = part(numbers.randint(1, 300)) + numbers.choice(["", "", "x", "\n"])
                text += new
                session.append(new)
            assert session.tolist() == encoding.encode(text), (symbols, len(text))
