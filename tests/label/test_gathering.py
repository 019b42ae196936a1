import threading

import pytest

from label_page import ScriptedInterview, new_key, said, until
from maylink.label.gathering import AnswerError
from maylink.label.names import PersonNameError


@pytest.fixture
def gathering(page):
    return page.gathering


def asked(gathering, who):
    return until(lambda: gathering.turn(who).question)


def test_an_answer_is_on_disk_when_it_is_taken_and_the_next_question_differs(page, gathering):
    first = asked(gathering, "ann")
    number = gathering.answer("ann", first.i, first.j, 1, new_key())
    assert page.answers() == [said(first.i, first.j, 1)]
    assert asked(gathering, "ann")[:2] != first[:2]
    page.settle()
    assert page.interview.answers == page.answers()
    assert [one.number for one in gathering.history("ann")] == [number]


def test_answering_does_not_wait_for_the_interview(page, gathering):
    asked(gathering, "ann")
    page.settle()
    page.interview.may_go_on.clear()
    seen = set()
    for _ in range(20):  # from the stock, while the interview thinks about the first
        question = gathering.turn("ann").question
        gathering.answer("ann", question.i, question.j, 1, new_key())
        seen.add(question[:2])
    assert len(seen) == 20
    assert len(page.answers()) == 20
    assert gathering.thinking.is_busy


def test_a_request_that_comes_twice_is_one_answer(page, gathering):
    key = new_key()
    first = gathering.answer("ann", 0, 1, 1, key)
    assert gathering.answer("ann", 0, 1, 1, key) == first
    page.settle()
    assert page.interview.answers == page.answers() == [said(0, 1, 1)]


def test_a_repeat_of_a_change_is_harmless(gathering, page):
    old = gathering.answer("ann", 0, 1, 1, new_key())
    key = new_key()
    new = gathering.answer("ann", 0, 1, -1, key, instead_of=old)
    assert gathering.answer("ann", 0, 1, -1, key, instead_of=old) == new
    page.settle()
    assert page.interview.answers == page.answers() == [said(0, 1, -1)]


def test_two_windows_of_one_person_make_one_answer(gathering, page):
    gathering.answer("ann", 0, 1, 1, new_key())
    gathering.answer("ann", 1, 0, -1, new_key())
    gathering.answer("bob", 0, 1, 1, new_key())
    page.settle()
    assert page.answers() == [said(1, 0, -1), said(0, 1, 1, "bob")]
    gathering.answer("ann", 0, 1, 1, new_key(), again=True)  # asked again on purpose
    assert len(page.answers()) == 3


def test_undo_takes_back_and_asks_again(gathering, page):
    first = asked(gathering, "ann")
    number = gathering.answer("ann", first.i, first.j, 1, new_key())
    asked(gathering, "ann")
    judgement = gathering.take_back("ann", number)
    assert (judgement.rows, judgement.kind) == ((first.i, first.j), 1)
    assert gathering.take_back("ann", number) is None  # a double click undoes once
    assert asked(gathering, "ann")[:2] == first[:2]
    page.settle()
    assert page.interview.answers == page.answers() == []
    gathering.answer("ann", first.i, first.j, -1, new_key())
    assert page.answers() == [said(first.i, first.j, -1)]


def test_nobody_takes_back_what_others_said(gathering):
    number = gathering.answer("ann", 0, 1, 1, new_key())
    with pytest.raises(AnswerError, match="is not one of bob"):
        gathering.take_back("bob", number)
    with pytest.raises(AnswerError, match="is not one of bob"):
        gathering.answer("bob", 0, 1, 1, new_key(), instead_of=number)
    with pytest.raises(AnswerError, match="answer 99"):
        gathering.take_back("ann", 99)


def test_several_people_are_asked_different_pairs(gathering):
    pairs = {asked(gathering, who)[:2] for who in ("ann", "bob", "cy")}
    assert len(pairs) == 3


def test_what_is_asked_again_on_purpose_is_asked_of_others(open_page):
    interview = ScriptedInterview()
    page = open_page(interview)
    page.gathering.answer("ann", 0, 1, 1, new_key())
    interview.again = ((0, 1),)
    page.gathering.answer("ann", 0, 2, 1, new_key())
    page.settle()
    question = asked(page.gathering, "bob")
    assert question[:2] == (0, 1)
    assert question.again
    page.gathering.answer("bob", 0, 1, 1, new_key(), again=True)
    assert page.gathering.turn("bob").question is None or asked(page.gathering, "bob")[:2] != (0, 1)


def test_a_board_is_one_judgement(gathering, page):
    rows = until(lambda: gathering.board_turn("ann").rows)
    assert len(rows) == 8
    groups = [list(rows[:3]), list(rows[3:5])]
    key = new_key()
    number = gathering.sort("ann", rows, groups, key)
    assert gathering.sort("ann", rows, groups, key) == number
    assert gathering.count("ann") == (0, 1)
    assert len(page.answers()) == 10
    (judgement,) = gathering.history("ann")
    assert (judgement.rows, judgement.kind, judgement.groups) == (rows, None, groups)
    page.settle()
    assert {answer.source for answer in page.interview.answers} == {"ann, boards"}
    changed = gathering.sort("ann", rows, [list(rows[:2])], new_key(), instead_of=number)
    assert len(page.answers()) == 1
    assert gathering.take_back("ann", changed).groups == [list(rows[:2])]
    assert gathering.board_turn("ann").rows == rows
    page.settle()
    assert page.interview.answers == page.answers() == []


def test_a_board_that_is_skipped_is_replaced(gathering):
    rows = until(lambda: gathering.board_turn("ann").rows)
    gathering.skip_board("ann", rows)
    assert until(lambda: gathering.board_turn("ann").rows) != rows


def test_skipped_questions_come_back_at_the_end(open_page):
    page = open_page(ScriptedInterview(3))
    pairs = []
    for _ in range(5):
        question = asked(page.gathering, "ann")
        pairs.append(question[:2])
        page.gathering.skip("ann", *question[:2])
    assert pairs == [(0, 1), (0, 2), (1, 2), (0, 1), (0, 2)]
    assert page.answers() == []


def test_when_all_is_asked_nothing_is_waited_for(open_page):
    page = open_page(ScriptedInterview(3))
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        page.gathering.answer("ann", i, j, 0, new_key())
    assert until(lambda: page.gathering.turn("ann") == (None, (), False, ()))


def test_a_new_process_goes_on_where_it_was(open_page):
    page = open_page()
    page.gathering.answer("ann", 0, 1, 1, new_key())
    page.gathering.answer("bob", 0, 2, 0, new_key())
    page.gathering.sort("ann", (3, 4, 5), [[3, 4], [5]], new_key())
    again = open_page()
    assert again.gathering.people == ["ann", "bob"]
    assert again.gathering.count() == (2, 1)
    assert again.gathering.history("ann") == page.gathering.history("ann")
    again.settle()
    assert again.interview.answers == page.interview.answers
    assert asked(again.gathering, "ann")[:2] not in [(0, 1)]


@pytest.mark.parametrize(
    ("i", "j", "kind", "problem"),
    [
        (0, 12, 1, "row 12"),
        (-1, 2, 1, "row -1"),
        (0, 0, 1, "two or more"),
        ("0", 1, 1, "row '0'"),
        (True, 0, 1, "row True"),
        (None, 1, 1, "row None"),
        (0, 1, 2, "kind: 2"),
        (0, 1, "1", "kind: '1'"),
        (0, 1, True, "kind: True"),
        (0, 1, None, "kind: None"),
        (0.0, 1, 1, "row 0.0"),
    ],
)
def test_answers_that_are_none_are_refused(gathering, page, i, j, kind, problem):
    with pytest.raises(AnswerError, match=problem):
        gathering.answer("ann", i, j, kind, new_key())
    assert page.answers() == []


@pytest.mark.parametrize("key", [None, "", "short", 12345678, "x" * 101])
def test_a_request_needs_a_key(gathering, page, key):
    with pytest.raises(AnswerError, match="key"):
        gathering.answer("ann", 0, 1, 1, key)
    assert page.answers() == []


def test_names_are_checked_and_capitals_are_one_person(gathering):
    assert gathering.join("Ann") == "Ann"
    assert gathering.join("ANN") == "Ann"
    with pytest.raises(PersonNameError):
        gathering.join("?")
    assert gathering.people == ["Ann"]


def test_many_threads_lose_nothing_and_repeat_nothing(gathering, page):
    def work(who):
        for _ in range(8):
            question = asked(gathering, who)
            gathering.answer(who, question.i, question.j, 1, new_key())

    threads = [threading.Thread(target=work, args=(f"p{k}",)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    pairs = [(answer.i, answer.j) for answer in page.answers()]
    assert len(pairs) == len(set(pairs)) == 32
    page.settle()
    assert sorted(page.interview.answers) == sorted(page.answers())
