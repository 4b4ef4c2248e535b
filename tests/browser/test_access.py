"""M10: themes, the keyboard, and what a screen reader gets, in a real browser."""

# ruff: noqa: E501 - scripts of pages, and the signs that are shown

from __future__ import annotations

import re

import pytest

from support.colours import contrast
from support.page import CODE, Opened, expect, write

pytest_plugins = ["support.browser"]


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
    # What is chosen is seen without backgrounds of our own.
    background = "e => getComputedStyle(e).backgroundColor"
    chosen, other = page.locator("#special span").nth(0), page.locator("#special span").nth(1)
    assert chosen.evaluate(background) != other.evaluate(background)
    switch = "e => getComputedStyle(e, '::before').borderTopWidth"
    assert page.locator("#show-ids + span").evaluate(switch) == "1px"


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


def test_m10_the_tree_of_roles(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    expect(page.locator("header")).to_match_aria_snapshot("""
      - banner:
        - heading "bytemill" [level=1]
        - tablist "Views":
          - tab "Text" [selected]
          - tab "Chat"
          - tab "Training"
          - tab "Vocabulary"
        - 'button "Theme: as the system"'
    """)
    expect(page.locator("#view-text")).to_match_aria_snapshot("""
      - tabpanel "Text":
        - button "Encoding o200k_base"
        - button "Compare with none"
        - group "Special tokens":
          - radio "text" [checked]
          - radio "allow"
          - radio "error"
        - checkbox "IDs"
        - checkbox "pieces"
        - button "Options"
        - button "Share"
        - button "Examples"
        - textbox "Text"
        - heading "o200k_base" [level=2]
        - 'searchbox "Find in tokens: a text, or # and an ID"'
        - listbox "o200k_base":
          - option "def"
          - option "·f"
          - option "(x"
          - option "):"
          - option "·"
          - option "·return"
          - option "·x"
        - region "Token"
        - tablist "Of the text":
          - tab "IDs" [selected]
          - tab "Statistics"
        - tabpanel "IDs":
          - 'textbox "IDs: edit them to decode"'
    """)


def test_m10_contrast_of_texts(opened: Opened) -> None:
    for scheme in ("light", "dark"):
        page = opened(color_scheme=scheme)
        write(page, CODE)
        page.hover("#a .t >> nth=2")
        for selector in (
            "#figures-a",
            "#a .t",
            "#details dt",
            "#details dd",
            "#way button",
            "#ids",
            "h2",
            "legend",
        ):
            found = page.locator(selector).first.evaluate(
                """element => {
                  const ink = getComputedStyle(element).color;
                  let each = element, paper = "rgba(0, 0, 0, 0)";
                  while (paper === "rgba(0, 0, 0, 0)") { paper = getComputedStyle(each).backgroundColor; each = each.parentElement; }
                  return [ink, paper];
                }"""
            )
            assert ratio(*found) >= 4.5, (scheme, selector, found)


def ratio(one: str, other: str) -> float:
    """Returns the contrast of two computed colours."""
    return contrast(
        *("#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", each)[:3]) for each in (one, other))
    )


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
        "more",
        "share",
        "examples",
        "text",
        "find",
        "a",
        "tab-ids",
        "python",
        "json",
        "spaces",
        "ids",
    } <= reached


def test_m10_a_tap_opens_a_sheet(opened: Opened) -> None:
    page = opened(390, 844, has_touch=True, is_mobile=True)
    write(page, CODE)
    page.tap("#a .t >> nth=1")
    details = page.locator("#details")
    expect(details).to_contain_text("token 2 of 7")
    box = details.bounding_box()
    assert box["y"] + box["height"] == pytest.approx(844, abs=1)
    token = page.locator("#a .t >> nth=1").bounding_box()
    assert token["y"] + token["height"] <= box["y"]
    for button in page.locator("#details button").all():
        within = button.bounding_box()
        assert 0 <= within["x"] <= within["x"] + within["width"] <= 390
    page.tap("#details [aria-label=Close]")
    expect(details).to_be_hidden()


def test_m10_a_sheet_does_not_cover_its_token(opened: Opened) -> None:
    page = opened(390, 844, has_touch=True, is_mobile=True)
    write(page, "a line of words\n" * 40)
    lowest = page.locator("#a .t").nth(
        page.evaluate("""() => {
          const { bottom } = document.getElementById("a").getBoundingClientRect();
          const all = [...document.querySelectorAll("#a .t")];
          return all.findLastIndex(e => e.getBoundingClientRect().bottom < Math.min(bottom, innerHeight));
        }""")
    )
    assert lowest.bounding_box()["y"] > 700
    lowest.tap()
    details = page.locator("#details")
    # With all that comes later.
    expect(details).to_contain_text("reached")
    token = lowest.bounding_box()
    assert token["y"] + token["height"] <= details.bounding_box()["y"]


def test_m10_without_motion(opened: Opened) -> None:
    page = opened(reduced_motion="reduce")
    assert page.locator("#share").evaluate("e => getComputedStyle(e).transitionDuration") == "0s"
