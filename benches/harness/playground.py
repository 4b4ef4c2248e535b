"""Measure the playground in Chromium: from a key to coloured tokens, from a paste to counts, and the start.

Needs Chromium, as `make test-browser` does. Keys are typed in the middle of the text; a figure is the 95th
percentile of 30, in milliseconds, up to the second frame after painting.
"""

# ruff: noqa: E501 - scripts of the page

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import Any

from playwright.sync_api import sync_playwright

from bytemill import playground

LINE = "    for index in range(10):  # größer\n        print(index * 1234)\n"
KEYS = 30
SIZES = {"1 KB": 1 << 10, "100 KB": 100 << 10, "1 MB": 1 << 20}

PASTE = """async text => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const field = document.getElementById("text"), start = performance.now();
  field.value = "";
  field.focus();
  const event = new ClipboardEvent("paste", { clipboardData: data, cancelable: true });
  if (field.dispatchEvent(event)) { field.value = text; field.dispatchEvent(new InputEvent("input")); }
  const size = new TextEncoder().encode(text).length.toLocaleString("en-US") + " bytes";
  while (!document.getElementById("figures-a").textContent.includes(size)) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""

KEY = """async () => {
  const field = document.getElementById("text");
  field.focus();
  field.setSelectionRange(field.value.length / 2, field.value.length / 2);
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


def percentile(values: list[float], share: float) -> float:
    """Returns a percentile of measurements."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def started() -> float:
    """Returns the milliseconds from the command to its address."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "bytemill", "playground", "--no-browser"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        taken = time.perf_counter() - start
        process.kill()
    return taken * 1000


def measured(page: Any, text: str) -> str:
    """Returns the figures of one size of text."""
    page.evaluate(LONGEST)
    pasted = page.evaluate(PASTE, text)
    page.wait_for_timeout(300)
    keys = "a document"
    if not page.evaluate("document.getElementById('text').readOnly"):
        keys = f"{percentile([page.evaluate(KEY) for _ in range(KEYS)], 0.95):.0f}"
    elements = page.locator(".t").count()
    return f"{pasted:>8.0f}  {keys:>12}  {page.evaluate('window.longest'):>12.0f}  {elements:>8}"


def main() -> None:
    """Prints the figures."""
    path = os.environ.get("BYTEMILL_CHROMIUM") or shutil.which("chromium")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    print(f"command to address  {percentile([started() for _ in range(5)], 0.5):.0f} ms")
    with playground.start(open_browser=False) as running, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=sandbox)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(running.url)
        page.locator("#a .t").first.wait_for()
        first = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        tokens = page.evaluate("performance.getEntriesByName('colour').map(e => e.startTime + e.duration)[0]")
        print(f"first paint         {first:.0f} ms\nfirst tokens        {tokens:.0f} ms")
        print(f"{'text':<8}{'paste ms':>8}  {'key ms, p95':>12}  {'longest task':>12}  {'elements':>8}")
        for name, size in SIZES.items():
            text = (LINE * (size // len(LINE) + 1))[:size]
            print(f"{name:<8}{measured(page, text)}")
            page.reload()
            page.locator("#a .t").first.wait_for()
        browser.close()


if __name__ == "__main__":
    main()
