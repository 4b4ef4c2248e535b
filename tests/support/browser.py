"""Chromium, driven by playwright, and a playground for it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bytemill import playground
from bytemill.playground import Playground

__all__ = ["browser", "folder", "opened", "running"]


def chromium() -> str:
    """Returns the path of Chromium; without one the tests are skipped, and fail where `CI` is set."""
    named = os.environ.get("BYTEMILL_CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if found is None:
        message = "no Chromium: apt-get install chromium, or name one by BYTEMILL_CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless browser that finds a foreign name at this machine."""
    arguments = ["--host-resolver-rules=MAP evil.test 127.0.0.1"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs `pip install --group browser`")
    path = chromium()
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=path, args=arguments)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def folder() -> Path:
    """Where pictures go: the folder that BYTEMILL_PICTURES names, or target/pictures."""
    pictures = Path(os.environ.get("BYTEMILL_PICTURES", "target/pictures"))
    pictures.mkdir(parents=True, exist_ok=True)
    return pictures


@pytest.fixture
def running() -> Iterator[Playground]:
    """A playground without a text."""
    with playground.start("", open_browser=False) as started:
        yield started


Opened = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, running: Playground) -> Iterator[Opened]:
    """Opens the page; every request to elsewhere, and every error in it, fails the test."""
    expect = pytest.importorskip("playwright.sync_api").expect
    contexts = []
    wrong: list[str] = []

    def open_page(width: int = 1280, height: int = 800, **options: str) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=running.server.base)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith((running.url, "data:")) else wrong.append(request.url)
            ),
        )
        page.goto(running.url)
        expect(page.locator("#encoding")).to_contain_text("_base")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
