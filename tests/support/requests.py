"""Requests to a playground, as its page sends them."""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlencode, urlsplit

from bytemill.playground import Playground
from bytemill.playground.server import CONTENT_TYPE

__all__ = ["answer", "ask", "ask_on", "problem", "raw"]


def ask(
    running: Playground, endpoint: str, body: bytes | None = None, **query: str
) -> tuple[HTTPResponse, bytes]:
    """Sends a request as the page does."""
    connection = HTTPConnection("127.0.0.1", urlsplit(running.url).port or 0, timeout=20)
    try:
        return ask_on(connection, running, endpoint, body, **query)
    finally:
        connection.close()


def ask_on(
    connection: HTTPConnection,
    running: Playground,
    endpoint: str,
    body: bytes | None = None,
    **query: str,
) -> tuple[HTTPResponse, bytes]:
    """Sends a request on a connection that is kept."""
    base = urlsplit(running.url)
    path = f"{base.path}{endpoint}?{urlencode(query)}" if query else f"{base.path}{endpoint}"
    headers = {
        "Origin": f"http://{base.netloc}",
        "Content-Type": CONTENT_TYPE,
        "Sec-Fetch-Site": "same-origin",
    }
    connection.request("GET" if body is None else "POST", path, body, {} if body is None else headers)
    response = connection.getresponse()
    return response, response.read()


def answer(running: Playground, endpoint: str, body: bytes | None = None, **query: str) -> Any:
    response, content = ask(running, endpoint, body, **query)
    assert response.status == 200, content
    return json.loads(content)


def problem(running: Playground, endpoint: str, body: bytes | None = None, **query: str) -> dict[str, Any]:
    response, content = ask(running, endpoint, body, **query)
    assert response.status == 422
    found = json.loads(content)
    assert isinstance(found, dict)
    return found


def raw(running: Playground, request: bytes, *, close: bool = True) -> bytes:
    """Sends bytes and returns all that comes back until the server closes, or the first answer."""
    port = urlsplit(running.url).port or 0
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        if close:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
        return received
