"""Pictures for people: kept as artefacts, looked at once for each release; the guide has some of them."""

# ruff: noqa: E501, RUF001 - scripts of pages, and the signs that are shown

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill import inspection

pytest_plugins = ["support.browser"]


Opened = Callable[..., Any]

SAMPLE = '''\
def greet(name: str) -> str:
    """Says hello."""
    return f"Hello, {name}! 你好 👋"

for number in range(1, 1001):
    print(greet("wörld"), number * 1234567)
'''
SCRIPTS = "مرحبا بالعالم، هذا نص عربي\nשלום עולם\nनमस्ते, आप कैसे हैं?\n👩‍👩‍👧‍👦 你好 é e\u0301\n"
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}


def take(page: Any, path: Path) -> None:
    page.wait_for_timeout(300)
    page.screenshot(path=path)
    assert path.stat().st_size > 5000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_texts(opened: Opened, folder: Path, size: str, scheme: str) -> None:
    page = opened(*SIZES[size], color_scheme=scheme)
    take(page, folder / f"empty-{size}-{scheme}.png")
    page.fill("#text", SAMPLE)
    page.locator("#a .t").first.wait_for()
    if size == "desktop":
        page.hover("#a .t >> nth=7")
        page.locator("#details dd").nth(4).wait_for()
    take(page, folder / f"text-{size}-{scheme}.png")
    page.fill("#text", SCRIPTS)
    page.check("#show-ids", force=True)
    take(page, folder / f"scripts-{size}-{scheme}.png")
    page.check("[name=special][value=error]", force=True)
    page.fill("#text", SCRIPTS + "<|endoftext|>")
    take(page, folder / f"error-{size}-{scheme}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_encodings_on_a_phone(opened: Opened, folder: Path, scheme: str) -> None:
    page = opened(*SIZES["phone"], color_scheme=scheme)
    page.click("#examples")
    page.click("text=Python indentation")
    page.fill("#text", SAMPLE)
    page.click("#side-b")
    take(page, folder / f"compare-phone-{scheme}.png")
    page.click("#b .t >> nth=8")
    page.locator("#details dd").nth(4).wait_for()
    take(page, folder / f"details-phone-{scheme}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_encodings(opened: Opened, folder: Path, scheme: str) -> None:
    page = opened(color_scheme=scheme)
    page.click("#examples")
    take(page, folder / f"examples-{scheme}.png")
    page.click("text=Python indentation")
    page.fill("#text", SAMPLE)
    take(page, folder / f"compare-{scheme}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_learners(opened: Opened, folder: Path, size: str, scheme: str) -> None:
    page = opened(*SIZES[size], color_scheme=scheme)
    page.fill("#text", "hello wörlds")
    page.click("#a .t >> nth=2")
    page.click("text=merge tree")
    page.locator("#tree .stage").wait_for()
    take(page, folder / f"tree-{size}-{scheme}.png")
    page.click("#tab-training")
    page.locator(".replay").wait_for()
    page.locator("[aria-label='Merges so far']").fill("8")
    take(page, folder / f"training-{size}-{scheme}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_chats_and_statistics(opened: Opened, folder: Path, size: str, scheme: str) -> None:
    page = opened(*SIZES[size], color_scheme=scheme)
    page.fill("#text", SAMPLE)
    page.click("#tab-statistics")
    page.click("#more")
    page.fill("#limit", "20")
    page.locator("#a .part").first.wait_for()
    take(page, folder / f"options-{size}-{scheme}.png")
    page.keyboard.press("Escape")
    page.click("#share")
    take(page, folder / f"share-{size}-{scheme}.png")
    page.keyboard.press("Escape")
    page.click("#tab-chat")
    page.locator("#c .t").first.wait_for()
    take(page, folder / f"chat-{size}-{scheme}.png")


def test_text_as_written(opened: Opened, folder: Path) -> None:
    page = opened()
    page.fill("#text", SCRIPTS)
    page.click("#more")
    page.check("#written", force=True)
    page.keyboard.press("Escape")
    take(page, folder / "written.png")
    page.click("#way [data-stage=merges]")
    page.locator("#dialog mark").first.wait_for()
    take(page, folder / "definition.png")


def test_forced_colours_and_eyes_without_green(opened: Opened, folder: Path) -> None:
    page = opened(forced_colors="active")
    page.fill("#text", SAMPLE)
    take(page, folder / "forced-colours.png")
    page = opened()
    page.fill("#text", SAMPLE)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setEmulatedVisionDeficiency", {"type": "deuteranopia"})
    take(page, folder / "deuteranopia.png")


def test_presets(opened: Opened, folder: Path) -> None:
    page = opened()
    page.click("#examples")
    names = page.locator("#presets b").all_inner_texts()
    assert len(names) >= 11
    for i, name in enumerate(names):
        if i:
            page.click("#examples")
        page.locator("#presets .item").nth(i).click()
        take(page, folder / f"preset-{i + 1:02}-{re.sub('[^a-z]+', '-', name.lower()).strip('-')}.png")


def test_a_megabyte(opened: Opened, folder: Path) -> None:
    page = opened()
    data = "const d = new DataTransfer(); d.setData('text/plain', t); document.getElementById('text').dispatchEvent(new ClipboardEvent('paste', {clipboardData: d, cancelable: true}))"
    page.evaluate("t => {" + data + "}", SAMPLE * 6000)
    page.locator("#a .t").first.wait_for()
    take(page, folder / "megabyte.png")
    page.evaluate("document.getElementById('a').scrollTop = 1e9")
    take(page, folder / "megabyte-end.png")


HOSTS = {
    "jupyter-dark": ('<body data-jp-theme-light="false" style="background:#111;color:#ddd">', True),
    "jupyter-untrusted": ('<body data-jp-theme-light="false" style="background:#111;color:#ddd">', False),
    "vscode-dark": ('<body class="vscode-dark" style="background:#1e1e1e;color:#ccc">', True),
    "light": ('<body data-jp-theme-light="true" style="background:#fff;color:#111">', True),
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_notebooks(browser: Any, folder: Path, host: str, scheme: str) -> None:
    body, trusted = HOSTS[host]
    encoding = bytemill.get_encoding("o200k_base")
    views: list[Any] = [
        inspection.show(encoding, SAMPLE + SCRIPTS),
        inspection.show_merges(encoding, "hello wörlds"),
        inspection.show_training("the lowest of the low, slower and slowest; " * 100, 8),
    ]
    content = "<hr>".join(view._repr_html_() for view in views)
    if not trusted:
        content = content.replace("<style>", "<!--").replace("</style>", "-->")
    context = browser.new_context(color_scheme=scheme, viewport={"width": 900, "height": 900})
    page = context.new_page()
    page.set_content(f"<!doctype html><html>{body}{content}</body></html>")
    token = page.locator(".bm1").first
    ink, background = token.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
    dark = trusted and host.endswith("dark")
    assert ink == ("rgb(236, 239, 243)" if dark else "rgb(21, 24, 28)")
    assert background == ("rgb(0, 47, 86)" if dark else "rgb(219, 236, 253)")
    assert not page.locator("s").first.is_visible()
    take(page, folder / f"notebook-{host}-{scheme}.png")
    context.close()
