"""The server of the playground, by sockets: answers, limits, and what is not HTTP."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import numpy as np
import pytest

import bytemill
from bytemill import playground
from bytemill.cli.playground import text_of
from bytemill.inspection.traces import MOST_MERGES, MOST_TEXT
from bytemill.playground import Playground
from bytemill.playground.gate import CONTENT_TYPE
from bytemill.playground.server import HEADERS, MOST_CONNECTIONS
from bytemill.playground.wire import unpack
from support import command_line


@pytest.fixture(scope="module")
def running() -> Iterator[Playground]:
    with playground.start("hello", open_browser=False) as started:
        yield started


def ask(
    running: Playground, endpoint: str, body: bytes | None = None, **query: str
) -> tuple[HTTPResponse, bytes]:
    """Sends a request as the page does."""
    base = urlsplit(running.url)
    connection = HTTPConnection("127.0.0.1", base.port or 0, timeout=20)
    path = f"{base.path}{endpoint}?{urlencode(query)}" if query else f"{base.path}{endpoint}"
    headers = {
        "Origin": f"http://{base.netloc}",
        "Content-Type": CONTENT_TYPE,
        "Sec-Fetch-Site": "same-origin",
    }
    try:
        connection.request("GET" if body is None else "POST", path, body, {} if body is None else headers)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


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


# --- The page ---


def test_the_page_and_its_files(running: Playground) -> None:
    response, content = ask(running, "")
    assert response.status == 200
    assert b"<title>bytemill playground</title>" in content
    for name in re.findall(rb'(?:src|href)="([a-z]+\.(?:js|css))"', content):
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


# --- Endpoints ---


def test_start(running: Playground) -> None:
    assert answer(running, "start") == {"text": "hello", "encoding": "o200k_base", "compare": None}


def test_encodings(running: Playground) -> None:
    found = answer(running, "encodings")
    names = [each["name"] for each in found["encodings"]]
    assert names == bytemill.list_encoding_names()
    assert "gpt-4o" in next(each for each in found["encodings"] if each["name"] == "o200k_base")["models"]
    assert "cl100k" in found["patterns"]


def test_details(running: Playground) -> None:
    found = answer(running, "details", e="gpt2")
    assert (found["tokens"], found["special"]) == (50257, {"<|endoftext|>": 50256})
    assert found["sha256"] == bytemill.get_encoding("gpt2").sha256


def test_encode_by_two(running: Playground) -> None:
    text = "def f(x):  return x"
    response, content = ask(running, "encode", text.encode(), e="o200k_base", b="gpt2", seq="9")
    assert response.status == 200
    first, sequence, size = unpack(content)
    second, again, rest = unpack(content[size:])
    assert (sequence, again, size + rest) == (9, 9, len(content))
    assert first.ids.tolist() == [1314, 285, 4061, 3127, 220, 622, 1215]
    assert second.ids.tolist() == bytemill.get_encoding("gpt2").encode(text)


def test_a_special_token_that_is_an_error(running: Playground) -> None:
    found = problem(running, "encode", b"ab<|endoftext|>", e="gpt2", special="error")
    assert (found["place"], found["token"]) == (2, "<|endoftext|>")


def test_text_that_is_not_utf8(running: Playground) -> None:
    assert (
        problem(running, "encode", b"ab\xff", e="gpt2")["error"] == "The file is not UTF-8: byte 2 is 0xff."
    )


def test_unknown_encodings(running: Playground) -> None:
    assert "no encoding 'x'" in problem(running, "encode", b"a", e="x")["error"]
    assert "expected the name" in problem(running, "token", b"{}")["error"]


def test_decode(running: Playground) -> None:
    def ids(*values: int) -> bytes:
        return np.array(values, "<u4").tobytes()

    found = answer(running, "decode", ids(1314, 285), e="o200k_base")
    assert found == {"text": "def f", "exact": True, "unknown": [], "highest": 200018}
    found = answer(running, "decode", ids(1314, 4294967295, 285, 199999), e="o200k_base")
    assert (found["text"], found["unknown"]) == ("def f<|endoftext|>", [4294967295])
    assert answer(running, "decode", ids(0xC3), e="gpt2")["exact"] in (True, False)
    assert "4 bytes each" in problem(running, "decode", b"abc", e="gpt2")["error"]


def test_token(running: Playground) -> None:
    found = answer(running, "token", b'{"id": 622}', e="o200k_base")
    assert (found["bytes"], found["reach"]) == (b" return".hex(), "whole")
    assert b"".join(bytes.fromhex(part["bytes"]) for part in found["parts"]) == b" return"
    assert "no token of gpt2" in problem(running, "token", b'{"id": 50257}', e="gpt2")["error"]
    for body in (b"{}", b"[]", b"x", b'{"id": -1}', b'{"id": "1"}'):
        assert problem(running, "token", body, e="gpt2")["error"].startswith("expected")


def test_explain(running: Playground) -> None:
    found = answer(running, "explain", "hello wörlds".encode(), e="o200k_base")
    assert found["count"] == 2
    assert [piece["ids"] for piece in found["pieces"]] == [[24912], [286, 2877, 123485]]
    joined = found["pieces"][1]["steps"]
    assert all(each["rank"] < other for each in joined for _, other in each["others"])
    long = answer(running, "explain", b"a" * 65, e="gpt2")
    assert (long["pieces"], long["count"]) == ([], 1)


def test_pieces(running: Playground) -> None:
    response, content = ask(running, "pieces", "hello wörlds".encode(), e="o200k_base")
    assert response.status == 200
    assert np.frombuffer(content, "<u4").tolist() == [5, 8]


@pytest.mark.parametrize(
    ("encoding", "wanted", "expected"),
    [
        ("gpt2", "Magikarp", [41538, 42202, 43453]),
        ("cl100k_base", "Magikarp", []),
        ("gpt2", "#43453", [43453]),
        ("gpt2", "#5-7", [5, 6, 7]),
        ("gpt2", "0x204d6167696b617270", []),
        ("gpt2", "<|endoftext|>", [50256]),
    ],
)
def test_search(running: Playground, encoding: str, wanted: str, expected: list[int]) -> None:
    found = answer(running, "search", json.dumps({"query": wanted}).encode(), e=encoding)
    assert [hit["id"] for hit in found["hits"]] == expected
    assert found["count"] == len(expected)


def test_search_lists_the_first_hits(running: Playground) -> None:
    found = answer(running, "search", b'{"query": "a"}', e="gpt2")
    assert len(found["hits"]) == 200 < found["count"]


def test_train_has_limits(running: Playground) -> None:
    request = {"text": "ab" * 9, "merges": 3, "pattern": "cl100k", "tie_break": "first_seen"}
    assert len(answer(running, "train", json.dumps(request).encode())["merges"]) == 3
    for change, message in (
        ({"text": "a" * (MOST_TEXT + 1)}, "at most 50,000 bytes"),
        ({"merges": MOST_MERGES + 1}, "1 to 512 merges"),
        ({"merges": 0}, "1 to 512 merges"),
        ({"pattern": "(a+)+"}, "name of a pattern"),
        ({"tie_break": "coin"}, "smallest_pair"),
        ({"text": 5}, "expected text"),
    ):
        assert message in problem(running, "train", json.dumps(request | change).encode())["error"]


# --- Files that the reader opens ---


def test_open_a_file(running: Playground, tmp_path: Path) -> None:
    encoding = bytemill.train(["low lower lowest " * 20], 262, name="mine")
    encoding.save(tmp_path / "mine.bytemill")
    contents = (tmp_path / "mine.bytemill").read_bytes()
    first = answer(running, "load", contents, name="../../mine.bytemill")
    assert first["name"] == "mine"
    response, content = ask(running, "encode", b"lowest", e="mine")
    assert response.status == 200
    assert unpack(content)[0].ids.tolist() == encoding.encode("lowest")
    assert answer(running, "load", contents, name="mine.bytemill")["name"] == "mine (2)"


@pytest.mark.parametrize("name", ["x.bytemill", "a/b/x.json", "<img src=x>.json", "", "..", "\0", "x" * 500])
def test_a_file_that_holds_nothing(running: Playground, name: str) -> None:
    message = problem(running, "load", b"nothing", name=name)["error"]
    assert message
    assert "/tmp" not in message  # noqa: S108 - the folder must not be told
    assert "bytemill-" not in message


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
        playground.start(encoding="gpt2", open_browser=False)  # type: ignore[arg-type]
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


def test_the_command_ends_quietly_with_ctrl_c() -> None:
    # A process in the background of a shell starts with SIGINT ignored.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from bytemill.cli import main; main()"
    )
    arguments = [sys.executable, "-c", program, "playground", "-", "-e", "gpt2", "--no-browser"]
    with subprocess.Popen(  # noqa: S603 - our own command
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=command_line.environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("grüße".encode())
        process.stdin.close()
        url = process.stdout.readline().decode().strip()
        with urlopen(url + "start", timeout=20) as response:  # noqa: S310 - of this machine
            assert json.loads(response.read()) == {"text": "grüße", "encoding": "gpt2", "compare": None}
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == b""


def test_hosts_of_the_command() -> None:
    called = command_line.bytemill("playground", "--host", "0.0.0.0")  # noqa: S104 - refused
    assert called.code == 2
    assert "--allow-host" in called.err


def test_text_files_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("a\r\nü".encode())
    assert text_of(str(tmp_path / "a.txt")) == "a\r\nü"
    assert text_of("no such file") == "no such file"
    assert text_of("a\0" + "b" * 5000) == "a\0" + "b" * 5000
    assert text_of(None) is None
    (tmp_path / "b.txt").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"b.txt is not UTF-8: byte 0 is 0xff"):
        text_of(str(tmp_path / "b.txt"))


def test_pieces_by_the_name_of_a_pattern(running: Playground) -> None:
    _, content = ask(running, "pieces", b"it's 1234", pattern="cl100k")
    assert np.frombuffer(content, "<u4").tolist() == [2, 2, 1, 3, 1]
    assert "name of a pattern" in problem(running, "pieces", b"a", pattern="(a+)+")["error"]
    assert problem(running, "pieces", b"a", e="x")["error"]
