import pytest

from maylink.label.handout import HELD, Handout, pairs_of_board
from maylink.label.thinking import Stock
from maylink.questions import Question


def question(i, j, again=False):
    return Question(i, j, 0.5, 1.0, "", again)


def stock(*pairs, n_taken=0, boards=()):
    return Stock(tuple(question(*pair) for pair in pairs), boards, n_taken)


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def handout(clock):
    return Handout(lambda: clock[0])


def asked(handout, person, some):
    found = handout.question(person, some)
    return None if found is None else found[:2]


def test_a_person_keeps_a_question_until_it_is_done(handout):
    some = stock((0, 1), (2, 3))
    assert asked(handout, "ann", some) == (0, 1)
    assert asked(handout, "ann", stock((5, 6))) == (0, 1)
    handout.is_done("ann", 9, 8)  # about something else
    assert asked(handout, "ann", some) == (0, 1)
    handout.is_done("ann", 1, 0)
    handout.note([(0, 1)], 1, 1)
    assert asked(handout, "ann", some) == (2, 3)


def test_two_people_get_different_pairs_whatever_their_order(handout):
    assert asked(handout, "ann", stock((0, 1), (2, 3))) == (0, 1)
    assert asked(handout, "bob", stock((1, 0), (3, 2))) == (3, 2)
    assert asked(handout, "cy", stock((0, 1), (2, 3))) is None


def test_a_pair_is_asked_of_two_at_once_only_on_purpose(handout):
    assert asked(handout, "ann", stock((0, 1))) == (0, 1)
    assert asked(handout, "bob", stock((0, 1, True))) == (0, 1)


def test_a_pair_that_was_answered_is_asked_again_only_on_purpose(handout):
    handout.note([(0, 1)], 1, 1)
    assert asked(handout, "bob", stock((0, 1), n_taken=1)) is None
    assert asked(handout, "bob", stock((0, 1, True), n_taken=0)) is None  # made before the answer
    assert asked(handout, "bob", stock((0, 1, True), n_taken=1)) == (0, 1)


def test_a_pair_whose_answer_was_taken_back_is_open(handout):
    handout.note([(0, 1)], 1, 1)
    handout.note([(0, 1)], -1, 2)
    assert asked(handout, "bob", stock((0, 1), n_taken=2)) == (0, 1)


def test_a_pair_is_free_when_its_holder_says_nothing_for_long(handout, clock):
    assert asked(handout, "ann", stock((0, 1))) == (0, 1)
    assert handout.here() == ["ann"]
    clock[0] = HELD + 1
    assert asked(handout, "bob", stock((0, 1))) == (0, 1)
    assert handout.here() == ["bob"]


def test_what_is_skipped_comes_back_when_all_is(handout):
    some = stock((0, 1), (2, 3))
    for pair in [(0, 1), (2, 3)]:
        assert asked(handout, "ann", some) == pair
        handout.skip("ann", pair)
        handout.is_done("ann", *pair)
    assert asked(handout, "ann", some) is None
    assert asked(handout, "bob", some) == (0, 1)  # skips are one's own
    assert handout.forget_skips("ann")
    assert not handout.forget_skips("ann")
    assert asked(handout, "ann", some) == (2, 3)


def test_boards_of_two_people_share_no_pair(handout):
    some = stock(boards=((0, 1, 2), (2, 5, 1), (2, 5, 6)))
    assert handout.board("ann", some) == (0, 1, 2)
    assert handout.board("bob", some) == (2, 5, 6)  # 2 and 1 are before ann
    assert asked(handout, "cy", stock((0, 2), (0, 5))) == (0, 5)
    handout.skip("ann", frozenset((0, 1, 2)))
    handout.board_is_done("ann")
    handout.board_is_done("bob")
    assert handout.board("ann", some) == (2, 5, 1)


def test_a_board_made_before_the_latest_answers_is_not_given(handout):
    handout.note(pairs_of_board((0, 1, 2)), 1, 3)
    assert handout.board("ann", stock(boards=((0, 1, 2),), n_taken=2)) is None
    assert handout.board("ann", stock(boards=((0, 1, 2),), n_taken=3)) == (0, 1, 2)


def test_what_comes_soon_is_not_what_is_there(handout):
    some = stock((0, 1), (2, 3))
    handout.question("ann", some)
    assert handout.soon("ann", some)[:2] == (2, 3)
    assert handout.soon("ann", None) is None


def test_pairs_of_a_board_have_one_order():
    assert pairs_of_board([5, 1, 3]) == [(1, 5), (3, 5), (1, 3)]
