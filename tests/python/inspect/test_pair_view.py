"""The tokens of a text by two encodings: which are cut elsewhere."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bytemill
from bytemill import inspection

GPT2 = bytemill.get_encoding("gpt2")
CL100K = bytemill.get_encoding("cl100k_base")
O200K = bytemill.get_encoding("o200k_base")


def test_no_span_in_common() -> None:
    view = inspection.show_both(CL100K, GPT2, ".DefaultCellStyle")
    assert view.differing == ((0,), (0, 1, 2, 3))
    assert [token.id for token in view.first.tokens] == [98518]


def test_two_spans_in_common() -> None:
    view = inspection.show_both(GPT2, O200K, ".DefaultCellStyle")
    assert view.differing == ((0, 1), (0,))
    first, second = str(view).split("\n\n")
    assert first.splitlines()[0].endswith("2 cut elsewhere")
    assert first.splitlines()[1] == "▾. │ ▾Default │ Cell  │ Style"
    assert second.splitlines()[1].startswith("▾.Default │ Cell")


def test_colours_and_widths() -> None:
    view = inspection.show_both(GPT2, CL100K, "1234567 größer")
    narrow = view.terminal(colour=False, ids=True, width=20)
    assert all(len(line) <= 20 for line in narrow.splitlines() if "tokens" not in line)
    assert "\x1b[" in view.terminal(colour=True)
    assert view.terminal(colour=False, ids=False).count("▾") == sum(map(len, view.differing))


def test_values() -> None:
    view = inspection.show_both(GPT2, O200K, ".DefaultCellStyle")
    found = json.loads(json.dumps(view.to_dict()))
    assert found["first"]["differing"] == [0, 1]
    assert found["second"]["encoding"] == "o200k_base"


@given(st.text(st.sampled_from("ab 1\n你é\u0301👩<"), max_size=20))
@settings(max_examples=60, deadline=None)
def test_marks_follow_from_the_bytes(text: str) -> None:
    view = inspection.show_both(GPT2, O200K, text)
    spans = []
    for each in (view.first, view.second):
        at, found = 0, []
        for token in each.tokens:
            found.append((at, at + len(token.value)))
            at += len(token.value)
        spans.append(found)
    for indices, own, other in zip(view.differing, spans, reversed(spans), strict=True):
        assert list(indices) == [i for i, span in enumerate(own) if span not in other]
    assert inspection.show_both(O200K, O200K, text).differing == ((), ())


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="second"):
        inspection.show_both(GPT2, b"gpt2", "a")  # type: ignore[arg-type]
