"""Takes pictures of every page of the site: `make docs-pictures`.

Each page at two widths, light and dark, in full length. Says which pages are wider than the window, so that a
phone scrolls sideways, and which ask another server for something; the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import sys
import threading
from pathlib import Path
from typing import Any

from support.chromium import chromium, playwright

WIDTHS = (1280, 420)
SCHEMES: tuple[Any, ...] = ("light", "dark")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def take(site: Path, output: Path, names: list[str]) -> int:
    """Takes the pictures of pages, prints what is wrong with them, and returns how many faults there are."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}/"
    output.mkdir(parents=True, exist_ok=True)
    faults: list[str] = []
    with playwright().sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for width in WIDTHS:
            for scheme in SCHEMES:
                page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
                asked: list[str] = []
                page.on("request", lambda request, asked=asked: asked.append(request.url))
                for name in names:
                    page.goto(origin + name)
                    page.wait_for_load_state("networkidle")
                    inner = page.evaluate("document.documentElement.scrollWidth")
                    if inner > width:
                        faults.append(f"{name or 'index'}: {inner} wide in a window of {width}")
                    file = (name.strip("/").replace("/", "-") or "index") + f"-{width}-{scheme}.png"
                    page.screenshot(path=output / file, full_page=True)
                faults += [f"asks for {url}" for url in asked if not url.startswith((origin, "data:"))]
                page.close()
        browser.close()
    server.shutdown()
    print(*faults, f"{len(names)} pages, {len(faults)} faults, pictures in {output}", sep="\n")  # noqa: T201
    return len(faults)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="the folder of the built site")
    parser.add_argument("output", type=Path, help="the folder for the pictures")
    arguments = parser.parse_args()
    site: Path = arguments.site
    pages = sorted(site.rglob("index.html"))
    names = [page.parent.relative_to(site).as_posix() + "/" for page in pages]
    sys.exit(1 if take(site, arguments.output, ["" if name == "./" else name for name in names]) else 0)


if __name__ == "__main__":
    main()
