"""Pastes, of which the page asks for the tokens before the browser has inserted them, in a real browser."""

# ruff: noqa: E501 - scripts of pages

from __future__ import annotations

from typing import Any

import pytest

import bytemill
from support.page import CODE, O200K, Opened, expect, ids, put, until, wait, write
from support.questions import listen

pytest_plugins = ["support.browser"]


def paste(page: Any, text: str) -> None:
    """Pastes a text by the keys, as people do."""
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")


def select(page: Any, start: int, end: int) -> None:
    """Selects characters of the text."""
    page.focus("#text")
    page.evaluate("([a, b]) => document.getElementById('text').setSelectionRange(a, b)", [start, end])


@pytest.fixture
def asked() -> list[str]:
    """The texts that the page sent, in order."""
    return []


@pytest.mark.parametrize(
    ("start", "end", "pasted"),
    [
        (0, 0, "first "),
        (4, 7, "other"),
        (4, 4, "größer 👩‍👩‍👧‍👦 "),
        (0, 13, "all"),
        (13, 13, "\n    end\n"),
        (3, 9, "one\r\ntwo\rthree\n"),
    ],
)
def test_a_paste_is_sent_once(opened: Opened, asked: list[str], start: int, end: int, pasted: str) -> None:
    text = "one two three"
    page = opened()
    write(page, text)
    select(page, start, end)
    listen(page, asked)
    paste(page, pasted)
    # A text area has no CR.
    result = text[:start] + pasted.replace("\r\n", "\n").replace("\r", "\n") + text[end:]
    expect(page.locator("#text")).to_have_value(result)
    until(page, lambda: ids(page) == O200K.encode(result))
    page.wait_for_timeout(100)
    assert asked == [result]
    page.keyboard.press("Control+z")
    expect(page.locator("#text")).to_have_value(text)
    until(page, lambda: ids(page) == O200K.encode(text))
    page.keyboard.press("Control+Shift+z")
    until(page, lambda: ids(page) == O200K.encode(result))
    assert asked == [result, text, result]


def test_a_paste_with_line_ends_as_cr_lf(opened: Opened, asked: list[str]) -> None:
    page = opened()
    write(page, "one\ntwo")
    page.click("#more")
    page.check("#crlf", force=True)
    page.keyboard.press("Escape")
    wait(page, O200K.count("one\r\ntwo"))
    listen(page, asked)
    select(page, 4, 7)
    paste(page, "2\r\n3\n")
    until(page, lambda: ids(page) == O200K.encode("one\r\n2\r\n3\r\n"))
    page.wait_for_timeout(100)
    assert asked == ["one\r\n2\r\n3\r\n"]
    expect(page.locator("#message")).to_be_hidden()


def test_two_pastes_fast(opened: Opened) -> None:
    page = opened()
    page.focus("#text")
    page.evaluate("text => navigator.clipboard.writeText(text)", "ab c\n" * 3000)
    for _ in range(3):
        page.keyboard.press("Control+v")
    page.keyboard.press("Backspace")
    text = ("ab c\n" * 9000)[:-1]
    wait(page, O200K.count(text))
    assert page.input_value("#text") == text
    until(page, lambda: ids(page)[:40] == O200K.encode(text)[:40])


def test_a_paste_that_something_else_cancels(opened: Opened) -> None:
    page = opened()
    write(page, CODE)
    # As extensions do, which listen behind the page.
    page.evaluate("addEventListener('paste', event => event.preventDefault())")
    select(page, 0, 3)
    asked: list[str] = []
    listen(page, asked)
    paste(page, "never there")
    until(page, lambda: asked[-1:] == [CODE])
    until(page, lambda: ids(page) == O200K.encode(CODE))
    assert page.input_value("#text") == CODE


def test_a_paste_into_a_document_takes_its_place(opened: Opened) -> None:
    page = opened()
    document = "a line of words\n" * 20_000
    page.focus("#text")
    paste(page, document)
    wait(page, O200K.count(document))
    assert len(page.input_value("#text")) < 10_000
    paste(page, "short")
    wait(page, O200K.count("short"))
    expect(page.locator("#text")).to_have_value("short")
    expect(page.locator("#text")).to_be_editable()
    expect(page.locator("#text-note")).to_have_text("")


# Acts at the moment at which the counts of a text are there, of which the tokens follow a frame later.
AT_COUNTS = """([count, act]) => {
  const seen = document.getElementById("count-a");
  new MutationObserver((_, observer) => {
    if (seen.textContent !== count) return;
    observer.disconnect();
    window.before = document.querySelectorAll("#a .t").length;
    act === "write" ? write("short") : document.querySelector(`[name=special][value=error]`).click();
  }).observe(seen, { childList: true });
  // Answers are faster than frames.
  const frame = window.requestAnimationFrame;
  window.requestAnimationFrame = done => setTimeout(() => frame(done), 300);
  window.write = text => {
    const field = document.getElementById("text");
    field.value = text;
    field.dispatchEvent(new InputEvent("input"));
  };
}"""


def test_counts_of_a_large_change_come_first(opened: Opened) -> None:
    page = opened()
    text = "a line of words<|endoftext|>\n" * 3000
    page.evaluate(AT_COUNTS, [f"{O200K.count(text):,} tokens", "write"])
    page.evaluate("text => write(text)", text)
    until(page, lambda: ids(page) == O200K.encode("short"))
    assert page.evaluate("window.before") == 0
    page.wait_for_timeout(500)
    # What came late never wins.
    assert ids(page) == O200K.encode("short")
    assert page.input_value("#text") == "short"


def test_tokens_follow_their_counts_when_the_next_text_is_refused(opened: Opened) -> None:
    page = opened()
    text = "a line of words<|endoftext|>\n" * 3000
    page.evaluate(AT_COUNTS, [f"{O200K.count(text):,} tokens", "error"])
    put(page, text)
    expect(page.locator("#message")).to_contain_text("special token <|endoftext|>")
    expect(page.locator("#count-a")).to_have_text(f"{O200K.count(text):,} tokens")
    assert page.evaluate("window.before") == 0
    until(page, lambda: ids(page)[:40] == O200K.encode(text, disallowed_special=())[:40])


def test_a_change_of_encoding_shows_counts_and_tokens_together(opened: Opened) -> None:
    page = opened()
    text = "größere Wörter\n" * 3000
    put(page, text)
    gpt2 = bytemill.get_encoding("gpt2")
    first, other = O200K.encode(text[:40])[0], gpt2.encode(text[:40])[0]
    assert first != other
    watch = """() => {
      window.seen = [];
      new MutationObserver(() => window.seen.push([document.getElementById("name-a").textContent, document.querySelector("#a .t").dataset.id]))
        .observe(document.getElementById("card-a"), { childList: true, subtree: true, characterData: true });
    }"""
    page.evaluate(watch)
    page.click("#encoding")
    page.keyboard.type("gpt2")
    page.keyboard.press("Enter")
    wait(page, gpt2.count(text))
    assert {tuple(each) for each in page.evaluate("window.seen")} <= {
        ("gpt2", str(other)),
        ("o200k_base", str(first)),
    }
    assert ["gpt2", str(other)] in page.evaluate("window.seen")


def test_a_paste_is_sent_before_it_is_inserted(opened: Opened) -> None:
    page = opened()
    write(page, "one")
    page.evaluate("""() => {
      window.order = [];
      const { fetch } = window, post = Worker.prototype.postMessage;
      window.fetch = (...request) => { window.order.push("asked"); return fetch(...request); };
      Worker.prototype.postMessage = function (...question) { window.order.push("asked"); return post.apply(this, question); };
      addEventListener("input", () => window.order.push("input"), { capture: true });
    }""")
    select(page, 3, 3)
    paste(page, " two")
    wait(page, O200K.count("one two"))
    assert page.evaluate("window.order") == ["asked", "input"]
    # A key is sent when it is there.
    page.keyboard.press("x")
    wait(page, O200K.count("one twox"))
    assert page.evaluate("window.order") == ["asked", "input", "input", "asked"]
