"""Who gets in, over a real socket: the bytes are sent as they stand, no client tidies them up."""

import json
import socket

import pytest

REFUSED = (400, 403, 404)
ANSWER = json.dumps({"who": "ann", "i": 0, "j": 1, "kind": 1, "key": "0123456789"})


@pytest.fixture
def served(open_page):
    page = open_page()
    page.serve()
    return page


def ask(page, target, *headers, method="GET", body="", host=None):
    """Send a request as it is written; return the status and all that came back."""
    host = f"127.0.0.1:{page.server.port}" if host is None else host
    lines = [f"{method} {target} HTTP/1.1", *([f"Host: {host}"] if host else []), *headers]
    lines += [f"Content-Length: {len(body)}", "Connection: close"]
    with socket.create_connection(("127.0.0.1", page.server.port), timeout=10) as line:
        line.sendall(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        received = b"".join(iter(lambda: line.recv(65536), b""))
    return int(received.split()[1]), received.decode()


def check_refused(page, status, text):
    assert status in REFUSED
    assert page.server.secret not in text
    for inside in ("things.csv", "root:", "class Guard", "<html", "p0"):
        assert inside not in text
    assert page.answers() == []
    assert page.server._server.should_exit is False


def test_the_page_itself_gets_in(served):
    """Without it a request that is badly written here would look refused."""
    secret, port = served.server.secret, served.server.port
    status, text = ask(served, f"/{secret}/setup")
    assert (status, "things.csv" in text) == (200, True)
    status, _ = ask(
        served, f"/{secret}/answer", "Content-Type: application/json",
        f"Origin: http://127.0.0.1:{port}", method="POST", body=ANSWER,
    )  # fmt: skip
    assert status == 200
    assert len(served.answers()) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_without_the_secret_or_with_a_wrong_one(served, method):
    secret, port = served.server.secret, served.server.port
    own = ("Content-Type: application/json", f"Origin: http://127.0.0.1:{port}")
    for path in ("/", "/setup", "/answer", "/finish", "/assets/page.js", "/picture/0",
                 f"/{'x' * len(secret)}/setup", f"/{secret[:-1]}/answer", f"/{secret}x/answer",
                 f"/{secret[::-1]}/finish", f"//{secret}/answer", f"/x/../{secret}/answer",
                 f"/{secret}%2fanswer%2f..", f"*/{secret}/answer"):  # fmt: skip
        check_refused(served, *ask(served, path, *own, method=method, body=ANSWER))


def test_another_host(served):
    secret, port = served.server.secret, served.server.port
    hosts = ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}",
             f"[::1]:{port}", f"127.0.0.1:{port}.evil.example", "")  # fmt: skip
    for host in hosts:
        check_refused(served, *ask(served, f"/{secret}/setup", host=host))
    check_refused(served, *ask(served, f"/{secret}/setup", "Host: evil.example"))  # two of them
    absolute = f"http://evil.example/{secret}/setup"
    check_refused(served, *ask(served, absolute, host="evil.example"))


def test_another_origin(served):
    secret, port = served.server.secret, served.server.port
    json_type = "Content-Type: application/json"
    for headers in (
        (json_type, "Origin: http://evil.example"),
        (json_type, "Origin: null"),
        (json_type,),
        (json_type, f"Origin: http://127.0.0.1:{port + 1}"),
        (json_type, f"Origin: http://127.0.0.1:{port}", "Origin: http://evil.example"),
        (json_type, f"Origin: http://127.0.0.1:{port}", "Sec-Fetch-Site: cross-site"),
        ("Content-Type: text/plain", f"Origin: http://127.0.0.1:{port}"),
    ):
        for what in ("answer", "finish"):
            check_refused(
                served, *ask(served, f"/{secret}/{what}", *headers, method="POST", body=ANSWER)
            )


def test_paths_that_lead_outside(served):
    secret, port = served.server.secret, served.server.port
    outside = (
        "../../../../../../etc/passwd", "..%2f..%2f..%2f..%2f..%2fetc%2fpasswd", "/etc/passwd",
        "%2fetc%2fpasswd", "..%5c..%5cguard.py", "%2e%2e/guard.py", "../guard.py", "..%2fguard.py",
        "page.js/../../guard.py", "page.js%00.css", "file:///etc/passwd",
    )  # fmt: skip
    for path in outside:
        for room in ("", "assets/", "picture/"):
            check_refused(served, *ask(served, f"/{secret}/{room}{path}"))
    for target in ("/etc/passwd", "//etc/passwd", f"http://127.0.0.1:{port}/etc/passwd",
                   "file:///etc/passwd"):  # fmt: skip
        check_refused(served, *ask(served, target))
