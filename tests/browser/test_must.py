"""Features that the page must have, one by one, in a real browser."""

# ruff: noqa: E501, RUF001 - scripts of pages, and the signs that are shown

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import bytemill
from bytemill.playground import Playground
from bytemill.playground.files import static_files
from support import command_line
from support.page import CODE, FAMILY, IDS, O200K, PASTE, Opened, choose, expect, ids, put, until, wait, write

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


def test_m2_counts_and_encodings_stay_on_top_of_a_phone(opened: Opened) -> None:
    page = opened(390, 844)
    text = "a line of words here\n" * 400
    put(page, text)
    page.mouse.move(2, 800)
    page.mouse.wheel(0, 10_000)
    until(page, lambda: page.evaluate("scrollY") > 100)
    # What is on top at the middle of the button, and the count in it.
    shown = """id => {
      const button = document.getElementById(id), { left, right, top, bottom } = button.getBoundingClientRect();
      const on_top = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      const count = getComputedStyle(button.querySelector("small"), "::after");
      return [top >= 0 && bottom < 100, button.contains(on_top), count.display === "none" ? "" : count.content];
    }"""
    count = f"{O200K.count(text):,} tokens · {len(text) / O200K.count(text):.2f} bytes each"
    assert page.evaluate(shown, "encoding") == [True, True, f'"{count}"']
    assert page.locator("#encoding").evaluate("e => e.querySelector('span').textContent") == "o200k_base"
    assert page.evaluate(shown, "compare") == [True, True, "none"]
    choose(page, "compare", "gpt2")
    tokens = bytemill.get_encoding("gpt2").count(text)
    other = f"{tokens:,} tokens · {len(text) / tokens:.2f} bytes each"
    until(page, lambda: page.evaluate(shown, "compare")[2] == f'"{other}"')
    page.click("#compare")
    page.locator("#picker [role=option]", has_text="none").click()
    until(page, lambda: page.evaluate(shown, "compare")[2] == "none")
    # No count is cut off.
    for width in (390, 360):
        page.set_viewport_size({"width": width, "height": 844})
        for small in page.locator("#chosen small").all():
            assert small.evaluate("e => e.scrollWidth <= e.clientWidth"), width
    # Where the window is wide, labels stand there: counts are always in view.
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.evaluate(shown, "encoding")[2] == "none"
    expect(page.locator("#encoding small")).to_have_text("Encoding")
    assert page.locator("#encoding small").evaluate("e => parseFloat(getComputedStyle(e).fontSize)") > 10


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


@pytest.mark.parametrize("button", ["encoding", "compare"])
def test_m3_a_choice_on_a_phone_keeps_the_place(opened: Opened, button: str) -> None:
    page = opened(390, 844)
    put(page, "a line of words here\n" * 400)
    page.evaluate("scrollTo(0, 200)")
    for name in ("gpt2", "p50k_base"):
        # Without playwright's own scrolling before a click.
        for click in (f"#{button}", f"#picker [data-name={name}]"):
            page.locator(click).evaluate("e => { e.focus({ preventScroll: true }); e.click() }")
            assert page.evaluate("scrollY") == 200
        expect(page.locator(f"#{button} > span")).to_have_text(name)
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") == 200
    # Nor does the tabulator scroll to what is in view.
    page.focus("#encoding")
    page.keyboard.press("Tab")
    assert page.evaluate("scrollY") == 200


def test_m3_sizes_models_and_fingerprints(opened: Opened) -> None:
    page = opened()
    page.click("#encoding")
    options = page.locator("#picker [role=option]")
    assert options.count() == len(bytemill.list_encoding_names())
    for option in options.all():
        encoding = bytemill.get_encoding(option.get_attribute("data-name"))
        assert f"{encoding.n_vocab:,} tokens" in option.inner_text()
    expect(page.locator("#picker .print")).to_have_text(f"o200k_base: sha256 {O200K.sha256}")
    page.keyboard.type("davinci-003")
    expect(options).to_have_count(1)
    sha256 = bytemill.get_encoding("p50k_base").sha256
    expect(page.locator("#picker .print")).to_have_text(f"p50k_base: sha256 {sha256}")
    page.keyboard.press("Escape")
    expect(page.locator("#encoding > span")).to_have_text("o200k_base")


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
    expect(details).to_contain_text("its own text encodes to it")
    expect(details).to_contain_text("bytes 10 to 17")
    expect(details.locator("dt")).to_contain_text(["ID", "bytes", "place", "kind", "merged from", "reached"])
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


def test_m6_cr_and_lf(opened: Opened) -> None:
    page = opened()
    page.fill("#text", "a\nb")
    page.click("#more")
    page.check("#crlf", force=True)
    wait(page, O200K.count("a\r\nb"))
    assert "".join(page.locator("#a .t").all_inner_texts()) == "a\\r⏎b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" \t\r\n", ["·→⏎"]),
        ("\u00a0\u200b", ["\\xa0\\u200b"]),
        ("\u202e", ["\\u202e"]),
        ("\t", ["→"]),
        ("☺\ufe0e", ["☺\\ufe0e"]),
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
    expect(page.locator("#ids-note")).to_contain_text("No token of o200k_base has the ID 999999")
    assert page.input_value("#ids") == "24912 999999 2375"
    assert page.input_value("#text") == "hello world"
    page.fill("#ids", "71 311")
    expect(page.locator("#ids-note")).to_contain_text("This text encodes to other IDs")


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


def test_m8_one_of_two_on_a_phone(opened: Opened) -> None:
    page = opened(390, 844)
    expect(page.locator("#side")).to_be_hidden()
    choose(page, "encoding", "gpt2")
    choose(page, "compare", "cl100k")
    page.fill("#text", ".DefaultCellStyle")
    wait(page, 4)
    expect(page.locator("#card-a")).to_be_visible()
    expect(page.locator("#card-b")).to_be_hidden()
    page.click("#side-b")
    expect(page.locator("#card-a")).to_be_hidden()
    assert ids(page, "b") == [98518]
    expect(page.locator("#b .t.differs")).to_be_visible()
    page.click("#side-a")
    expect(page.locator("#card-b")).to_be_hidden()


def test_m8_both_show_the_same_place(opened: Opened) -> None:
    page = opened()
    choose(page, "compare", "gpt2")
    text = "".join(f"    line {i} of a long text\n" for i in range(2000))
    put(page, text)
    wait(page, bytemill.get_encoding("gpt2").count(text), "b")
    page.hover("#a")
    page.mouse.wheel(0, 20_000)
    top = """pane => {
      const box = document.getElementById(pane).getBoundingClientRect();
      return [...document.querySelectorAll(`#${pane} .t`)].filter(e => e.getBoundingClientRect().top >= box.top).slice(0, 30).map(e => e.textContent).join("");
    }"""

    def line(pane: str) -> int:
        return int(re.findall(r"\d+", page.evaluate(top, pane))[0])

    until(page, lambda: line("a") > 100 and abs(line("a") - line("b")) <= 12)


def test_m9_a_megabyte(opened: Opened) -> None:
    page = opened()
    text = "".join(f"for i in range({i}):\n    print(i * {i})  # größer\n" for i in range(24_000))
    assert len(text.encode()) > 1_000_000
    expected = O200K.encode(text)
    page.evaluate(PASTE, text)
    wait(page, len(expected))
    expect(page.locator("#figures-a")).to_contain_text(f"{len(text.encode()):,} bytes")
    # A frame after the counts.
    until(page, lambda: ids(page)[:50] == expected[:50])
    assert page.locator(".t").count() <= 6000
    page.evaluate("document.getElementById('a').scrollTop = 1e9")
    expect(page.locator("#a .t").last).to_have_attribute("data-id", str(expected[-1]))
    expect(page.locator("#a .t").last).to_be_in_viewport()
    page.wait_for_timeout(200)
    expect(page.locator("#a .t").last).to_be_in_viewport()
    assert ids(page)[-20:] == expected[-20:]
    assert page.locator(".t").count() <= 6000
    expect(page.locator("#text-note")).to_contain_text("read only")
    page.click("#text-note button")
    wait(page, 0)


def test_m9_the_end_stays_in_view_where_heights_were_guessed(opened: Opened) -> None:
    page = opened()
    # Parts of characters are wider than their bytes let expect.
    put(page, "𓀀𓀁𓀂𓀃𓀄𓀅𓀆𓀇 words\n" * 2000)
    page.evaluate("document.getElementById('a').scrollTop = 1e9")
    last = page.locator("#a .t").last
    expect(last).to_have_text("⏎")
    page.wait_for_timeout(300)
    expect(last).to_be_in_viewport()
    assert (
        page.evaluate("(e => e.scrollHeight - e.scrollTop - e.clientHeight)(document.getElementById('a'))")
        < 2
    )


def test_m9_edits_keep_blocks_and_colours(opened: Opened) -> None:
    page = opened()
    text = "a line of words here\n" * 5000
    put(page, text)
    page.evaluate("for (const b of document.querySelectorAll('#a .block')) b.kept = true")
    before = page.locator("#a .t").evaluate_all("all => all.map(e => e.className)")
    page.evaluate("document.getElementById('text').setSelectionRange(0, 0)")
    page.focus("#text")
    page.keyboard.type("x ")
    wait(page, O200K.count("x " + text))
    made = page.locator("#a .block").evaluate_all("all => all.filter(b => !b.kept).length")
    assert made <= 1
    after = page.locator("#a .t").evaluate_all("all => all.map(e => e.className)")
    shared = min(len(before), len(after)) - 300
    assert before[-shared:] == after[-shared:] or before[200:400] == after[201:401]


PRESETS = static_files()["presets.js"][1].decode().count("why:")


@pytest.mark.parametrize("index", range(PRESETS))
def test_m11_presets(opened: Opened, index: int) -> None:
    page = opened()
    write(page, "mine")
    page.click("#examples")
    item = page.locator("#presets .item").nth(index)
    why = item.locator("small").inner_text()
    assert why
    item.click()
    expect(page.locator("#text-note")).to_have_text(why)
    text = page.input_value("#text")
    name = page.locator("#encoding > span").inner_text()
    other = page.locator("#compare > span").inner_text()
    wait(page, bytemill.get_encoding(name).count(text))
    if other != "none":
        wait(page, bytemill.get_encoding(other).count(text), "b")
    # The tokens of the encoding before may be as many.
    until(page, lambda: ids(page) == bytemill.get_encoding(name).encode_ordinary(text))
    page.focus("#text")
    page.keyboard.press("Control+z")
    expect(page.locator("#text")).to_have_value("mine")


def test_m11_every_preset_is_listed(opened: Opened) -> None:
    page = opened()
    page.click("#examples")
    assert page.locator("#presets .item").count() == PRESETS >= 11


def test_m12_without_a_network(browser: Any, running: Playground) -> None:
    # A proxy that leads nowhere takes all but this machine's own addresses.
    context = browser.new_context(proxy={"server": "http://127.0.0.1:9", "bypass": "127.0.0.1"})
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(running.url)
    write(page, CODE)
    for tab in ("chat", "training", "vocabulary", "text"):
        page.click(f"#tab-{tab}")
        page.wait_for_timeout(200)
    assert ids(page) == IDS
    assert len(asked) > 20
    assert all(url.startswith((running.url, "data:")) for url in asked)
    assert page.evaluate("document.cookie") == ""
    context.close()


def test_m12_markup_stays_text(opened: Opened, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=window.bad=1>"
    page = opened()
    write(page, hostile + "<script>window.bad=1</script>\"'&amp;")
    page.click("#a .t >> nth=1")
    encoding = bytemill.train([hostile * 20], 270, name=hostile)
    path = tmp_path / "<b onclick=window.bad=1>.bytemill"
    encoding.save(path)
    page.set_input_files("#file", path)
    expect(page.locator("#name-a")).to_have_text(hostile)
    path.write_bytes(b"x")
    page.set_input_files("#file", path)
    expect(page.locator("#message")).to_contain_text("<b onclick=window.bad=1>.bytemill")
    page.click("#a .t >> nth=0")
    page.click("#tab-vocabulary")
    page.fill("#view-vocabulary input", "<")
    page.locator(".hit").first.wait_for()
    page.click("#tab-training")
    page.fill("#view-training textarea", hostile * 9)
    page.click("text=Train >> nth=-1")
    page.locator(".replay").wait_for()
    page.click("#tab-chat")
    page.fill("#view-chat textarea >> nth=0", hostile)
    page.wait_for_timeout(300)
    assert page.locator("img, b[onclick], body script").count() == 0
    assert page.evaluate("window.bad") is None


def test_m13_the_command(browser: Any, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    viewer = tmp_path / "viewer"
    viewer.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n', encoding="utf-8")
    viewer.chmod(0o755)
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from bytemill.cli import main; main()"
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-c", program, "playground", CODE, "-e", "gpt2", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**command_line.environment(), "BROWSER": f"{viewer} %s"},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().strip()
        for _ in range(200):
            if opened.exists() and opened.read_text(encoding="utf-8"):
                break
            time.sleep(0.05)
        # It is opened by a ticket, which leads to the address that was printed.
        ticket = opened.read_text(encoding="utf-8")
        assert urlsplit(address).path not in ticket
        page = browser.new_page()
        page.goto(ticket)
        assert page.url == address
        expect(page.locator("#text")).to_have_value(CODE)
        wait(page, bytemill.get_encoding("gpt2").count(CODE))
        page.goto("about:blank")
        page.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stdout.read() == ""
        assert process.stderr.read() == ""
