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
from support import sentencepiece
from support.open_models import encoding_of
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


def test_streams_are_made_by_encodings(encoding: bytemill.Encoding) -> None:
    # Joining the bytes of tokens is what most encodings do, and not all.
    with pytest.raises(TypeError):
        bytemill.StreamDecoder(encoding)  # type: ignore[abstract, call-arg]
    assert isinstance(encoding.stream_decoder(), bytemill.StreamDecoder)


def test_an_unknown_way_to_handle_errors(encoding: bytemill.Encoding) -> None:
    with pytest.raises(LookupError, match="mistake"):
        encoding.stream_decoder("mistake")


def streams_of(encoding: bytemill.Encoding, count: int, errors: str = "replace") -> list[StreamDecoder]:
    return [encoding.stream_decoder(errors) for _ in range(count)]


@pytest.mark.parametrize("kind", [list, tuple, np.array, iter])
def test_a_batch_is_the_same_as_each_stream_alone(encoding: bytemill.Encoding, kind: Any) -> None:
    rows = [
        encoding.encode_ordinary(text) for text in (FAMILY, "hi " + FAMILY, "a" * 40, multilingual(3, 60))
    ]
    alone, together = streams_of(encoding, len(rows)), streams_of(encoding, len(rows))
    for step in zip(*rows, strict=False):
        expected = [stream.push(token) for stream, token in zip(alone, step, strict=True)]
        assert StreamDecoder.push_batch(together, kind(step)) == expected
    rests: list[Any] = [row[min(map(len, rows)) :] for row in rows]
    expected = [stream.push(rest) for stream, rest in zip(alone, rests, strict=True)]
    assert StreamDecoder.push_batch(together, rests) == expected
    assert [stream.flush() for stream in together] == [stream.flush() for stream in alone]
    assert StreamDecoder.push_batch([], []) == []


@pytest.mark.parametrize("name", ["gpt2", "o200k_base"])
@given(rows=st.lists(any_bytes, min_size=1, max_size=4))
def test_any_bytes_in_a_batch(name: str, rows: list[bytes]) -> None:
    encoding = bytemill.get_encoding(name)
    ids = [[encoding.encode_single_token(bytes([byte])) for byte in data] for data in rows]
    streams = streams_of(encoding, len(rows))
    shortest = min(map(len, rows))
    received = [StreamDecoder.push_batch(streams, step) for step in zip(*ids, strict=False)]
    received += [[stream.flush() for stream in streams]]
    texts = ["".join(parts) for parts in zip(*received, strict=True)]
    assert texts == [encoding.decode(row[:shortest]) for row in ids]


def all_kinds() -> list[bytemill.Encoding]:
    """Returns encodings whose streams are of each class."""
    words = encoding_of("bert-uncased")
    model = bytemill.Encoding.from_file(sentencepiece.published_path("mistral-v3") or "")
    return [bytemill.get_encoding("o200k_base"), model, words, encoding_of("llama-2")]


def test_a_batch_of_several_encodings() -> None:
    kinds = all_kinds()
    assert len({type(each.stream_decoder()) for each in kinds}) == 3
    texts = ["hello \U0001f600 na\xefve", " a  b", "\u4f60\u597d"]
    rows = [(each, each.encode_ordinary(text)) for each in kinds for text in texts]
    streams = [each.stream_decoder() for each, _ in rows]
    received = [""] * len(rows)
    for step in range(max(len(ids) for _, ids in rows)):
        parts = StreamDecoder.push_batch(streams, [ids[step : step + 1] for _, ids in rows])
        received = [text + part for text, part in zip(received, parts, strict=True)]
    received = [text + stream.flush() for text, stream in zip(received, streams, strict=True)]
    assert received == [each.decode(ids) for each, ids in rows]


@pytest.mark.parametrize("number", range(4))
def test_an_error_in_a_batch_leaves_all_streams_as_they_were(number: int) -> None:
    kinds = all_kinds()
    streams = [each.stream_decoder("strict") for each in kinds]
    rows = [each.encode_ordinary("hello \U0001f600 world") for each in kinds]
    received = StreamDecoder.push_batch(streams, [row[:3] for row in rows])
    wrong: list[Any] = [row[3:] for row in rows]
    mistakes: list[tuple[Any, type[Exception]]] = [
        (2**31, UnknownTokenError),
        (-1, OverflowError),
        ("a", TypeError),
        (None, TypeError),
    ]
    for value, error in mistakes:
        with pytest.raises(error):
            StreamDecoder.push_batch(streams, [*wrong[:number], value, *wrong[number + 1 :]])
    for short in (wrong[:-1], [*wrong, 5]):
        with pytest.raises(ValueError, match=r"zip\(\)"):
            StreamDecoder.push_batch(streams, short)
    with pytest.raises(ValueError, match="expected different streams, got one of them twice"):
        StreamDecoder.push_batch([*streams, streams[number]], [*wrong, 5])
    rest = StreamDecoder.push_batch(streams, wrong)
    texts = [a + b + stream.flush() for a, b, stream in zip(received, rest, streams, strict=True)]
    assert texts == [each.decode(row) for each, row in zip(kinds, rows, strict=True)]


def test_bytes_that_are_no_text_in_a_batch_leave_all_streams_as_they_were(
    encoding: bytemill.Encoding,
) -> None:
    streams = streams_of(encoding, 2, "strict")
    first, rest = (encoding.encode_bytes(part) for part in (b"\xf0\x9f", b"\x98\x80"))
    assert StreamDecoder.push_batch(streams, [first, first]) == ["", ""]
    mistaken: list[Any] = [rest, 15339]
    with pytest.raises(UnicodeDecodeError):
        StreamDecoder.push_batch(streams, mistaken)
    assert StreamDecoder.push_batch(streams, [rest, rest]) == ["\U0001f600"] * 2


@pytest.mark.parametrize("errors", ["strict", "ignore", "replace", "backslashreplace"])
def test_bytes_that_are_no_text_by_the_decoder_of_llama(errors: str) -> None:
    encoding = encoding_of("llama-2")
    byte_ids = [encoding.encode_single_token(bytes([byte])) for byte in (0xE4, 0xB8, 0xAD, 0x80)]
    words = encoding.encode("a few words")
    rows = [
        [*words, *byte_ids[:2], *words],
        [*byte_ids[:1], *words],
        [*byte_ids[:3], *words],
        [*words, byte_ids[3]],
    ]
    for ids in rows:
        stream = encoding.stream_decoder(errors)
        try:
            expected = encoding.decode(ids, errors)
        except UnicodeDecodeError:
            with pytest.raises(UnicodeDecodeError):  # noqa: PT012 - some of them raises it
                for token in ids:
                    stream.push(token)
                stream.flush()
        else:
            assert "".join([*map(stream.push, ids), stream.flush()]) == expected
