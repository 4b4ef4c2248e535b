"""The playground as a static page, served below a path as a site of documentation serves it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from support.examples import ROOT

__all__ = ["FOLDER", "StaticSite", "WholeFiles", "is_static", "static_site"]

# Where `make playground` builds it.
FOLDER = Path(os.environ.get("BYTEMILL_STATIC_PLAYGROUND", ROOT / "target" / "playground"))
PREFIX = "/some/where/"


@dataclass(frozen=True)
class StaticSite:
    """A page that is served.

    Attributes:
        base: Its origin.
        url: Its address.
    """

    base: str
    url: str


def is_static(page: Any) -> bool:
    """Returns whether a page of a browser is this one."""
    return PREFIX in page.url


class Files(SimpleHTTPRequestHandler):
    """Serves the folder below `PREFIX`; the page starts without a text, as those of the tests do."""

    keeps_text = False
    # Connections are kept, as by any server that pages come from.
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if not self.path.startswith(PREFIX):
            self.send_error(404)
            return
        self.path = self.path.removeprefix(PREFIX[:-1])
        if self.path != "/data.json" or self.keeps_text:
            super().do_GET()
            return
        data = json.loads((FOLDER / "data.json").read_text("utf-8"))
        data["state"]["text"] = ""
        contents = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(contents)))
        self.end_headers()
        self.wfile.write(contents)

    def log_message(self, *_args: object) -> None:
        """Says nothing."""


class WholeFiles(Files):
    """Serves the folder as it is."""

    keeps_text = True


@contextmanager
def static_site(files: type[Files] = Files) -> Iterator[StaticSite]:
    """Serves the page; skips the test where it is not built."""
    if not (FOLDER / "data.json").exists():
        pytest.skip("no static page: make playground")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(files, directory=str(FOLDER)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    try:
        yield StaticSite(base, f"{base}{PREFIX}")
    finally:
        server.shutdown()
        server.server_close()
