import numpy as np

from label_page import said
from maylink.label.answers_as_links import for_interview, links_of_answers
from maylink.label.boards import answers_of_groups, links_of_groups
from maylink.label.store import AnswerStore
from maylink.links import Links
from maylink.questions import Answer


def stored(tmp_path):
    with AnswerStore(tmp_path / "answers.db", "rows") as store:
        store.add([said(0, 1, 1), said(2, 5, -1, "bob"), said(3, 4, 0)])
        store.add(answers_of_groups([[0, 2], [5]], "ann"), board=True)
        store.add([said(0, 1, 1)])
        store.add(answers_of_groups([[1, 0]], "ann"), board=True)
        return store.answers()


def test_pairs_are_links_and_boards_are_labels(tmp_path):
    links = links_of_answers(stored(tmp_path), 6)
    pairs = Links(6, [0, 2, 0], [1, 5, 1], [1, -1, 1], source=["ann", "bob", "ann"])
    boards = links_of_groups([[0, 2], [5]], "ann", 6) + links_of_groups([[1, 0]], "ann", 6)
    assert links == pairs + boards
    assert links.labelled == ("ann, boards",)
    assert links.n_links == 3 + 3 + 1


def test_an_interview_gets_votes_and_a_source_of_boards(tmp_path):
    told = for_interview(stored(tmp_path))
    assert told[2] == Answer(3, 4, 0, "ann", 1.0)  # it must know what not to ask again
    assert [answer.source for answer in told[3:6]] == ["ann, boards"] * 3
    board = links_of_groups([[0, 2], [5]], "ann", 6)
    assert np.allclose(sorted(answer.weight for answer in told[3:6]), sorted(board.weight))


def test_no_answers_are_no_links():
    assert links_of_answers([], 4) == Links.empty(4)
