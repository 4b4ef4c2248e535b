"""Decoding id by id: text as soon as its characters are whole, and the same text as all at once."""

from __future__ import annotations

import array
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytemill
from bytemill import StreamDecoder, UnknownTokenError
from support.strategies import any_bytes, texts
from support.texts import ADVERSARIAL, multilingual

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.fixture(scope="module")
def encoding() -> bytemill.Encoding:
    return bytemill.get_encoding("cl100k_base")


def test_text_comes_as_soon_as_it_is_whole(encoding: bytemill.Encoding) -> None:
    stream = encoding.stream_decoder()
    assert isinstance(stream, StreamDecoder)
    ids = encoding.encode("hi " + FAMILY)
    received = [stream.push(token) for token in ids]
    assert "".join(received) == "hi " + FAMILY
    assert "" in received
    assert "\ufffd" not in "".join(received)
    assert stream.flush() == ""
    # Nothing is kept back longer than it must be.
    for end in range(len(ids)):
        whole = encoding.decode_bytes(ids[: end + 1]).decode("utf-8", "ignore")
        assert "".join(received[: end + 1]) == whole


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda ids: array.array("I", ids)])
def test_several_ids_at_once(encoding: bytemill.Encoding, kind: Any) -> None:
    ids = encoding.encode(FAMILY * 3)
    stream = encoding.stream_decoder()
    received = stream.push(kind(ids[:5])) + stream.push(kind(ids[5:6])) + stream.push(kind(ids[6:]))
    assert received + stream.flush() == FAMILY * 3
    assert stream.push([]) == ""


@pytest.mark.parametrize("number", [np.int64(15339), np.uint32(15339), np.array(15339)])
def test_numbers_of_numpy(encoding: bytemill.Encoding, number: Any) -> None:
    assert encoding.stream_decoder().push(number) == "hello"


def test_special_tokens(encoding: bytemill.Encoding) -> None:
    assert encoding.stream_decoder().push([15339, encoding.eot_token]) == "hello<|endoftext|>"


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
@pytest.mark.parametrize("errors", ["replace", "ignore", "backslashreplace", "surrogateescape"])
@given(data=any_bytes, cuts=st.lists(st.integers(0, 300), max_size=5))
def test_any_bytes(name: str, errors: str, data: bytes, cuts: list[int]) -> None:
    encoding = bytemill.get_encoding(name)
    ids = encoding.encode_bytes(data)
    stream = encoding.stream_decoder(errors)
    places = [0, *sorted(min(cut, len(ids)) for cut in cuts), len(ids)]
    received = [stream.push(ids[start:end]) for start, end in itertools.pairwise(places)]
    assert "".join(received) + stream.flush() == encoding.decode(ids, errors)
    one_by_one = "".join(map(stream.push, ids))
    assert one_by_one + stream.flush() == encoding.decode(ids, errors)


@given(text=texts)
def test_any_text(text: str) -> None:
    encoding = bytemill.get_encoding("o200k_base")
    stream = encoding.stream_decoder("strict")
    assert "".join(map(stream.push, encoding.encode_ordinary(text))) == text
    assert stream.flush() == ""


def test_adversarial_texts(encoding: bytemill.Encoding) -> None:
    for text in (*ADVERSARIAL.values(), multilingual(5, 500)):
        stream = encoding.stream_decoder()
        assert "".join(map(stream.push, encoding.encode_ordinary(text[:2_000]))) == text[:2_000]


def test_what_is_not_whole_at_the_end(encoding: bytemill.Encoding) -> None:
    beginning = encoding.encode_bytes("\U0001f600".encode()[:3])
    stream = encoding.stream_decoder()
    assert stream.push(beginning) == ""
    assert stream.flush() == "\ufffd"
    assert stream.flush() == ""
    # Flushed, it starts anew.
    assert stream.push(15339) == "hello"

    strict = encoding.stream_decoder("strict")
    assert strict.push(beginning) == ""
    with pytest.raises(UnicodeDecodeError):
        strict.flush()
    assert strict.push(15339) == "hello"


def test_an_error_leaves_the_stream_as_it_was(encoding: bytemill.Encoding) -> None:
    first, rest = (encoding.encode_bytes(part) for part in (b"\xf0\x9f", b"\x98\x80"))
    stream = encoding.stream_decoder("strict")
    assert stream.push(first) == ""
    with pytest.raises(UnknownTokenError):
        stream.push(100_256)
    with pytest.raises(UnknownTokenError):
        stream.push([15339, 100_256])
    with pytest.raises(OverflowError):
        stream.push(-1)
    with pytest.raises(UnicodeDecodeError):
        stream.push(15339)
    for no_ids in ("text", 1.5, None):
        with pytest.raises(TypeError):
            stream.push(no_ids)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="got the text 'text'"):
        stream.push("text")  # type: ignore[arg-type]
    assert stream.push(rest) == "\U0001f600"


def test_an_unknown_way_to_handle_errors(encoding: bytemill.Encoding) -> None:
    with pytest.raises(LookupError, match="mistake"):
        encoding.stream_decoder("mistake")
