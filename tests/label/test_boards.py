import numpy as np
import pytest

import maylink as ml
from maylink.label.boards import (
    BoardError,
    answers_of_groups,
    check_groups,
    groups_of_answers,
    links_of_groups,
)

GROUPS = [[4, 7, 1], [9], [0, 3]]


@pytest.mark.parametrize("groups", [GROUPS, [[4], [7, 9]], [[5, 2]], [[5], [2]], [[8], [3], [1]]])
def test_answers_of_a_board_tell_its_groups(groups):
    assert groups_of_answers(answers_of_groups(groups, "ann")) == groups


def test_links_are_those_of_labels():
    labels = np.full(10, -1)
    for at, group in enumerate(GROUPS):
        labels[group] = at
    expected = ml.Links.from_labels(labels, source="ann, boards")
    links = links_of_groups(GROUPS, "ann", 10)
    assert links == expected
    assert links.labelled == ("ann, boards",)


def test_answers_have_the_votes_of_labels():
    """A row has one vote on each group, times ¾, shared out among its links into that group."""
    votes = {(a.i, a.j): a.weight for a in answers_of_groups(GROUPS, "ann")}
    links = links_of_groups(GROUPS, "ann", 10)
    for i, j, weight in zip(links.i, links.j, links.weight, strict=True):
        assert votes.get((i, j), votes.get((j, i))) == pytest.approx(weight)
    assert votes[4, 7] == pytest.approx(0.75 / 2)  # two links into the group, from either end
    assert votes[4, 9] == pytest.approx(0.75 * (1 + 1 / 3) / 2)


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ([[1, 2], [3]], "not on the board"),
        ([[1, 2], [2]], "twice"),
        ([[1]], "two items or more"),
        ([], "two items or more"),
        ("12", "list of lists"),
        ([1, 2], "list of lists"),
        ([[1, True]], "not on the board"),
    ],
)
def test_groups_that_are_none_are_refused(groups, problem):
    with pytest.raises(BoardError, match=problem):
        check_groups(groups, [1, 2])


def test_empty_groups_are_left_out():
    assert check_groups([[], [1], [], [2]], [1, 2, 5]) == [[1], [2]]
