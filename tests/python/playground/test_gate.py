"""Who may ask the playground for what."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest

from bytemill.playground.server import BODY_LIMIT, CONTENT_TYPE, FILE_LIMIT, Gate

SECRET = "a-secret"  # noqa: S105 - of this test
GATE = Gate(SECRET, frozenset({"hub.example"}))

OK, FORBIDDEN, MISSING = HTTPStatus.OK, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND


def status(
    method: str = "POST",
    path: str = f"/{SECRET}/encode",
    *,
    address: str = "127.0.0.1",
    **headers: str | list[str] | None,
) -> HTTPStatus:
    """Returns the verdict about a request that is right but for some headers."""
    usual: dict[str, str | list[str] | None] = {"host": "127.0.0.1:8000"}
    if method == "POST":
        usual |= {"origin": "http://127.0.0.1:8000", "content-type": CONTENT_TYPE, "content-length": "3"}
    given = usual | {name.replace("_", "-"): value for name, value in headers.items()}
    listed = {
        name: [value] if isinstance(value, str) else value
        for name, value in given.items()
        if value is not None
    }
    return GATE.check(method, path, listed, address).status


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:8000", OK),
        ("127.0.0.1", OK),
        ("localhost:1", OK),
        ("LOCALHOST", OK),
        ("[::1]:8000", OK),
        ("hub.example", OK),
        ("evil.test:8000", FORBIDDEN),
        ("127.0.0.1.evil.test", FORBIDDEN),
        ("127.0.0.2", FORBIDDEN),
        ("10.0.0.1", FORBIDDEN),
        ("localhost:8000@evil.test", FORBIDDEN),
        ("localhost:123456", FORBIDDEN),
        ("", FORBIDDEN),
        (["127.0.0.1", "evil.test"], FORBIDDEN),
        (None, FORBIDDEN),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_hosts(method: str, host: str | list[str] | None, expected: HTTPStatus) -> None:
    origin = f"http://{host}" if method == "POST" else None
    assert status(method, host=host, origin=origin) == expected


@pytest.mark.parametrize(
    ("address", "host", "expected"),
    [
        ("10.0.0.1", "10.0.0.1:8000", OK),
        ("10.0.0.1", "127.0.0.1:8000", OK),
        ("10.0.0.1", "10.0.0.2:8000", FORBIDDEN),
        ("10.0.0.1", "evil.test", FORBIDDEN),
        ("10.0.0.1", "10.0.0.1.evil.test", FORBIDDEN),
        ("10.0.0.1", "10.0.0.01", FORBIDDEN),
        ("10.0.0.1", "[::ffff:10.0.0.1]", FORBIDDEN),
        ("::ffff:10.0.0.1", "10.0.0.1:8000", OK),
        ("::ffff:10.0.0.1", "10.0.0.2:8000", FORBIDDEN),
        ("2001:db8::1", "[2001:DB8:0::1]:8000", OK),
        ("2001:db8::1", "[2001:db8::2]", FORBIDDEN),
        ("fe80::1%eth0", "[fe80::1]", OK),
        ("0.0.0.0", "evil.test", FORBIDDEN),  # noqa: S104 - of no connection
        ("", "10.0.0.1", FORBIDDEN),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_address_of_the_connection_is_a_host(
    method: str, address: str, host: str, expected: HTTPStatus
) -> None:
    origin = f"http://{host}" if method == "POST" else None
    assert status(method, address=address, host=host, origin=origin) == expected
    if method == "POST":
        assert status(method, address=address, host=host, origin=f"https://{host}") == FORBIDDEN


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("https://hub.example", OK),
        ("http://hub.example", OK),
        ("https://hub.example:8443", FORBIDDEN),
        ("https://localhost", FORBIDDEN),
        ("https://evil.test", FORBIDDEN),
        ("ftp://hub.example", FORBIDDEN),
        (["https://hub.example", "http://hub.example"], FORBIDDEN),
        (None, FORBIDDEN),
    ],
)
def test_a_proxy_with_tls(origin: str | list[str] | None, expected: HTTPStatus) -> None:
    assert status(host="hub.example", origin=origin) == expected
    assert status(host="hub.example", origin=origin, sec_fetch_site="cross-site") == FORBIDDEN


@pytest.mark.parametrize(
    "path",
    ["/", "", "/a-secret", "/a-secre/", "/a-secrets/", "/A-SECRET/", "//a-secret/", "/../a-secret/", "/é/"],
)
def test_paths_without_the_secret(path: str) -> None:
    assert status("GET", path) == MISSING


def test_a_foreign_host_learns_nothing_about_the_secret() -> None:
    assert status("GET", f"/{SECRET}/", host="evil.test") == status("GET", "/wrong/", host="evil.test")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, OK),
        ({"sec_fetch_site": "same-origin"}, OK),
        ({"sec_fetch_site": "same-site"}, FORBIDDEN),
        ({"sec_fetch_site": "cross-site"}, FORBIDDEN),
        ({"sec_fetch_site": "none"}, FORBIDDEN),
        ({"origin": None}, FORBIDDEN),
        ({"origin": "null"}, FORBIDDEN),
        ({"origin": "http://127.0.0.1:9000"}, FORBIDDEN),
        ({"origin": "https://127.0.0.1:8000"}, FORBIDDEN),
        ({"origin": "http://localhost:8000"}, FORBIDDEN),
        ({"origin": "http://evil.test"}, FORBIDDEN),
        ({"content_type": None}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        ({"content_type": "text/plain"}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        ({"content_type": "application/x-www-form-urlencoded"}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
        ({"content_length": None}, HTTPStatus.LENGTH_REQUIRED),
        ({"content_length": "-1"}, HTTPStatus.BAD_REQUEST),
        ({"content_length": "1e3"}, HTTPStatus.BAD_REQUEST),
        ({"content_length": "٣"}, HTTPStatus.BAD_REQUEST),
        ({"content_length": ["3", "3"]}, HTTPStatus.BAD_REQUEST),
        ({"content_length": str(BODY_LIMIT)}, OK),
        ({"content_length": str(BODY_LIMIT + 1)}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        ({"transfer_encoding": "chunked"}, HTTPStatus.BAD_REQUEST),
    ],
)
def test_requests_with_a_body(headers: dict[str, Any], expected: HTTPStatus) -> None:
    assert status(**headers) == expected


def test_files_may_be_larger_than_texts() -> None:
    assert status(path=f"/{SECRET}/load", content_length=str(FILE_LIMIT)) == OK
    too_large = status(path=f"/{SECRET}/load", content_length=str(FILE_LIMIT + 1))
    assert too_large == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


@pytest.mark.parametrize(
    ("endpoint", "headers", "expected"),
    [
        ("main.js", {}, OK),
        ("main.js", {"sec_fetch_site": "same-origin", "sec_fetch_mode": "cors"}, OK),
        ("main.js", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}, FORBIDDEN),
        ("main.js", {"sec_fetch_site": "same-site", "sec_fetch_mode": "navigate"}, FORBIDDEN),
        ("", {"sec_fetch_site": "none", "sec_fetch_mode": "navigate"}, OK),
        ("", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}, OK),
        ("", {"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors"}, FORBIDDEN),
        ("", {"sec_fetch_site": "same-site", "sec_fetch_mode": "no-cors"}, FORBIDDEN),
        ("", {"content_length": "5"}, HTTPStatus.BAD_REQUEST),
        ("", {"transfer_encoding": "chunked"}, HTTPStatus.BAD_REQUEST),
    ],
)
def test_requests_that_read(endpoint: str, headers: dict[str, str], expected: HTTPStatus) -> None:
    assert status("GET", f"/{SECRET}/{endpoint}", **headers) == expected


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "HEAD", "TRACE"])
def test_other_methods(method: str) -> None:
    assert status(method) == HTTPStatus.METHOD_NOT_ALLOWED
