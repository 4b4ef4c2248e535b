"""Views in notebooks: with all styles, in notebooks that are not trusted, and without any style."""

# ruff: noqa: RUF001 - the signs that are shown

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

import bytemill
from bytemill import inspection
from bytemill.inspection.notebook import DARK_INK, INK
from bytemill.inspection.token import COLOURS, visible
from bytemill.inspection.token_view import NOTEBOOK_LIMIT
from support.colours import contrast
from support.toys import BYTE_RANKS, ONE_PIECE

O200K = bytemill.get_encoding("o200k_base")
CODE = "def f(x):  return x"
TEXT = "def f(x):\n  return '你好', \U0001f469\u200d\U0001f469 <b> مرحبا"
HOSTILE = "<img src=x onerror=alert(1)>\"'&amp;<script>alert(1)</script> onclick=x"
VIEWS = {
    "tokens": inspection.show(O200K, TEXT + HOSTILE),
    "both": inspection.show_both(O200K, bytemill.get_encoding("gpt2"), TEXT + HOSTILE),
    "merges": inspection.show_merges(O200K, TEXT + HOSTILE),
    "token": inspection.report_token(O200K, 622),
    "vocabulary": inspection.report(bytemill.train(["<b> a " * 9], 258, name="<script>")),
    "comparison": inspection.compare({"<i>": O200K}, {"<script>": [TEXT]}),
    "training": inspection.show_training(TEXT + HOSTILE, 8),
}


def html_of(name: str) -> str:
    html = VIEWS[name]._repr_html_()
    assert isinstance(html, str)
    return html


def untrusted(html: str) -> str:
    """Returns a fragment as JupyterLab shows it in a notebook of somebody else: without style sheets."""
    return re.sub(r"<style>.*?</style>", "", html)


def without_styles(html: str) -> str:
    """Returns the text of a fragment on a host that drops all styles, where hidden elements are seen."""
    return unescape(re.sub(r"<[^>]*>", "", untrusted(html).replace("<br>", "\n")))


@pytest.mark.parametrize("name", VIEWS)
def test_no_script_and_nothing_from_elsewhere(name: str) -> None:
    html = html_of(name)
    names = set(re.findall(r"<([a-z]+)", html))
    assert names <= {"style", "div", "span", "s", "br", "pre", "details", "summary", "hr", "u"}
    for tag in re.findall(r"<[^/][^>]*>", html):
        assert not re.search(r"\s(?:on\w+|src|href)=", re.sub(r'"[^"]*"', '""', tag))
    assert "url(" not in html
    assert "@import" not in html


def test_tokens_have_colours_without_a_style_sheet() -> None:
    bare = untrusted(html_of("tokens"))
    styles = re.findall(r'<span class="bm1 c(\d)" style="([^"]*)"', bare)
    assert len(styles) == len(inspection.show(O200K, TEXT + HOSTILE).tokens)
    for number, each in styles:
        assert each == f"background:{COLOURS[int(number)].light};color:{INK}"
    # JupyterLab keeps plain values only.
    assert "var(" not in bare


def test_tokens_are_apart_without_any_style() -> None:
    text = without_styles(inspection.show(O200K, "def f(x):\n  return x")._repr_html_())
    assert text.endswith("def│·f│(x│):⏎\n·│·return│·x")
    assert 'style="display:none">│' in html_of("tokens")


def test_both_have_marks_in_every_form() -> None:
    gpt2 = bytemill.get_encoding("gpt2")
    view = inspection.show_both(gpt2, O200K, ".DefaultCellStyle")
    text = without_styles(view._repr_html_())
    assert "2 cut elsewhere▾.│▾Default│Cell│Style" in text
    assert text.endswith("1 cut elsewhere▾.Default│Cell│Style")
    assert untrusted(view._repr_html_()).count("▾") == 3


def test_titles_have_ids_and_bytes() -> None:
    html = inspection.show(O200K, "hello")._repr_html_()
    assert 'title="id 24912: 68 65 6c 6c 6f">hello</span>' in html


def test_text_from_right_to_left_is_isolated() -> None:
    html = inspection.show(O200K, "مرحبا a")._repr_html_()
    assert html.count('dir="rtl"') == len(inspection.show(O200K, "مرحبا").tokens)
    assert 'dir="ltr"' in html


def test_text_as_it_is_written() -> None:
    text = "a مرحبا بالعالم\n\nb 👩‍👩 <i>"
    html = inspection.show(O200K, text)._repr_html_()
    written = html.partition("</summary>")[2]
    lines = re.findall(r'<div dir="auto">(.*?)</div>', written)
    assert [unescape(re.sub("</?u>|<br>", "", line)) for line in lines] == text.split("\n")
    # The cuts are where underlines begin or end.
    values = [value.decode() for value in O200K.decode_tokens_bytes(O200K.encode("مرحبا بالعالم"))]
    plain = inspection.show(O200K, "مرحبا بالعالم")._repr_html_().partition("</summary>")[2]
    assert re.sub(r"</?(?:div|details)[^>]*>", "", plain) == "".join(
        f"<u>{value}</u>" if i % 2 else value for i, value in enumerate(values)
    )
    assert "as written" not in inspection.show(O200K, "hello")._repr_html_()


def test_a_shared_character_stands_before_its_tokens() -> None:
    view = inspection.show(
        bytemill.Encoding("b", pat_str=ONE_PIECE, mergeable_ranks=BYTE_RANKS, special_tokens={}), "é"
    )
    assert without_styles(view._repr_html_()).endswith("é ‹c3›│‹a9›")


def test_special_tokens_stand_out() -> None:
    view = inspection.show(O200K, "<|endoftext|>", allowed_special="all")
    assert "font-weight:bold;text-decoration:underline" in view._repr_html_()


def test_dark_themes_of_hosts() -> None:
    sheet = re.findall(r"<style>(.*?)</style>", html_of("tokens"))[0]
    for mark in ("html[theme=dark]", "body[data-jp-theme-light=false]", "body.vscode-dark"):
        assert mark in sheet
    # The system's theme counts only where no host says otherwise.
    system = sheet.partition("@media(prefers-color-scheme:dark)")[2]
    assert "body:not([data-jp-theme-light]):not([class*=vscode-])" in system
    for colour in COLOURS:
        assert f"{colour.dark}!important" in sheet
        assert contrast(DARK_INK, colour.dark) >= 7
        assert contrast(INK, colour.light) >= 7


def test_size() -> None:
    text = (TEXT + " the quick brown fox jumps over the lazy dog ") * 30
    view = inspection.show(O200K, text)
    assert len(view.tokens) < NOTEBOOK_LIMIT
    rest = len(inspection.show(O200K, "")._repr_html_())
    assert (len(view._repr_html_()) - rest) / len(view.tokens) <= 150


def test_long_texts_are_cut() -> None:
    html = inspection.show(O200K, "a b " * NOTEBOOK_LIMIT)._repr_html_()
    assert html.count('<span class="bm1 ') == NOTEBOOK_LIMIT
    assert "more tokens are not shown here" in html


def test_training() -> None:
    view = inspection.show_training(
        "the lowest of the low, slower and slowest; " * 100, 8, tie_break="smallest_pair"
    )
    assert view.tokens[263] == b"lowest"
    lines = str(view).splitlines()
    assert lines[0].split() == ["id", "merge", "token", "count", "tied", "tokens", "left"]
    assert lines[1].split() == ["256", "l", "o", "lo", "400", "2", "3,900"]
    assert view.to_dict()["merges"][0] == {
        "id": 256, "bytes": "6c6f", "pair": [108, 111], "count": 400, "ties": 2, "tokens": 3900
    }  # fmt: skip
    assert "2 pairs as often (smallest_pair decides)" in view._repr_html_()
    assert visible(b"lo") in view._repr_html_()
    with pytest.raises(ValueError, match="1 to 512 merges"):
        inspection.show_training("a", 0)
    with pytest.raises(ValueError, match="name of a pattern"):
        inspection.show_training("a", pattern="x")
    with pytest.raises(TypeError, match="text"):
        inspection.show_training(b"a")  # type: ignore[arg-type]


# --- Both forms at once ---


@pytest.mark.parametrize("name", VIEWS)
def test_a_notebook_keeps_a_text_and_html(name: str) -> None:
    view = VIEWS[name]
    assert view._repr_mimebundle_() == {"text/plain": str(view), "text/html": html_of(name)}
    assert "\x1b" not in str(view)
    assert view._repr_mimebundle_(include={"text/plain"}) == {"text/plain": str(view)}
    assert view._repr_mimebundle_(exclude={"text/plain"}) == {"text/html": html_of(name)}


def test_a_notebook_does_not_keep_all_of_a_long_text_twice() -> None:
    view = inspection.show(O200K, "a b " * NOTEBOOK_LIMIT)
    shown = inspection.TokenView(view.encoding, view.tokens[:NOTEBOOK_LIMIT], 0)
    more = f"{len(view.tokens) - NOTEBOOK_LIMIT:,} more tokens"
    rest = f"{more} are not shown here; notebook_limit shows more, write_page all."
    plain = view._repr_mimebundle_()["text/plain"].splitlines()
    assert plain == [view.heading(), *str(shown).splitlines()[1:], rest]
    assert len(str(view)) > len(str(shown)) * 1.9
    both = inspection.show_both(O200K, O200K, "a b " * NOTEBOOK_LIMIT)._repr_mimebundle_()["text/plain"]
    assert both.count(rest) == 2


def test_another_limit() -> None:
    view = inspection.show(O200K, "a b " * NOTEBOOK_LIMIT, notebook_limit=len("a b") * NOTEBOOK_LIMIT)
    assert len(view.tokens) > NOTEBOOK_LIMIT
    html = view._repr_html_()
    assert html.count('<span class="bm1 ') == len(view.tokens)
    assert "not shown here" not in html
    assert view._repr_mimebundle_()["text/plain"] == str(view)
    short = inspection.show(O200K, CODE, notebook_limit=3)
    assert short._repr_html_().count('<span class="bm1 ') == 3
    assert "4 more tokens are not shown here" in short._repr_html_()
    # Only notebooks have the limit.
    assert str(short) == str(inspection.show(O200K, CODE))
    none = inspection.show_both(O200K, O200K, CODE, notebook_limit=0)._repr_mimebundle_()
    assert none["text/html"].count("7 more tokens are not shown here") == 2
    assert none["text/plain"].count("7 more tokens are not shown here") == 2
    assert '<span class="bm1 ' not in none["text/html"]


@pytest.mark.parametrize(
    ("limit", "error"), [(-1, ValueError), (1.5, TypeError), ("9", TypeError), (None, TypeError)]
)
def test_wrong_limits(limit: Any, error: type[Exception]) -> None:
    for call in (
        lambda: inspection.show(O200K, "a", notebook_limit=limit),
        lambda: inspection.show_both(O200K, O200K, "a", notebook_limit=limit),
    ):
        with pytest.raises(error, match="notebook_limit must be a number of tokens"):
            call()


def test_reports_have_a_font_whose_columns_align() -> None:
    for report in (inspection.report_token(O200K, 5000), inspection.list_tokens(O200K, 256, 260)):
        assert report._repr_html_().startswith('<pre style="font-family:monospace;')
    comparison = inspection.compare({"a": O200K}, {"b": ["hello"]})
    assert comparison._repr_html_().startswith('<pre style="font-family:monospace;')
