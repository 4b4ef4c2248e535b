"""Chromium, driven by playwright, and a playground for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bytemill import playground
from bytemill.playground import Playground
from support.chromium import chromium, playwright
from support.static_site import StaticSite, static_site

__all__ = ["browser", "folder", "opened", "running", "site"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless browser that finds a foreign name at this machine."""
    arguments = ["--host-resolver-rules=MAP evil.test 127.0.0.1"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    path = chromium()
    with playwright().sync_playwright() as started:
        launched = started.chromium.launch(executable_path=path, args=arguments)
        yield launched
        launched.close()


@pytest.fixture(params=["server", "static"])
def site(request: pytest.FixtureRequest) -> Iterator[Playground | StaticSite]:
    """A page without a text: of a playground, and of a folder if that is built."""
    if request.param == "server":
        with playground.start("", open_browser=False) as started:
            yield started
    else:
        with static_site() as served:
            yield served


@pytest.fixture
def running(site: Playground | StaticSite) -> Playground:
    """A playground without a text, for tests of what a server does."""
    if isinstance(site, StaticSite):
        pytest.skip("a page of its own has no server")
    return site


@pytest.fixture
def folder(site: Playground | StaticSite) -> Path:
    """Where pictures go: the folder that BYTEMILL_PICTURES names, or target/pictures; or `static` below."""
    pictures = Path(os.environ.get("BYTEMILL_PICTURES", "target/pictures"))
    if isinstance(site, StaticSite):
        pictures /= "static"
    pictures.mkdir(parents=True, exist_ok=True)
    return pictures


Opened = Callable[..., Any]


READY = """async () => {
  const { transport } = await import("./transport.js");
  await transport.decode("o200k_base", new Uint32Array());
}"""


def base_of(site: Playground | StaticSite) -> str:
    """Returns the origin of a page."""
    return site.base if isinstance(site, StaticSite) else site.server.base


@pytest.fixture
def opened(browser: Any, site: Playground | StaticSite) -> Iterator[Opened]:
    """Opens the page; every request to elsewhere, and every error in it, fails the test."""
    expect = playwright().expect
    contexts = []
    wrong: list[str] = []

    def open_page(width: int = 1280, height: int = 800, *, link: str = "", **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=base_of(site))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith((site.url, "data:")) else wrong.append(request.url)
            ),
        )
        page.goto(site.url + link[link.find("#") :] if link else site.url)
        expect(page.locator("#encoding > span")).not_to_be_empty()
        if isinstance(site, StaticSite):
            # What follows within some tenths of a second is not about the start of its engine.
            page.evaluate(READY)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
