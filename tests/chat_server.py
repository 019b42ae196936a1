"""A server on loopback that answers chat completions: honestly, or as rudely as servers do.

It knows the truth about rows with a column ``group`` and counts what it was asked: each pair of
contents that it answered honestly counts as paid.
"""

import json
import re
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROWS = re.compile(r"Row A\n(.*?)\n\nRow B\n(.*?)(?=\n\n)", re.DOTALL)
GROUP = re.compile(r"^group: (.*)$", re.MULTILINE)
TOKENS = (100, 10)  # of a call, in and out


def honest(a, b):
    """Return the answer about two rows, as text."""
    same = GROUP.search(a)[1] == GROUP.search(b)[1]
    return {"answer": "yes" if same else "no", "confidence": 90}


class ChatStub:
    """What the server does and has seen.

    ``mood(number)`` says how it behaves at a request, counted from 0; ``judge(a, b)`` answers.
    """

    def __init__(self, mood=lambda number: "honest", judge=honest, usage=TOKENS):
        self.mood, self.judge, self.usage = mood, judge, usage
        self.lock = threading.Lock()
        self.prompts, self.headers, self.payloads, self.times = [], [], [], []
        self.paid = Counter()  # pairs of contents that were answered
        self.moods = Counter()
        self.at_once = self.most_at_once = 0
        self.gate = None  # an Event: requests of mood "held" wait for it
        self.held = threading.Semaphore(0)

    @property
    def calls(self):
        return len(self.prompts)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        stub = self.server.stub
        body = self.rfile.read(int(self.headers["Content-Length"]))
        payload = json.loads(body)
        prompt = payload["messages"][0]["content"]
        with stub.lock:
            number = stub.calls
            stub.prompts.append(prompt)
            stub.headers.append(dict(self.headers))
            stub.payloads.append(payload)
            stub.times.append(time.monotonic())
            mood = stub.mood(number)
            stub.moods[mood] += 1
            stub.at_once += 1
            stub.most_at_once = max(stub.most_at_once, stub.at_once)
        try:
            getattr(self, f"be_{mood}")(stub, prompt)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            with stub.lock:
                stub.at_once -= 1

    # ------------------------------------------------------------------ how it may behave

    def be_honest(self, stub, prompt):
        answers, pairs = self._answers(stub, prompt)
        with stub.lock:
            stub.paid.update(tuple(sorted(pair)) for pair in pairs)
        self._say(json.dumps(answers[0] if len(pairs) == 1 else answers))

    def be_slow(self, stub, prompt):
        time.sleep(0.3)
        self.be_honest(stub, prompt)

    def be_held(self, stub, prompt):
        stub.held.release()
        stub.gate.wait(30)
        self.be_honest(stub, prompt)

    def be_half(self, stub, prompt):
        """Answer the first half of the pairs, and break off."""
        answers, pairs = self._answers(stub, prompt)
        half = len(pairs) // 2
        with stub.lock:
            stub.paid.update(tuple(sorted(pair)) for pair in pairs[:half])
        self._say(json.dumps(answers)[: len(json.dumps(answers[:half]))] + ', {"pair": ')

    def be_nonsense(self, stub, prompt):
        self._say("The sky is purple, and 42.")

    def be_refusing(self, stub, prompt):
        self._send(
            200,
            {
                "choices": [
                    {"message": {"content": None, "refusal": "I'm sorry, I can't do that."}}
                ],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10},
            },
        )

    def be_empty(self, stub, prompt):
        self._say("")

    def be_busy(self, stub, prompt):
        self._send(429, {"error": {"message": "slow down"}})

    def be_busy_and_says_when(self, stub, prompt):
        self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.2"})

    def be_busy_for_long(self, stub, prompt):
        self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "86400"})

    def be_broke(self, stub, prompt):
        self._send(429, {"error": {"message": "no money", "code": "insufficient_quota"}})

    def be_failing(self, stub, prompt):
        self._send(500, {"error": {"message": "internal"}})

    def be_broken(self, stub, prompt):
        self._send_bytes(200, b'{"choices": [{"message": {"content": "{\\"ans')

    def be_html(self, stub, prompt):
        self._send_bytes(200, b"<html>Please log in</html>", {"Content-Type": "text/html"})

    def be_mistyped(self, stub, prompt):
        """Say the right thing as the wrong type."""
        self.wrong_type = True
        self.be_honest(stub, prompt)

    def be_dropped(self, stub, prompt):
        self.close_connection = True

    def be_cut_off(self, stub, prompt):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"choices"')
        self.wfile.flush()
        self.close_connection = True

    def be_dripping(self, stub, prompt):
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        for _ in range(100):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.05)
        self.close_connection = True

    def be_silent(self, stub, prompt):
        time.sleep(1.5)
        self.close_connection = True

    def be_locked(self, stub, prompt):
        key = self.headers.get("Authorization", "")
        self._send(401, {"error": {"message": f"wrong key: {key}"}})

    def be_moved(self, stub, prompt):
        self._send(302, {}, {"Location": "http://127.0.0.1:1/elsewhere"})

    def be_talkative(self, stub, prompt):
        """Repeat the key in its answer."""
        key = self.headers.get("Authorization", "")
        self._say(json.dumps({"answer": "perhaps " + key, "note": key}))

    def be_choosy(self, stub, prompt):
        """Take max_completion_tokens, and no temperature, as some models do."""
        payload = stub.payloads[-1]
        for name, hint in (("max_tokens", "max_completion_tokens"), ("temperature", "temperature")):
            if name in payload:
                self._send(400, {"error": {"message": f"unsupported: {name}, use {hint}"}})
                return
        self.be_honest(stub, prompt)

    def be_narrow(self, stub, prompt):
        """Take no prompt of more than two pairs."""
        if len(ROWS.findall(prompt)) > 2:
            self._send(413, {"error": {"message": "too long"}})
        else:
            self.be_honest(stub, prompt)

    def be_strict(self, stub, prompt):
        self._send(400, {"error": {"message": "this content is not allowed"}})

    # ------------------------------------------------------------------ how it says things

    def _answers(self, stub, prompt):
        pairs = ROWS.findall(prompt)
        answers = [{"pair": at, **stub.judge(*pair)} for at, pair in enumerate(pairs, 1)]
        return answers, pairs

    def _say(self, text):
        body = {"choices": [{"message": {"role": "assistant", "content": text}}]}
        if self.server.stub.usage is not None:
            into, out = self.server.stub.usage
            body["usage"] = {"prompt_tokens": into, "completion_tokens": out}
        self._send(200, body)

    def _send(self, status, body, headers=()):
        self._send_bytes(status, json.dumps(body).encode(), dict(headers))

    def _send_bytes(self, status, data, headers=()):
        self.send_response(status)
        usual = "text/plain" if getattr(self, "wrong_type", False) else "application/json"
        for name, value in {"Content-Type": usual, **dict(headers)}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # a client that was killed


@contextmanager
def serving(stub):
    """Serve on a free port; yields the address."""
    server = Server(("127.0.0.1", 0), Handler)
    server.stub = stub
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        if stub.gate is not None:
            stub.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()


def in_turn(*moods, then="honest"):
    """Return moods that follow each other, and one for good."""
    return lambda number: moods[number] if number < len(moods) else then


def mixed(*moods, share=0.5, seed=0):
    """Return moods at random, honest but for a share."""
    import random

    chance = random.Random(seed)
    return lambda number: chance.choice(moods) if chance.random() < share else "honest"


def people(n=60, groups=4):
    """Return rows as the server knows them: names, and the group that decides."""
    return {
        "name": [f"person {row}" for row in range(n)],
        "group": [f"g{row % groups}" for row in range(n)],
    }
