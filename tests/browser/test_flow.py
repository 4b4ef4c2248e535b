"""Keys, windows and servers that come and go, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bytemill
from bytemill import playground
from bytemill.playground import Playground
from support.page import CODE, IDS, O200K, PASTE, Opened, choose, expect, ids, until, wait, write
from support.questions import Held

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


@pytest.mark.usefixtures("running")
def test_a_server_that_comes_back(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    page.context.set_offline(True)
    page.fill("#text", CODE + CODE)
    expect(page.locator("#message")).to_contain_text("The playground was stopped.")
    # The last good view stays, and is seen to be old.
    assert ids(page) == IDS
    assert page.locator("#a").evaluate("e => getComputedStyle(e).opacity") < "1"
    page.context.set_offline(False)
    wait(page, 2 * len(IDS))
    expect(page.locator("#message")).to_be_hidden()
    assert page.input_value("#text") == CODE + CODE


def test_a_server_that_was_started_again(opened: Opened, running: Playground) -> None:
    page = opened()
    write(page, CODE)
    port = running.server.server_port
    running.stop()
    with playground.start("", port=port, open_browser=False):
        page.fill("#text", "other")
        expect(page.locator("#message")).to_contain_text("started again under another address")
        assert page.input_value("#text") == "other"


def test_encodings_that_change_while_a_request_is_out(opened: Opened) -> None:
    page = opened()
    waiting = Held(page)
    page.fill("#text", CODE)
    until(page, lambda: len(waiting) == 1)
    choose(page, "encoding", "gpt2")
    page.fill("#text", CODE + "!")
    page.wait_for_timeout(100)
    # One request at a time: the newest takes the place of those that wait.
    assert len(waiting) == 1
    waiting.release(0)
    until(page, lambda: len(waiting) == 2)
    waiting.release(1)
    gpt2 = bytemill.get_encoding("gpt2")
    wait(page, gpt2.count(CODE + "!"))
    expect(page.locator("#name-a")).to_have_text("gpt2")
    assert ids(page) == gpt2.encode(CODE + "!")


def test_an_answer_that_takes_long(opened: Opened, tmp_path: Path) -> None:
    encoding = bytemill.train(["low lower lowest " * 20], 262, name="mine")
    encoding.save(tmp_path / "mine.bytemill")
    page = opened()
    page.set_input_files("#file", tmp_path / "mine.bytemill")
    expect(page.locator("#name-a")).to_have_text("mine")
    waiting = Held(page)
    page.fill("#text", "lowest")
    until(page, lambda: len(waiting) == 1)
    expect(page.locator("#message")).to_have_text("Waiting for the pattern of mine …")
    waiting.release(0)
    wait(page, encoding.count("lowest"))
    expect(page.locator("#message")).to_be_hidden()


def test_answers_of_encodings_that_are_no_longer_chosen(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    waiting = Held(page)
    page.fill("#text", CODE + " y")
    until(page, lambda: len(waiting) == 1)
    choose(page, "encoding", "gpt2")
    waiting.release(0)
    until(page, lambda: len(waiting) == 2)
    # The tokens of o200k_base never stand below the name of another.
    expect(page.locator("#name-a")).to_have_text("o200k_base")
    assert ids(page) == IDS
    waiting.release(1)
    expect(page.locator("#name-a")).to_have_text("gpt2")
    assert ids(page) == bytemill.get_encoding("gpt2").encode(CODE + " y")


def test_delete_undo_and_composition(opened: Opened) -> None:
    page = opened()
    page.focus("#text")
    page.keyboard.type("one two")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    wait(page, 0)
    page.keyboard.press("Control+z")
    wait(page, O200K.count("one two"))
    page.evaluate(PASTE, " three")
    wait(page, O200K.count(page.input_value("#text")))
    page.fill("#text", "")
    session = page.context.new_cdp_session(page)
    for text in ("n", "ni", "nih"):
        session.send(
            "Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        )
    wait(page, O200K.count("nih"))
    session.send("Input.insertText", {"text": "你好"})
    # Not by the count: both are one token.
    until(page, lambda: ids(page) == O200K.encode("你好"))


def test_an_idle_page_has_no_timers(browser: Any, running: Playground) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("""
      window.pending = new Set();
      for (const kind of ["Timeout", "Interval"]) {
        const set = window[`set${kind}`], clear = window[`clear${kind}`];
        window[`set${kind}`] = (work, ...rest) => {
          const timer = set(() => { if (kind === "Timeout") window.pending.delete(timer); work(); }, ...rest);
          window.pending.add(timer);
          return timer;
        };
        window[`clear${kind}`] = timer => { window.pending.delete(timer); clear(timer); };
      }
    """)
    page.goto(running.url)
    write(page, CODE)
    page.hover("#a .t >> nth=2")
    page.click("#tab-training")
    page.locator(".replay").wait_for()
    page.click("text=Play")
    assert page.evaluate("window.pending.size") > 0
    page.click("#tab-text")
    page.wait_for_timeout(1500)
    assert page.evaluate("window.pending.size") == 0
    context.close()


def test_combining_marks(opened: Opened) -> None:
    page = opened()
    text = "é e\u0301 हिन्दी 각"
    write(page, text)
    values = O200K.decode_tokens_bytes(O200K.encode(text))
    marks = [
        i for i, value in enumerate(values) if value.decode(errors="ignore")[:1] in {"\u0301", "ि", "ी", "्"}
    ]
    assert marks
    shown = page.locator("#a .t").all_inner_texts()
    # A mark that begins a token stands on a circle.
    assert all(shown[i].startswith("◌") for i in marks)


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
