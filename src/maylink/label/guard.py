"""Who may ask the page for anything: this computer, with the secret, from the page itself.

* The *secret* is the first part of every address. Without it there is nothing to be found.
* The *host* must be the loopback address, so that no name of somebody else's leads here.
* What changes something must come from the page: the browser's ``Origin`` says so.
* Every response says that the page may load nothing from elsewhere, and be shown in no other.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost")
METHODS = ("GET", "HEAD", "POST")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


def new_secret() -> str:
    """Return a secret that cannot be guessed, as part of an address."""
    return secrets.token_urlsafe(24)


class Guard:
    """Lets requests through to an app, or answers them itself.

    Parameters
    ----------
    app : ASGI app
        Gets paths without the secret.
    secret : str
        The first part of every address.
    port : int
        Where the page is.
    """

    def __init__(self, app: ASGIApp, secret: str, port: int) -> None:
        self.app, self.secret = app, secret.encode()
        self.hosts = tuple(f"{name}:{port}".encode() for name in LOOPBACK)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = _single_values(scope["headers"])
        path: str = scope["path"]
        given, slash, rest = path.removeprefix("/").partition("/")
        if headers.get(b"host") not in self.hosts:
            await _answer(send, 403, "This page is for this computer only.")
        elif not hmac.compare_digest(_bytes(given), self.secret) or not slash:
            await _answer(send, 404, "There is nothing here: the address must be the whole one.")
        elif scope["method"] not in METHODS:
            await _answer(send, 405, "This cannot be done here.")
        elif not self._is_own(scope["method"], rest, headers):
            await _answer(send, 403, "This can only be asked for by the page itself.")
        else:
            await self.app({**scope, "path": f"/{rest}"}, receive, _with_headers(send))

    def _is_own(self, method: str, rest: str, headers: dict[bytes, bytes]) -> bool:
        """Whether a request comes from the page, or opens it."""
        site = headers.get(b"sec-fetch-site")
        if method != "POST":
            opens = not rest and headers.get(b"sec-fetch-mode") == b"navigate"
            return site in (None, b"same-origin", b"none") or opens
        is_json = headers.get(b"content-type", b"").split(b";")[0].strip() == b"application/json"
        origin = headers.get(b"origin", b"")
        same = origin == b"http://" + headers[b"host"]
        return is_json and same and site in (None, b"same-origin")


def _single_values(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return headers by name; one that stands there twice has a value that nothing equals."""
    values: dict[bytes, bytes] = {}
    for name, value in headers:
        values[name.lower()] = value if name.lower() not in values else b"\0"
    return values


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _with_headers(send: Send) -> Send:
    """Return a sender that adds the headers which every response has."""

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            names = {name.lower() for name, _ in given}
            more = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in names]
            message = {**message, "headers": given + more}
        await send(message)

    return sender


async def _answer(send: Send, status: int, text: str) -> None:
    """Send a short text."""
    body = f"{text}\n".encode()
    sender = _with_headers(send)
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
    ]
    await sender({"type": "http.response.start", "status": status, "headers": headers})
    await sender({"type": "http.response.body", "body": body})
