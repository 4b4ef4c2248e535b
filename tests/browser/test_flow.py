"""Keys, windows and servers that come and go, in a real browser."""

from __future__ import annotations

import pytest

from bytemill.playground import Playground
from support.page import CODE, O200K, Opened, expect, ids, wait, write

pytest_plugins = ["support.browser"]


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
    expect(page.locator("#message")).to_contain_text("The playground was stopped.")
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
    small = page.locator("button:visible, .segments span:visible, .check span:visible").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).filter(r => r.height < 24 || r.width < 24).length"
    )
    assert small == 0
