"""Fields of JSON lines: the core's, what Python's `json` finds, and one answer for blocks of any size."""

from __future__ import annotations

import io
import json
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytemill import _core  # noqa: TID251 - what is tested
from bytemill.documents.blocks import utf8
from bytemill.documents.json_lines import few_json_texts, json_texts, line_error
from support.strategies import FEWER


def found(block: bytes, threads: int = 1) -> list[bytes]:
    data, offsets = _core.json_fields(block, ["text"], threads)
    assert offsets.dtype == np.int64
    return [data[start:end] for start, end in pairwise(offsets)]


def defined(block: bytes) -> list[bytes] | None:
    few = few_json_texts(block, ["text"])
    return None if few is None else [utf8(text) for text in few]


def read(block: bytes) -> list[bytes]:
    data, offsets = json_texts(block, ["text"], 1)
    return [data[start:end] for start, end in pairwise(offsets)]


@pytest.mark.parametrize(
    "line",
    [
        rb'{"text": "\ud83d\ude00"}',
        rb'{"text": "lone \ud83d, \ude00\ud83d, \ud83dx, \ud83d\n, \ud83d\u0041"}',
        rb'{"text": "\ud83d\ud83d\ude00"}',
        rb'{"text": "\"\\\/\b\f\n\r\t\u0000\u00e9\uFFFF"}',
        '{"text": "naïve 日本語 \U0001f600"}'.encode(),
        b'{"text": "first", "text": "last"}',
        b'{"text": 5, "text": "last"}',
        b'{"text": "first", "text": null}',
        b'{"te\\u0078t": "an escaped name"}',
        b'{"a": {"text": "inside"}, "text": "outside", "b": [1, -2.5e+9, true, "x\\u0000", [[]], {}]}',
        b'{"n": 1e999, "m": 123456789012345678901234567890, "text": ""}',
        b' \t{ "text" :\t"blanks" } \r',
        b'{"text": null}',
        b"",
        b" \t\x0b\x0c\r",
    ],
)
def test_lines(line: bytes) -> None:
    assert found(line) == defined(line)
    block = b'{"text": "before"}\n' + line + b'\n\r\n{"text": "after"}'
    assert found(block) == defined(block)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"text": "a"', "expected a JSON object: EOF"),
        (b'{"text": "a"} x', "expected a JSON object: trailing characters"),
        (b'{"text": "a",}', "expected a JSON object: trailing comma"),
        (b'{"text": "tab\t"}', "expected a JSON object: control character"),
        (rb'{"text": "\x41"}', "expected a JSON object: invalid escape"),
        (rb'{"text": "\u12g4"}', "expected a JSON object: invalid escape"),
        (rb'{"text": "\u+123"}', "expected a JSON object: invalid escape"),
        (b'{"text": "\xff"}', "expected a JSON object: invalid utf-8"),
        (b'{"text": 01}', "expected a JSON object: invalid number"),
        (b'["text"]', "expected a JSON object: invalid type: sequence, expected an object"),
        (b'"text"', "expected a JSON object: invalid type: string"),
        (b"{}", 'expected an object with the field "text"'),
        (b'{"text": 5}', 'expected a string in "text", got a number'),
        (b'{"text": {}}', 'expected a string in "text", got an object'),
        (b'{"text": []}', 'expected a string in "text", got an array'),
        (b'{"text": false}', 'expected a string in "text", got true or false'),
    ],
)
def test_lines_that_are_none(line: bytes, said: str) -> None:
    assert defined(line) is None
    # Enough of it that several threads share it, and errors after the first do not matter.
    for before in (0, 1, 9000):
        block = b'{"text": "some words"}\n' * before + line + b'\n{"text": "after"}\n' + line
        for threads in (1, 3):
            with pytest.raises(ValueError, match=rf"^line {before + 1}: ") as caught:
                found(block, threads)
            assert said in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        '{"text": "hello", "n": ' + "1" * 5000 + "}",
        '{"text": "hello", "n": -0.' + "1" * 5000 + "e-5}",
        '{"text": "hello", "n": ' + "[" * 3000 + "]" * 3000 + "}",
        '{"text": "hello", "n": ' + '{"": ' * 3000 + "1" + "}" * 3000 + "}",
        '{"text": "hello", "q": NaN, "n": ' + "[" * 3000 + "]" * 3000 + "}",
        '{"text": "hello", "q": [NaN,-Infinity,Infinity]}',
        '\ufeff{"text": "hello"}',
        r'{"\ud800": NaN, "\\ud800": "\\", "text": "hello"}',
    ],
)
def test_lines_are_taken_whatever_surrounds_them(line: str) -> None:
    # Python's `json` stops at the limits of Python, the core alone at what is not in the standard.
    block = ('{"text": "NaN \\\\ud800"}\n' + line + "\n\n").encode()
    for number in (1, 9000):
        assert read(block * number) == [rb"NaN \ud800", b"hello"] * number
    assert defined(block) in (None, read(block))


@pytest.mark.parametrize(
    "line",
    [
        b'{"text": "a", "n": -NaN}',
        b'{"text": "a", "n": NaNNaN}',
        b'{"text": "a", "n": 1NaN}',
        b'{"text": "a", "n": Nan}',
        b'{"text": NaN}',
        b'{"text": "a"}\xef\xbb\xbf',
        b'{"text\xff": "a"}',
        rb'{"text": "a", "\ud800": 1, "\ud8x0": 1}',
        rb'{"text": "a", "\ud800": 1, "\ud8,0": 1}',
    ],
)
def test_lines_that_nothing_takes(line: bytes) -> None:
    assert defined(line) is None
    with pytest.raises(ValueError, match=r"^line 2: "):
        read(b'{"text": "a", "n": NaN}\n' + line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{}", "expected an object with the field 'text', got no field"),
        (
            r'{"a\u001b[31m\u202e": 1}',
            r"the field 'text', got the fields a\x1b[31m\u202e; --field (field=) names",
        ),
        ('{"n": ' + "1" * 5000 + "}", "got the fields n;"),
        ('{"n": ' + "[" * 3000 + "]" * 3000 + "}", "expected an object with the field 'text'"),
        (json.dumps(dict.fromkeys(map(str, range(20_000)))), "7, 8, 9 and 19,990 more; --field"),
        (json.dumps({"x" * 9999: 1}), f"got the fields {'x' * 80}…; --field"),
        ('[{"text": "a"}]', "expected a JSON object, got an array; `jq -c '.[]'` writes the objects of"),
        ("[", "expected a JSON object, got an array; `jq"),
        ("{", "EOF while parsing an object at column 1; `jq -c .` writes objects of several lines as one"),
        ('  {"text":', "EOF while parsing a value at column 10; `jq -c .`"),
        (json.dumps("x" * 9999), "expected a JSON object, got a string"),
        ("-5", "expected a JSON object, got a number"),
        ("null", "expected a JSON object, got null"),
        ("true", "expected a JSON object, got true"),
        ("true story", "expected a JSON object, got true"),
        ("hello", "expected a JSON object: expected value at column 1"),
    ],
)
def test_errors_say_where_and_what_there_is(line: str, said: str) -> None:
    block = ('{"text": "a"}\n' + line + "\n").encode()
    with pytest.raises(ValueError, match="line 2") as caught:
        read(block)
    message = str(line_error(caught.value, block, "a.jsonl", 40, ["text"]))
    assert re.match(r"a\.jsonl, line 42: expected a[^:]*", message)
    assert said in message
    assert "line 1" not in message
    assert len(message) < 400


def test_the_end_of_a_file_inside_an_object_is_not_a_matter_of_lines() -> None:
    block = b'{"text": "a'
    with pytest.raises(ValueError, match="EOF") as caught:
        read(block)
    assert "jq" not in str(line_error(caught.value, block, "a.jsonl", 0, ["text"]))


def test_many_lines_on_many_threads() -> None:
    texts = [f"{i}\n" * (i % 700) for i in range(3000)]
    block = "\r\n".join(json.dumps({"i": i, "text": text}) for i, text in enumerate(texts)).encode()
    for threads in (1, 2, 5):
        assert found(block, threads) == [text.encode() for text in texts]
    assert found(memoryview(block)) == found(bytearray(block)) == found(block)  # type: ignore[arg-type]


SHORT = st.text(max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | SHORT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(SHORT, inner, max_size=2),
    max_leaves=4,
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
RECORDS = st.fixed_dictionaries({"text": ANY_TEXT | st.none()}, optional={"a": JSON, "z": JSON})


@FEWER
@given(st.lists(RECORDS, max_size=4), st.booleans())
def test_whatever_python_writes(records: list[dict[str, Any]], ascii_only: bool) -> None:  # noqa: FBT001
    texts = [record["text"] for record in records if record["text"] is not None]
    try:
        block = "".join(json.dumps(record, ensure_ascii=ascii_only) + "\n" for record in records).encode()
    except UnicodeEncodeError:
        return
    assert found(block) == defined(block) == [utf8(text) for text in texts]


@given(st.text(alphabet='{}[]":,\\textu0d8a \n\t1e-.nul', max_size=30) | st.binary(max_size=20))
def test_what_is_taken_is_what_python_takes(text: str | bytes) -> None:
    block = b'{"text": "' + (text.encode() if isinstance(text, str) else text)
    for end in (b"", b'"}'):
        try:
            taken = read(block + end)
        except ValueError:
            taken = None
        # Python refuses byte order marks, which the core takes.
        assert defined(block + end) == taken or b"\xef\xbb\xbf" in block


@given(
    st.lists(
        st.sampled_from([*'{}[]":,\\ \n', '"text"', "NaN", "-Infinity", r"\ud83d", "1", "\ufeff"]),
        max_size=20,
    )
)
def test_a_few_lines_are_what_many_are(parts: list[str]) -> None:
    block = ('{"text": "a' + "".join(parts)).encode()
    for end in (b"", b'"}', b"}"):
        try:
            taken = read(block + end)
        except ValueError:
            taken = None
        assert defined(block + end) in (None, taken)


@FEWER
@given(st.binary(max_size=300) | st.text().map(str.encode))
def test_lines_and_utf8(data: bytes) -> None:
    offsets = _core.line_offsets(data)
    lines = [data[start:end] for start, end in pairwise(offsets)]
    assert lines == list(io.BytesIO(data))
    assert _core.line_breaks(data) == data.count(b"\n")
    try:
        data.decode()
        invalid = None
    except UnicodeDecodeError as error:
        invalid = error.start
    assert _core.find_invalid_utf8(data) == invalid
