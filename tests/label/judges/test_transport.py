import json

import pytest

from chat_server import ChatStub, in_turn, people, serving
from maylink.errors import MaylinkError
from maylink.label.judges.prompts import PromptTemplate
from maylink.label.judges.rows import ShownRows
from maylink.label.judges.secret import Secret
from maylink.label.judges.transport import (
    ADAPTED,
    ANSWERED,
    BUSY,
    FATAL,
    LOST,
    REFUSED,
    ChatServer,
    checked_address,
    read_body,
)

KEY = "sk-very-secret-0123"
PROMPT = PromptTemplate().prompt([ShownRows.of(people()).pair(0, 4)])


@pytest.mark.parametrize(
    ("mood", "state", "reason"),
    [
        ("honest", ANSWERED, ""),
        ("mistyped", ANSWERED, ""),
        ("refusing", ANSWERED, ""),  # the words of the refusal are read, and are no answer
        ("empty", ANSWERED, ""),
        ("busy", BUSY, "429"),
        ("failing", BUSY, "500"),
        ("broke", FATAL, "429"),
        ("locked", FATAL, "401"),
        ("moved", FATAL, "302"),
        ("strict", REFUSED, "400"),
        ("choosy", ADAPTED, "other parameters"),
        ("broken", LOST, "broken reply"),
        ("html", LOST, "broken reply"),
        ("dropped", LOST, "connection lost"),
        ("cut_off", LOST, "connection lost"),
        ("dripping", LOST, "time-out"),
        ("silent", LOST, "time-out"),
    ],
)
def test_whatever_a_server_does_is_told(mood, state, reason):
    stub = ChatStub(in_turn(then=mood))
    with serving(stub) as address:
        server = ChatServer(address, "m", Secret(KEY), time_limit=0.4)
        server.open()
        reply = server.send(PROMPT, 100)
        server.close()
    assert (reply.state, reply.reason) == (state, reason)
    assert KEY not in repr(reply)
    assert stub.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert stub.calls == 1  # and it follows nobody elsewhere


def test_nobody_there():
    server = ChatServer("http://127.0.0.1:1/v1", "m", Secret(KEY))
    server.open()
    reply = server.send(PROMPT, 100)
    server.close()
    assert (reply.state, reply.reason) == (BUSY, "no connection")


def test_what_is_sent_and_what_it_used():
    stub = ChatStub()
    with serving(stub) as address:
        server = ChatServer(address + "/", "tiny", Secret(), temperature=0.0)
        server.open()
        reply = server.send(PROMPT, 100)
        server.close()
    assert reply.tokens == (100, 10)
    assert json.loads(reply.text)["answer"] == "yes"
    assert stub.payloads == [
        {
            "model": "tiny",
            "messages": [{"role": "user", "content": PROMPT}],
            "max_tokens": 100,
            "temperature": 0.0,
        }
    ]
    assert "Authorization" not in stub.headers[0]


def test_a_server_says_how_long_to_wait():
    stub = ChatStub(in_turn("busy_and_says_when"))
    with serving(stub) as address:
        server = ChatServer(address, "m", Secret())
        server.open()
        assert server.send(PROMPT, 100).wait == 0.2
        server.close()


def test_parameters_that_a_server_does_not_take_are_left_out():
    stub = ChatStub(in_turn(then="choosy"))
    with serving(stub) as address:
        server = ChatServer(address, "m", Secret())
        server.open()
        states = [server.send(PROMPT, 100).state for _ in range(4)]
        server.close()
    assert states == [ADAPTED, ADAPTED, ANSWERED, ANSWERED]
    assert stub.payloads[-1].get("max_completion_tokens") == 100
    assert "temperature" not in stub.payloads[-1]


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("http://h:8000/v1", "http://h:8000/v1/chat/completions"),
        ("https://h/v1/", "https://h/v1/chat/completions"),
        (" http://h/v1/chat/completions ", "http://h/v1/chat/completions"),
        ("http://[::1]:80", "http://[::1]:80/chat/completions"),
    ],
)
def test_addresses(address, url):
    assert checked_address(address) == url


@pytest.mark.parametrize(
    "address", ["", "localhost:8000", "ftp://h/v1", "http://", "http://h:port/v1", "http://[::1"]
)
def test_what_is_no_address(address):
    with pytest.raises(MaylinkError, match="address: it is no URL"):
        checked_address(address)


@pytest.mark.parametrize("part", [f"u:{KEY}@h/v1", f"h/v1?key={KEY}", f"h/v1#{KEY}"])
def test_a_key_in_an_address_is_refused_and_not_repeated(part):
    with pytest.raises(MaylinkError, match="the key comes from the environment") as caught:
        checked_address(f"https://{part}")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("", LOST), ("[]", LOST), ("null", LOST), ("{}", LOST), ('{"choices": []}', LOST),
        ('{"choices": [{}]}', LOST), ('{"choices": [{"message": 3}]}', LOST), ("[" * 9999, LOST),
        ('{"error": {"message": "busy"}}', BUSY), ('{"choices": [{"message": {}}]}', ANSWERED),
    ],
)  # fmt: skip
def test_odd_bodies(body, state):
    assert read_body(body).state == state


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 0}, (5, 0)),
        ({"input_tokens": 5, "output_tokens": 7}, (5, 7)),
        ({"prompt_tokens": "5", "completion_tokens": 1}, None),
        ({"prompt_tokens": -5, "completion_tokens": 1}, None),
        ({"prompt_tokens": True, "completion_tokens": 1}, None),
        ({"prompt_tokens": 5}, None), ({}, None), (None, None), ("many", None),
    ],
)  # fmt: skip
def test_tokens_that_a_server_tells(usage, tokens):
    body = {"choices": [{"message": {"content": "yes"}}], "usage": usage}
    assert read_body(json.dumps(body)).tokens == tokens


def test_contents_in_parts():
    parts = [{"type": "text", "text": "ye"}, {"type": "image"}, {"text": "s"}, "x"]
    body = json.dumps({"choices": [{"message": {"content": parts}}]})
    assert read_body(body).text == "yes"
