"""Tokens of texts in a terminal, as a page, in a notebook; and substitutes for invisible characters."""

# ruff: noqa: RUF001 - the signs that are shown

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bytemill
from bytemill import inspection
from bytemill._messages import printable
from bytemill.errors import DisallowedSpecialTokenError
from bytemill.inspection.terminal import SUBSTITUTE_COLOUR, TEXT_COLOUR, supports_colour, terminal_width
from bytemill.inspection.token import COLOURS, Segment, segments_of, visible, width_of
from support.colours import nearest_neighbours
from support.toys import BYTE_RANKS, ONE_PIECE

BYTES = bytemill.Encoding(
    "bytes", pat_str=ONE_PIECE, mergeable_ranks=BYTE_RANKS, special_tokens={"<|end|>": 256}
)
O200K = bytemill.get_encoding("o200k_base")

HOSTILE = "</b></script><img src=x onerror=alert(1)>\"'&amp;<!-- --><style>]]>\x00"

# Elements without an end tag.
VOID = {"meta", "br", "input"}


# --- Signs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "shape"),
    [
        (b" hello", "·hello"),
        (b"\n\n", "⏎⏎"),
        (b"\r\n", "\\r⏎"),
        (b"\t\x00\x1b\x7f", "→\\x00\\x1b\\x7f"),
        ("\u00a0\u200b\u202e\ufeff".encode(), "\\xa0\\u200b\\u202e\\ufeff"),
        ("\U000e0001".encode(), "\\U000e0001"),
        ("a\u3164b\uffa0\u2800".encode(), "a\\u3164b\\uffa0\\u2800"),
        ("\u115f\u1160\u034f\u17b4\u180b".encode(), "\\u115f\\u1160\\u034f\\u17b4\\u180b"),
        ("\u2764\ufe0f".encode(), "\u2764\\ufe0f"),
        ("你".encode()[:2], "‹e4 bd›"),
        (b"a\xe4\xbd" + "你".encode() + b"\xa0", "a‹e4 bd›你‹a0›"),
        (b"\xc0\xff", "‹c0 ff›"),
        ("\u0301e".encode(), "◌\u0301e"),
        ("e\u0301".encode(), "e\u0301"),
        (b"", ""),
    ],
)
def test_signs(token: bytes, shape: str) -> None:
    assert visible(token) == shape


@given(st.binary(max_size=12))
def test_nothing_is_hidden(token: bytes) -> None:
    shape = visible(token)
    assert bool(shape) == bool(token)
    assert shape.isprintable()
    assert all(" " not in part.text for part in segments_of(token) if not part.substitute)


def test_parts_tell_signs_from_text() -> None:
    assert segments_of("a ·".encode()) == [
        Segment("a", substitute=False),
        Segment("·", substitute=True),
        Segment("·", substitute=False),
    ]


def test_printable_keeps_spaces() -> None:
    assert printable(r"a \s" + "\n\u200b") == r"a \s\n\u200b"


@pytest.mark.parametrize(("text", "width"), [("ab", 2), ("你a", 3), ("e\u0301", 1), ("\U0001f600", 2)])
def test_width(text: str, width: int) -> None:
    assert width_of(text) == width


# --- Counts -------------------------------------------------------------------------------------------------


def test_counts() -> None:
    view = inspection.show(O200K, "hello wörld")
    assert [token.id for token in view.tokens] == O200K.encode("hello wörld")
    assert b"".join(token.value for token in view.tokens) == "hello wörld".encode()
    assert (len(view.tokens), view.characters, view.byte_count) == (4, 11, 12)
    assert view.counts() == [
        ("tokens", "4"),
        ("characters", "11"),
        ("bytes", "12"),
        ("bytes per token", "3.00"),
    ]


def test_no_text() -> None:
    view = inspection.show(O200K, "")
    assert (view.tokens, view.characters, view.bytes_per_token) == ((), 0, 0.0)
    assert view.terminal(colour=True) == "o200k_base: 0 tokens, 0 characters, 0 bytes, 0.00 bytes per token"
    assert "<dd>0</dd>" in view.page()


def test_special_tokens_are_text_unless_allowed() -> None:
    assert not any(token.special for token in inspection.show(BYTES, "a<|end|>").tokens)
    view = inspection.show(BYTES, "a<|end|>", allowed_special="all")
    assert [(token.id, token.value, token.special) for token in view.tokens] == [
        (97, b"a", False),
        (256, b"<|end|>", True),
    ]
    with pytest.raises(DisallowedSpecialTokenError):
        inspection.show(BYTES, "a<|end|>", disallowed_special="all")


def test_to_dict() -> None:
    assert inspection.show(BYTES, "ä").to_dict() == {
        "encoding": "bytes",
        "tokens": 2,
        "characters": 1,
        "bytes": 2,
        "bytes_per_token": 1.0,
        "token_list": [
            {"id": 195, "bytes": "c3", "text": None, "special": False},
            {"id": 164, "bytes": "a4", "text": None, "special": False},
        ],
    }


# --- Terminal -----------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines_of(text: str, **options: Any) -> list[str]:
    return inspection.show(O200K, text).terminal(**options).split("\n")[1:]


def without_colours(line: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def backgrounds(line: str) -> list[str]:
    """Returns the background of each coloured span, in order."""
    return re.findall(r"48;5;(\d+)", line)


def test_plain_form() -> None:
    assert lines_of("hello world\nbye", colour=False) == [
        "hello │ ·world │ ⏎",
        "24912 │ 2375   │ 198",
        "bye",
        "43571",
    ]
    assert lines_of("hello world\nbye", colour=False, ids=False) == ["hello│·world│⏎", "bye"]


def test_colours_of_neighbours_differ() -> None:
    [line] = lines_of("a b c d e f g h i j k l m", colour=True, ids=False)
    cells = line.split("\x1b[0m")[:-1]
    colours = [backgrounds(cell)[0] for cell in cells]
    assert len(colours) == 13
    assert len(set(colours)) >= 6
    assert all(left != right for left, right in itertools.pairwise(colours))
    assert without_colours(line) == "a·b·c·d·e·f·g·h·i·j·k·l·m"


def test_special_tokens_stand_out() -> None:
    view = inspection.show(BYTES, "<|end|>", allowed_special="all")
    assert "\x1b[1;4;48;5;" in view.terminal(colour=True)


def test_ids_stand_below_tokens() -> None:
    tokens, ids = map(without_colours, lines_of("你好 hello 你", colour=True, width=80))
    assert ids.split() == list(map(str, O200K.encode("你好 hello 你")))
    # Wide characters take two columns.
    starts = [match.start() for match in re.finditer(r"\S+", ids)]
    assert starts == [width_of(tokens[: match.start()]) for match in re.finditer(r"\S+", tokens)]


@pytest.mark.parametrize("colour", [False, True])
@given(text=st.text(st.sampled_from("ab \n你e\u0301\U0001f600<"), max_size=60), width=st.integers(20, 60))
def test_rows_are_as_wide_as_the_terminal(text: str, width: int, *, colour: bool) -> None:
    tokens = [visible(token.value).replace("◌", "") for token in inspection.show(O200K, text).tokens]
    for ids in (True, False):
        lines = list(map(without_colours, lines_of(text, colour=colour, ids=ids, width=width)))
        assert all(width_of(line) <= width for line in lines)
        assert re.sub("[│ ]", "", "".join(lines[::2] if ids else lines)).replace("◌", "") == "".join(tokens)


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_tokens_of_one_character_are_one_cell_that_shows_it() -> None:
    first, last = f"a {FAMILY}", "e\u0301\u0301"
    view = inspection.show(BYTES, first)
    tokens, ids = view.terminal(colour=False).split("\n")[1:]
    assert [each.strip() for each in tokens.split(" │ ")] == ["a", "·", FAMILY]
    assert ids.split(" │ ")[2].split() == [str(byte) for byte in FAMILY.encode()]
    tokens, ids = inspection.show(BYTES, last + "x").terminal(colour=False).split("\n")[1:]
    assert [each.strip() for each in tokens.split(" │ ")] == [last, "x"]
    assert [each.strip() for each in ids.split(" │ ")] == ["101 204 129 204 129", "120"]
    # In a terminal that is too narrow, one by one.
    narrow = inspection.show(BYTES, first).terminal(colour=False, width=20)
    assert "‹f0›" in narrow
    assert FAMILY not in narrow


def test_a_special_token_shares_no_character() -> None:
    view = inspection.show(BYTES, "e<|end|>\u0301", allowed_special="all")
    tokens = view.terminal(colour=False).split("\n")[1]
    assert [each.strip() for each in tokens.split(" │ ")] == ["e", "<|end|>", "◌\u0301"]


def test_a_page_shows_the_character_that_tokens_share() -> None:
    page = inspection.show(BYTES, f"a{FAMILY}b").page()
    [shared] = re.findall(r'<span class="shared">(.*?)</span>', page)
    assert shared.startswith(f"{FAMILY} <b ")
    assert shared.count("<b ") == len(FAMILY.encode())


def test_ids_are_apart() -> None:
    _, ids = lines_of("you are what you eat", colour=True)
    assert re.fullmatch(r"\d+(?: {2,}\d+)+", without_colours(ids))


@pytest.mark.parametrize("colour", [False, True])
def test_text_from_right_to_left_is_isolated(colour: bool) -> None:  # noqa: FBT001 - a parameter of the test
    tokens, ids, *_ = map(without_colours, lines_of("مرحبا بالعالم ok", colour=colour))
    parts = re.split(" │ " if not colour else " {2,}", tokens)
    assert len(parts) == len(ids.split("│" if not colour else None)) >= 3
    assert all(part.strip()[0] + part.strip()[-1] == "\u2068\u2069" for part in parts[:-1])
    assert "\u2068" not in parts[-1]


def test_text_from_right_to_left_is_also_shown_as_it_is_written() -> None:
    text = "a مرحبا بالعالم\n\nbخ\u200cخ \u202e\x1b[31m"
    *_, heading, first, empty, last = lines_of(text, colour=True)
    assert heading == "as written, every other token underlined"
    # Letters stay joined: nothing but styles is between them.
    assert without_colours(first) == "a مرحبا بالعالم"
    assert (empty, without_colours(last)) == ("", "bخ\u200cخ \\u202e\\x1b[31m")
    values = [value.decode() for value in O200K.decode_tokens_bytes(O200K.encode("a مرحبا بالعالم"))]
    assert re.split("\x1b\\[(?:4|24)m", first) == values
    assert "as written" not in "\n".join(lines_of(text, colour=False))
    assert "as written" not in "\n".join(lines_of("hello", colour=True))


def test_no_controls_reach_the_terminal() -> None:
    view = inspection.show(O200K, "\x1b[31mred\x07\x9b\u202e").terminal(colour=False)
    assert all(line.isprintable() for line in view.split("\n"))


def test_colours_only_where_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "50")
    assert supports_colour(Terminal())
    assert terminal_width(Terminal()) == 50
    assert not supports_colour(io.StringIO())
    assert terminal_width(io.StringIO()) is None
    monkeypatch.setenv("NO_COLOR", "1")
    assert not supports_colour(Terminal())
    monkeypatch.setenv("NO_COLOR", "")
    assert supports_colour(Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not supports_colour(Terminal())


def test_printing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    view = inspection.show(O200K, "hello world")
    print(view)  # noqa: T201 - what is tested
    assert capsys.readouterr().out == view.terminal(colour=False) + "\n"
    assert repr(view) == str(view)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", Terminal())
    assert "\x1b[48;5;" in str(view)


# --- Contrast of colours ------------------------------------------------------------------------------------


def xterm(number: int) -> tuple[int, int, int]:
    """Returns a colour of the 256-colour palette, as in nearly all terminals."""
    if number >= 232:
        return (8 + 10 * (number - 232),) * 3
    cube = number - 16
    steps = (0, 95, 135, 175, 215, 255)
    return steps[cube // 36], steps[cube // 6 % 6], steps[cube % 6]


def rgb(colour: str) -> tuple[int, int, int]:
    if len(colour) == 4:
        colour = "#" + "".join(2 * digit for digit in colour[1:])
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def contrast(one: Sequence[int], other: Sequence[int]) -> float:
    """Returns the contrast ratio of the Web Content Accessibility Guidelines, from 1 to 21."""

    def luminance(colour: Sequence[int]) -> float:
        shares = [value / 255 for value in colour]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def page_colours(theme: str) -> dict[str, str]:
    """Returns the colours of a theme in the style sheet, which has the light ones first."""
    declared = re.findall(r"--([a-z]\w*): (#[0-9a-f]{3,6});", inspection.show(O200K, "").page())
    half = len(declared) // 2
    return dict(declared[:half] if theme == "light" else declared[half:])


def test_contrast_in_terminals() -> None:
    assert len({colour.terminal for colour in COLOURS}) == len(COLOURS) >= 6
    for colour in COLOURS:
        assert contrast(xterm(TEXT_COLOUR), xterm(colour.terminal)) >= 7
        assert contrast(xterm(SUBSTITUTE_COLOUR), xterm(colour.terminal)) >= 4.5


@pytest.mark.parametrize(("kind", "least"), [("light", 8.5), ("dark", 8.5), ("terminal", 6.0)])
def test_neighbours_differ_for_all_eyes(kind: str, least: float) -> None:
    values = [getattr(colour, kind) for colour in COLOURS]
    assert nearest_neighbours([xterm(v) if isinstance(v, int) else rgb(v) for v in values]) >= least


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_on_pages(theme: str) -> None:
    colours = page_colours(theme)
    tokens = [colours[f"c{i}"] for i in range(len(COLOURS))]
    assert len(set(tokens)) == len(COLOURS)
    for background in [*tokens, colours["paper"]]:
        assert contrast(rgb(colours["ink"]), rgb(background)) >= 7
        assert contrast(rgb(colours["sign"]), rgb(background)) >= 4.5
    assert contrast(rgb(colours["faint"]), rgb(colours["paper"])) >= 4.5


# --- Pages --------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Parses a page: checks that its elements are nested, and collects its contents."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.tokens: list[tuple[int, bytes, str]] = []
        self.text = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        values = {name: value or "" for name, value in attrs}
        self.attributes += values.items()
        if tag not in VOID:
            self.open.append(tag)
        if tag == "b":
            self.tokens.append((int(values["data-id"]), bytes.fromhex(values["data-bytes"]), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "b" in self.open:
            token_id, value, text = self.tokens.pop()
            self.tokens.append((token_id, value, text + data))
        elif "style" not in self.open:
            self.text += data


@given(st.one_of(st.text(max_size=40), st.just(HOSTILE)))
def test_page_shows_every_token(text: str) -> None:
    view = inspection.show(O200K, text)
    assert Page(view.page()).tokens == [(t.id, t.value, visible(t.value)) for t in view.tokens]


def test_hostile_text_is_only_text() -> None:
    name = '"><script>alert(1)</script>'
    encoding = bytemill.Encoding(
        name, pat_str=ONE_PIECE, mergeable_ranks=BYTE_RANKS, special_tokens={"<script>": 256}
    )
    view = inspection.show(encoding, HOSTILE + "<script>", allowed_special="all")
    page = Page(view.page())
    assert "".join(text for _, _, text in page.tokens) == visible(HOSTILE.encode()) + "<script>"
    assert name in page.text
    assert page.names <= {
        *("html", "head", "meta", "title", "style", "body", "div", "h1", "dl", "dt", "dd"),
        *("label", "input", "b", "i", "br", "p", "span"),
    }


def test_page_needs_nothing_else() -> None:
    source = inspection.show(O200K, "hello http://example.org world").page()
    page = Page(source)
    assert source.startswith("<!doctype html>")
    assert not {name for name, _ in page.attributes} & {"src", "href", "srcset", "action", "style", "onclick"}
    assert not {"script", "link", "img", "iframe", "object", "base"} & page.names
    assert not re.search(r"url\(|@import|expression\(", source)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes
    assert ("charset", "utf-8") in page.attributes
    assert "prefers-color-scheme: dark" in source


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("hello  world\nbye", "“hello world bye”: 4 tokens in o200k_base"),
        ("a" * 60, "“" + "a" * 47 + "…”: 8 tokens in o200k_base"),
        ("\u202ea<b>", "“\\u202ea&lt;b&gt;”: 5 tokens in o200k_base"),
        ("", "0 tokens in o200k_base"),
    ],
)
def test_the_title_says_which_text_it_is(text: str, title: str) -> None:
    page = inspection.show(O200K, text).page()
    count = len(O200K.encode(text))
    expected = re.sub(r"\d+ tokens", f"{count} tokens" if count != 1 else "1 token", title)
    assert f"<title>{expected}</title>" in page
    assert f"<h1>{expected}</h1>" in page


def test_page_has_counts_on_top() -> None:
    text = Page(inspection.show(O200K, "hello world\nbye").page()).text
    heading = text.split("ids")[0]
    for figure in ("o200k_base", "tokens4", "characters15", "bytes15", "bytes per token3.75"):
        assert figure in heading.replace("\n", "")


def test_lines_break_where_the_text_does() -> None:
    page = inspection.show(O200K, "a\nb\n\nc").page()
    assert page.count('<div dir="ltr">') == 3
    # The blank line.
    assert page.count("<br>") == 1


def test_each_line_has_the_direction_of_its_text() -> None:
    page = inspection.show(O200K, "hello\n12 مرحبا abc\nשלום\n123").page()
    assert re.findall(r'<div dir="(\w+)">', page) == ["ltr", "rtl", "rtl", "ltr"]


def test_a_page_explains_its_signs() -> None:
    assert "Point at a token for its id and bytes.</p>" in inspection.show(O200K, "a").page()
    text = Page(inspection.show(O200K, "a b\n\t\U0001f9ff").page()).text
    assert "· a space, ⏎ a line break, → a tab, ‹e4 bd› bytes that are a part of a character." in text


def test_page_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("before")
    view = inspection.show(O200K, "wörld")
    view.write_page(path)
    assert path.read_text(encoding="utf-8") == view.page()
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        view.write_page(tmp_path / "missing" / "page.html")


# --- Merges -------------------------------------------------------------------------------------------------


def test_merges() -> None:
    view = inspection.show_merges(O200K, "hello ö")
    assert view.terminal(colour=False).split("\n") == [
        "h│e│l│l│o",
        "he│l│l│o",
        "he│ll│o",
        "hell│o",
        "hello  24912",
        "",
        "·│‹c3›│‹b6›",
        "·│ö",
        "·ö  5872",
    ]
    assert without_colours(view.terminal(colour=True)) == view.terminal(colour=False).replace("│", "")
    assert repr(view) == view.terminal(colour=False)
    assert view.to_dict()["pieces"][1] == {
        "bytes": "20c3b6",
        "steps": [["20", "c3", "b6"], ["20", "c3b6"], ["20c3b6"]],
        "ids": [5872],
    }
    assert inspection.show_merges(O200K, "").terminal(colour=True) == ""


@given(st.text(st.sampled_from("ab \u00f6\u4f60"), max_size=30))
def test_colours_of_merging_parts_differ(text: str) -> None:
    for line in inspection.show_merges(O200K, text).terminal(colour=True).split("\n"):
        colours = [backgrounds(cell)[0] for cell in line.split("\x1b[0m")[:-1]]
        assert all(left != right for left, right in itertools.pairwise(colours))
