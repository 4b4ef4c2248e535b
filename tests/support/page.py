"""Steps that tests of the page have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bytemill
from support.chromium import playwright

__all__ = [
    "CODE",
    "FAMILY",
    "IDS",
    "O200K",
    "PASTE",
    "Opened",
    "choose",
    "copied",
    "expect",
    "ids",
    "put",
    "until",
    "wait",
    "write",
]

Opened = Callable[..., Any]

CODE = "def f(x):  return x"
IDS = [1314, 285, 4061, 3127, 220, 622, 1215]
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
O200K = bytemill.get_encoding("o200k_base")

# Pastes a text, as a browser does when somebody presses Ctrl+V.
PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  const field = document.getElementById("text");
  field.focus();
  if (field.dispatchEvent(event)) document.execCommand("insertText", false, text);
}"""


def expect(locator: Any) -> Any:
    """Returns assertions on a locator, which wait."""
    return playwright().expect(locator)


def ids(page: Any, pane: str = "a") -> list[int]:
    """Returns the ids of the tokens that have elements."""
    found = page.locator(f"#{pane} .t").evaluate_all("all => all.map(each => Number(each.dataset.id))")
    assert isinstance(found, list)
    return found


def write(page: Any, text: str) -> None:
    """Writes a text and waits for its tokens."""
    page.fill("#text", text)
    wait(page, O200K.count(text))


def put(page: Any, text: str) -> None:
    """Writes a long text at once: `fill` takes Chromium seconds for thousands of lines."""
    script = "(e, text) => { e.value = text; e.dispatchEvent(new InputEvent('input')) }"
    page.locator("#text").evaluate(script, text)
    wait(page, O200K.count(text))


def wait(page: Any, tokens: int, pane: str = "a") -> None:
    """Waits for a number of tokens, and until the pane shows them: it follows the number a frame later."""
    expect(page.locator(f"#count-{pane}")).to_have_text(f"{tokens:,} token" + "s" * (tokens != 1))
    expect(page.locator(f"#{pane}")).not_to_have_attribute("aria-busy", "true")


def until(page: Any, condition: Callable[[], bool]) -> None:
    """Waits until something holds, 10 seconds at the most."""
    for _ in range(200):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it does not hold after 10 seconds")


def choose(page: Any, button: str, name: str) -> None:
    """Chooses an encoding by its name or a model."""
    page.click(f"#{button}")
    page.keyboard.type(name)
    page.keyboard.press("Enter")


def copied(page: Any) -> str:
    """Returns what the clipboard holds."""
    found = page.evaluate("navigator.clipboard.readText()")
    assert isinstance(found, str)
    return found
