"""The server of the playground: HTTP on the loopback, a thread for each connection, no state but open files.

`gate` decides who may ask, `answers` what comes back. Texts, ids and secrets are never logged.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import socket
import sys
import threading
from contextlib import suppress
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from bytemill.playground.loaded import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "BODY_LIMIT",
    "CONTENT_TYPE",
    "FILE_LIMIT",
    "HEADERS",
    "LOAD",
    "LOOPBACK_NAMES",
    "Gate",
    "Server",
    "Verdict",
]

# On every answer.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

# A browser keeps six for each open page.
MOST_CONNECTIONS = 64
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
IDLE_SECONDS = 30

# Addresses that stand for all of a machine, and those by which it reaches itself then.
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - the default is another one

# For how long the address that opens the page may be used, once.
TICKET_SECONDS = 60


class Server(ThreadingHTTPServer):
    """A playground that listens."""

    daemon_threads = True
    # Another process may take the port of a listening one on Windows if both say so.
    allow_reuse_address = sys.platform != "win32"
    request_queue_size = 32

    def __init__(self, host: str, port: int, hosts: Iterable[str], *, verbose: bool) -> None:
        """Binds a port; arguments as `bytemill.playground.start`."""
        self.secret = secrets.token_urlsafe(16)
        self.gate = Gate(self.secret, frozenset(hosts))
        self.loaded = Loaded()
        self.state: dict[str, Any] = {}
        self.verbose = verbose
        self._ticket: tuple[str, float] | None = None
        self._connections: set[socket.socket] = set()
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._lock = threading.Lock()
        # Also as in an address of the web.
        host = host.removeprefix("[").removesuffix("]")
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), Handler)

    @cached_property
    def files(self) -> dict[str, tuple[str, bytes]]:
        """The files of the page, type and content by name."""
        from bytemill.playground.files import static_files

        return static_files()

    def prepare(self) -> None:
        """Imports what answers need, NumPy above all: 0.1 s for which the address shall not wait."""
        import bytemill.playground.answers  # noqa: F401 - for its effect

        _ = self.files

    def server_bind(self) -> None:
        """Binds the port, and asks no name server for the name of the address."""
        if sys.platform == "win32":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        elif self.allow_reuse_address:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    @property
    def base(self) -> str:
        """The address of the server, without a path; that of this machine if it listens on all addresses."""
        name = EVERYWHERE.get(self.server_name, self.server_name)
        return f"http://{f'[{name}]' if ':' in name else name}:{self.server_port}"

    @property
    def url(self) -> str:
        """The address of the page, with its secret."""
        return f"{self.base}/{self.secret}/"

    def ticket(self) -> str:
        """Returns an address that leads to the page once: arguments of processes can be seen by others."""
        with self._lock:
            self._ticket = (secrets.token_urlsafe(16), monotonic() + TICKET_SECONDS)
            return f"{self.base}/open/{self._ticket[0]}"

    def redeem(self, path: str) -> bool:
        """Returns whether a path is that of the ticket, which is used up by it."""
        with self._lock:
            if self._ticket is None:
                return False
            ticket, until = self._ticket
            found = secrets.compare_digest(path.encode(errors="replace"), f"/open/{ticket}".encode())
            if found or monotonic() > until:
                self._ticket = None
            return found and monotonic() <= until

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's types
        """Serves a connection in a thread of its own, or refuses it if there are too many."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        request.settimeout(1)
        with suppress(OSError):
            request.sendall(BUSY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """Serves a connection, and gives its place back."""
        with self._lock:
            self._connections.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._connections.discard(request)
            self._places.release()

    def server_close(self) -> None:
        """Stops listening, and ends the connections that browsers keep."""
        super().server_close()
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as above
        """Keeps quiet about connections that break; anything else is a mistake here, and is shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server
    timeout = IDLE_SECONDS
    # With keep-alive, an answer in two writes would wait 40 ms for an acknowledgement.
    disable_nagle_algorithm = True
    wbufsize = -1
    _status = HTTPStatus.OK

    def version_string(self) -> str:
        """Returns the name of the server, without versions."""
        return "bytemill"

    def do_any(self) -> None:
        """Answers a request."""
        start = monotonic()
        url = urlsplit(self.path) if self.path.startswith("/") else urlsplit("/")
        headers: dict[str, list[str]] = {}
        for name, value in self.headers.items():
            headers.setdefault(name.lower(), []).append(value.strip())
        address = str(self.connection.getsockname()[0])
        gate = self.server.gate
        if self.command == "GET" and gate.allows_host(headers, address) and self.server.redeem(url.path):
            # Relative, so that a tunnel with another port leads to the same place.
            self._send(HTTPStatus.FOUND, extra={"Location": f"/{self.server.secret}/"})
            return
        verdict = gate.check(self.command, url.path, headers, address)
        if verdict.status != HTTPStatus.OK:
            # What follows on the connection may be a body that nobody has read.
            self.close_connection = True
            self._send(verdict.status)
        else:
            body = self.rfile.read(verdict.size)
            if len(body) < verdict.size:
                self.close_connection = True
                return
            self._answer(verdict.endpoint, url.query, body)
        if self.server.verbose:
            # What is not found may be a text, pasted into the address.
            name = "-" if self._status == HTTPStatus.NOT_FOUND else verdict.endpoint or "-"
            taken = (monotonic() - start) * 1000
            sys.stderr.write(f"{self.command} {name} {self._status:d} {taken:.1f} ms\n")

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_any  # noqa: N815 - http.server's names

    def _answer(self, endpoint: str, query: str, body: bytes) -> None:
        from bytemill.playground.answers import ENDPOINTS, REFUSED, failure

        if self.command == "GET" and endpoint in self.server.files:
            kind, content = self.server.files[endpoint]
            self._send(HTTPStatus.OK, content, kind)
            return
        if (self.command, endpoint) == ("GET", "start"):
            self._send(HTTPStatus.OK, json.dumps(self.server.state).encode(), "application/json")
            return
        function = ENDPOINTS.get((self.command, endpoint))
        if function is None:
            self._send(HTTPStatus.NOT_FOUND)
            return
        try:
            answer = function(self.server.loaded, dict(parse_qsl(query, keep_blank_values=True)), body)
        except REFUSED as error:
            content = json.dumps(failure(error)).encode()
            self._send(HTTPStatus.UNPROCESSABLE_ENTITY, content, "application/json")
            return
        except Exception:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR)
            raise
        self._send(
            HTTPStatus.OK, answer.body, "application/octet-stream" if answer.binary else "application/json"
        )

    def _send(
        self, status: HTTPStatus, content: bytes = b"", kind: str = "", *, extra: dict[str, str] | None = None
    ) -> None:
        self._status = status
        self.send_response(status)
        for name, value in {**HEADERS, **(extra or {})}.items():
            self.send_header(name, value)
        if kind:
            self.send_header("Content-Type", kind)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.wfile.flush()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002 - http.server's signature
        """Answers what is not HTTP, without a word about why."""
        self.close_connection = True
        if not hasattr(self, "command") or self.command is None:
            self.command = ""
        self.request_version = getattr(self, "request_version", "HTTP/1.1")
        self._send(HTTPStatus(code))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
        """Logs nothing: paths hold the secret."""


# Who may ask the playground for what: a pure function of the head of a request.
#
# A page of any other site can make the browser send requests to this machine. Three checks keep it out: the
# `Host` header (a name that was bound to 127.0.0.1 later is still a name), the secret in the path, and for
# everything that carries a body the origin and a content type that no form can send. The address that a
# connection came to may be its host, as no other site can have a page of that address and port.

# What requests with a body must say they hold.
CONTENT_TYPE = "application/octet-stream"

# The largest body in bytes: of a text, and of a tokenizer file.
BODY_LIMIT = 16 << 20
FILE_LIMIT = 64 << 20

# The endpoint that takes tokenizer files.
LOAD = "load"

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})

# A name or an address, and a port, which tunnels change.
HOST = re.compile(r"(\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::\d{1,5})?", re.IGNORECASE)


class Verdict(NamedTuple):
    """The answer to a request: whether it goes on, and to what.

    Attributes:
        status: `OK` if it may go on.
        endpoint: The path below the secret.
        size: Number of bytes of the body.
    """

    status: HTTPStatus
    endpoint: str = ""
    size: int = 0


class Gate:
    """The rules of one server."""

    def __init__(self, secret: str, hosts: frozenset[str] = frozenset()) -> None:
        """Takes the secret, and the names besides those of the loopback under which the server is reached."""
        self._secret = secret.encode()
        self._named = {name.lower() for name in hosts}

    def check(self, method: str, path: str, headers: Mapping[str, list[str]], address: str = "") -> Verdict:
        """Checks the head of a request.

        Args:
            method: The method, in capitals.
            path: The path, without query.
            headers: The values of each header by its name in small letters.
            address: The address of this machine that the connection came to.

        Returns:
            403 for a foreign host or origin, 404 for a wrong secret, 405 for other methods than GET and POST,
            411, 413, 415 and 400 for bodies that are not what is expected; otherwise 200.
        """
        host = self._host(headers, address)
        if host is None:
            return Verdict(HTTPStatus.FORBIDDEN)
        _, _, rest = path.partition("/")
        secret, slash, endpoint = rest.partition("/")
        if not hmac.compare_digest(secret.encode(errors="replace"), self._secret) or not slash:
            return Verdict(HTTPStatus.NOT_FOUND)
        if method == "GET":
            return self._read(endpoint, headers)
        if method == "POST":
            return self._write(endpoint, self._origins(host), headers)
        return Verdict(HTTPStatus.METHOD_NOT_ALLOWED)

    def allows_host(self, headers: Mapping[str, list[str]], address: str = "") -> bool:
        """Returns whether the request names this server as its host; arguments as `check`."""
        return self._host(headers, address) is not None

    def _host(self, headers: Mapping[str, list[str]], address: str) -> re.Match[str] | None:
        """Returns the match of `HOST` if it is a host of this server."""
        values = headers.get("host", [])
        found = HOST.fullmatch(values[0]) if len(values) == 1 else None
        if found is None:
            return None
        name = found[1].lower()
        return found if name in LOOPBACK_NAMES | self._named or is_address(name, address) else None

    def _origins(self, host: re.Match[str]) -> list[str]:
        """Returns the origins of the page under a host; under a name that was given, a proxy may add TLS."""
        schemes = ["http", "https"] if host[1].lower() in self._named else ["http"]
        return [f"{scheme}://{host.string}" for scheme in schemes]

    @staticmethod
    def _read(endpoint: str, headers: Mapping[str, list[str]]) -> Verdict:
        if has_body(headers):
            return Verdict(HTTPStatus.BAD_REQUEST)
        site = headers.get("sec-fetch-site", ["same-origin"])
        # Nothing else is shown by itself: the page may be opened from a notebook, which is another origin.
        opened = endpoint == "" and headers.get("sec-fetch-mode") == ["navigate"]
        if site not in (["same-origin"], ["none"]) and not opened:
            return Verdict(HTTPStatus.FORBIDDEN)
        return Verdict(HTTPStatus.OK, endpoint)

    @staticmethod
    def _write(  # noqa: PLR0911 - one for each reason
        endpoint: str, origins: list[str], headers: Mapping[str, list[str]]
    ) -> Verdict:
        if headers.get("origin") not in [[origin] for origin in origins]:
            return Verdict(HTTPStatus.FORBIDDEN)
        if headers.get("sec-fetch-site", ["same-origin"]) != ["same-origin"]:
            return Verdict(HTTPStatus.FORBIDDEN)
        if headers.get("content-type") != [CONTENT_TYPE]:
            return Verdict(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        if "transfer-encoding" in headers:
            return Verdict(HTTPStatus.BAD_REQUEST)
        lengths = headers.get("content-length", [])
        if not lengths:
            return Verdict(HTTPStatus.LENGTH_REQUIRED)
        if len(lengths) != 1 or not re.fullmatch(r"[0-9]{1,12}", lengths[0]):
            return Verdict(HTTPStatus.BAD_REQUEST)
        size = int(lengths[0])
        if size > (FILE_LIMIT if endpoint == LOAD else BODY_LIMIT):
            return Verdict(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return Verdict(HTTPStatus.OK, endpoint, size)


def is_address(name: str, address: str) -> bool:
    """Returns whether the name of a host is an address, as that of a connection."""
    try:
        # With the name of the interface behind it, `%eth0`, it is in no address of the web.
        own, given = ip_address(address.partition("%")[0]), ip_address(name.strip("[]"))
    except ValueError:
        return False
    # A connection by version 4 to a server that listens by version 6.
    return given == (getattr(own, "ipv4_mapped", None) or own)


def has_body(headers: Mapping[str, list[str]]) -> bool:
    """Returns whether a request announces a body."""
    return "transfer-encoding" in headers or headers.get("content-length", ["0"]) != ["0"]
