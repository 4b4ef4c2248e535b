"""Other pages that try to use the playground, in a real browser."""

# ruff: noqa: E501 - scripts of pages, and the signs that are shown

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from bytemill.playground import Playground
from bytemill.playground.server import Handler
from support.chromium import playwright

pytest_plugins = ["support.browser"]


Error = playwright().Error


@pytest.fixture
def statuses(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The endpoint and status of each answer of the playground."""
    found: list[tuple[str, int]] = []
    send = Handler._send

    def noted(self: Handler, status: Any, *arguments: Any, **named: Any) -> None:
        found.append((self.path.rpartition("/")[2], int(status)))
        send(self, status, *arguments, **named)

    monkeypatch.setattr(Handler, "_send", noted)
    return found


class Elsewhere(BaseHTTPRequestHandler):
    """A page of another port of this machine."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>elsewhere</title><body></body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
        pass


@pytest.fixture
def elsewhere() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_a_name_that_was_bound_to_this_machine(
    browser: Any, running: Playground, statuses: list[tuple[str, int]]
) -> None:
    context = browser.new_context()
    page = context.new_page()
    rebound = running.url.replace("127.0.0.1", "evil.test")
    with pytest.raises(Error, match="ERR_HTTP_RESPONSE_CODE_FAILURE"):
        page.goto(rebound)
    assert statuses == [("", 403)]
    # What the name served before it was bound anew: to the browser, a page of the same origin as the server.
    first = f"http://evil.test:{running.server.server_port}/first"
    page.route(first, lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    page.goto(first)
    path = urlsplit(running.url).path
    answers = page.evaluate(
        """async path => Promise.all([
          fetch(path + 'encodings').then(r => r.status, () => 403),
          fetch(path + 'encode?e=gpt2', {method: 'POST', body: 'a', headers: {'Content-Type': 'application/octet-stream'}})
            .then(r => r.status, () => 403),
        ])""",
        path,
    )
    assert answers == [403, 403]
    context.close()
    assert {status for _, status in statuses} == {403}


def test_a_page_of_another_port(
    browser: Any, running: Playground, elsewhere: int, statuses: list[tuple[str, int]]
) -> None:
    context = browser.new_context()
    page = context.new_page()
    for host in ("127.0.0.1", "localhost", "evil.test"):
        page.goto(f"http://{host}:{elsewhere}/")
        answers = page.evaluate(
            """async base => {
              const tried = async make => { try { const r = await make(); return r.type + r.status } catch { return 'blocked' } };
              const type = {'Content-Type': 'application/octet-stream'};
              const loaded = tag => new Promise(done => {
                const e = document.createElement(tag);
                e.onload = () => done(tag === 'iframe' ? 'frame' : 'loaded');
                e.onerror = () => done('blocked');
                e.src = base + (tag === 'script' ? 'main.js' : tag === 'img' ? 'encodings' : '');
                document.body.append(e);
              });
              return [
                await tried(() => fetch(base + 'encodings')),
                await tried(() => fetch(base + 'encodings', {mode: 'no-cors'})),
                await tried(() => fetch(base + 'encode?e=gpt2', {method: 'POST', body: 'a'})),
                await tried(() => fetch(base + 'encode?e=gpt2', {method: 'POST', body: 'a', mode: 'no-cors'})),
                await tried(() => fetch(base + 'encode?e=gpt2', {method: 'POST', body: 'a', headers: type})),
                await loaded('script'), await loaded('img'), await loaded('iframe'),
              ];
            }""",
            running.url,
        )
        assert set(answers) <= {"blocked", "opaque0", "frame"}
        form = "b => { const f = document.createElement('form'); f.method = 'post'; f.action = b + 'encode?e=gpt2'; document.body.append(f); f.submit() }"
        page.evaluate(form, running.url)
        page.wait_for_timeout(300)
    context.close()
    accepted = [(endpoint, status) for endpoint, status in statuses if status < 400]
    # Only the page itself may be navigated to, and nobody may frame it.
    assert {endpoint for endpoint, _ in accepted} <= {""}
    assert any(status == 403 for _, status in statuses)


def test_the_page_cannot_be_framed(browser: Any, running: Playground, elsewhere: int) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{elsewhere}/")
    page.evaluate(
        "u => { const f = document.createElement('iframe'); f.src = u; document.body.append(f) }", running.url
    )
    page.wait_for_timeout(800)
    assert all(not frame.url.startswith(running.url) for frame in page.frames[1:])
    context.close()
