"""The playground: a page on this machine that shows tokens while you type.

    >>> from bytemill import playground
    >>> running = playground.start(open_browser=False)
    >>> running.url  # doctest: +SKIP
    'http://127.0.0.1:52341/vZ8m3pGx0lqkq0yWjv7gJw/'
    >>> running.stop()

The page needs no network: the server listens on the loopback interface only, and refuses requests without the
secret in the address.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bytemill._arguments import check_type
from bytemill._named import encoding_of
from bytemill.playground.server import Server
from bytemill.splitting import repair_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from bytemill.core import Encoding

__all__ = ["Playground", "start"]


def __dir__() -> list[str]:
    """Returns the public names."""
    return __all__


DEFAULT_TEXT = """\
def greet(name: str) -> str:
    return f"Hello, {name}!"

Type here: every colour is a token. Try emoji 👩‍👩‍👧‍👦,
other scripts (你好, नमस्ते, مرحبا) or numbers: 1234567.
"""


@dataclass(frozen=True)
class Playground:
    """A running playground; a context manager that stops it.

    Attributes:
        server: The server.
    """

    server: Server

    @property
    def url(self) -> str:
        """The address of the page. It holds the secret, so anyone who has it can use the page."""
        return self.server.url

    def ticket(self) -> str:
        """Returns an address that leads to the page once, within a minute, and says no secret."""
        return self.server.ticket()

    def stop(self) -> None:
        """Ends the server; the page says so and keeps its text."""
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Playground {self.server.base}>"

    def _repr_html_(self) -> str:
        """Renders a link for a notebook."""
        from html import escape

        link = f'<a href="{escape(self.url)}" target="_blank" rel="noreferrer">{escape(self.server.base)}</a>'
        return f"<p>Playground: {link}</p>"


def start(  # noqa: PLR0913 - all but the text have names
    text: str | None = None,
    *,
    encoding: Encoding | str | None = None,
    compare_with: Encoding | str | None = None,
    port: int = 0,
    host: str = "127.0.0.1",
    allow_hosts: Iterable[str] = (),
    open_browser: bool = True,
    verbose: bool = False,
) -> Playground:
    """Starts a playground in a thread of its own and returns at once.

    Args:
        text: The text at the start; if not given, a short example.
        encoding: The encoding at the start, or the name of an encoding or model; "o200k_base" if not given.
        compare_with: A second encoding to show side by side, or its name.
        port: The port; 0 for one that is free.
        host: The address to listen on; "0.0.0.0" for all addresses. Any but a loopback address is open to the
            network.
        allow_hosts: Names under which browsers may reach the server, in addition to "localhost" and the
            addresses that it listens on, as behind a proxy, which may add TLS.
        open_browser: Whether to open the page in the browser of the system.
        verbose: Whether to log the name, status and time of each request to stderr.

    Returns:
        The running playground.

    Raises:
        TypeError, ValueError: `text` is not a string, or an encoding is not one.
        OSError: The port cannot be bound.
    """
    running = listening(
        text,
        encoding=encoding,
        compare_with=compare_with,
        port=port,
        host=host,
        allow_hosts=allow_hosts,
        verbose=verbose,
    )
    serve(running, open_browser=open_browser)
    return running


def listening(  # noqa: PLR0913 - as `start`
    text: str | None,
    *,
    encoding: Encoding | str | None,
    compare_with: Encoding | str | None,
    port: int,
    host: str,
    allow_hosts: Iterable[str],
    verbose: bool,
) -> Playground:
    """Returns a playground whose port is bound: requests wait there until `serve`. Rest as `start`."""
    shown = None if encoding is None else encoding_of(encoding)
    beside = None if compare_with is None else encoding_of(compare_with, "compare_with")
    if text is not None:
        check_type("text", text, str)
    server = Server(host, port, allow_hosts, verbose=verbose)
    server.state = {
        "text": DEFAULT_TEXT if text is None else repair_surrogates(text),
        "encoding": "o200k_base" if shown is None else server.loaded.add(shown),
        "compare": None if beside is None else server.loaded.add(beside),
    }
    return Playground(server)


def serve(running: Playground, *, open_browser: bool, state: str = "") -> None:
    """Answers requests, in threads.

    Args:
        running: The playground, which listens.
        open_browser: Whether to open the page in the browser of the system.
        state: What the page shows, as in a link that one has copied.
    """
    server = running.server
    for work in (server.serve_forever, server.prepare):
        threading.Thread(target=work, name="bytemill-playground", daemon=True).start()
    if open_browser:
        # Here: the address of the command need not wait for it.
        import webbrowser

        webbrowser.open(running.ticket() + state)
