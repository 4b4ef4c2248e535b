"""Measures the playground in Chromium against its budgets: start, first paint, keys, pastes, memory, size.

    python -m benches playground
    python -m benches static-page

Needs Chromium, as `make test-browser` does. Keys are typed in the middle of the text; a figure is the 95th
percentile of 30, up to the second frame after painting. A paste is the median of 5, each into a new page. The
floor is the same in a text area that nothing listens to, in turn with the page. The exit code tells whether a
budget is missed.
"""

# ruff: noqa: E501 - scripts of the page

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.request import urlopen

from bytemill import playground
from bytemill.playground.files import static_files
from harness import record
from support.chromium import chromium, playwright
from support.static_site import WholeFiles, static_site

LINE = "    for index in range(10):  # größer\n        print(index * 1234)\n"
KEYS = 30
STARTS = 5
OPENINGS = 5
PASTES = 5


class Text(NamedTuple):
    """A text, and what it may take.

    Attributes:
        name: Its size, for people.
        size: Its size in bytes.
        key: Budget of a key in milliseconds; `None` for documents, which are not typed into.
        paste: Budget of a paste in milliseconds.
    """

    name: str
    size: int
    key: int | None
    paste: int


TEXTS = (
    Text("1 KB", 1 << 10, 32, 50),
    Text("100 KB", 100 << 10, 50, 100),
    Text("190 KB", 190 << 10, 100, 200),
    Text("1 MB", 1 << 20, None, 300),
)


@dataclass(frozen=True)
class Figure:
    """A measurement and its budget.

    Attributes:
        name: What is measured.
        value: The measurement.
        budget: The most that it may be.
        unit: Of both.
        floor: The same of a page that does nothing, where that says what the browser takes.
    """

    name: str
    value: float
    budget: float
    unit: str
    floor: float | None = None

    @property
    def met(self) -> bool:
        """Returns whether it is within its budget."""
        return self.value <= self.budget


# Prepares for a real paste, by keys: Chromium takes many times as long to insert a text of many lines by script.
READY = """async text => {
  await navigator.clipboard.writeText(text);
  const field = document.getElementById("text");
  field.focus();
  field.addEventListener("keydown", event => { if (event.key === "v") window.pasted = performance.now(); });
}"""

# The times from the paste to the counts of its text, and to the frame that shows its first tokens.
PASTED = """async size => {
  const frame = () => new Promise(requestAnimationFrame);
  while (!document.getElementById("figures-a").textContent.includes(size)) await frame();
  const counts = performance.now() - window.pasted;
  while (!document.querySelector("#a .t")) await frame();
  await frame();
  return [counts, performance.now() - window.pasted];
}"""

# A text area alone, as wide as that of the page, which says when the second frame after a key is there.
BARE = """<!doctype html><meta charset="utf-8">
<textarea id="text" spellcheck="false" style="width: 570px; height: 440px; font: 14px/1.75 monospace"></textarea>
<script>
  document.getElementById("text").addEventListener("input", () => {
    const start = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => performance.measure("colour", { start, end: performance.now() })));
  });
</script>"""

# The time from the paste to the frame that has its text, twice, as above.
PASTED_BARE = """async () => {
  while (!document.getElementById("text").value) await new Promise(requestAnimationFrame);
  const taken = performance.now() - window.pasted;
  return [taken, taken];
}"""

KEY = """async () => {
  const field = document.getElementById("text");
  field.focus();
  field.setSelectionRange(field.value.length / 2, field.value.length / 2);
  await new Promise(requestAnimationFrame);
  performance.clearMeasures();
  const start = performance.now();
  document.execCommand("insertText", false, "x");
  while (!performance.getEntriesByName("colour").length) await new Promise(done => setTimeout(done, 1));
  const [found] = performance.getEntriesByName("colour");
  return found.startTime + found.duration - start;
}"""

LONGEST = """() => {
  window.longest = 0;
  new PerformanceObserver(all => { for (const each of all.getEntries()) window.longest = Math.max(window.longest, each.duration); })
    .observe({ type: "longtask" });
}"""

OPENED = """async () => {
  const end = name => performance.getEntriesByName(name).map(each => each.startTime + each.duration)[0];
  while (!end("colour")) await new Promise(done => setTimeout(done, 5));
  return [end("first-contentful-paint"), end("colour")];
}"""


def percentile(values: Sequence[float], share: float) -> float:
    """Returns a percentile of measurements."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def started() -> float:
    """Returns the milliseconds from the command to its address, which answers."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "bytemill", "playground", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        taken = time.perf_counter() - start
        with urlopen(address, timeout=20) as response:  # noqa: S310 - of this machine
            assert response.status == 200
        process.kill()
    return taken * 1000


def of_opening(browser: Any, url: str, most: int) -> Iterator[Figure]:
    """Yields the figures of opening a page with its default text, each time without a cache.

    Args:
        browser: The browser.
        url: The page.
        most: The budget of the tokens, in milliseconds.
    """
    found = []
    for _ in range(OPENINGS):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(url)
        found.append(page.evaluate(OPENED))
        context.close()
    yield Figure("navigation to first paint", median(first for first, _ in found), 200, "ms")
    tokens = median(tokens for _, tokens in found)
    yield Figure("navigation to tokens of the first text", tokens, most, "ms")


class Times(NamedTuple):
    """Times of one page, in milliseconds.

    Attributes:
        counts: From the paste to the frame that has the counts of the text; without the playground, the text.
        screen: From the paste to the frame that has the first tokens.
        key: From a key to the second frame, the 95th percentile; 0 for documents.
        longest: The longest task.
    """

    counts: float
    screen: float
    key: float
    longest: float


def pasted(context: Any, url: str, text: str) -> Any:
    """Opens a page with an empty text area, and pastes a text into it."""
    page = context.new_page()
    page.goto(url)
    if page.locator("#a").count():
        page.locator("#a .t").first.wait_for()
        page.fill("#text", "")
        page.locator("#a .t").first.wait_for(state="detached")
    page.evaluate(LONGEST)
    page.evaluate(READY, text)
    page.keyboard.press("Control+v")
    return page


def keys_in(page: Any) -> float:
    """Types keys, and returns the 95th percentile of their times."""
    page.wait_for_timeout(500)
    return percentile([page.evaluate(KEY) for _ in range(KEYS)], 0.95)


def once(page: Any, script: str, *arguments: object, keys: bool) -> Times:
    """Measures a page into which a text is being pasted."""
    counts, screen = page.evaluate(script, *arguments)
    return Times(counts, screen, keys_in(page) if keys else 0, page.evaluate("window.longest"))


def of_text(browser: Any, url: str, measured: Text) -> Iterator[Figure]:
    """Yields the figures of one text."""
    name, size, key, paste = measured
    text = (LINE * (size // len(LINE.encode()) + 1)).encode()[:size].decode(errors="ignore")
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.route(f"{url}bare", lambda route: route.fulfill(body=BARE, content_type="text/html"))
    found, floors = [], []
    elements = heap = 0
    for _ in range(PASTES):
        page = pasted(context, url, text)
        found.append(once(page, PASTED, f"{len(text.encode()):,} bytes", keys=key is not None))
        elements = page.locator(".t").count()
        heap = heap_of(context, page)
        page.close()
        if key is not None:
            page = pasted(context, f"{url}bare", text)
            floors.append(once(page, PASTED_BARE, keys=True))
            page.close()
    context.close()
    times = Times(*map(median, zip(*found, strict=True)))
    floor = Times(*map(median, zip(*floors, strict=True))) if floors else None
    yield Figure(f"{name}: paste to counts", times.counts, paste, "ms", floor and floor.counts)
    yield Figure(f"{name}: paste to first screen", times.screen, 500, "ms")
    if key is not None:
        yield Figure(f"{name}: key to colours, 95th percentile", times.key, key, "ms", floor and floor.key)
    longest = max(each.longest for each in found)
    yield Figure(f"{name}: longest task", longest, 200, "ms", floor and floor.longest)
    yield Figure(f"{name}: elements of tokens", elements, 6000, "elements")
    if size >= 1 << 20:
        yield Figure(f"{name}: heap", heap / 1e6, 60, "MB")


def heap_of(context: Any, page: Any) -> int:
    """Returns the bytes of memory that a page uses."""
    session = context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")
    return int(heap["usedSize"] + heap["embedderHeapUsedSize"] + heap["backingStorageSize"])


def of_server() -> Iterator[Figure]:
    """Yields the figures of the command and its page."""
    yield Figure(
        "files of the page", sum(len(content) for _, content in static_files().values()) / 1e3, 100, "KB"
    )
    yield Figure("command to address", median(started() for _ in range(STARTS)), 150, "ms")
    with playground.start(open_browser=False) as running, launched() as browser:
        yield from of_opening(browser, running.url, 300)
        for each in TEXTS:
            yield from of_text(browser, running.url, each)


def of_static_page() -> Iterator[Figure]:
    """Yields the figures of the page without a server."""
    with static_site(WholeFiles) as served, launched() as browser:
        # The engine and a vocabulary of 0.9 MB come first.
        yield from of_opening(browser, served.url, 600)
        for each in TEXTS[:2]:
            yield from of_text(browser, served.url, each)


PAGES = {"server": of_server, "static": of_static_page}


@contextmanager
def launched() -> Iterator[Any]:
    """Starts a browser."""
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with playwright().sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=sandbox)
        yield browser
        browser.close()


def version() -> str:
    """Returns the version of the browser."""
    done = subprocess.run([chromium(), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]


def main(arguments: Sequence[str]) -> int:
    """Measures, prints the figures, and writes them where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("page", choices=PAGES)
    parser.add_argument("--output", type=Path, help="the file for the figures")
    options = parser.parse_args(arguments)
    output: Path | None = options.output
    figures = []
    for figure in PAGES[options.page]():
        figures.append(figure)
        judged = "" if figure.met else "  MISSED"
        floor = "" if figure.floor is None else f", an empty page {figure.floor:.1f}"
        line = f"{figure.name:<44}{figure.value:>10.1f} of {figure.budget:g} {figure.unit}{floor}{judged}"
        print(line, flush=True)
    if output is not None:
        versions = {"chromium": version()}
        head = {**record.description(), "versions": versions, "load": round(os.getloadavg()[0], 1)}
        record.write(output, head, figures=[asdict(each) for each in figures])
    return int(not all(each.met for each in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
