import logging
import os
import threading
import time
import traceback

import pytest

from chat_server import TOKENS, ChatStub, in_turn, mixed, people, serving
from maylink.errors import CeilingError, JudgeError, MaylinkError
from maylink.label.judges import (
    CallCeiling,
    ChatJudge,
    ChatSettings,
    Prices,
    PromptTemplate,
    RetryPlan,
    ShownRows,
    Unanswered,
)

KEY = "sk-very-secret-0123"
ROWS = ShownRows.of(people())
QUICK = RetryPlan(most=6, first=0.005, longest=0.02)
RUDE = (
    *("busy", "busy_and_says_when", "failing", "broken", "dropped", "cut_off", "html", "mistyped"),
    *("nonsense", "refusing", "empty", "half"),
)


def pairs(n, rows=ROWS):
    every = [(i, j) for i in range(rows.n) for j in range(i + 1, rows.n)]
    return [rows.pair(*pair) for pair in every[:n]]


def truth(pair):
    return 1 if pair.a["group"] == pair.b["group"] else -1


def make(address, *, ceiling=None, cache=":memory:", prices=None, source=None, **settings):
    settings = ChatSettings(**{"retry": QUICK, "time_limit": 10.0, **settings})
    return ChatJudge(
        "tiny",
        address,
        settings=settings,
        ceiling=ceiling,
        cache=cache,
        prices=prices,
        source=source,
    )


def ask(judge, asked, stop=lambda: False):
    """Answers of a judge, each checked against the truth, and what stayed unanswered."""
    said = list(judge.judge(asked, stop))
    right = {(pair.i, pair.j): truth(pair) for pair in asked}
    answers = [one for one in said if not isinstance(one, Unanswered)]
    assert all(one.kind == right[one.i, one.j] for one in answers)
    assert len({(one.i, one.j) for one in said}) == len(said)
    return answers, [one for one in said if isinstance(one, Unanswered)]


@pytest.mark.parametrize("pairs_per_call", [1, 4])
def test_an_honest_server_is_asked_once_about_each_pair(pairs_per_call):
    stub = ChatStub()
    with serving(stub) as address:
        judge = make(address, pairs_per_call=pairs_per_call)
        answers, rest = ask(judge, pairs(10))
        judge.close()
    assert len(answers) == 10
    assert not rest
    assert stub.calls == -(-10 // pairs_per_call)
    assert set(stub.paid.values()) == {1}
    assert len(stub.paid) == 10
    assert {one.confidence for one in answers} == {0.9}
    assert judge.spending.spent[:3] == (stub.calls, TOKENS[0] * stub.calls, TOKENS[1] * stub.calls)


def test_answers_are_kept_by_content_and_cost_nothing_again(tmp_path):
    stub, path = ChatStub(), tmp_path / "judges.db"
    twins = ShownRows.of({key: value * 2 for key, value in people(20).items()})
    with serving(stub) as address:
        judge = make(address, cache=path)
        first, _ = ask(judge, pairs(6))
        again, _ = ask(judge, pairs(6))
        swapped = [ROWS.pair(pair.j, pair.i) for pair in pairs(6)]
        ask(judge, swapped)
        assert stub.calls == 6
        assert all(one.is_new for one in first)
        assert not any(one.is_new for one in again)
        judge.spending.file.close()
        other = make(address, cache=path)  # another process, with other rows of the same content
        ask(other, [twins.pair(20, 21), twins.pair(0, 21), twins.pair(1, 20)])
        assert stub.calls == 6  # 0 and 1 were asked about
        ask(other, [twins.pair(5, 6), twins.pair(25, 26)])
        assert stub.calls == 7  # once for both
        for one in (judge, other):
            one.close()


def test_another_prompt_or_model_is_asked_anew(tmp_path):
    stub = ChatStub()
    with serving(stub) as address:
        judge = make(address)
        template = PromptTemplate(about="Two rows belong together if they are one person.")
        other = ChatJudge("tiny", address, template=template, spending=judge.spending)
        third = ChatJudge("large", address, spending=judge.spending)
        for one in (judge, other, third, judge):
            ask(one, pairs(2))
            one.close()
    assert stub.calls == 6
    assert len({judge.source, other.source, third.source}) == 3
    assert judge.source.startswith("tiny:")
    assert judge.spending.file.spent(other.source).calls == 2


@pytest.mark.parametrize("mood", RUDE)
def test_a_server_that_is_rude_at_first_is_asked_again(mood):
    stub = ChatStub(in_turn(mood, mood))
    with serving(stub) as address:
        judge = make(address, pairs_per_call=2, concurrency=1)
        answers, rest = ask(judge, pairs(4))
        judge.close()
    assert len(answers) == 4
    assert not rest
    assert set(stub.paid.values()) == {1}
    assert judge.spending.spent.calls == stub.calls


def test_what_cannot_be_understood_is_kept_apart_and_given_up():
    stub = ChatStub(in_turn(then="nonsense"))
    with serving(stub) as address:
        judge = make(address, tries=2)
        answers, rest = ask(judge, pairs(3))
        judge.close()
    assert not answers
    assert len(rest) == 3
    assert stub.calls == 6
    assert len(judge.spending.file.bad_answers()) == 6
    assert "could not be read" in stub.prompts[-1]
    assert judge.spending.file.find([judge.key(pair) for pair in pairs(3)]) == {}


def test_half_answers_are_kept_and_the_rest_is_asked_again():
    stub = ChatStub(in_turn("half"))
    with serving(stub) as address:
        judge = make(address, pairs_per_call=4)
        answers, rest = ask(judge, pairs(4))
        judge.close()
    assert len(answers) == 4
    assert not rest
    assert stub.calls == 2
    assert set(stub.paid.values()) == {1}
    assert "There are 2 pairs" in stub.prompts[1]


def test_prompts_that_are_too_long_are_halved():
    stub = ChatStub(in_turn(then="narrow"))
    with serving(stub) as address:
        judge = make(address, pairs_per_call=8)
        answers, rest = ask(judge, pairs(8))
        judge.close()
    assert len(answers) == 8
    assert not rest
    assert set(stub.paid.values()) == {1}


def test_a_pair_that_the_server_refuses_stays_unanswered():
    stub = ChatStub(in_turn("strict"))
    with serving(stub) as address:
        judge = make(address, concurrency=1)
        answers, rest = ask(judge, pairs(3))
        judge.close()
    assert len(answers) == 2
    assert "not allowed" in rest[0].problem


def test_pauses_that_a_server_asks_for_hold_for_all_calls():
    stub = ChatStub(in_turn("busy_and_says_when"))
    with serving(stub) as address:
        judge = make(address, concurrency=1)
        ask(judge, pairs(3))
        judge.close()
    assert stub.times[1] - stub.times[0] >= 0.2


def test_a_pause_that_is_too_long_ends_it():
    stub = ChatStub(in_turn(then="busy_for_long"))
    with serving(stub) as address:
        judge = make(address, concurrency=1)
        with pytest.raises(JudgeError, match="asks to wait 86400 s"):
            ask(judge, pairs(3))
        judge.close()
    assert stub.calls == 1


@pytest.mark.parametrize(
    ("mood", "told", "calls"),
    [
        ("failing", "failed 7 times in a row .500: internal", 7),
        ("dropped", "failed 7 times in a row", 7),
        ("locked", "401: wrong key.*it was given no key", 1),
        ("moved", "302.*is the address right", 1),
        ("broke", "no money", 1),
    ],
)
def test_a_server_that_never_answers_ends_it(mood, told, calls):
    stub = ChatStub(in_turn(then=mood))
    with serving(stub) as address:
        judge = make(address, concurrency=1)
        with pytest.raises(JudgeError, match=told):
            ask(judge, pairs(3))
        judge.close()
    assert stub.calls == calls


def test_calls_go_side_by_side_and_not_more_than_wanted():
    stub = ChatStub(in_turn(then="slow"))
    with serving(stub) as address:
        judge = make(address, concurrency=3)
        ask(judge, pairs(6))
        judge.close()
    assert stub.most_at_once == 3


def test_calls_a_minute():
    stub = ChatStub()
    with serving(stub) as address:
        judge = make(address, per_minute=1200, concurrency=4)
        ask(judge, pairs(6))
        judge.close()
    assert stub.times[-1] - stub.times[0] >= 5 * 0.05 - 0.02


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("share", [0.0, 0.6])
def test_the_ceiling_on_calls_is_held_to_the_call(concurrency, share):
    stub = ChatStub(mixed(*RUDE, share=share, seed=concurrency))
    with serving(stub) as address:
        judge = make(address, ceiling=CallCeiling(calls=23), concurrency=concurrency)
        heard = []
        with pytest.raises(CeilingError, match="all 23 calls"):
            heard.extend(judge.judge(pairs(200)))
        judge.close()
    assert stub.calls == 23
    assert len([one for one in heard if not isinstance(one, Unanswered)]) == len(stub.paid)
    assert set(stub.paid.values()) == {1}


@pytest.mark.parametrize("usage", [TOKENS, None])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_ceiling_on_cost_is_never_passed(concurrency, usage):
    prices, ceiling = Prices(1000.0, 5000.0), 12.0
    stub = ChatStub(mixed("failing", "nonsense", "dropped", share=0.3, seed=1), usage=usage)
    with serving(stub) as address:
        judge = make(
            address, ceiling=CallCeiling(cost=ceiling), prices=prices, concurrency=concurrency
        )
        with pytest.raises(CeilingError, match="most_cost"):
            list(judge.judge(pairs(200)))
        judge.close()
    spent = judge.spending.spent
    paying = stub.calls - stub.moods["failing"]
    real = prices.cost(TOKENS[0] * paying, TOKENS[1] * paying)
    assert real <= ceiling
    assert spent.held <= ceiling
    assert spent.calls == stub.calls
    largest = max(judge._most(prompt, 1) for prompt in stub.prompts)
    assert spent.held > ceiling - largest - 0.1  # and it is used up as far as is safe
    if usage is None:
        assert spent.untold > 0
        assert spent.cost < spent.held


def test_a_ceiling_needs_prices():
    with pytest.raises(MaylinkError, match="prices"):
        make("http://localhost:1", ceiling=CallCeiling(cost=1.0))


def test_what_was_spent_before_counts(tmp_path):
    stub, path = ChatStub(), tmp_path / "judges.db"
    with serving(stub) as address:
        for n in (5, 20):
            judge = make(address, ceiling=CallCeiling(calls=8), cache=path)
            try:
                ask(judge, pairs(n))
            except CeilingError:
                assert n == 20
            judge.close()
            judge.spending.file.close()
    assert stub.calls == 8
    assert len(stub.paid) == 8


def test_stopping_lets_calls_under_way_end_and_begins_none():
    stub = ChatStub(in_turn("honest", "honest", then="held"))
    stub.gate = threading.Event()
    with serving(stub) as address:
        judge = make(address, concurrency=2)
        heard, stopped = [], []
        for one in judge.judge(pairs(50), lambda: bool(stopped)):
            heard.append(one)
            if len(heard) == 2:
                assert stub.held.acquire(timeout=5)
                assert stub.held.acquire(timeout=5)
                stopped.append(True)
                stub.gate.set()
        judge.close()
    assert stub.calls == 4
    assert len(heard) == 4 == len(stub.paid)


def test_a_long_wait_is_cut_short():
    stub = ChatStub(in_turn(then="busy"))
    with serving(stub) as address:
        judge = make(address, retry=RetryPlan(first=60.0))
        end = time.monotonic() + 0.3
        assert list(judge.judge(pairs(3), lambda: time.monotonic() > end)) == []
        judge.close()
    assert time.monotonic() < end + 2


def test_an_estimate_sends_nothing():
    judge = make("http://127.0.0.1:1/v1", prices=Prices(1.0, 2.0), pairs_per_call=3)
    estimate = judge.estimate(pairs(7))
    assert estimate.calls == 3
    assert 0 < estimate.cost < estimate.most
    assert estimate.tokens_in > 300


# ---------------------------------------------------------------------- the key


@pytest.mark.parametrize("mood", ["honest", "locked", "talkative", "dropped", "strict", "silent"])
def test_the_key_reaches_the_server_and_nothing_else(mood, monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    stub, path = ChatStub(in_turn(then=mood)), tmp_path / "judges.db"
    told = []
    with serving(stub) as address:
        judge = make(address, cache=path, time_limit=0.3, retry=RetryPlan(most=1, first=0.01))
        try:
            told += list(judge.judge(pairs(2)))
        except JudgeError as error:
            told += [error, repr(error), *traceback.format_exception(error)]
            seen = error
            while seen is not None:  # nor does an error hold one that holds the request
                assert not hasattr(seen, "request")
                seen = seen.__cause__ or seen.__context__
        told += [repr(judge), vars(judge._server), judge.spending.file.bad_answers()]
        judge.close()
        judge.spending.file.close()
    assert stub.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(told)
    assert KEY not in caplog.text
    for name in os.listdir(tmp_path):
        assert KEY.encode() not in (tmp_path / name).read_bytes()


def test_a_key_that_would_go_in_the_open_is_told(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.warns(UserWarning, match=r"goes to example\.org without encryption") as caught:
        make("http://example.org/v1")
    assert KEY not in str(caught[0].message)


@pytest.mark.parametrize(
    "settings", [{"pairs_per_call": 0}, {"concurrency": 0}, {"tries": 0}, {"per_minute": 0}]
)
def test_settings_that_make_no_sense(settings):
    with pytest.raises(MaylinkError, match=next(iter(settings))):
        ChatSettings(**settings)
    with pytest.raises(MaylinkError, match="its name is empty"):
        ChatJudge(" ", "http://localhost/v1")
