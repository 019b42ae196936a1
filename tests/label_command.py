"""``maylink label`` as a program of its own, and as a command whose page answers itself."""

import asyncio
import os
import signal
import subprocess
import sys

import httpx

from label_page import new_key, until


class LabelCommand:
    """The command in a process of its own, and a person who answers."""

    def __init__(self, *words, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "maylink", "label", *map(str, words), "--no-browser"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"BROWSER": "false"},
        )  # fmt: skip
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.communicate()[1]
        self.origin = self.address.rsplit("/", 2)[0]

    def get(self, path, **parameters):
        return httpx.get(self.address + path, params=parameters).json()

    def post(self, path, told):
        return httpx.post(self.address + path, json=told, headers={"origin": self.origin}).json()

    def answer(self, who, kind=1):
        """Answer the question of a person, and return what was told."""
        turn = until(lambda: _there(self.get("question", who=who)))
        told = {"who": who, "i": turn["i"], "j": turn["j"], "kind": kind, "key": new_key()}
        assert "number" in self.post("answer", told)
        return told

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def interrupt(self):
        """Press Ctrl-C, and return the exit code and what was printed."""
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def end(self):
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err

    def close(self):
        if self.process.poll() is None:
            self.kill()


class ServedInside:
    """Stands in for the server: calls the app from inside, as a person would."""

    def __init__(self, act):
        self.act = act

    def __call__(self, server, app, when_ready):
        when_ready()
        self.app, self.port, self.secret = app, server.port, server.secret
        self.act(self)
        server._socket.close()

    def request(self, method, path, **more):
        origin = f"http://127.0.0.1:{self.port}"

        async def send():
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=origin) as client:
                headers = {"origin": origin}
                return await client.request(
                    method, f"/{self.secret}/{path}", headers=headers, **more
                )

        return asyncio.run(send()).json()

    def get(self, path, **parameters):
        return self.request("GET", path, params=parameters)

    def say(self, who, i, j, kind):
        told = {"who": who, "i": i, "j": j, "kind": kind, "key": new_key()}
        assert "number" in self.request("POST", "answer", json=told)

    def sort(self, who, rows, groups):
        told = {"who": who, "rows": rows, "groups": groups, "key": new_key()}
        assert "number" in self.request("POST", "sort", json=told)


def _there(turn):
    return turn if "pair" in turn else None
