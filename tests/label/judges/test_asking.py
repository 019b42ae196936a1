import os
from collections import Counter

import numpy as np
import pytest

import maylink as ml
from chat_server import ChatStub, in_turn, mixed, people, serving
from maylink.errors import FileError, JudgeError, MaylinkError
from maylink.label.judges import (
    Asking,
    AskingEnd,
    AskSettings,
    CallCeiling,
    ChatJudge,
    ChatSettings,
    Judge,
    JudgeFile,
    Judgement,
    RetryPlan,
    ShownRows,
    Spending,
    Unanswered,
)
from maylink.label.store import AnswerStore
from maylink.questions import Answer
from plain_interview import PlainInterview

SLOW = "MAYLINK_SLOW" in os.environ
ROWS = ShownRows.of(people(40))
RUDE = (
    *("busy", "busy_and_says_when", "failing", "broken", "dropped", "cut_off", "html", "mistyped"),
    *("nonsense", "refusing", "empty", "half"),
)


def same(a, b):
    return a["group"] == b["group"]


def start(judges, store=None, *, rows=ROWS, interview=None, **settings):
    more = {name: settings.pop(name) for name in ("given", "stop", "watch") if name in settings}
    interview = interview or PlainInterview(np.zeros(rows.n), random_state=0)
    store = store or AnswerStore(":memory:", "rows")
    settings = AskSettings(**settings)
    return Asking(interview, rows, judges, store, settings=settings, **more)


def test_so_many_questions_in_batches():
    asking = start([Judge(same)], questions=25, batch=10)
    asked = asking.run()
    assert (asked.n_answers, asked.n_new, asked.end) == (25, 25, AskingEnd.ASKED)
    assert [n for n, _ in asking.interview.asked] == [10, 10, 5]
    assert asked.links.n_links == 25
    assert asked.links.sources == ("same",)
    truth = [
        same(ROWS.row(i), ROWS.row(j)) for i, j in zip(asked.links.i, asked.links.j, strict=True)
    ]
    assert (asked.links.kind > 0).tolist() == truth
    assert len(asking.interview.heard) == 25


def test_until_it_is_enough():
    interview = PlainInterview(np.zeros(40), random_state=0, enough=30)
    asked = start([Judge(same)], interview=interview, batch=20).run()
    assert (asked.n_answers, asked.end, asked.why) == (40, AskingEnd.ENOUGH, "it is enough")


def test_not_for_ever_where_it_is_never_enough():
    rows = ShownRows.of(people(30))
    asked = start([Judge(same)], rows=rows, most_a_row=2).run()
    assert (asked.n_answers, asked.end) == (60, AskingEnd.ASKED)


def test_nothing_left_to_ask():
    rows = ShownRows.of(people(5))
    asked = start([Judge(same)], rows=rows, questions=50).run()
    assert (asked.n_answers, asked.end) == (10, AskingEnd.NOTHING_LEFT)


def test_judges_share_a_batch_and_each_is_a_source():
    other = Judge(lambda a, b: (not same(a, b), 0.6), source="contrary")
    asked = start([Judge(same), other], questions=25, batch=7).run()
    assert Counter(asked.links.sources[code] for code in asked.links.source) == {
        "same": 11, "contrary": 14,
    }  # fmt: skip
    assert set(asked.links.weight.round(6)) == {1.0, 0.2}


def test_unsure_answers_and_guesses_count_and_make_no_link():
    said = iter([(True, 0.5), None, (False, 0.3), (True, 0.9)] * 5)
    asking = start([Judge(lambda a, b: next(said))], questions=20)
    asked = asking.run()
    assert asked.n_answers == 20
    assert asked.links.n_links == 5
    details = [one.detail for one in asking.store.answers()]
    assert details[:2] == [{"kind": 1, "confidence": 0.5}, {"kind": 0}]  # what it said is kept
    assert asking.store.answers()[0].answer.kind == 0


def test_the_file_goes_on_and_nothing_is_asked_twice(tmp_path):
    asked_of = Counter()

    def judge(a, b):
        asked_of[a["name"], b["name"]] += 1
        return same(a, b)

    for questions, new in ((10, 10), (10, 0), (25, 15)):
        with AnswerStore(tmp_path / "answers.db", "rows") as store:
            asked = start([Judge(judge)], store, questions=questions).run()
            assert (asked.n_answers, asked.n_new) == (questions, new)
            assert asked.links.n_links == questions
    assert set(asked_of.values()) == {1}
    assert len(asked_of) == 25


def test_answers_of_people_in_the_file_are_heard_and_not_counted():
    store = AnswerStore(":memory:", "rows")
    store.add([Answer(0, 1, -1, "ann"), Answer(2, 6, 1, "ann")])
    asking = start([Judge(same)], store, questions=5)
    asked = asking.run()
    assert asked.n_answers == 5
    assert asked.links.n_links == 7
    assert asked.links.sources == ("ann", "same")
    assert [one.source for one in asking.interview.heard[:3]] == ["ann", "ann", "same"]


def test_links_that_are_given_are_kept_and_not_asked_of_the_same_source():
    given = ml.Links(40, [1, 3], [0, 2], [-1, -1], source=["same", "ann"])
    seen = []
    judge = Judge(lambda a, b: seen.append((a["name"], b["name"])) or same(a, b), source="same")
    asked = start([judge], given=given, questions=780).run()
    assert ("person 0", "person 1") not in seen
    assert ("person 2", "person 3") in seen
    assert asked.links.n_links == 2 + 779
    assert asked.end == AskingEnd.NOTHING_LEFT


def test_pairs_of_people_can_be_put_to_every_judge_first():
    given = ml.Links(40, [1, 3, 5, 7], [0, 2, 4, 6], [-1] * 4, source=["ann"] * 4)
    judges = [Judge(same), Judge(lambda a, b: True, source="yes")]
    asking = start(judges, given=given, check=3, questions=12, batch=12)
    asking.run()
    for source in ("same", "yes"):
        firsts = [one.answer[:2] for one in asking.store.answers(source)][:3]
        assert set(firsts) <= {(0, 1), (2, 3), (4, 5), (6, 7)}
        assert len(set(firsts)) == 3


def test_pairs_that_the_interview_names_again_are_looked_past():
    class Stubborn(PlainInterview):
        """Names the best pairs, whoever has answered them."""

        def questions(self, n=1, source=0):
            self.heard, heard = [], self.heard
            named = super().questions(n, source)
            self.heard = heard
            return named

    interview = Stubborn(np.zeros(40), random_state=0)
    asked = start([Judge(same)], interview=interview, questions=60, batch=20).run()
    assert asked.n_answers == 60
    assert len({(i, j) for i, j in zip(asked.links.i, asked.links.j, strict=True)}) == 60


def test_it_stops_when_the_user_says_so():
    heard = []
    asking = start(
        [Judge(same)],
        questions=50,
        stop=lambda: len(heard) >= 7,
        watch=lambda n, standing: heard.append(n),
    )
    asked = asking.run()
    assert asked.end == AskingEnd.STOPPED
    assert heard == list(range(1, 8))
    assert asked.links.n_links == 7 == len(asking.interview.heard)


@pytest.mark.parametrize("second", [False, True])
def test_ctrl_c_inside_the_interview(second):
    class Interrupted(PlainInterview):
        def questions(self, n=1, source=0):
            if len(self.heard) >= 20:
                if second:
                    pressed.append(1)
                raise KeyboardInterrupt
            return super().questions(n, source)

    pressed = []
    interview = Interrupted(np.zeros(40), random_state=0)
    asking = start([Judge(same)], interview=interview, questions=50, stop=lambda: bool(pressed))
    if second:
        with pytest.raises(KeyboardInterrupt):
            asking.run()
    else:
        asked = asking.run()
        assert asked.end == AskingEnd.STOPPED
        assert asked.n_answers == 20


class Moody:
    """A judge that leaves some pairs unanswered."""

    source = "moody"

    def __init__(self, answers):
        self.answers, self.n = answers, 0

    def recall(self, rows):
        return []

    def judge(self, pairs, stop):
        for pair in pairs:
            self.n += 1
            if self.answers(self.n):
                yield Judgement(pair.i, pair.j, 1)
            else:
                yield Unanswered(pair.i, pair.j, "it mumbled")

    def close(self):
        pass


def test_pairs_without_an_answer_are_left_and_others_asked():
    asking = start([Moody(lambda n: n % 3)], questions=30)
    asked = asking.run()
    assert asked.n_answers == 30
    assert len(asked.unanswered["moody"]) >= 14
    left = {(one.i, one.j) for one in asked.unanswered["moody"]}
    assert not left & {one.answer[:2] for one in asking.store.answers()}


@pytest.mark.parametrize("batch", [1, 20])
def test_a_judge_that_answers_nothing_is_given_up(batch):
    judge = Moody(lambda n: n <= 3)
    asking = start([judge], questions=30, batch=batch)
    with pytest.raises(JudgeError, match=r"'moody': it left 10 questions in a row .*it mumbled"):
        asking.run()
    assert judge.n == 13
    assert len(asking.store.answers()) == 3


def test_an_answer_that_cannot_be_written_does_not_count():
    store = AnswerStore(":memory:", "rows")
    asking = start([Judge(same)], store, questions=5)
    store.close()
    with pytest.raises(FileError):
        asking.run()
    assert asking.n_answers == 0
    assert asking.interview.heard == []


# ---------------------------------------------------------------------- with a server


def chat(address, path=":memory:", calls=None, **settings):
    settings = {"retry": RetryPlan(first=0.005, longest=0.02), "time_limit": 20.0, **settings}
    spending = Spending(JudgeFile(path), CallCeiling(calls=calls))
    return ChatJudge("tiny", address, settings=ChatSettings(**settings), spending=spending)


@pytest.mark.parametrize("seed", [0, 1] if SLOW else [0])
def test_many_questions_to_a_rude_server_lose_nothing_and_pay_nothing_twice(tmp_path, seed):
    n = 500 if SLOW else 80
    stub = ChatStub(mixed(*RUDE, "slow", share=0.35, seed=seed))
    with serving(stub) as address, AnswerStore(tmp_path / "a.db", "rows") as store:
        judge = chat(address, tmp_path / "judges.db", pairs_per_call=3, concurrency=6, tries=6)
        asking = start([judge], store, questions=n, batch=60)
        asked = asking.run()
        judge.close()
        spent = judge.spending.spent
        judge.spending.file.close()
    assert asked.end == AskingEnd.ASKED
    assert asked.n_answers == n == asked.links.n_links
    truth = [
        same(ROWS.row(i), ROWS.row(j)) for i, j in zip(asked.links.i, asked.links.j, strict=True)
    ]
    assert (asked.links.kind > 0).tolist() == truth
    assert set(stub.paid.values()) == {1}
    assert spent.calls == stub.calls
    assert len(stub.moods) > 8  # it was rude in most of its ways


def test_a_ceiling_ends_it_and_a_higher_one_goes_on(tmp_path):
    stub = ChatStub(mixed("failing", share=0.3))
    with serving(stub) as address:
        for calls, end in ((10, AskingEnd.CEILING), (10, AskingEnd.CEILING), (99, AskingEnd.ASKED)):
            with AnswerStore(tmp_path / "a.db", "rows") as store:
                judge = chat(address, tmp_path / "judges.db", calls=calls)
                asked = start([judge], store, questions=15).run()
                judge.close()
                judge.spending.file.close()
            assert asked.end == end
            assert calls == 99 or stub.calls == 10
    assert asked.n_answers == 15
    assert set(stub.paid.values()) == {1}


def test_a_ceiling_of_one_judge_leaves_the_others(tmp_path):
    stub = ChatStub()
    with serving(stub) as address:
        judge = chat(address, calls=4)
        asked = start([judge, Judge(same)], questions=40, batch=10).run()
        judge.close()
    assert asked.n_answers == 40
    assert stub.calls == 4
    assert asked.end == AskingEnd.ASKED


def test_what_was_paid_for_and_not_yet_counted_is_taken_up(tmp_path):
    """As after a kill between the two files."""
    stub = ChatStub()
    with serving(stub) as address:
        judge = chat(address, tmp_path / "judges.db")
        judge.recall("rows")
        assert len(list(judge.judge([ROWS.pair(0, 39), ROWS.pair(7, 8)]))) == 2
        asking = start([judge], questions=5)
        assert asking.n_answers == 2 == len(asking.interview.heard)
        asking.run()
        judge.close()
    stored = [one.answer[:2] for one in asking.store.answers()]
    assert len(set(stored)) == 5
    assert {(0, 39), (7, 8)} <= set(stored)
    assert stub.calls == 5


def test_an_error_of_the_server_leaves_what_was_answered(tmp_path):
    stub = ChatStub(in_turn(*["honest"] * 12, then="locked"))
    with serving(stub) as address, AnswerStore(tmp_path / "a.db", "rows") as store:
        judge = chat(address, concurrency=1)
        asking = start([judge], store, questions=50, batch=5)
        with pytest.raises(JudgeError, match="401"):
            asking.run()
        judge.close()
        assert len(store.answers()) == 12 == asking.n_answers == len(asking.interview.heard)


# ---------------------------------------------------------------------- ml.ask


def test_ask_from_python(tmp_path):
    data = people(30)
    X = np.array([[float(g[1:])] for g in data["group"]])
    path = tmp_path / "answers.db"
    asked = ml.ask(X, same, rows=data, questions=12, answers=path, random_state=0)
    assert asked.links.n == 30
    assert asked.n_new == 12
    assert isinstance(asked.links, ml.Links)
    again = ml.ask(X, same, rows=data, questions=12, answers=path, random_state=0)
    assert again.n_new == 0
    assert again.links == asked.links
    with pytest.raises(MaylinkError, match="rows: 30 of them for 29 rows of X"):
        ml.ask(X[1:], same, rows=data, questions=2)
    with pytest.raises(MaylinkError, match="about other rows"):
        ml.ask(X, same, questions=2, answers=path)


def test_judges_are_closed_whatever_happens():
    class Closing(Moody):
        closed = 0

        def close(self):
            self.closed += 1

    judge = Closing(lambda n: False)
    with pytest.raises(JudgeError):
        ml.ask(np.arange(30.0)[:, None], judge, questions=20)
    assert judge.closed == 1
