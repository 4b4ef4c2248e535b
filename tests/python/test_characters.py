"""Strings of every width that characters are kept in become the ids of their UTF-8, and stay as they were."""

import ctypes
import sys
from typing import Any

import pytest

import bytemill

WIDTHS = {
    "ASCII": "plain words ",
    "one byte": "naïve café ÿ ",
    "two bytes": "Стихи и “quotes” 漢字 ",
    "four bytes": "smile \U0001f600 and 漢字 é ",
}


class Subclass(str):
    """Its characters lie elsewhere than those of a str."""

    __slots__ = ()


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
    assert encoding.count(new()) == len(expected)
    assert encoding.encode_batch([new(), "a", new()]) == [expected, encoding.encode("a"), expected]
    ids, offsets = encoding.encode_batch_to_numpy([new(), new()])
    assert ids.tolist() == 2 * expected
    assert offsets.tolist() == [0, len(expected), 2 * len(expected)]


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
