"""Features that the page must have, one by one, in a real browser."""

# ruff: noqa: E501, RUF001 - scripts of pages, and the signs that are shown

from __future__ import annotations

from itertools import pairwise

import pytest

import bytemill
from support.page import CODE, FAMILY, IDS, O200K, PASTE, Opened, choose, expect, ids, wait, write

pytest_plugins = ["support.browser"]


def test_m1_live_tokens(opened: Opened) -> None:
    page = opened()
    page.locator("#text").press_sequentially(CODE)
    wait(page, 7)
    assert ids(page) == IDS
    boxes = page.locator("#a .t").evaluate_all("all => all.map(e => e.getBoundingClientRect().toJSON())")
    assert all(left["right"] < right["left"] for left, right in pairwise(boxes))
    colours = page.locator("#a .t").evaluate_all("all => all.map(e => getComputedStyle(e).backgroundColor)")
    assert all(left != right for left, right in pairwise(colours))


def test_m2_counts(opened: Opened) -> None:
    page = opened()
    write(page, FAMILY)
    wait(page, 11)
    text = "7 characters (1 as seen) · 25 bytes · 2.27 bytes per token"
    expect(page.locator("#figures-a")).to_have_text(text)


def test_m3_the_encoding_is_chosen_and_the_text_kept(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    page.evaluate("document.getElementById('text').setSelectionRange(5, 5)")
    choose(page, "encoding", "gpt-4")
    expect(page.locator("#name-a")).to_have_text("cl100k_base")
    choose(page, "encoding", "gpt2")
    wait(page, bytemill.get_encoding("gpt2").count(CODE))
    assert page.input_value("#text") == CODE
    assert page.evaluate("document.getElementById('text').selectionStart") == 5


def test_m4_special_tokens(opened: Opened) -> None:
    page = opened()
    choose(page, "encoding", "gpt2")
    page.fill("#text", "<|endoftext|>")
    wait(page, 7)
    page.check("[name=special][value=allow]", force=True)
    wait(page, 1)
    assert ids(page) == [50256]
    style = page.locator("#a .t").evaluate(
        "e => [getComputedStyle(e).textDecorationStyle, getComputedStyle(e).fontWeight]"
    )
    assert style == ["double", "700"]
    page.check("[name=special][value=error]", force=True)
    expect(page.locator("#message")).to_contain_text("special token <|endoftext|> at character 0")
    # The last good view stays.
    assert ids(page) == [50256]
    page.check("[name=special][value=text]", force=True)
    wait(page, 7)
    expect(page.locator("#message")).to_be_hidden()


def test_m5_details(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    page.hover("#a .t >> nth=5")
    details = page.locator("#details")
    expect(details).to_contain_text("622")
    expect(details).to_contain_text("20 72 65 74 75 72 6e")
    expect(details).to_contain_text("its text becomes it")
    expect(details).to_contain_text("merged from")
    token, card = page.locator("#a .t >> nth=5").bounding_box(), details.bounding_box()
    assert token["y"] + token["height"] <= card["y"]
    page.focus("#a")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(details).to_contain_text("token 3 of 7")
    page.mouse.move(5, 5)
    expect(details).to_contain_text("token 3 of 7")
    page.keyboard.press("Escape")
    expect(details).to_contain_text("Point at a token")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" \t\r\n", ["·→⏎"]),
        ("\u00a0\u200b", ["\\xa0\\u200b"]),
        ("\u202e", ["\\u202e"]),
        ("\u0301", ["◌\u0301"]),
    ],
)
def test_m6_nothing_is_invisible(opened: Opened, text: str, shown: list[str]) -> None:
    page = opened()
    page.fill("#text", text)
    expect(page.locator("#a .t").first).to_be_visible()
    assert "".join(page.locator("#a .t").all_inner_texts()) == "".join(shown)


def test_m6_parts_of_a_character_are_together(opened: Opened) -> None:
    page = opened()
    choose(page, "encoding", "gpt2")
    page.fill("#text", "你")
    wait(page, 2)
    shared = page.locator("#a .shared")
    assert shared.locator(".character").inner_text() == "你"
    assert shared.locator(".t").all_inner_texts() == ["‹e4 bd›", "‹a0›"]
    assert shared.locator(".t").first.evaluate("e => getComputedStyle(e).borderTopStyle") == "dashed"


def test_m7_ids_are_copied_and_decoded(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    assert page.input_value("#ids") == " ".join(map(str, IDS))
    for kind, expected in (("python", ", "), ("json", ","), ("spaces", " ")):
        page.click(f"[data-copy={kind}]")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.strip("[]") == expected.join(map(str, IDS))
    page.fill("#ids", "[24912, 2375]")
    expect(page.locator("#text")).to_have_value("hello world")
    wait(page, 2)
    page.fill("#ids", "24912 999999 2375")
    expect(page.locator("#ids-note")).to_contain_text("No token of o200k_base has the id 999999")
    assert page.input_value("#ids") == "24912 999999 2375"
    assert page.input_value("#text") == "hello world"
    page.fill("#ids", "71 311")
    expect(page.locator("#ids-note")).to_contain_text("This text encodes to other ids")


def test_m8_two_encodings(opened: Opened) -> None:
    page = opened()
    choose(page, "encoding", "gpt2")
    choose(page, "compare", "cl100k")
    page.fill("#text", ".DefaultCellStyle")
    wait(page, 4)
    wait(page, 1, "b")
    assert page.locator("#a .t.differs").count() == 4
    assert page.locator("#b .t.differs").count() == 1
    assert "linear-gradient" in page.locator("#b .t").evaluate("e => getComputedStyle(e).backgroundImage")
    expect(page.locator("#foot")).to_contain_text("4 tokens of gpt2 and 1 of cl100k_base are cut elsewhere")
    choose(page, "encoding", "o200k")
    wait(page, 3)
    assert page.locator("#a .t.differs").count() == 3


def test_m9_a_megabyte(opened: Opened) -> None:
    page = opened()
    page.evaluate("""() => {
      window.longest = 0;
      new PerformanceObserver(list => { for (const e of list.getEntries()) window.longest = Math.max(window.longest, e.duration) })
        .observe({ type: "longtask" });
    }""")
    text = "".join(f"for i in range({i}):\n    print(i * {i})  # größer\n" for i in range(24_000))
    assert len(text.encode()) > 1_000_000
    expected = O200K.encode(text)
    page.evaluate(PASTE, text)
    wait(page, len(expected))
    expect(page.locator("#figures-a")).to_contain_text(f"{len(text.encode()):,} bytes")
    assert ids(page)[:50] == expected[:50]
    assert page.locator(".t").count() <= 6000
    page.evaluate("document.getElementById('a').scrollTop = 1e9")
    expect(page.locator("#a .t").last).to_have_attribute("data-id", str(expected[-1]))
    page.evaluate("document.getElementById('a').scrollTop = 1e9")
    page.wait_for_timeout(200)
    assert ids(page)[-20:] == expected[-20:]
    assert page.locator(".t").count() <= 6000
    # Three times the budget: the machine may be busy.
    assert page.evaluate("window.longest") <= 600
    expect(page.locator("#text-note")).to_contain_text("read only")
    page.click("#text-note button")
    wait(page, 0)


def test_m9_edits_keep_blocks_and_colours(opened: Opened) -> None:
    page = opened()
    write(page, "a line of words here\n" * 400)
    page.evaluate("for (const b of document.querySelectorAll('#a .block')) b.kept = true")
    before = page.locator("#a .t").evaluate_all("all => all.map(e => e.className)")
    page.evaluate("document.getElementById('text').setSelectionRange(0, 0)")
    page.focus("#text")
    page.keyboard.type("x ")
    wait(page, O200K.count("x " + "a line of words here\n" * 400))
    made = page.locator("#a .block").evaluate_all("all => all.filter(b => !b.kept).length")
    assert made <= 1
    after = page.locator("#a .t").evaluate_all("all => all.map(e => e.className)")
    shared = min(len(before), len(after)) - 300
    assert before[-shared:] == after[-shared:] or before[200:400] == after[201:401]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_m10_themes(opened: Opened, scheme: str) -> None:
    page = opened(color_scheme=scheme)
    write(page, "hello")
    background = "getComputedStyle(document.body).backgroundColor"
    first = page.evaluate(background)
    page.click("#theme")
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert (page.evaluate(background) == first) == (scheme == "dark")
    page.click("#theme")
    assert page.evaluate(background) == first


def test_m10_forced_colours(opened: Opened) -> None:
    page = opened(forced_colors="active")
    write(page, "hello world")
    widths = page.locator("#a .t").evaluate_all("all => all.map(e => getComputedStyle(e).borderTopWidth)")
    assert widths == ["1px", "1px"]


def test_m10_what_a_screen_reader_gets(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    page.focus("#a")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    active = page.get_attribute("#a", "aria-activedescendant")
    token = page.locator(f"[id='{active}']")
    assert token.get_attribute("aria-label") == "token 2 of 7, blank f, id 285"
    assert (token.get_attribute("aria-posinset"), token.get_attribute("aria-setsize")) == ("2", "7")
    assert page.get_by_role("listbox", name="o200k_base").count() == 1
    status = page.locator("#status")
    expect(status).to_have_text("7 tokens, 19 characters, 19 bytes")
    page.locator("#text").press_sequentially(" ab", delay=20)
    # Not while keys are pressed.
    assert status.inner_text().startswith("7 tokens")
    expect(status).to_contain_text("8 tokens")


def test_m10_the_keyboard_reaches_everything(opened: Opened) -> None:
    page = opened()
    write(page, "hello")
    page.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "document.activeElement.id || document.activeElement.name || document.activeElement.dataset.copy"
            )
        )
    assert {
        "tab-text",
        "theme",
        "encoding",
        "compare",
        "special",
        "show-ids",
        "show-pieces",
        "examples",
        "text",
        "a",
        "ids",
    } <= reached


@pytest.mark.parametrize("index", range(15))
def test_m11_presets(opened: Opened, index: int) -> None:
    page = opened()
    write(page, "mine")
    page.click("#examples")
    item = page.locator("#presets .item").nth(index)
    why = item.locator("small").inner_text()
    item.click()
    expect(page.locator("#text-note")).to_have_text(why)
    name = page.locator("#encoding span").inner_text()
    text = page.input_value("#text")
    wait(page, bytemill.get_encoding(name).count(text))
    assert ids(page) == bytemill.get_encoding(name).encode_ordinary(text)
    page.focus("#text")
    page.keyboard.press("Control+z")
    expect(page.locator("#text")).to_have_value("mine")
