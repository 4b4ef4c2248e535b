"""Strings of every width that characters are kept in become the ids of their UTF-8, stay, and come back."""

import ctypes
import sys
from typing import Any

import numpy as np
import pytest

import bytemill

WIDTHS = {
    "ASCII": "plain words ",
    "one byte": "naïve café ÿ ",
    "two bytes": "Стихи и “quotes” 漢字 ",
    "four bytes": "smile \U0001f600 and 漢字 é ",
}


class Subclass(str):
    """Its characters lie elsewhere than those of a str; its own methods are not asked about them."""

    __slots__ = ()

    def isascii(self) -> bool:
        raise AssertionError

    def __len__(self) -> int:
        raise AssertionError


def made_anew(text: str, length: int) -> str:
    """A string that nothing else has, so that nobody asked for its UTF-8 before."""
    return "".join(text[place % len(text)] for place in range(length))


@pytest.mark.parametrize("kind", [str, Subclass])
@pytest.mark.parametrize("length", [0, 1, 2, 15, 16, 17, 300, 70_000, 300_001])
@pytest.mark.parametrize("text", WIDTHS.values(), ids=WIDTHS)
def test_every_width(text: str, length: int, kind: type[str]) -> None:
    encoding = bytemill.get_encoding("r50k_base")

    def new() -> Any:
        return kind(made_anew(text, length))

    expected = encoding.encode_bytes(new().encode())
    assert encoding.encode(new()) == expected
    assert encoding.encode_ordinary(new()) == expected
    assert encoding.encode_to_numpy(new()).tolist() == expected
    assert encoding.encode_ordinary_to_numpy(new(), num_threads=3).tolist() == expected
    assert encoding.count(new()) == len(expected)
    assert encoding.encode_batch([new(), "a", new()]) == [expected, encoding.encode("a"), expected]
    ids, offsets = encoding.encode_batch_to_numpy([new(), new()])
    assert ids.tolist() == 2 * expected
    assert offsets.tolist() == [0, len(expected), 2 * len(expected)]


@pytest.mark.parametrize("length", [0, 1, 2, 61, 62, 63, 64, 65, 127, 128, 129, 1000, 70_000])
@pytest.mark.parametrize("text", WIDTHS.values(), ids=WIDTHS)
def test_every_width_comes_back(text: str, length: int) -> None:
    """As the string that the interpreter itself makes, which is as narrow as can be and is found in a set."""
    encoding = bytemill.get_encoding("r50k_base")
    data = made_anew(text, length).encode()
    expected = data.decode()
    ids = encoding.encode_bytes(data)
    array: Any = np.array(ids, dtype=np.uint32)
    decoded = [
        encoding.decode(ids),
        encoding.decode(array, errors="strict"),
        *encoding.decode_batch([ids, ids]),
    ]
    for string in decoded:
        assert string == expected
        assert hash(string) == hash(expected)
        assert type(string) is str
        assert string.isascii() == expected.isascii()
        assert sys.getsizeof(string) == sys.getsizeof(expected)
        assert ascii(string) == ascii(expected)
        assert (string + "\U0001f600").encode()[:-4] == data


@pytest.mark.parametrize("text", WIDTHS.values(), ids=WIDTHS)
def test_what_is_no_text_is_decoded_as_bytes_are(text: str) -> None:
    encoding = bytemill.get_encoding("r50k_base")
    for place in range(0, 200, 7):
        data = made_anew(text, 200).encode()
        data = data[:place] + b"\xff" + data[place:]
        ids = encoding.encode_bytes(data)
        assert encoding.decode(ids) == data.decode(errors="replace")
        assert encoding.decode(ids, errors="ignore") == data.decode(errors="ignore")
        with pytest.raises(UnicodeDecodeError):
            encoding.decode(ids, errors="strict")


@pytest.mark.parametrize(
    "text",
    ["it's a\ud801\udc00b 1\ud83d 漢字\udc00 ", "\udc00\ud801", "— … ", "é"],
    ids=["surrogates", "nothing else", "nowhere to be cut", "one piece"],
)
def test_long_texts_are_the_same_in_segments(text: str) -> None:
    encoding = bytemill.get_encoding("o200k_base")
    length = 400_003
    mended = made_anew(text, length).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    expected = encoding.encode_bytes(mended.encode())
    for num_threads in (1, 2, 7):
        long = made_anew(text, length)
        ids = encoding.encode_ordinary_to_numpy(long, num_threads=num_threads)
        assert ids.tolist() == expected
        short = [made_anew(text, size) for size in range(60)]
        batch = [*short, long, *short]
        arrays = encoding.encode_batch_to_numpy(batch, num_threads=num_threads)
        one_by_one = [encoding.encode_ordinary(each) for each in batch]
        assert arrays.ids.tolist() == [number for each in one_by_one for number in each]
        assert arrays.offsets.tolist()[1] == len(one_by_one[0])
        counts = encoding.count_batch(batch, num_threads=num_threads)
        assert counts.tolist() == [len(each) for each in one_by_one]


def test_a_special_token_in_a_short_text_is_refused_where_it_is() -> None:
    encoding = bytemill.get_encoding("o200k_base")
    texts = [made_anew(WIDTHS["two bytes"], 300) for _ in range(50)]
    texts[30] += "<|endoftext|>"
    with pytest.raises(ValueError, match="endoftext"):
        encoding.encode_batch(texts)
    allowed = encoding.encode_batch(texts, allowed_special="all")
    assert allowed[30][-1] == encoding.eot_token
    assert allowed[:30] == [encoding.encode(text) for text in texts[:30]]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_copy_is_left_in_the_string(width: str) -> None:
    encoding = bytemill.get_encoding("r50k_base")
    text = made_anew(WIDTHS[width], 5000)
    size = sys.getsizeof(text)
    encoding.encode(text)
    encoding.encode_batch([text])
    encoding.count(text)
    bytemill.count_pieces([text])
    assert sys.getsizeof(text) == size


@pytest.mark.parametrize("width", ["one byte", "two bytes", "four bytes"])
def test_utf8_that_is_there_is_used(width: str) -> None:
    encoding = bytemill.get_encoding("r50k_base")
    text = made_anew(WIDTHS[width], 5000)
    before = encoding.encode(text)
    make_utf8 = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
    make_utf8.restype = ctypes.c_void_p
    make_utf8.argtypes = [ctypes.py_object, ctypes.c_void_p]
    assert make_utf8(text, None)
    assert encoding.encode(text) == before
    assert encoding.encode_batch([text]) == [before]


def test_a_text_that_is_none_among_others_of_every_width() -> None:
    encoding = bytemill.get_encoding("r50k_base")
    with pytest.raises(TypeError, match="expected text as str, got int"):
        encoding.encode_batch([*WIDTHS.values(), 7])  # type: ignore[list-item]
