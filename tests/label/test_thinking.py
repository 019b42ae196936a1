import pytest

from label_page import BoardInterview, ScriptedInterview, said, until
from maylink.errors import LinksError
from maylink.label.thinking import AHEAD, AnswerChange, Thinking, boards_of_questions
from maylink.questions import Question


@pytest.fixture
def start():
    started = []

    def make(interview, *earlier, **settings):
        thinking = Thinking(lambda: interview, earlier, **settings)
        started.append((thinking, interview))
        thinking.start()
        return thinking

    yield make
    for thinking, interview in started:
        interview.may_go_on.set()
        assert thinking.close(5)


def settle(thinking):
    until(lambda: not thinking.is_busy)


def test_earlier_answers_are_known_before_anything_is_asked(start):
    interview = ScriptedInterview()
    thinking = start(interview, said(0, 1, 1))
    assert thinking.stock("ann") is None or thinking.stock("ann").questions[0][:2] == (0, 2)
    stock = until(lambda: thinking.stock("ann"))
    assert stock.questions[0][:2] == (0, 2)
    assert len(stock.questions) == AHEAD
    settle(thinking)
    assert interview.told == [[said(0, 1, 1)]]
    assert thinking.survey.standing.n_answers == 1


def test_answers_that_came_while_it_thought_are_taken_in_at_once(start):
    interview = ScriptedInterview()
    thinking = start(interview)
    settle(thinking)
    version = thinking.survey.version
    interview.may_go_on.clear()
    numbers = [thinking.tell(AnswerChange(given=(said(0, 1, 1),)))]
    until(lambda: not thinking._changes)  # it is thinking about the first
    numbers += [thinking.tell(AnswerChange(given=(said(0, j, 1),))) for j in (2, 3)]
    assert thinking.is_busy
    assert thinking.survey.version == version
    interview.may_go_on.set()
    settle(thinking)
    assert interview.told == [[said(0, 1, 1)], [said(0, 2, 1), said(0, 3, 1)]]
    assert numbers == sorted(numbers)
    assert until(lambda: thinking.stock("ann")).n_taken >= numbers[-1]


def test_asking_waits_for_nothing(start):
    interview = ScriptedInterview()
    interview.may_go_on.clear()
    thinking = start(interview, said(0, 1, 1))
    assert thinking.stock("ann") is None
    assert thinking.survey is None
    assert thinking.is_busy


def test_an_answer_that_is_taken_back_at_once_is_never_told(start):
    interview = ScriptedInterview()
    thinking = start(interview)
    settle(thinking)
    interview.may_go_on.clear()
    thinking.tell(AnswerChange(given=(said(0, 1, 1),)))
    until(lambda: not thinking._changes)
    thinking.tell(AnswerChange(given=(said(0, 2, 1),)))
    thinking.tell(AnswerChange(taken_back=(said(0, 2, 1),)))
    thinking.tell(AnswerChange(given=(said(0, 1, -1),), taken_back=(said(0, 1, 1),)))
    interview.may_go_on.set()
    settle(thinking)
    assert interview.answers == [said(0, 1, -1)]


def test_a_change_renews_the_questions_of_all_who_ask(start):
    thinking = start(ScriptedInterview())
    before = {who: until(lambda who=who: thinking.stock(who)) for who in ("ann", "bob")}
    thinking.tell(AnswerChange(given=(said(0, 1, 1),)))
    settle(thinking)
    for who, old in before.items():
        assert thinking.stock(who).questions[0][:2] == (0, 2) != old.questions[0][:2]
    thinking.only(["ann"])
    assert thinking.stock("bob") is None  # asks anew
    assert thinking.stock("ann") is not None


def test_a_fit_that_fails_is_told_and_the_next_goes_on(start, caplog):
    interview = ScriptedInterview()
    thinking = start(interview)
    settle(thinking)
    interview.failure = ValueError("no such\nfamily")
    thinking.tell(AnswerChange(given=(said(0, 1, 1),)))
    settle(thinking)
    assert "not thought through: no such family" in thinking.problem
    assert "no such family" in caplog.text
    interview.failure = None
    thinking.tell(AnswerChange(given=(said(0, 2, 1),)))
    settle(thinking)
    assert thinking.survey.standing.n_answers == 1
    assert thinking.problem is None


def test_an_interview_that_cannot_be_made_is_told(caplog):
    def make():
        raise ValueError("all rows are equal")

    thinking = Thinking(make)
    thinking.start()
    until(lambda: thinking.problem)
    assert thinking.problem == "the questions could not be made: all rows are equal"
    assert not thinking.is_busy
    assert thinking.close(5)
    assert "all rows are equal" in caplog.text


def test_reliability_is_told_only_where_it_is_wanted(start):
    quiet = start(ScriptedInterview(), said(0, 1, 1))
    open_ = start(ScriptedInterview(), said(0, 1, 1), reliability=True)
    settle(quiet)
    settle(open_)
    assert quiet.survey.reliability == {}
    assert open_.survey.reliability == {"ann": (0.9, 0.8)}


def test_boards_come_from_the_interview_or_from_its_questions(start):
    without, with_boards = start(ScriptedInterview()), start(BoardInterview())
    plain = until(lambda: without.stock("ann", boards=True))
    own = until(lambda: with_boards.stock("ann", boards=True))
    assert plain.boards[0] == (0, 1, 2, 3, 4, 5, 6, 7)
    assert own.boards[0] == (4, 5, 6, 7, 8, 9, 10, 11)
    assert own.boards[1] == plain.boards[0]


def test_boards_are_made_when_they_are_first_asked_for(start):
    thinking = start(ScriptedInterview())
    assert until(lambda: thinking.stock("ann")).boards == ()
    assert until(lambda: thinking.stock("ann", boards=True).boards)


def test_boards_of_questions_are_never_of_a_pair():
    questions = [Question(i, i + 1, 0.5, 1.0, "") for i in range(8)]
    assert boards_of_questions(questions, 7) == ((0, 1, 2, 3, 4, 5, 6),)
    assert boards_of_questions(questions[:1], 8) == ()


def test_the_thread_is_one_that_does_not_keep_the_program_alive(start):
    assert start(ScriptedInterview())._thread.daemon


def test_a_bad_answer_among_many_is_left_out_and_told(start, caplog):
    class Strict(ScriptedInterview):
        def add(self, answers):
            if any(one.j == 3 for one in answers):
                raise LinksError("answer: row 3 is compared with itself")
            super().add(answers)

    interview = Strict()
    thinking = start(interview)
    settle(thinking)
    assert thinking.left_out is None
    thinking.tell(AnswerChange(given=(said(0, 1, 1), said(0, 3, 1), said(0, 2, 1))))
    settle(thinking)
    assert [one[0] for one in interview.told[-2:]] == [said(0, 1, 1), said(0, 2, 1)]
    assert thinking.problem is None
    assert thinking.left_out == (
        "1 answer could not be taken in; the last one: answer: row 3 is compared with itself"
    )
    assert "an answer was left out" in caplog.text
    thinking.tell(AnswerChange(given=(said(1, 2, 1),)))
    settle(thinking)
    assert thinking.left_out.startswith("1 answer")  # it stays left out
    thinking.tell(AnswerChange(taken_back=(said(0, 3, 1),)))
    settle(thinking)
    assert thinking.left_out is None  # what was taken back need not be told
