import socket
import threading

import httpx
import pytest

from maylink.label import server as module
from maylink.label.server import PageError, PageServer, check_installed, open_browser


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"here"})


def test_it_serves_on_this_computer_alone_until_it_is_ended():
    server, ready = PageServer(), threading.Event()
    assert server.address == f"http://127.0.0.1:{server.port}/{server.secret}/"
    thread = threading.Thread(target=server.serve, args=(app, ready.set))
    thread.start()
    try:
        assert ready.wait(10)
        assert httpx.get(server.address).text == "here"
        assert server._socket.getsockname()[0] == "127.0.0.1"
    finally:
        server.end()
        thread.join(10)
    assert not thread.is_alive()
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.address)


def test_a_port_that_is_taken_is_told():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PageError, match=f"--port: {port} cannot be had"):
            PageServer(port)
        elsewhere = PageServer(preferred=port)  # one that would be nice is not needed
        assert elsewhere.port != port
        elsewhere._socket.close()


def test_the_port_of_before_is_taken_where_it_is_free():
    first = PageServer()
    first._socket.close()
    second = PageServer(preferred=first.port)
    assert second.port == first.port
    assert second.secret != first.secret
    second._socket.close()


def test_what_is_not_installed_is_told_with_the_command(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "uvicorn" else name)
    with pytest.raises(PageError, match=r"needs uvicorn; .* pip install 'maylink\[label\]'"):
        check_installed()


def test_a_desktop_without_a_browser_is_no_failure(monkeypatch):
    def fails(address):
        raise RuntimeError

    monkeypatch.setattr(module.webbrowser, "open", fails)
    assert open_browser("http://127.0.0.1:1/") is False


def test_the_page_is_not_loaded_otherwise():
    import subprocess
    import sys

    code = (
        "import sys, maylink, maylink.cli.app; import maylink.label.gathering; "
        "print({'starlette', 'uvicorn'} & set(sys.modules))"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert finished.stdout == "set()\n"
