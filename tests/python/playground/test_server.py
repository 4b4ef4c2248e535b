"""The server of the playground, by sockets: its files, limits, and what is not HTTP."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

import bytemill
from bytemill import playground
from bytemill.playground import Playground
from bytemill.playground.server import CONTENT_TYPE, HEADERS, MOST_CONNECTIONS
from support.requests import answer, ask, raw

# --- The page ---


@pytest.fixture(scope="module")
def running() -> Iterator[Playground]:
    with playground.start("hello", open_browser=False) as started:
        yield started


def test_the_page_and_its_files(running: Playground) -> None:
    response, content = ask(running, "")
    assert response.status == 200
    assert b"<title>bytemill playground</title>" in content
    for name in re.findall(rb'(?:src|href)="?([a-z]+\.(?:js|css))', content):
        response, content = ask(running, name.decode())
        assert (response.status, bool(content)) == (200, True)
        assert "charset=utf-8" in (response.getheader("Content-Type") or "")


@pytest.mark.parametrize(
    "name", ["nothing.js", "../server.py", "%2e%2e/server.py", "static/main.js", "main.js/"]
)
def test_only_listed_files(running: Playground, name: str) -> None:
    response, content = ask(running, name)
    assert (response.status, content) == (404, b"")


@pytest.mark.parametrize("endpoint", ["", "main.js", "encodings", "nothing"])
def test_headers_of_every_answer(running: Playground, endpoint: str) -> None:
    response, _ = ask(running, endpoint)
    for name, value in HEADERS.items():
        assert response.getheader(name) == value
    assert response.getheader("Server") == "bytemill"
    names = {name.lower() for name, _ in response.getheaders()}
    assert "set-cookie" not in names
    assert not any(name.startswith("access-control-") for name in names)


def test_where_it_listens(running: Playground) -> None:
    assert running.server.server_address[0] == "127.0.0.1"
    assert running.url.startswith("http://127.0.0.1:")
    assert len(running.server.secret) >= 22
    assert running.server.secret not in repr(running)


def has_version_6() -> bool:
    """Returns whether this machine has the loopback address of version 6."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


WITH_6 = pytest.mark.skipif(not has_version_6(), reason="needs an address of version 6")


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "0.0.0.0",  # noqa: S104 - for a moment, and with a secret
        "",
        pytest.param("::1", marks=WITH_6),
        pytest.param("[::1]", marks=WITH_6),
        pytest.param("::", marks=WITH_6),
    ],
)
def test_the_address_of_the_page_leads_to_it(host: str) -> None:
    with playground.start("hello", host=host, allow_hosts=["box"], open_browser=False) as started:
        for address in (started.url, started.ticket()):
            with urlopen(address, timeout=20) as response:  # noqa: S310 - of this machine
                assert b"<title>bytemill playground</title>" in response.read()


@pytest.mark.skipif(sys.platform != "linux", reason="there alone all of 127.0.0.0/8 are addresses")
def test_a_server_of_all_addresses_is_reached_by_each() -> None:
    with playground.start("hello", host="0.0.0.0", open_browser=False) as started:  # noqa: S104 - as above
        base = urlsplit(started.url)
        for host, expected in (("127.0.0.2", 200), ("127.0.0.3", 403), ("evil.test", 403)):
            connection = HTTPConnection("127.0.0.2", base.port or 0, timeout=20)
            connection.request("GET", base.path, headers={"Host": f"{host}:{base.port}"})
            assert connection.getresponse().status == expected
            connection.close()


def test_no_name_server_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise AssertionError("a name server was asked")

    monkeypatch.setattr(socket, "getfqdn", fail)
    monkeypatch.setattr(socket, "gethostbyaddr", fail)
    with playground.start("", open_browser=False) as started:
        assert answer(started, "start")["text"] == ""


def test_the_ticket_works_once(running: Playground) -> None:
    port = urlsplit(running.url).port or 0
    path = urlsplit(running.ticket()).path
    assert running.server.secret not in path
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    for expected in (302, 404):
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        assert response.status == expected
        if expected == 302:
            assert response.getheader("Location") == f"/{running.server.secret}/"
    connection.close()


def test_a_ticket_is_not_for_other_hosts(running: Playground) -> None:
    path = urlsplit(running.ticket()).path
    received = raw(running, f"GET {path} HTTP/1.1\r\nHost: evil.test\r\n\r\n".encode())
    assert received.startswith(b"HTTP/1.1 403")
    assert running.server.secret.encode() not in received


def test_the_browser_is_opened_with_a_ticket(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with playground.start() as started:
        [address] = opened
        assert address.startswith(started.server.base + "/open/")
        assert started.server.secret not in address
        assert started.server.base in started._repr_html_()


# --- Limits, and what is not HTTP ---


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"",
        b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\nA: " + b"b" * 70_000 + b"\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET http://evil.test/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    ],
)
def test_what_is_not_a_request(
    running: Playground, request_bytes: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    received = raw(running, request_bytes)
    assert b"Traceback" not in received
    assert b"HTTP/1.1 200" not in received
    assert capfd.readouterr().err == ""
    assert answer(running, "start")["encoding"] == "o200k_base"


def test_too_large_a_body_is_not_read(running: Playground) -> None:
    path, host = urlsplit(running.url).path, urlsplit(running.url).netloc
    head = (
        f"POST {path}encode?e=gpt2 HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
        f"Content-Type: {CONTENT_TYPE}\r\nContent-Length: {1 << 30}\r\n\r\n"
    )
    received = raw(running, head.encode(), close=False)
    assert received.startswith(b"HTTP/1.1 413")
    assert b"Connection: close" in received


def test_half_a_body(running: Playground) -> None:
    path, host = urlsplit(running.url).path, urlsplit(running.url).netloc
    head = (
        f"POST {path}encode?e=gpt2 HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
        f"Content-Type: {CONTENT_TYPE}\r\nContent-Length: 10\r\n\r\nhalf"
    )
    assert raw(running, head.encode()) == b""


def test_too_many_connections() -> None:
    with playground.start("", open_browser=False) as started:
        port = urlsplit(started.url).port or 0
        held = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(MOST_CONNECTIONS)]
        assert raw(started, b"").startswith(b"HTTP/1.1 503")
        for connection in held:
            connection.close()
        while (response := ask(started, "start")[0]).status == 503:
            pass
        assert response.status == 200


def test_stopping_ends_connections_that_are_kept() -> None:
    started = playground.start("", open_browser=False)
    base = urlsplit(started.url)
    connection = HTTPConnection("127.0.0.1", base.port or 0, timeout=20)
    connection.request("GET", f"{base.path}start")
    assert connection.getresponse().read()
    started.stop()
    assert connection.sock is not None
    assert connection.sock.recv(1) == b""
    connection.close()


def test_nothing_of_a_request_is_logged(capfd: pytest.CaptureFixture[str]) -> None:
    with playground.start("", open_browser=False, verbose=True) as started:
        ask(started, "encode", b"a private text", e="gpt2")
        ask(started, "a-private-path")
    lines = capfd.readouterr().err
    assert re.fullmatch(r"POST encode 200 [\d.]+ ms\nGET - 404 [\d.]+ ms\n", lines)
    assert started.server.secret not in lines


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="encoding"):
        playground.start(encoding=b"gpt2", open_browser=False)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="text"):
        playground.start(b"a", open_browser=False)  # type: ignore[arg-type]


def test_surrogates_and_two_encodings() -> None:
    gpt2 = bytemill.get_encoding("gpt2")
    custom = gpt2.with_special_tokens({"<|x|>": 60000}, name="mine")
    with playground.start(
        "a\ud83d\ude00\ud83d", encoding=custom, compare_with=gpt2, open_browser=False
    ) as started:
        found = answer(started, "start")
    assert found == {"text": "a\U0001f600\ufffd", "encoding": "mine", "compare": "gpt2"}
