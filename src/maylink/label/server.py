"""Serves the page on this computer until somebody ends it."""

from __future__ import annotations

import os
import socket
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from maylink.errors import MaylinkError
from maylink.label.guard import LOOPBACK, new_secret

NEEDED = ("starlette", "uvicorn")
SECONDS_TO_END = 3  # for requests under way when the page ends


class PageError(MaylinkError):
    """The page cannot be served: something is not installed, or the port is taken."""


def check_installed() -> None:
    """Say what to install where the page cannot be served."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise PageError(
            f"the page needs {' and '.join(missing)}; install them with: pip install "
            "'maylink[label]'"
        )


class PageServer:
    """An address on this computer, and what is served there.

    Parameters
    ----------
    port : int, optional
        Where; a free port by default.
    preferred : int, optional
        The port to take if it is free, where none is given.

    Raises
    ------
    PageError
        If the port is taken.
    """

    def __init__(self, port: int | None = None, preferred: int | None = None) -> None:
        self.secret = new_secret()
        self._socket = _bound(port, preferred)
        self.port = int(self._socket.getsockname()[1])
        self._server: Any = None

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{LOOPBACK[0]}:{self.port}/{self.secret}/"

    def serve(self, app: Any, when_ready: Callable[[], None] = lambda: None) -> None:
        """Serve until :meth:`end` or Ctrl-C.

        Parameters
        ----------
        app : ASGI app
            The page.
        when_ready : function
            Called in a thread when the address answers.
        """
        import uvicorn

        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="error",
            access_log=False,  # it would write the secret down
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=SECONDS_TO_END,
        )
        self._server = uvicorn.Server(config)
        threading.Thread(target=self._call_when_ready, args=(when_ready,), daemon=True).start()
        with suppress(KeyboardInterrupt):  # which uvicorn raises again after it has ended
            self._server.run(sockets=[self._socket])
        self._socket.close()

    def end(self) -> None:
        """End after the requests that are under way."""
        if self._server is not None:
            self._server.should_exit = True

    def _call_when_ready(self, when_ready: Callable[[], None]) -> None:
        while not (self._server.started or self._server.should_exit):
            time.sleep(0.02)
        if self._server.started:
            when_ready()


def open_browser(address: str) -> bool:
    """Open the page in a browser; False where there is none."""
    with suppress(Exception):  # a desktop may fail in many ways, and the address is printed
        return webbrowser.open(address)
    return False


def _bound(port: int | None, preferred: int | None) -> socket.socket:
    """Return a socket at the port, or at a free one."""
    for wanted in dict.fromkeys([port] if port else [preferred or 0, 0]):
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":  # a port that was ours a moment ago; elsewhere it means another's
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((LOOPBACK[0], wanted))
        except OSError as error:
            made.close()
            if port:
                raise PageError(
                    f"--port: {port} cannot be had ({error.strerror or error}); name another, or "
                    "leave it out"
                ) from error
            continue
        return made
    raise PageError("there is no free port on this computer")
