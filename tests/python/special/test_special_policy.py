"""The policy for special tokens, as the reference applies it, against tiktoken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bytemill import special
from bytemill.errors import DisallowedSpecialTokenError
from bytemill.reference import ReferenceEncoding
from support.toys import BYTE_RANKS, tiktoken_encoding

NAMES = frozenset({"<a>", "<b>"})


@pytest.mark.parametrize(
    ("allowed", "disallowed", "expected"),
    [
        (set(), "all", (set(), None)),
        ("all", "all", (None, set())),
        ({"<a>"}, "all", ({"<a>"}, {"<b>"})),
        (frozenset({"other"}), "all", ({"other"}, NAMES)),
        ("all", {"<a>"}, (None, {"<a>"})),
        (set(), (), (set(), set())),
        (set(), None, (set(), set())),
        (set(), ["x", "<a>"], (set(), {"x", "<a>"})),
        (set(), iter(["x"]), (set(), {"x"})),
        (set(), "xy", (set(), {"x", "y"})),
    ],
)
def test_resolve(allowed: Any, disallowed: Any, expected: tuple[Any, Any]) -> None:
    assert special.resolve(NAMES, allowed, disallowed) == expected


@pytest.mark.parametrize("allowed", [[], ["<a>"], (), None, "<a>", {"<a>": 1}.keys(), 1])
@pytest.mark.parametrize("disallowed", ["all", ()])
def test_allowed_special_must_be_a_set(allowed: Any, disallowed: Any) -> None:
    with pytest.raises(TypeError):
        special.resolve(NAMES, allowed, disallowed)
    theirs = tiktoken_encoding(BYTE_RANKS, special_tokens={"<a>": 300})
    with pytest.raises(TypeError):
        theirs.encode("a", allowed_special=allowed, disallowed_special=disallowed)


@pytest.mark.parametrize("disallowed", [1, [1], [["<a>"]]])
def test_disallowed_special_must_be_strings(disallowed: Any) -> None:
    with pytest.raises(TypeError):
        ReferenceEncoding(BYTE_RANKS, {"<a>": 300}).encode("a", disallowed_special=disallowed)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["<a>", "<b>", "<é>", "x", "é", "<", "a>"]), max_size=8).map("".join),
    st.just("all") | st.sets(st.sampled_from(["<a>", "<b>", "<é>", "x"])),
    st.just("all") | st.sets(st.sampled_from(["<a>", "<b>", "<é>", "x", "é<"]), max_size=3),
)
def test_special_tokens_as_in_tiktoken(text: str, allowed: Any, disallowed: Any) -> None:
    names = {"<a>": 300, "<b>": 301, "<é>": 302}

    def outcome(encoding: Any) -> Any:
        try:
            return encoding.encode(text, allowed_special=allowed, disallowed_special=disallowed)
        except ValueError as error:
            return str(error)

    ours = outcome(ReferenceEncoding(BYTE_RANKS, names))
    assert ours == outcome(tiktoken_encoding(BYTE_RANKS, special_tokens=names))


@pytest.mark.parametrize(
    ("text", "disallowed", "token", "start"),
    [
        ("é<a><b>", "all", "<a><b>", 1),
        ("é<a><b>", ["b", "<a><b>"], "<a><b>", 1),
        ("b<a>", ["b", "<a>"], "b", 0),
        ("ab<a>", ["b", "<a>", "ab<"], "ab<", 0),
        ("b<a>c", ["<a>", "<a>c"], "<a>c", 1),
        ("b<a>c", ["<a>", "<"], "<a>", 1),
        ("b", [""], "", 0),
    ],
)
def test_disallowed_token_tells_where(text: str, disallowed: Any, token: str, start: int) -> None:
    encoding = ReferenceEncoding(BYTE_RANKS, {"<a>": 300, "<a><b>": 301})
    with pytest.raises(DisallowedSpecialTokenError) as caught:
        encoding.encode(text, disallowed_special=disallowed)
    assert (caught.value.token, caught.value.start) == (token, start)


def test_the_longest_special_token_wins() -> None:
    encoding = ReferenceEncoding(BYTE_RANKS, {"<a>": 300, "<a><b>": 301, "<b>": 302})
    assert encoding.encode("<a><b><a>", allowed_special="all") == [301, 300]
    assert encoding.encode("<a><b>", allowed_special={"<a>", "<b>"}, disallowed_special=()) == [300, 302]


def test_find_leftmost() -> None:
    assert special.find_leftmost("xabab", ["b", "ab", "aba"]) == ("aba", 1)
    assert special.find_leftmost("xabab", ["b", "ab", "aba"], 2) == ("b", 2)
    assert special.find_leftmost("xabab", ["c"]) is None
