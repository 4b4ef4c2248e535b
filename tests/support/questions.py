"""Notes and holds back what a page asks: requests to a server, or messages to its worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.static_site import is_static

__all__ = ["Held", "answered", "listen"]

HOLD = """() => {
  const post = Worker.prototype.postMessage;
  window.held = [];
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message.name === "encode") window.held.push(() => post.call(this, message, ...rest));
    else post.call(this, message, ...rest);
  };
}"""
LISTEN = """() => {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message.name === "encode") window.noteAsked(new TextDecoder().decode(message.given[0]));
    post.call(this, message, ...rest);
  };
}"""


# Playwright marks the functions that it gets; those of builtin types have no room for that: hence lambdas.


class Held:
    """Questions about texts, which wait until they are released."""

    def __init__(self, page: Any) -> None:
        """Holds back all from now on."""
        self.page = page
        self.routes: list[Any] = []
        if is_static(page):
            page.evaluate(HOLD)
        else:
            page.route("**/encode?*", lambda route: self.routes.append(route))  # noqa: PLW0108 - as above

    def __len__(self) -> int:
        return self.page.evaluate("window.held.length") if is_static(self.page) else len(self.routes)

    def release(self, number: int) -> None:
        """Has one of them answered."""
        if is_static(self.page):
            self.page.evaluate("number => window.held[number]()", number)
        else:
            self.routes[number].continue_()


def listen(page: Any, asked: list[str]) -> None:
    """Notes the texts that the page asks for from now on."""
    if is_static(page):
        page.expose_function("noteAsked", lambda text: asked.append(text))  # noqa: PLW0108 - as above
        page.evaluate(LISTEN)
        return
    page.on(
        "request",
        lambda request: asked.append(request.post_data) if "/encode?" in request.url else None,
    )


@contextmanager
def answered(page: Any, name: str) -> Iterator[None]:
    """Waits until a question that the block asks is answered."""
    if is_static(page):
        yield
        page.wait_for_timeout(500)
    else:
        with page.expect_response(f"**/{name}"):
            yield
