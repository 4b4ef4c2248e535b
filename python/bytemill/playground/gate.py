"""Who may ask the playground for what: a pure function of the head of a request.

A page of any other site can make the browser send requests to this machine. Three checks keep it out: the
`Host` header (a name that was bound to 127.0.0.1 later is still a name), the secret in the path, and for
everything that carries a body the origin and a content type that no form can send.
"""

from __future__ import annotations

import hmac
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BODY_LIMIT", "CONTENT_TYPE", "FILE_LIMIT", "LOAD", "LOOPBACK_NAMES", "Gate", "Verdict"]

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
        self._hosts = LOOPBACK_NAMES | {name.lower() for name in hosts}

    def check(self, method: str, path: str, headers: Mapping[str, list[str]]) -> Verdict:
        """Checks the head of a request.

        Args:
            method: The method, in capitals.
            path: The path, without query.
            headers: The values of each header by its name in small letters.

        Returns:
            403 for a foreign host or origin, 404 for a wrong secret, 405 for other methods than GET and POST,
            411, 413, 415 and 400 for bodies that are not what is expected; otherwise 200.
        """
        host = self._host(headers)
        if host is None:
            return Verdict(HTTPStatus.FORBIDDEN)
        _, _, rest = path.partition("/")
        secret, slash, endpoint = rest.partition("/")
        if not hmac.compare_digest(secret.encode(errors="replace"), self._secret) or not slash:
            return Verdict(HTTPStatus.NOT_FOUND)
        if method == "GET":
            return self._read(endpoint, headers)
        if method == "POST":
            return self._write(endpoint, host, headers)
        return Verdict(HTTPStatus.METHOD_NOT_ALLOWED)

    def allows_host(self, headers: Mapping[str, list[str]]) -> bool:
        """Returns whether the request names this server as its host."""
        return self._host(headers) is not None

    def _host(self, headers: Mapping[str, list[str]]) -> str | None:
        values = headers.get("host", [])
        found = HOST.fullmatch(values[0]) if len(values) == 1 else None
        return values[0] if found and found[1].lower() in self._hosts else None

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
        endpoint: str, host: str, headers: Mapping[str, list[str]]
    ) -> Verdict:
        if headers.get("origin") != [f"http://{host}"]:
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


def has_body(headers: Mapping[str, list[str]]) -> bool:
    """Returns whether a request announces a body."""
    return "transfer-encoding" in headers or headers.get("content-length", ["0"]) != ["0"]
