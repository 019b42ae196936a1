"""Who gets in: the whole of the outside of the page."""

import pytest

from label_page import ORIGIN, PORT, SECRET
from maylink.label.guard import HEADERS, new_secret

JSON = {"content-type": "application/json", "origin": ORIGIN}


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/setup",
        "/wrong/",
        "/wrong/setup",
        f"/{SECRET}x/setup",
        f"/{SECRET[:-1]}/setup",
        f"/{SECRET}",
        f"//{SECRET}/setup",
        "/%2e%2e/setup",
        "/é/",
        "/assets/page.js",
        f"/x/../{SECRET}x/",
        f"/{SECRET.upper()}/setup",
    ],
)
def test_without_the_secret_there_is_nothing(page, path):
    response = page.request("GET", path)
    assert response.status_code == 404
    assert SECRET not in response.text
    assert "things.csv" not in response.text


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        f"127.0.0.1:{PORT + 1}",
        "localhost",
        f"127.0.0.1.evil.example:{PORT}",
        f"[::1]:{PORT}",
        f"0.0.0.0:{PORT}",
        "",
    ],
)
def test_another_host_is_refused_even_with_the_secret(page, host):
    assert page.request("GET", f"/{SECRET}/setup", {"host": host}).status_code == 403


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}"])
def test_this_computer_gets_in(page, host):
    assert page.request("GET", f"/{SECRET}/setup", {"host": host}).status_code == 200
    told = {"host": host, "origin": f"http://{host}", "content-type": "application/json"}
    response = page.request("POST", f"/{SECRET}/join", told, content='{"name": "ann"}')
    assert response.json() == {"name": "ann"}


def test_two_hosts_are_none(page):
    async def app_call():
        sent = []

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/{SECRET}/setup",
            "query_string": b"",
            "headers": [(b"host", b"evil.example"), (b"host", f"127.0.0.1:{PORT}".encode())],
        }
        await page.app(scope, None, send)
        return sent

    import asyncio

    assert asyncio.run(app_call())[0]["status"] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"http://localhost:{PORT}"},  # another origin than the host asked
        {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
        {"origin": ORIGIN, "sec-fetch-site": "same-site"},
        {"origin": ORIGIN, "sec-fetch-site": "none"},
        {"origin": ORIGIN, "content-type": "text/plain"},  # what a form of another page can send
        {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"},
        {"origin": ""},
    ],
)
def test_nothing_is_changed_by_others(page, headers):
    told = {"content-type": "application/json"} | headers
    body = '{"who": "ann", "i": 0, "j": 1, "kind": 1, "key": "0123456789"}'
    assert page.request("POST", f"/{SECRET}/answer", told, content=body).status_code == 403
    assert page.request("POST", f"/{SECRET}/finish", told, content=body).status_code == 403
    assert page.answers() == []
    assert page.ended == []


def test_a_change_without_an_origin_is_refused(page):
    told = {"content-type": "application/json"}
    assert page.request("POST", f"/{SECRET}/join", told, content="{}").status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_pages_read_nothing_but_may_lead_here(page, site):
    headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
    for path in ("setup", "picture/0", "", "assets/page.js"):
        assert page.request("GET", f"/{SECRET}/{path}", headers).status_code == 403
    opened = {"sec-fetch-site": site, "sec-fetch-mode": "navigate"}
    assert page.request("GET", f"/{SECRET}/", opened).status_code == 200
    assert page.request("GET", f"/{SECRET}/setup", opened).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(page, method):
    response = page.request(method, f"/{SECRET}/answer", JSON)
    assert response.status_code == 405
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "path",
    [f"/{SECRET}/", f"/{SECRET}/setup", "/wrong", f"/{SECRET}/gone", f"/{SECRET}/assets/page.js"],
)
def test_every_response_has_the_headers(page, path):
    headers = page.request("GET", path).headers
    for name, value in HEADERS.items():
        assert headers[name] == value
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy


def test_secrets_are_long_and_never_the_same():
    some = {new_secret() for _ in range(100)}
    assert len(some) == 100
    assert min(map(len, some)) >= 32
