"""A page to label on, for tests: an interview that knows the truth, and a client of the app."""

import asyncio
import threading
import time
from itertools import combinations

import httpx
import numpy as np
import pandas as pd

from maylink.label.answers_as_links import for_interview
from maylink.label.app import make_app
from maylink.label.cells import Cells
from maylink.label.gathering import Gathering
from maylink.label.items import Items
from maylink.label.scatter import Scatter
from maylink.label.server import PageServer
from maylink.label.store import AnswerStore
from maylink.label.telling import Teller
from maylink.label.thinking import Thinking
from maylink.questions import Answer, Question, Standing

SECRET, PORT = "s3cret", 8123
ORIGIN = f"http://127.0.0.1:{PORT}"
N = 12
Y = np.arange(N) % 3


class ScriptedInterview:
    """Asks about all pairs in their order that nobody has answered."""

    def __init__(self, n=N):
        self.n, self.answers, self.told = n, [], []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.failure = None
        self.again = ()

    def questions(self, n=1, source=0):
        known = {(a.i, a.j) for a in self.answers if a.kind or a.source == source}
        pairs = [(i, j, True) for i, j in self.again]
        pairs += [(i, j, False) for i, j in combinations(range(self.n), 2) if (i, j) not in known]
        return [Question(i, j, 0.5, 1.0, "pairs are asked in order", a) for i, j, a in pairs[:n]]

    def add(self, answers):
        self.may_go_on.wait(10)
        if self.failure:
            raise self.failure
        answers = list(answers)
        self.told.append(answers)
        self.answers += answers

    def take_back(self, answer):
        self.answers.remove(answer)

    @property
    def labels(self):
        return np.arange(self.n) % 3

    @property
    def reliability(self):
        sources = sorted({str(a.source) for a in self.answers})
        return pd.DataFrame({"p": 0.9, "q": 0.8}, index=sources)

    @property
    def standing(self):
        n = len(self.answers)
        return Standing(
            n, 3, min(n, 3), min(1.0, 0.5 + n / 20), n >= 10, "pairs are nearly all known"
        )


class BoardInterview(ScriptedInterview):
    """One that has boards of its own."""

    def board(self, size=8, source=0):
        return np.arange(self.n)[-size:]


def make_items(n=N, **more):
    names = np.array([f"p{row}" for row in range(n)], object)
    words = np.array([f"word {row} and more" for row in range(n)], object)
    sizes = np.array([str(row % 4) for row in range(n)], object)
    cells = Cells({"note": words, "size": sizes}, {"note": "text", "size": "count"})
    return Items(cells, ["note", "size"], names, named=True, **more)


class PageClient:
    """What a page is made of, and requests to it."""

    def __init__(self, path, interview=None, items=None, **settings):
        self.interview = interview or ScriptedInterview()
        self.store = AnswerStore(path, "rows")
        self.thinking = Thinking(
            lambda: self.interview,
            for_interview(self.store.answers()),
            reliability=settings.get("show_reliability", False),
        )
        self.gathering = Gathering(self.store, self.thinking, self.interview.n)
        items = items or make_items(self.interview.n)
        points = np.random.default_rng(0).normal(size=(self.interview.n, 2))
        self.teller = Teller(
            self.gathering, items, "things.csv", lambda: Scatter.of(points), **settings
        )
        self.ended, self.thread = [], None
        self.app = make_app(
            self.teller, secret=SECRET, port=PORT, finish=lambda: self.ended.append(True)
        )
        self.thinking.start()

    def serve(self):
        """Serve the page for a browser, and return its address."""
        self.server = PageServer()
        app = make_app(
            self.teller,
            secret=self.server.secret,
            port=self.server.port,
            finish=self.server.end,
        )
        ready = threading.Event()
        self.thread = threading.Thread(target=self.server.serve, args=(app, ready.set))
        self.thread.start()
        assert ready.wait(10)
        return self.server.address

    def request(self, method, path, headers=None, **more):
        async def send():
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
                return await client.request(method, path, headers=headers or {}, **more)

        return asyncio.run(send())

    def get(self, path, **parameters):
        return self.request("GET", f"/{SECRET}/{path}", params=parameters)

    def post(self, path, told, headers=None):
        headers = {"origin": ORIGIN} | (headers or {})
        return self.request("POST", f"/{SECRET}/{path}", headers, json=told)

    def turn(self, who, what="question"):
        """The question or board of a person, once there is one."""
        return until(lambda: _there(self.get(what, who=who).json()))

    def answer(self, who, kind=1, **more):
        turn = self.turn(who)
        told = {"who": who, "i": turn["i"], "j": turn["j"], "kind": kind, "key": new_key()} | more
        return self.post("answer", told).json() | {"told": told}

    def settle(self):
        """Wait until the interview knows all."""
        until(lambda: not self.thinking.is_busy)

    def answers(self):
        return [one.answer for one in self.store.answers()]

    def close(self):
        if self.thread is not None:
            self.server.end()
            self.thread.join(10)
        self.interview.may_go_on.set()
        self.thinking.close(5)
        self.store.close()


def until(found, seconds=10.0):
    """What a function returns, once it is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = found()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError("it took too long")


def _there(turn):
    return turn if "pair" in turn or "items" in turn else None


_KEYS = iter(range(10**8, 10**9))


def new_key():
    return f"key {next(_KEYS)}"


def said(i, j, kind, who="ann"):
    return Answer(i, j, kind, who)
