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

__all__ = ["browser", "folder", "opened", "running"]


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
    expect = playwright().expect
    contexts = []
    wrong: list[str] = []

    def open_page(width: int = 1280, height: int = 800, *, link: str = "", **options: Any) -> Any:
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
        page.goto(running.url + link[link.find("#") :] if link else running.url)
        expect(page.locator("#encoding > span")).not_to_be_empty()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
