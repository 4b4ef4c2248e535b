"""The page in a real browser, feature by feature."""

# ruff: noqa: E501, RUF001 - scripts of pages, and the signs that are shown

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill.playground import Playground

expect = pytest.importorskip("playwright.sync_api").expect

pytest_plugins = ["support.browser"]
Opened = Callable[..., Any]

CODE = "def f(x):  return x"
IDS = [1314, 285, 4061, 3127, 220, 622, 1215]
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
O200K = bytemill.get_encoding("o200k_base")


def ids(page: Any, pane: str = "a") -> list[int]:
    """Returns the ids of the tokens that have elements."""
    found = page.locator(f"#{pane} .t").evaluate_all("all => all.map(each => Number(each.dataset.id))")
    assert isinstance(found, list)
    return found


def write(page: Any, text: str) -> None:
    """Writes a text and waits for its tokens."""
    page.fill("#text", text)
    wait(page, O200K.count(text))


def wait(page: Any, tokens: int, pane: str = "a") -> None:
    expect(page.locator(f"#count-{pane}")).to_have_text(f"{tokens:,} token" + "s" * (tokens != 1))


def choose(page: Any, button: str, name: str) -> None:
    page.click(f"#{button}")
    page.keyboard.type(name)
    page.keyboard.press("Enter")


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


PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  document.getElementById("text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


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
    for _ in range(24):
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


def test_s1_tokenizer_files(opened: Opened, tmp_path: Path) -> None:
    encoding = bytemill.train(["low lower lowest " * 20], 262, name="<img src=x>")
    encoding.save(tmp_path / "mine.bytemill")
    page = opened()
    write(page, "lowest")
    page.set_input_files("#file", tmp_path / "mine.bytemill")
    expect(page.locator("#name-a")).to_have_text("<img src=x>")
    wait(page, encoding.count("lowest"))
    (tmp_path / "bad.json").write_text("{")
    page.set_input_files("#file", tmp_path / "bad.json")
    expect(page.locator("#message")).to_contain_text("bad.json")
    assert page.locator("img").count() == 0


def test_s2_pieces(opened: Opened) -> None:
    page = opened()
    write(page, "hello wörlds")
    page.check("#show-pieces", force=True)
    expect(page.locator("#a .t.piece")).to_have_count(1)
    page.locator("#text").press_sequentially(" again")
    expect(page.locator("#a .t.piece")).to_have_count(2)


def test_s3_merge_tree(opened: Opened) -> None:
    page = opened()
    write(page, "hello wörlds")
    page.click("#a .t >> nth=2")
    page.click("text=merge tree")
    tree = page.locator("#tree")
    expect(tree).to_contain_text("286 2877 123485")
    page.locator("#tree input").fill("0")
    expect(tree).to_contain_text("Single bytes")
    assert tree.locator(".stage .t").all_inner_texts()[2:4] == ["‹c3›", "‹b6›"]


@pytest.mark.parametrize(("rule", "merge"), [("smallest_pair", 8), ("first_seen", 7)])
def test_s4_training(opened: Opened, rule: str, merge: int) -> None:
    page = opened()
    page.click("#tab-training")
    page.locator(".replay").wait_for()
    page.select_option("[aria-label=Ties]", rule)
    page.wait_for_timeout(400)
    slider = page.locator("[aria-label='Merges so far']")
    slider.fill("1")
    expect(page.locator(".replay p[role=status]")).to_contain_text(
        "“l” + “o” occurs 400 times and becomes token 256. 2 pairs occur as often"
    )
    slider.fill(str(merge))
    expect(page.locator(".replay p[role=status]")).to_contain_text(f"becomes token {255 + merge}")
    assert "lowest" in " ".join(page.locator(".pieces .active").all_inner_texts())
    slider.fill("0")
    assert all(len(each) == 1 for each in page.locator(".pieces .t").all_inner_texts())
    expect(page.locator(".trial")).to_contain_text("16 tokens")


def test_s5_vocabulary_search(opened: Opened) -> None:
    page = opened()
    choose(page, "encoding", "gpt2")
    page.click("#tab-vocabulary")
    page.fill("#view-vocabulary input", "Magikarp")
    expect(page.locator(".hit")).to_have_count(3)
    assert re.findall(r"\b\d{5}\b", page.locator(".hits").inner_text()) == ["41538", "42202", "43453"]


def test_s8_the_token_at_the_caret_is_outlined(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    page.evaluate("document.getElementById('text').setSelectionRange(5, 5)")
    page.focus("#text")
    page.keyboard.press("ArrowRight")
    assert page.locator("#a .active").inner_text() == "(x"


# --- Flow ---


def test_a_hundred_keys_end_with_the_last_text(opened: Opened) -> None:
    page = opened()
    page.locator("#text").press_sequentially("ab c" * 25, delay=4)
    wait(page, O200K.count("ab c" * 25))
    assert ids(page) == O200K.encode("ab c" * 25)
    for _ in range(10):
        page.keyboard.press("Backspace")
    wait(page, O200K.count(("ab c" * 25)[:-10]))


def test_the_server_ends_and_the_text_stays(opened: Opened, running: Playground) -> None:
    page = opened()
    write(page, CODE)
    running.stop()
    page.fill("#text", "other")
    expect(page.locator("#message")).to_have_text("The playground was stopped.")
    assert page.input_value("#text") == "other"


def test_markup_stays_text(opened: Opened) -> None:
    page = opened()
    write(page, '<img src=x onerror="window.bad=1"><script>window.bad=1</script>')
    page.click("#a .t >> nth=1")
    page.wait_for_timeout(300)
    assert page.evaluate("window.bad") is None
    assert page.locator("img").count() == 0


def test_right_to_left_stands_in_the_order_of_ids(opened: Opened) -> None:
    page = opened()
    write(page, "مرحبا بالعالم")
    boxes = page.locator("#a .t").evaluate_all("all => all.map(e => e.getBoundingClientRect().left)")
    assert boxes == sorted(boxes)
    assert ids(page) == O200K.encode("مرحبا بالعالم")


@pytest.mark.parametrize(("width", "height"), [(320, 640), (390, 844), (900, 700), (1280, 800), (1920, 1080)])
def test_nothing_scrolls_sideways(opened: Opened, width: int, height: int) -> None:
    page = opened(width, height)
    write(page, CODE * 20 + "x" * 300)
    for tab in ("text", "training", "vocabulary"):
        page.click(f"#tab-{tab}")
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_targets_are_large_enough(opened: Opened) -> None:
    page = opened(390, 844)
    small = page.locator("button:visible, .segments span, .check span").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).filter(r => r.height < 24 || r.width < 24).length"
    )
    assert small == 0
