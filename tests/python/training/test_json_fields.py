"""Fields of JSON lines, as the compiled core finds them: what Python's `json` finds, or an error."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bytemill import _core  # noqa: TID251 - what is tested
from bytemill.documents.blocks import utf8
from bytemill.documents.readers import json_texts
from support.strategies import FEWER


def found(block: bytes, threads: int = 1) -> list[bytes]:
    data, offsets = _core.json_fields(block, ["text"], threads)
    assert offsets.dtype == np.int64
    return [data[start:end] for start, end in pairwise(offsets)]


def defined(block: bytes) -> list[bytes]:
    return [utf8(text) for text in json_texts(io.BytesIO(block), "block", ["text"])]


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
    with pytest.raises(ValueError, match="line 1"):
        defined(line)
    # Enough of it that several threads share it, and errors after the first do not matter.
    for before in (0, 1, 9000):
        block = b'{"text": "some words"}\n' * before + line + b'\n{"text": "after"}\n' + line
        for threads in (1, 3):
            with pytest.raises(ValueError, match=rf"^line {before + 1}: ") as caught:
                found(block, threads)
            assert said in str(caught.value)


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
            taken = found(block + end)
        except ValueError:
            continue
        assert taken == defined(block + end)


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
